"""The measured ablation: what each lever is worth, and which questions it helps and hurts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..figures import plot
from ..figures.views import Note, Table

_NAMES = {"question": "question", "step-back": "step-back", "hyde": "HyDE"}
# What the chapters call the kinds of the results.
KINDS = {"all": "all", "narrow": "specific", "broad": "general"}


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


def settings(how: Mapping[str, Any]) -> Table:
    """How the ablation was measured, one row a setting."""
    return Table(["setting", "value"], [[name, _in_words(value)] for name, value in how.items()])


def _in_words(value: Any) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {_in_words(part)}" for name, part in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


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
    return Note(_summary(others)), figure, Table(columns, cells)


def _is_plain(row: Mapping[str, Any]) -> bool:
    return row["searched"] == ["question"] and not row["asked"]


def _summary(rows: Sequence[Mapping[str, Any]]) -> str:
    better = [called(row) for row in rows if row["low"] > 0]
    worse = [called(row) for row in rows if row["high"] < 0]
    parts = [
        f"{word}: {', '.join(names)}" for word, names in (("clearly better", better), ("clearly worse", worse)) if names
    ]
    return f"Of {rows[0]['n']} questions: {'; '.join(parts) or 'no way differs clearly from plain retrieval'}."


def change_views(rows: Sequence[Mapping[str, Any]], changes: Sequence[float]) -> tuple[Any, ...]:
    """The views of questions that one way helps and hurts: `rows` of the results, each with its change in recall."""
    pairs = sorted(zip(changes, rows, strict=True), key=lambda pair: -pair[0])
    up, down = (sum(sign * change > 0 for change in changes) for sign in (1, -1))
    kinds = {kind: name for name, kind in KINDS.items()}
    moved = [[f"{change:+.2f}", kinds[row["kind"]], row["question"]] for change, row in pairs if change]
    helped, same = f"{up} question{'s' * (up != 1)} helped", len(pairs) - up - down
    note = f"{helped}, {down} hurt, {same} unchanged, at {rows[0]['budget']} tokens."
    bars = plot.gains([change for change, _ in pairs], [row["question"] for _, row in pairs])
    table = Table(
        ["change", "kind", "question"], moved or [["–", "–", "no question"]], caption="Questions that changed"
    )
    return Note(note), bars, table


def rule(parts: Mapping[tuple[str, str], Sequence[float]]) -> Table:
    """The changes by one lever, counted by (text, what plain retrieval was)."""
    rows = []
    for (text, was), changes in parts.items():
        mean = round(sum(changes) / len(changes), 3) if changes else None
        rows.append([text, was, len(changes), sum(c > 0 for c in changes), sum(c < 0 for c in changes), mean])
    return Table(["text", "plain retrieval was", "questions", "helped", "hurt", "mean change"], rows)
