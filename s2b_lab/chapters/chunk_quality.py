"""Chapter 10: whether the quality of chunks, looked at by themselves, tells how well they are found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..figures import plot
from ..figures.data import Data
from ..figures.views import Figure, Note, Table
from .quality import SMALL_TO_BIG, Row, measures, way

_KINDS = {"delivered as searched": (plot.HIT, "circle"), "delivered bigger": (plot.CONTEXT, "diamond")}


def dimensions(found: Mapping[str, Any]) -> Table:
    """What each dimension of chunk quality means."""
    return Table(["dimension", "what it is"], [[*row] for row in found["how"]["dimensions"].items()])


def prediction_views(
    units: Sequence[Row], values: Sequence[float], scores: Sequence[float], rows: Sequence[Row]
) -> tuple[Note, Figure]:
    """A point a strategy and size, chunk quality across and retrieval up; the note has the rank correlation.

    `rows` has the one row of the results that says what was correlated; without it there is nothing to correlate.
    """
    if not rows:
        return Note("There are too few values of this dimension on this text."), plot.bars([], [], "")
    row = rows[0]
    (outcome,) = measures(rows)
    names, what = [way(unit) for unit in units], (row["dimension"], outcome)
    layout = {"height": 330, "legend": plot.ABOVE, "xaxis": plot.titled(what[0]), "yaxis": plot.titled(what[1])}
    said = f"Rank correlation {bounds(row)}: {_direction(row)}."
    table = Data(["strategy", *what], [names, [*values], [*scores]])
    ranges = (f"{name} from {min(side):g} to {max(side):g}" for name, side in zip(what, (values, scores), strict=True))
    drawn = f"{len(names)} points: {', '.join(ranges)}."
    return Note(said), Figure({"data": [*_traces(units, values, scores)], "layout": layout}, drawn, table)


def _traces(units: Sequence[Row], values: Sequence[float], scores: Sequence[float]) -> Iterable[dict[str, Any]]:
    for bigger, (label, (color, symbol)) in enumerate(_KINDS.items()):
        places = [at for at, unit in enumerate(units) if (unit["strategy"] in SMALL_TO_BIG) == bool(bigger)]
        yield {
            "type": "scatter", "mode": "markers", "name": label, "x": [values[at] for at in places],
            "y": [scores[at] for at in places], "marker": {"color": color, "symbol": symbol, "size": 10},
            "hovertext": [way(units[at]) for at in places],
            "hovertemplate": "%{hovertext}<br>%{x}, %{y}<extra></extra>",
        }  # fmt: skip


def _direction(row: Row) -> str:
    if row["correlation"] is None:
        return "one side has a single value"
    if not row["clear"]:
        return "zero lies inside, so that these questions and strategies show no connection"
    return f"more of it goes with {'more' if row['correlation'] > 0 else 'less'}"


def bounds(row: Row) -> str:
    """A rank correlation with its interval; a dash where there is none."""
    if row["correlation"] is None:
        return "–"
    return f"{row['correlation']:+.2f} ({row['low']:+.2f} to {row['high']:+.2f})"


def correlations(rows: Sequence[Row]) -> Table:
    """The mean over texts of each rank correlation: a row a dimension, a column a way to measure retrieval."""
    means = [row for row in rows if row["text"] == "mean"]
    columns = measures(means)
    known = {(row["dimension"], next(iter(measures([row])))): row for row in means}
    cells = [
        [name, *(bounds(row) + ("  ✓" if row["clear"] else "") for row in (known[name, column] for column in columns))]
        for name in dict.fromkeys(row["dimension"] for row in means)
    ]
    caption = "Rank correlation with retrieval, mean over texts, and its interval; ✓ where zero lies outside"
    return Table(["dimension", *columns], cells, caption=caption)
