"""What a text with its cuts shows where no script runs: a table of sentences, one of chunkers, one of the tree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .words import WORDS, page_words

_WORDS, _PAGE = WORDS["en"]["cuts"], page_words("en")


def tables_of(view: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The tables of a frame, as frames: sentences, then how often each chunker cuts, then the tree where there is one.

    Without a script nobody can place a cut first, so that all of them are shown at once.
    """
    return [_sentences(view), _chunkers(view), *([_tree(view)] if view["tree"] and view["tree"][0] else [])]


def _table(caption: str, columns: Sequence[str], rows: list[list[str]], numeric: Sequence[int]) -> dict[str, Any]:
    return {"kind": "table", "caption": caption, "columns": [*columns], "rows": rows, "numeric": [*numeric]}


def _sentences(view: Mapping[str, Any]) -> dict[str, Any]:
    rows = [
        [str(number), sentence, end[0] if end else _WORDS["unasked"], _WORDS["between"].join(_cutting(view, number))]
        for number, (sentence, end) in enumerate(zip(view["sentences"], view["ends"], strict=True), 1)
    ]
    columns = [_PAGE["number"], _PAGE["sentence"], _WORDS["end"], _PAGE["by"]]
    return _table(view["title"], columns, rows, (1, 0, 1, 0))


def _cutting(view: Mapping[str, Any], number: int) -> Iterable[str]:
    return (cut["name"] for cut in view["cuts"] if number in cut["after"])


def _chunkers(view: Mapping[str, Any]) -> dict[str, Any]:
    rows = [[cut["name"], _counted(len(cut["after"]), cut["elsewhere"])] for cut in view["cuts"]]
    return _table(_PAGE["chunkers"], [_WORDS["chunker"], _WORDS["cuts"]], rows, (0, 1))


def _counted(count: int, elsewhere: int) -> str:
    return _WORDS["counted"][1 if elsewhere else 0].format(count=count, elsewhere=elsewhere)


def _tree(view: Mapping[str, Any]) -> dict[str, Any]:
    parents, *smaller = view["tree"]
    rows = [[piece(parent), *(_below(parent, level) for level in smaller)] for parent in parents]
    columns = [_PAGE["parent"], *_WORDS["levels"][: len(smaller)]]
    return _table(_WORDS["tree"], columns, rows, [0] * len(columns))


def _below(parent: Sequence[int], level: Iterable[Sequence[int]]) -> str:
    inside = [piece(one) for one in level if parent[0] <= one[0] and one[1] <= parent[1]]
    return _WORDS["then"].join(inside) or "–"


def piece(part: Sequence[int]) -> str:
    """One piece of the tree in words: its sentences, and how many words they have."""
    first, last, words = part
    form = _WORDS["pieces"][0 if first == last else 1]
    return form.format(first=first, last=last, count=words)
