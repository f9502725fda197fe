"""The measured ablation: what each lever is worth, and which questions it helps and hurts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import corpus
from ..figures import plot
from ..figures.views import Note, Table
from .evidence import HIDDEN, is_hidden
from .results import in_words, read_results

_NAMES = {"question": "question", "step-back": "step-back", "hyde": "HyDE"}
# What the chapters call the kinds of the results.
KINDS = {"all": "all", "narrow": "specific", "broad": "general"}


def results(path: str | Path) -> dict[str, Any]:
    """Read what `make ablation` wrote; ValueError for another file."""
    return read_results(path, _whole, "ablation", "make ablation")


def _whole(found: Mapping[str, Any]) -> dict[str, Any]:
    whole = {key: found[key] for key in ("how", "ways", "rows", "questions")}
    if not all(isinstance(whole[key], list) and whole[key] for key in ("ways", "rows", "questions")):
        raise ValueError("a part of it is empty or no list")
    return whole


def settings(how: Mapping[str, Any]) -> Table:
    """How the ablation was measured, one row a setting."""
    return Table(["setting", "value"], [[name, in_words(value)] for name, value in how.items()])


def called(way: Mapping[str, Any]) -> str:
    """A way in words: what is searched with, and whether hypothetical questions are searched too."""
    names = " + ".join(_NAMES[one] for one in way["searched"])
    return f"{names} + hypothetical" if way["asked"] else names


def gain_views(rows: Sequence[Mapping[str, Any]]) -> tuple[Any, ...]:
    """The views of rows of the results, one of them of plain retrieval: gains with intervals, and what is delivered."""
    if not (others := [row for row in rows if not _is_plain(row)]):
        raise ValueError("nothing was measured there: these rows hold no way beside plain retrieval")
    figure = plot.intervals(
        [called(row) for row in others], [row["gain"] for row in others],
        [(row["low"], row["high"]) for row in others], "gain in recall",
    )  # fmt: skip
    columns = ["searched with", "recall", "complete", "tokens", "gain", "95% interval"]
    cells = [
        [called(r), r["recall"], r["complete"], round(r["tokens"]), r["gain"], f"{r['low']:+.3f} to {r['high']:+.3f}"]
        for r in rows
    ]
    caption = "Recall, completeness and tokens of each way"
    return Note(_summary(others)), figure, Table(columns, cells, caption=caption, folded=True)


def _is_plain(row: Mapping[str, Any]) -> bool:
    return row["searched"] == ["question"] and not row["asked"]


def _summary(rows: Sequence[Mapping[str, Any]]) -> str:
    better = [called(row) for row in rows if row["low"] > 0]
    worse = [called(row) for row in rows if row["high"] < 0]
    parts = [
        f"{word}: {', '.join(names)}" for word, names in (("clearly better", better), ("clearly worse", worse)) if names
    ]
    told = "; ".join(parts) or "no way differs clearly from plain retrieval"
    return f"Of {rows[0]['n']} questions{_delivering_none(rows[0])}: {told}."


def _delivering_none(row: Mapping[str, Any]) -> str:
    # They were asked, too, and no way delivers their evidence: nobody's gain, nobody's loss.
    broad = {"all": (True, False), "general": (True,), "specific": (False,)}[row["kind"]]
    count = sum((question.kind == "general") in broad for question in _hidden(row["text"]))
    return f" ({count} of them {HIDDEN})" if count else ""


def for_all(found: Mapping[str, Any], text: str) -> list[Mapping[str, Any]]:
    """The rows of the results of single questions about a text, but for those whose evidence not everyone may read."""
    left_out = {question.text for question in _hidden(text)}
    return [row for row in found["questions"] if row["text"] == text and row["question"] not in left_out]


def _hidden(text: str) -> list[corpus.Question]:
    return [question for question in corpus.questions(text, more=True) if is_hidden(question)]


def change_views(rows: Sequence[Mapping[str, Any]], changes: Sequence[float]) -> tuple[Any, ...]:
    """The views of questions that one way helps and hurts: `rows` of the results, each with its change in recall.

    The rows are of one text; the note says how many questions about it are not among them, since not all may read them.
    """
    pairs = sorted(zip(changes, rows, strict=True), key=lambda pair: -pair[0])
    up, down = (sum(sign * change > 0 for change in changes) for sign in (1, -1))
    kinds = {kind: name for name, kind in KINDS.items()}
    moved = [[f"{change:+.2f}", kinds[row["kind"]], row["question"]] for change, row in pairs if change]
    helped, same = f"{up} question{'s' * (up != 1)} helped", len(pairs) - up - down
    note = f"{helped}, {down} hurt, {same} unchanged, at {rows[0]['budget']} tokens{_left_out(rows)}."
    bars = plot.gains([change for change, _ in pairs], [row["question"] for _, row in pairs])
    rows = moved or [["–", "–", "no question"]]
    table = Table(["change", "kind", "question"], rows, caption="Questions that changed", folded=bool(moved))
    return Note(note), bars, table


def _left_out(rows: Sequence[Mapping[str, Any]]) -> str:
    count = len({question.text for question in _hidden(rows[0]["text"])} - {row["question"] for row in rows})
    return f"; {count} more is {HIDDEN}" if count else ""


def rule(parts: Mapping[tuple[str, str], Sequence[float]]) -> Table:
    """The changes by one lever, counted by (text, what plain retrieval was)."""
    rows = []
    for (text, was), changes in parts.items():
        mean = round(sum(changes) / len(changes), 3) if changes else None
        rows.append([text, was, len(changes), sum(c > 0 for c in changes), sum(c < 0 for c in changes), mean])
    return Table(["text", "plain retrieval was", "questions", "helped", "hurt", "mean change"], rows)
