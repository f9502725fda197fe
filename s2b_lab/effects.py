"""Views of the measured ablation: what each lever is worth, and which questions it helps and hurts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from . import plot
from .interact import Figure, Note, Table

NAMES = {"question": "question", "step-back": "step-back", "hyde": "HyDE"}
PLAIN = {"searched": ["question"], "asked": False}


def results(path: str | Path) -> dict[str, Any]:
    """Read what `make ablation` wrote; ValueError for another file."""
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
        whole = {key: found[key] for key in ("how", "ways", "rows", "questions")}
        if not all(isinstance(whole[key], list) and whole[key] for key in ("ways", "rows", "questions")):
            raise ValueError("a part of it is empty or no list")
        return whole
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(
            f"{str(path)!r} holds no ablation ({type(error).__name__}: {error}): run make ablation"
        ) from error


def called(way: Mapping[str, Any]) -> str:
    """A way in words: what is searched with, and whether hypothetical questions are searched too."""
    names = " + ".join(NAMES[one] for one in way["searched"])
    return f"{names} + hypothetical" if way["asked"] else names


def effect(found: Mapping[str, Any], text: str, delivery: str, budget: int, kind: str, keep: bool) -> tuple[Any, ...]:
    """The views of every way beside plain retrieval: its gain with its interval, and what it delivers.

    With `keep` the question is fused with its rewrites, otherwise they take its place.
    """
    place = {"text": text, "delivery": delivery, "budget": budget, "kind": kind}
    rows = [row for row in found["rows"] if place.items() <= row.items() and _among(row, keep)]
    if not rows:
        raise ValueError(f"nothing was measured at {place}")
    others = [row for row in rows if not _is_plain(row)]
    figure = plot.intervals(
        [called(row) for row in others], [row["gain"] for row in others],
        [(row["low"], row["high"]) for row in others], "gain in recall",
    )  # fmt: skip
    columns = ["searched with", "recall", "complete", "tokens", "gain", "95% interval"]
    cells = [
        [called(r), r["recall"], r["complete"], round(r["tokens"]), r["gain"], f"{r['low']:+.3f} to {r['high']:+.3f}"]
        for r in rows
    ]
    return Note(_summary(others)), Figure(figure, alt="Gain of each way, with its interval."), Table(columns, cells)


def _among(row: Mapping[str, Any], keep: bool) -> bool:
    return row["searched"] == ["question"] or ("question" in row["searched"]) == keep


def _is_plain(row: Mapping[str, Any]) -> bool:
    return PLAIN.items() <= row.items()


def _summary(rows: Sequence[Mapping[str, Any]]) -> str:
    better = [called(row) for row in rows if row["low"] > 0]
    worse = [called(row) for row in rows if row["high"] < 0]
    parts = [
        f"{word}: {', '.join(names)}" for word, names in (("clearly better", better), ("clearly worse", worse)) if names
    ]
    return f"Of {rows[0]['n']} questions: {'; '.join(parts) or 'no way differs clearly from plain retrieval'}."


def changes(found: Mapping[str, Any], text: str, searched: Sequence[str], asked: bool, delivery: str) -> list[tuple]:
    """Each question about a text with its change in recall by one way, the most helped first: (change, row)."""
    way = found["ways"].index({"searched": list(searched), "asked": asked, "delivery": delivery})
    plain = found["ways"].index(PLAIN | {"delivery": delivery})
    rows = [row for row in found["questions"] if row["text"] == text]
    pairs = [(round(row["recall"][way] - row["recall"][plain], 4), row) for row in rows]
    return sorted(pairs, key=lambda pair: -pair[0])


def helped(found: Mapping[str, Any], text: str, searched: Sequence[str], asked: bool, delivery: str) -> tuple[Any, ...]:
    """The views of the questions that one way helps and hurts."""
    pairs = changes(found, text, searched, asked, delivery)
    up, down = (sum(sign * change > 0 for change, _ in pairs) for sign in (1, -1))
    moved = [pair for pair in pairs if pair[0]]
    rows = [[f"{change:+.2f}", row["kind"], row["question"]] for change, row in moved]
    bars = plot.gains([change for change, _ in pairs], [row["question"] for _, row in pairs])
    note = f"{up} questions helped, {down} hurt, {len(pairs) - up - down} unchanged, at {pairs[0][1]['budget']} tokens."
    table = Table(["change", "kind", "question"], rows or [["–", "–", "no question"]], caption="Questions that changed")
    return Note(note), Figure(bars, alt="Change in recall of each question."), table


def rule(found: Mapping[str, Any], delivery: str) -> Table:
    """The mean change by stepping back where plain retrieval delivered all of the evidence, and where it did not."""
    rows = []
    for text in found["how"]["sizes"]:
        pairs = changes(found, text, ["step-back"], False, delivery)
        plain = found["ways"].index(PLAIN | {"delivery": delivery})
        for name, some in (
            ("complete", [change for change, row in pairs if row["recall"][plain] == 1]),
            ("incomplete", [change for change, row in pairs if row["recall"][plain] < 1]),
        ):
            mean = round(sum(some) / len(some), 3) if some else None
            rows.append([text, name, len(some), sum(c > 0 for c in some), sum(c < 0 for c in some), mean])
    return Table(["text", "plain retrieval was", "questions", "helped", "hurt", "mean change"], rows)
