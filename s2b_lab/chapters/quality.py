"""Chapter 10: what each way to cut and to deliver is worth and what it costs, as a file of results says it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..figures import plot
from ..figures.data import Data
from ..figures.views import Figure, Note, Table
from .results import in_words, read_results

TEXTS = {
    "Python reference": "python",
    "Travel policy": "travel-en",
    "差旅报销制度": "travel-zh",
    "Einstein's patents": "einstein",
}
# What the chapters call the strategies of the results, in their order.
NAMES = {
    "sentences": "sentences",
    "window 1": "windows of 1",
    "window 2": "windows of 2",
    "recursive": "recursive",
    "paragraph": "paragraphs",
    "semantic": "semantic",
    "parents": "parents",
    "multi-granular": "multi-granular",
    "logits": "logits-guided",
    "lgmgc": "LGMGC",
}
METRICS = {"DCG": "dcg", "recall": "recall"}
METRIC_NAMES = {"dcg": "DCG", "recall": "recall", "complete": "completeness"}
# What a strategy costs before the first question is asked: parts of a row that add up.
PRICES = {
    "vectors": ("vectors",),
    "seconds of cutting": ("cut_seconds",),
    "seconds of embedding": ("index_seconds",),
    "seconds in all": ("cut_seconds", "index_seconds"),
}
TABLE_QUESTIONS = {"about rows of tables": "tables", "about everything": "report"}
# What they search with is smaller than what they deliver.
SMALL_TO_BIG = ("window 1", "window 2", "parents", "multi-granular", "lgmgc")
Row = Mapping[str, Any]
_PARTS = ("how", "questions", "rows", "spread", "sensitivity", "units", "predictions", "gains", "headings", "tables")
# One mark a size, so that colour is not all that tells them apart.
_SIZES = {200: (plot.CONTEXT, "circle"), 300: (plot.HIT, "diamond"), 500: (plot.EVIDENCE, "square")}
_NO_SIZE = (plot.REST, "x")
# Of a scale of powers of ten: few enough for a phone.
_TICKS = {"tickvals": [m * 10.0**n for n in range(-2, 5) for m in (1, 3)]}
_TICKS |= {"ticktext": [f"{value:,g}" for value in _TICKS["tickvals"]]}


def measured(path: str | Path) -> dict[str, Any]:
    """Read what `make bench-quality` wrote, its gains as one mapping a row; ValueError for another file."""
    return read_results(path, _whole, "measured quality", "make bench-quality")


def _whole(found: dict[str, Any]) -> dict[str, Any]:
    columns, rows = (found["gains"][part] for part in ("columns", "rows"))
    whole = found | {"gains": [dict(zip(columns, row, strict=True)) for row in rows]}
    if missing := [part for part in _PARTS if not whole[part]]:
        raise ValueError(f"its {missing[0]!r} is empty")
    return whole


def texts_in(found: Mapping[str, Any]) -> dict[str, str]:
    """The texts of the results, by what readers call them."""
    known = {row["text"] for row in found["rows"]}
    return {label: name for label, name in TEXTS.items() if name in known}


def conditions(found: Mapping[str, Any]) -> Table:
    """How it was measured, one row a setting, the questions on each text, and what was left out."""
    labels = {name: label for label, name in TEXTS.items()}
    rows = [[name, in_words(value)] for name, value in found["how"].items() if name != "dimensions"]
    rows += [
        [f"questions, {labels[one['text']]}", in_words({half: one[half] for half in ("tune", "report")})]
        for one in found["questions"]
    ]
    rows += [[f"left out: {one['strategy']}", one["reason"]] for one in found["left_out"]]
    return Table(["setting", "value"], rows, caption="How it was measured", folded=True)


def tuned(found: Mapping[str, Any]) -> Table:
    """What was compared on the questions for tuning; of each strategy the first setting is the one that was taken."""
    labels = {name: label for label, name in TEXTS.items()}
    size, budget = (found["how"]["tuned"][name] for name in ("size", "budget"))
    rows = [[labels[r["text"]], NAMES[r["strategy"]], r["setting"], r["recall"]] for r in found["tuned"]]
    caption = f"Recall on the questions for tuning, {size} words, {budget} tokens"
    return Table(["text", "strategy", "setting", "recall"], rows, caption=caption, folded=True)


def limits(rows: Iterable[Row]) -> dict[str, dict[str, Any]]:
    """The limits that some rows were compared at, in words: so many contexts, or so many tokens."""
    every = [{key: row[key] for key in ("at", "limit")} for row in rows]
    return {limit_name(**limit): limit for limit in every}


def measures(rows: Iterable[Row]) -> dict[str, dict[str, Any]]:
    """The metrics and limits that some rows were measured by, in words."""
    every = [{key: row[key] for key in ("metric", "at", "limit")} for row in rows]
    return {f"{METRIC_NAMES[one['metric']]}, {limit_name(one['at'], one['limit'])}": one for one in every}


def limit_name(at: str, limit: int) -> str:
    """A limit in words."""
    return f"k = {limit}" if at == "k" else f"{limit:,} tokens"


def way(row: Row) -> str:
    """A strategy and its size in words."""
    return NAMES[row["strategy"]] + (f", {row['size']} words" if row["size"] else "")


# --- every strategy at every size ------------------------------------------------------------------------------------


def size_views(rows: Sequence[Row], scores: Sequence[float], metric: str, limit: str) -> tuple[Note, Figure]:
    """A line a strategy with a point a size; the note says who is best, and where sizes matter most and least."""
    by, what = _by_strategy(rows, scores), f"{METRIC_NAMES[metric]}, {limit}"
    said = f"Best: {_best(rows, scores)}. {_widest(by)}"
    figure = {"data": _points(rows, scores), "layout": _layout(by) | {"xaxis": plot.titled(what)}}
    return Note(said), Figure(figure, f"{_from_to(what, rows, scores)}.", _table(by, what))


def cost_views(
    rows: Sequence[Row], costs: Sequence[float], scores: Sequence[float], price: str, what: str
) -> tuple[Note, Figure]:
    """Scores to the left and what they cost to the right, on a scale of powers of ten."""
    # A cost below a hundredth of a second cannot stand on such a scale.
    costs = [max(cost, 0.01) for cost in costs]
    right = [trace | {"xaxis": "x2", "showlegend": False} for trace in _points(rows, costs)]
    layout = _layout(_by_strategy(rows, scores)) | {
        "xaxis": plot.titled(what, domain=[0, 0.47]),
        "xaxis2": plot.titled(price, domain=[0.53, 1], type="log", anchor="y", **_TICKS),
    }
    paid = _from_to(price, rows, costs)
    table = Data(["strategy", what, price], [[way(row) for row in rows], [*scores], costs])
    drawn = Figure(
        {"data": [*_points(rows, scores), *right], "layout": layout},
        f"{_from_to(what, rows, scores)}; {paid}.", table,
    )  # fmt: skip
    return Note(f"Best: {_best(rows, scores)}. {paid[0].upper()}{paid[1:]}."), drawn


def _from_to(what: str, rows: Sequence[Row], values: Sequence[float]) -> str:
    places = [values.index(of(values)) for of in (min, max)]
    low, high = (f"{values[place]:,g} ({way(rows[place])})" for place in places)
    return f"{what}: from {low} to {high}"


def _by_strategy(rows: Sequence[Row], scores: Sequence[float]) -> dict[str, dict[int | None, float]]:
    found: dict[str, dict[int | None, float]] = {}
    for row, score in zip(rows, scores, strict=True):
        found.setdefault(row["strategy"], {})[row["size"]] = score
    return found


def _points(rows: Sequence[Row], values: Sequence[float]) -> list[dict[str, Any]]:
    """A trace a size over a thin line a strategy, from the least of its values to the most."""
    lines: dict[str, list[Any]] = {"x": [], "y": []}
    for name, of in _by_strategy(rows, values).items():
        lines["x"] += [min(of.values()), max(of.values()), None]
        lines["y"] += [NAMES[name], NAMES[name], None]
    spread = {"type": "scatter", "mode": "lines", "line": {"color": plot.REST, "width": 2}, "hoverinfo": "skip"}
    return [spread | lines | {"showlegend": False}, *_sizes(rows, values)]


def _sizes(rows: Sequence[Row], values: Sequence[float]) -> Iterable[dict[str, Any]]:
    for size in dict.fromkeys(row["size"] for row in rows):
        held = [(value, NAMES[row["strategy"]]) for row, value in zip(rows, values, strict=True) if row["size"] == size]
        name = f"{size} words" if size else "no size"
        color, symbol = _SIZES[size] if size else _NO_SIZE
        yield {
            "type": "scatter", "mode": "markers", "name": name, "x": plot.rounded(value for value, _ in held),
            "y": [label for _, label in held], "marker": {"color": color, "symbol": symbol, "size": 10},
            "hovertemplate": "%{y}: %{x}<extra>" + name + "</extra>",
        }  # fmt: skip


def _layout(by: Mapping[str, Any]) -> dict[str, Any]:
    order = [NAMES[name] for name in NAMES if name in by]
    axis = {"categoryorder": "array", "categoryarray": order, "autorange": "reversed"}
    return {"height": 110 + 26 * len(order), "legend": plot.ABOVE, "yaxis": axis}


def _table(by: Mapping[str, Mapping[int | None, float]], what: str) -> Data:
    sizes = [*dict.fromkeys(size for of in by.values() for size in of if size)]
    columns = [[of.get(size, of.get(None)) for of in by.values()] for size in sizes]
    names = [NAMES[name] for name in by]
    return Data([what, *(f"{size} words" for size in sizes)], [names, *columns])


def _best(rows: Sequence[Row], scores: Sequence[float]) -> str:
    """Who has the highest score: the first two of them, and how many more."""
    names = [way(row) for row, score in zip(rows, scores, strict=True) if score == max(scores)]
    more = f" and {len(names) - 2} more" if len(names) > 2 else ""
    return f"{' and '.join(names[:2]) if not more else ', '.join(names[:2])}{more} ({max(scores):.3f})"


def _widest(by: Mapping[str, Mapping[int | None, float]]) -> str:
    apart = {NAMES[name]: max(of.values()) - min(of.values()) for name, of in by.items() if len(of) > 1}
    if not apart:
        return "None of these has a size."
    most, least = (of(apart, key=apart.__getitem__) for of in (max, min))
    return f"Sizes lie furthest apart for {most} ({apart[most]:.3f}), least for {least} ({apart[least]:.3f})."


# --- how much the size matters ---------------------------------------------------------------------------------------


def spread_views(rows: Sequence[Row], what: str) -> tuple[Note, Figure]:
    """The mean deviation of each strategy over its sizes with an interval, and how often it is the least of all."""
    order = list(rows)
    names = [NAMES[row["strategy"]] for row in order]
    means = [row["mean"] for row in order]
    points = {
        "type": "scatter", "mode": "markers", "x": means, "y": names, "marker": {"color": plot.CONTEXT, "size": 11},
        "error_x": {
            "array": plot.rounded(max(0, row["high"] - row["mean"]) for row in order),
            "arrayminus": plot.rounded(max(0, row["mean"] - row["low"]) for row in order), "color": plot.CONTEXT,
        },
    }  # fmt: skip
    layout = {"height": 90 + 32 * len(order), "showlegend": False, "yaxis": {"autorange": "reversed"}}
    layout |= {"xaxis": plot.titled(what, rangemode="tozero")}
    (measure,) = measures(rows)
    least = f"least for {names[0]}, and so in {order[0]['least']:.0%} of the resamples"
    drawn = f"{what[0].upper()}{what[1:]}: from {means[0]:g} ({names[0]}) to {means[-1]:g} ({names[-1]})."
    columns = [[row[key] for row in order] for key in ("low", "high", "least")]
    table = Data(
        ["strategy", what, "from", "to", "share of resamples in which it is the least"], [names, means, *columns]
    )
    note = Note(f"By {measure}: {least}; most for {names[-1]}.")
    return note, Figure({"data": [points], "layout": layout}, drawn, table)


# --- the numbers of others --------------------------------------------------------------------------------------------

# DCG@k x 100 over the whole of GutenQA as its authors give it, for the ks below.
KS = (1, 2, 5, 10, 20)
PUBLISHED = {
    "LumberChunker": (48.28, 54.87, 59.37, 61.00, 62.10),
    "recursive": (39.04, 45.38, 50.66, 53.26, 54.72),
    "paragraph": (36.54, 42.12, 45.87, 47.72, 49.00),
    "semantic": (29.51, 35.31, 40.67, 43.15, 44.74),
}


def gutenqa(path: str | Path) -> Table:
    """Published numbers, marked so, and below them ours where `make gutenqa` has written some."""
    rows = [[name, "published, not ours", *values] for name, values in PUBLISHED.items()]
    file = Path(path)
    held = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {"rows": []}
    measured = [row for row in held["rows"] if not row["whose"].startswith("published")]
    rows += [[row["method"], row["whose"], *(row["dcg"][str(k)] for k in KS)] for row in measured]
    ours = _run_of(held.get("how")) if measured else "; ours are not measured yet: make gutenqa, with a network"
    return Table(["method", "whose numbers", *(f"@{k}" for k in KS)], rows, caption=f"DCG@k × 100 on GutenQA{ours}")


def _run_of(how: Mapping[str, Any] | None) -> str:
    """What was asked in our run, behind the name of the table."""
    return f"; ours: {', '.join(how['books'])}, {how['questions']} questions, {how['model']}" if how else ""
