"""Charts of the book as plain JSON for plotly.js: similarities, curves, bars, intervals, and what evidence costs."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .data import Data, chained
from .plain import plain_json
from .views import Figure

# One colour a role in every chapter, readable on white and on near-black.
QUESTION, HIT, CONTEXT, EVIDENCE, REST = "#d6336c", "#e8590c", "#1c7ed6", "#2f9e44", "#868e96"
_SERIES = (CONTEXT, HIT, QUESTION, REST, EVIDENCE)
_HOVER = 70
ABOVE = {"orientation": "h", "y": 1.02, "yanchor": "bottom"}


def shorten(text: str, limit: int = _HOVER) -> str:
    """One line of at most `limit` characters, for hover boxes and tables."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def similarity_bars(
    scores: Sequence[float],
    best: Sequence[int],
    labels: Sequence[str],
    x_title: str = "chunk, in reading order",
    color: str = HIT,
    alt: str = "",
) -> Figure:
    """One bar a chunk: cosine similarity to the question, the best ones (their places) in another colour."""
    top = set(best)
    bar = {
        "type": "bar",
        "x": list(range(1, len(scores) + 1)),
        "y": rounded(scores),
        "marker": {"color": [color if i in top else REST for i in range(len(scores))]},
        "hovertext": [shorten(label) for label in labels],
        "hovertemplate": "%{x}: %{y:.3f}<br>%{hovertext}<extra></extra>",
    }
    layout = {"height": 260, "bargap": 0.1, "showlegend": False, "xaxis": titled(x_title)}
    table = Data([x_title, "cosine similarity", "text"], [bar[part] for part in ("x", "y", "hovertext")])
    layout |= {"yaxis": titled("cosine similarity")}
    return Figure({"data": [bar], "layout": layout}, alt or _highest(bar["y"], "similarity"), table)


def curve(
    x: Sequence[float],
    y: Sequence[float],
    at: int,
    x_title: str,
    y_title: str,
    beside: Mapping[str, Sequence[float | None]] | None = None,
    alt: str = "",
) -> Figure:
    """A line over steps with the present step (its place) marked; `beside` has dotted lines over the same steps.

    None is a step where such a line has nothing.
    """
    steps, heights = plain_json(list(x)), rounded(y)
    line = {
        "type": "scatter", "x": steps, "y": heights, "mode": "lines+markers", "line": {"color": REST},
        "name": "every step",
    }  # fmt: skip
    here = {
        "type": "scatter", "x": [steps[at]], "y": [heights[at]], "mode": "markers",
        "marker": {"color": HIT, "size": 14}, "name": "where the slider is",
    }  # fmt: skip
    dotted = [
        {
            "type": "scatter", "x": steps, "y": plain_json(list(other)), "mode": "lines+markers", "name": name,
            "line": {"color": CONTEXT, "dash": "dot"},
        }
        for name, other in (beside or {}).items()
    ]  # fmt: skip
    layout = {"height": 280, "legend": ABOVE, "xaxis": titled(x_title), "yaxis": titled(y_title)}
    said = (
        f"At {steps[at]} {x_title} the {y_title} is {heights[at]:g}; over all steps it goes from {heights[0]:g} "
        f"to {heights[-1]:g}, and is highest at {steps[heights.index(max(heights))]}."
    )
    table = Data([x_title, y_title, *(beside or {})], [steps, heights, *(other["y"] for other in dotted)])
    return Figure({"data": [line, *dotted, here], "layout": layout}, alt or said, table)


def grouped_bars(
    groups: Sequence[str],
    series: Mapping[str, Sequence[float]],
    y_title: str,
    x_title: str = "",
    level: tuple[float, str] | None = None,
    alt: str = "",
) -> Figure:
    """Bars side by side: one cluster a group, one colour a series; `level` is a dotted line at a height, with a name.

    There are five colours, so series after the fifth are not drawn.
    """
    bars = [
        {"type": "bar", "x": plain_json(list(groups)), "y": rounded(values), "name": name, "marker": {"color": color}}
        for (name, values), color in zip(series.items(), _SERIES, strict=False)
    ]
    layout = {"height": 300, "barmode": "group", "legend": ABOVE, "yaxis": titled(y_title)}
    layout |= ({"xaxis": titled(x_title)} if x_title else {}) | (_level(*level) if level else {})
    table = Data([x_title, *(bar["name"] for bar in bars)], [list(groups), *(bar["y"] for bar in bars)])
    return Figure({"data": bars, "layout": layout}, alt or _by_series(bars, y_title), table)


