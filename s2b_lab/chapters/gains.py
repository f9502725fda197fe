"""Chapters 10 and 11: gains of one way over another with their intervals, in rows, and as a map of many budgets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..figures import plot
from ..figures.data import Data
from ..figures.views import Figure, Note, Table
from .quality import METRIC_NAMES, NAMES, SMALL_TO_BIG, TEXTS, Row, limit_name

DELIVERIES = {NAMES[name]: name for name in SMALL_TO_BIG}
METRICS = {"recall": "recall", "completeness": "complete"}
# On a light ground in both themes, since its text is dark: losses are orange, gains green, what is not clear is grey.
_SCALE = [[0, "#f3a261"], [0.5, "#ffffff"], [1, "#74c686"]]
_GREY, _INK = "#c9cdd2", "#16181b"
_MOST = 0.5  # from here on colours are as strong as they get


def compared_texts(rows: Sequence[Row]) -> dict[str, str]:
    """The texts that gains are of, by what readers call them; "pooled" is several of them taken together."""
    measured = {row["text"] for row in rows}
    known = {label: name for label, name in TEXTS.items() if name in measured}
    return known | ({"all texts in English": "pooled"} if "pooled" in measured else {})


def heat_views(rows: Sequence[Row], what: str) -> Sequence[Note | Figure]:
    """A cell a budget and kind of question (and size): gain, from, to; grey where zero lies inside."""
    if not rows:
        return [Note(f"{what}: not measured on this text.")]
    lines = sorted(dict.fromkeys((row["kind"], row["size"]) for row in rows), key=lambda line: line[0] != "needle")
    budgets = list(dict.fromkeys(row["budget"] for row in rows))
    known = {(row["kind"], row["size"], row["budget"]): row for row in rows}
    grid = [[known[(*line, budget)] for budget in budgets] for line in lines]
    axes = {"x": [f"{budget:,}" for budget in budgets], "y": [_line(*line) for line in lines]}
    layout = {"height": 100 + 54 * len(lines), "xaxis": plot.titled("tokens at most", type="category")}
    layout |= {"yaxis": {"autorange": "reversed", "type": "category"}}
    gained = [row["gain"] for row in rows]
    drawn = f"Gains in {len(lines)} lines of {len(budgets)} budgets, from {min(gained):+.2f} to {max(gained):+.2f}."
    return Note(f"{what[0].upper()}{what[1:]}: {_count(rows)}"), Figure(
        {"data": [_cells(grid, clear) | axes for clear in (True, False)], "layout": layout}, drawn, _data(rows)
    )


def _cells(grid: Sequence[Sequence[Row]], clear: bool) -> dict[str, Any]:
    """The cells that zero lies outside of, or the others; a cell of the other kind is empty."""
    colors = (
        {"colorscale": _SCALE, "zmin": -_MOST, "zmax": _MOST} if clear else {"colorscale": [[0, _GREY], [1, _GREY]]}
    )
    return colors | {
        "type": "heatmap", "showscale": False, "xgap": 2, "ygap": 2, "hoverinfo": "skip",
        "z": [[cell["gain"] if cell["clear"] == clear else None for cell in line] for line in grid],
        "text": [[_cell(cell) if cell["clear"] == clear else "" for cell in line] for line in grid],
        "texttemplate": "%{text}", "textfont": {"color": _INK, "size": 11},
    }  # fmt: skip


def _cell(row: Row) -> str:
    sign = ("▲" if row["gain"] > 0 else "▼") if row["clear"] else ""
    return f"{sign}<b>{row['gain']:+.2f}</b><br>{row['low']:+.2f}…<br>{row['high']:+.2f}"


def _line(kind: str, size: int | None) -> str:
    return f"{kind}<br>{size} words" if size else kind


def _count(rows: Sequence[Row]) -> str:
    parts = []
    for kind in dict.fromkeys(row["kind"] for row in rows):
        some = [row for row in rows if row["kind"] == kind]
        up, down = clear(some)
        parts.append(
            f"of {len(some)} cells about {some[0]['n']} {kind} questions {up} clearly better, {down} clearly worse"
        )
    return "; ".join(parts) + "."


def clear(rows: Sequence[Row]) -> tuple[int, int]:
    """How many gains are clearly above zero, and how many clearly below."""
    up, down = (sum(row["clear"] and sign * row["gain"] > 0 for row in rows) for sign in (1, -1))
    return up, down


def _data(rows: Sequence[Row]) -> Data:
    columns = {
        "questions": "kind", "size": "size", "tokens at most": "budget", "gain": "gain", "from": "low", "to": "high"
    }  # fmt: skip
    return Data(list(columns), [[row[key] for row in rows] for key in columns.values()])


def heading_views(rows: Sequence[Row]) -> Sequence[Note | Figure]:
    """What the heading path in the embedded copy wins, a strategy and metric a line."""
    return _interval_views(rows, [f"{NAMES[row['strategy']]}, {_metric(row)}" for row in rows])


def table_views(rows: Sequence[Row]) -> Sequence[Note | Figure]:
    """What rows below the head of their table win over another way to cut tables, one way and metric a line."""
    return _interval_views(rows, [f"over {row['other']},<br>{_metric(row)}" for row in rows])


def _interval_views(rows: Sequence[Row], names: Sequence[str]) -> Sequence[Note | Figure]:
    if not rows:
        return [Note("Not measured on this text.")]
    up, down = clear(rows)
    place = limit_name(rows[0]["at"], rows[0]["limit"])
    said = f"On {rows[0]['n']} questions, {place}: of {len(rows)} gains {up} clearly better, {down} clearly worse."
    bounds = [(row["low"], row["high"]) for row in rows]
    return Note(said), plot.intervals(names, [row["gain"] for row in rows], bounds, "gain")


def _metric(row: Row) -> str:
    return METRIC_NAMES[row["metric"]]


def balance(rows: Sequence[Row], by: Sequence[str]) -> Table:
    """How many gains are clear in each direction, grouped by some keys of the rows."""
    groups: dict[tuple, list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in by), []).append(row)
    cells = [[*map(_named, key), len(some), *clear(some)] for key, some in groups.items()]
    return Table([*by, "compared", "clearly better", "clearly worse"], cells)


def tally(rows: Sequence[Row], says_big: Callable[[Row], bool]) -> Table:
    """What happened where a rule says to deliver big, and where it says to deliver what was found."""
    cells = []
    for told, name in ((True, "big contexts"), (False, "sentences")):
        some = [row for row in rows if says_big(row) == told]
        signs = [(row["gain"] > 0) - (row["gain"] < 0) for row in some]
        cells.append([name, len(some), *(signs.count(sign) for sign in (1, 0, -1)), *clear(some)])
    columns = ["the rule says", "compared", "big brings more", "as much", "less", "clearly more", "clearly less"]
    return Table(columns, cells)


def failures(rows: Sequence[Row], says_big: Callable[[Row], bool]) -> Table:
    """The gains that clearly speak against a rule."""
    wrong = [row for row in rows if row["clear"] and (row["gain"] > 0) != says_big(row)]
    keys = ("text", "delivery", "size", "kind", "metric", "budget", "gain")
    cells = [[*(_named(row[key]) for key in keys), f"{row['low']:+.2f} to {row['high']:+.2f}"] for row in wrong]
    return Table([*keys, "interval"], cells, caption="Where the rule is clearly wrong")


def _named(value: Any) -> Any:
    labels: Mapping[str, str] = {name: label for label, name in TEXTS.items()} | NAMES
    return labels.get(value, value)