def bars(names: Sequence[str], values: Sequence[float], x_title: str, alt: str = "") -> Figure:
    """One bar a name, from top to bottom, with its value written beside it."""
    bar = {
        "type": "bar", "x": rounded(values), "y": [shorten(name, 30) for name in names], "orientation": "h",
        "marker": {"color": CONTEXT}, "text": [f"{value:,}" for value in values], "textposition": "outside",
        "cliponaxis": False, "hoverinfo": "skip",
    }  # fmt: skip
    layout = {"height": 60 + 28 * len(names), "showlegend": False, "margin": {"r": 60}, "xaxis": titled(x_title)}
    table = Data(["", x_title], [list(names), bar["x"]])
    layout |= {"yaxis": {"autorange": "reversed"}}
    return Figure({"data": [bar], "layout": layout}, alt or _extremes(names, bar["text"], values, x_title), table)


def intervals(
    names: Sequence[str],
    values: Sequence[float],
    bounds: Sequence[tuple[float, float]],
    x_title: str,
    alt: str = "",
) -> Figure:
    """A point with its interval a name, from top to bottom; green above zero, orange below, grey across it."""
    points = [_interval(*row) for row in zip(names, values, bounds, strict=True)]
    zero = {"type": "line", "x0": 0, "x1": 0, "xref": "x", "y0": 0, "y1": 1, "yref": "y domain"}
    layout = {
        "height": 80 + 36 * len(names), "showlegend": False, "xaxis": titled(x_title),
        "yaxis": {"autorange": "reversed"}, "shapes": [zero | {"line": {"color": REST, "dash": "dot"}}],
    }  # fmt: skip
    low, high = (rounded(bound[i] for bound in bounds) for i in (0, 1))
    above, below = sum(bound > 0 for bound in low), sum(bound < 0 for bound in high)
    across = f"{len(points) - above - below} across zero, {above} above, {below} below."
    said = f"{_extremes(names, [f'{value:+.3f}' for value in values], values, x_title)} Intervals: {across}"
    table = Data(["", x_title, "from", "to"], [list(names), rounded(values), low, high])
    return Figure({"data": points, "layout": layout}, alt or said, table)


def gains(changes: Sequence[float], labels: Sequence[str], alt: str = "") -> Figure:
    """One bar a question: what it gained or lost."""
    bar = {
        "type": "bar", "x": list(range(1, len(changes) + 1)), "y": rounded(changes),
        "marker": {"color": [EVIDENCE if change > 0 else HIT for change in changes]},
        "hovertext": [shorten(label) for label in labels], "hovertemplate": "%{y:+.2f}<br>%{hovertext}<extra></extra>",
    }  # fmt: skip
    layout = {"height": 260, "showlegend": False, "xaxis": titled("questions, the most helped first")}
    layout |= {"yaxis": titled("change in recall", range=[-1.05, 1.05])}
    up, down = (sum(sign * change > 0 for change in changes) for sign in (1, -1))
    said = f"Of {len(changes)} bars {up} go up, {down} go down, {len(changes) - up - down} are at zero."
    table = Data(["question", "change in recall"], [bar["hovertext"], bar["y"]])
    return Figure({"data": [bar], "layout": layout}, alt or said, table)


def strata(
    levels: Mapping[str, Sequence[tuple[int, int]]], labels: Mapping[str, Sequence[str]], alt: str = ""
) -> Figure:
    """One strip a level, cut where its parts begin and end; parts alternate in colour."""
    layout = {
        "height": 240, "showlegend": False, "barmode": "overlay", "bargap": 0.25,
        "xaxis": titled("characters of the text"), "yaxis": {"autorange": "reversed"},
    }  # fmt: skip
    sizes = [[end - start for start, end in parts] or [0] for parts in levels.values()]
    counts = [len(parts) for parts in levels.values()]
    said = ", ".join(f"{name}: {count}" for name, count in zip(levels, counts, strict=True))
    columns = ["", "parts", "shortest", "median", "longest (characters)"]
    spread = [[round(of(size)) for size in sizes] for of in (min, statistics.median, max)]
    table = Data(columns, [list(levels), counts, *spread])
    strips = [_strip(name, *of, labels[name]) for name, of in _cuts(levels)]
    return Figure({"data": strips, "layout": layout}, alt or f"Parts of the text, {said}.", table)


def tradeoff(series: Mapping[str, Sequence[Any]], alt: str = "", more: str = "") -> Figure:
    """What evidence costs: one line a strategy, each point an evaluation with `tokens` and `recall`.

    Compare strategies where they cost the same: one above the other. Further left is cheaper, higher is better. `more`
    stands below the axis: what is not counted, say.
    There are five colours, so strategies after the fifth are not drawn.
    """
    lines = [
        {
            "type": "scatter", "x": [round(float(e.tokens)) for e in evaluations],
            "y": rounded(e.recall for e in evaluations), "mode": "lines+markers", "name": name,
            "line": {"color": color}, "hovertemplate": "%{x} tokens: %{y:.2f}<extra>" + name + "</extra>",
        }
        for (name, evaluations), color in zip(series.items(), _SERIES, strict=False)
    ]  # fmt: skip
    title = f"tokens delivered, {_mean(series)}{f'<br>({more})' if more else ''}"
    layout = {
        "height": 340, "legend": ABOVE, "xaxis": titled(title, rangemode="tozero"),
        "yaxis": titled("share of evidence delivered", range=[0, 1.03]),  # so that a point at 1 is seen whole
    }  # fmt: skip
    table = Data(
        ["strategy", "tokens delivered", "share of evidence delivered"],
        [[line["name"] for line in lines for _ in line["x"]], *(chained(li[axis] for li in lines) for axis in "xy")],
    )
    said = " ".join([*map(_climb, lines), *([f"{more}."] if more else [])])
    return Figure({"data": lines, "layout": layout}, alt or said, table)


def _mean(series: Mapping[str, Sequence[Any]]) -> str:
    """Over how many questions evaluations are means, where they say so and are of as many."""
    counts = {len(getattr(e, "scores", ())) for evaluations in series.values() for e in evaluations}
    if len(counts) != 1 or not all(counts):
        return "mean over questions"
    return f"mean over {(count := counts.pop())} question{'s' * (count != 1)}"


def titled(title: str, **axis: Any) -> dict[str, Any]:
    """An axis with a title and other settings."""
    return {"title": {"text": title}, **axis}


def rounded(values: Iterable[Any]) -> list[float]:
    """Numbers of any library as floats of three decimals: below a pixel, and short in a recording."""
    return [round(float(value), 3) for value in values]


def _highest(heights: Sequence[float], what: str) -> str:
    if not heights:
        return "There is nothing to compare."
    top = max(heights)
    return f"The best of {len(heights)} is number {heights.index(top) + 1} with {what} {top:.2f}."


def _in_words(values: Sequence[float], most: int = 12) -> str:
    if len(values) > most:
        return f"from {min(values):g} to {max(values):g}"
    return ", ".join(f"{value:g}" for value in values)


def _by_series(bars: Sequence[Mapping[str, Any]], y_title: str) -> str:
    if not bars:
        return ""
    steps = ", ".join(bars[0]["x"])
    values = "; ".join(f"{bar['name']}: {_in_words(bar['y'])}" for bar in bars)
    return f"{y_title.capitalize()} at {steps}. {values}."


def _extremes(names: Sequence[str], texts: Sequence[str], values: Sequence[float], what: str) -> str:
    if not names:
        return ""
    high, low = (list(values).index(of(values)) for of in (max, min))
    return f"Highest is {names[high]} with {texts[high]} {what}, lowest {names[low]} with {texts[low]}."


def _climb(line: Mapping[str, Any]) -> str:
    if not line["x"]:
        return f"{line['name']}: nothing."
    (cost, *_, dear), (low, *_, high) = ([part[0], part[-1]] for part in (line["x"], line["y"]))
    return f"{line['name']}: {low:.2f} of the evidence for {cost:,} tokens, {high:.2f} for {dear:,}."


def _level(height: float, name: str) -> dict[str, Any]:
    line = {"type": "line", "x0": 0, "x1": 1, "xref": "x domain", "y0": height, "y1": height, "yref": "y"}
    text = {"text": name, "x": 0, "xanchor": "left", "xref": "x domain", "y": height, "yanchor": "bottom", "yref": "y"}
    dotted = {"line": {"color": REST, "dash": "dot"}}
    return {"shapes": [line | dotted], "annotations": [text | {"showarrow": False}]}


def _interval(name: str, value: float, bounds: tuple[float, float]) -> dict[str, Any]:
    low, high = bounds
    color = EVIDENCE if low > 0 else HIT if high < 0 else REST
    return {
        "type": "scatter", "x": rounded([value]), "mode": "markers", "marker": {"color": color, "size": 11},
        "y": [name.replace(" + hyp", "<br>+ hyp")],  # a phone has no room for one line
        "error_x": {"array": rounded([high - value]), "arrayminus": rounded([value - low]), "color": color},
        "hovertemplate": f"{value:+.3f} ({low:+.3f} to {high:+.3f})<extra></extra>",
    }  # fmt: skip


def _cuts(levels: Mapping[str, Sequence[tuple[int, int]]]) -> Iterable[tuple[str, tuple[list[int], list[int]]]]:
    for name, parts in levels.items():
        yield name, ([start for start, _ in parts], [end - start for start, end in parts])


def _strip(name: str, starts: Sequence[int], lengths: Sequence[int], labels: Sequence[str]) -> dict[str, Any]:
    colors = [(CONTEXT, HIT)[i % 2] for i in range(len(starts))]
    return {
        "type": "bar", "x": plain_json(lengths), "base": plain_json(starts), "y": [name] * len(starts),
        "orientation": "h", "marker": {"color": colors, "line": {"width": 0}}, "hovertext": list(labels),
        "hoverinfo": "text", "opacity": 0.75,
    }  # fmt: skip
