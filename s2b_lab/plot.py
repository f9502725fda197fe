"""Plotly figures of the book: a map of meaning, similarities, and how a detail is diluted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

# One colour a role in every chapter, readable on white and on near-black.
QUESTION, HIT, CONTEXT, EVIDENCE, REST = "#d6336c", "#e8590c", "#1c7ed6", "#2f9e44", "#868e96"
_SERIES = (CONTEXT, HIT, QUESTION, REST, EVIDENCE)
_HOVER = 70


_Pair = tuple[Sequence[float], Sequence[float]]


@dataclass(frozen=True, slots=True)
class Layer:
    """One kind of thing on a map: its name in the legend, (n, 2) points, hover texts and look."""

    name: str
    points: Sequence[Sequence[float]]
    texts: Sequence[str]
    color: str
    symbol: str = "circle"
    size: int = 9
    opacity: float = 1.0


def shorten(text: str, limit: int = _HOVER) -> str:
    """One line of at most `limit` characters, for hover boxes and tables."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def scatter_map(layers: Sequence[Layer], lines: Sequence[_Pair] = (), arrows: Sequence[_Pair] = ()) -> go.Figure:
    """Draw layers of points on one plane, with optional thin lines and arrows between pairs of points.

    The axes of a UMAP plane have no unit, so they are not drawn; only nearness means something.
    """
    figure = go.Figure()
    if lines:
        figure.add_trace(_line_trace(lines))
    for layer in layers:
        figure.add_trace(_layer_trace(layer))
    for start, end in arrows:
        figure.add_annotation(_arrow(start, end))
    figure.update_layout(height=340, hovermode="closest", legend={"orientation": "h", "y": -0.02, "yanchor": "top"})
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False)
    return figure


def similarity_bars(
    scores: Sequence[float],
    best: Sequence[int],
    labels: Sequence[str],
    x_title: str = "chunk, in reading order",
    color: str = HIT,
) -> go.Figure:
    """One bar a chunk: cosine similarity to the question, the best ones in another colour."""
    top = set(best)
    colors = [color if i in top else REST for i in range(len(scores))]
    bars = go.Bar(
        x=list(range(1, len(scores) + 1)),
        y=_rounded(scores),
        marker={"color": colors},
        hovertext=[shorten(label) for label in labels],
        hovertemplate="%{x}: %{y:.3f}<br>%{hovertext}<extra></extra>",
    )
    figure = go.Figure(bars)
    figure.update_layout(height=260, bargap=0.1, showlegend=False)
    figure.update_xaxes(title=x_title)
    figure.update_yaxes(title="cosine similarity")
    return figure


def curve(x: Sequence[float], y: Sequence[float], at: int, x_title: str, y_title: str) -> go.Figure:
    """A line over steps with the present step marked."""
    line = go.Scatter(x=list(x), y=_rounded(y), mode="lines+markers", line={"color": REST}, name="every step")
    here = go.Scatter(
        x=[x[at]], y=_rounded([y[at]]), mode="markers", marker={"color": HIT, "size": 14}, name="where the slider is"
    )
    figure = go.Figure([line, here])
    figure.update_layout(height=280, legend={"orientation": "h", "y": 1.02, "yanchor": "bottom"})
    figure.update_xaxes(title=x_title)
    figure.update_yaxes(title=y_title)
    return figure


def grouped_bars(
    groups: Sequence[str], series: Mapping[str, Sequence[float]], y_title: str, x_title: str = ""
) -> go.Figure:
    """Bars side by side: one cluster a group, one colour a series."""
    figure = go.Figure(
        [
            go.Bar(x=list(groups), y=_rounded(values), name=name, marker={"color": color})
            for (name, values), color in zip(series.items(), _SERIES, strict=False)
        ]
    )
    figure.update_layout(height=300, barmode="group", legend={"orientation": "h", "y": 1.02, "yanchor": "bottom"})
    figure.update_yaxes(title=y_title)
    figure.update_xaxes(title=x_title or None)
    return figure


def bars(names: Sequence[str], values: Sequence[float], x_title: str) -> go.Figure:
    """One bar a name, from top to bottom, with its value written beside it."""
    bar = go.Bar(
        x=_rounded(values), y=[shorten(name, 30) for name in names], orientation="h", marker={"color": CONTEXT},
        text=[f"{value:,}" for value in values], textposition="outside", cliponaxis=False, hoverinfo="skip",
    )  # fmt: skip
    figure = go.Figure(bar)
    figure.update_layout(height=60 + 28 * len(names), showlegend=False, margin={"r": 60})
    figure.update_xaxes(title=x_title)
    figure.update_yaxes(autorange="reversed")
    return figure


def intervals(
    names: Sequence[str], values: Sequence[float], bounds: Sequence[tuple[float, float]], x_title: str
) -> go.Figure:
    """A point with its interval a name, from top to bottom; green above zero, orange below, grey across it."""
    colors = [EVIDENCE if low > 0 else HIT if high < 0 else REST for low, high in bounds]
    figure = go.Figure()
    for name, value, (low, high), color in zip(names, values, bounds, colors, strict=True):
        reach = {"array": _rounded([high - value]), "arrayminus": _rounded([value - low]), "color": color}
        short = name.replace(" + hyp", "<br>+ hyp")  # a phone has no room for one line
        figure.add_scatter(
            x=_rounded([value]), y=[short], mode="markers", marker={"color": color, "size": 11}, error_x=reach,
            hovertemplate=f"{value:+.3f} ({low:+.3f} to {high:+.3f})<extra></extra>",
        )  # fmt: skip
    figure.add_vline(x=0, line={"color": REST, "dash": "dot"})
    figure.update_layout(height=80 + 36 * len(names), showlegend=False)
    figure.update_xaxes(title=x_title)
    figure.update_yaxes(autorange="reversed")
    return figure


def gains(changes: Sequence[float], labels: Sequence[str]) -> go.Figure:
    """One bar a question: what it gained or lost."""
    bar = go.Bar(
        x=list(range(1, len(changes) + 1)), y=_rounded(changes),
        marker={"color": [EVIDENCE if change > 0 else HIT for change in changes]},
        hovertext=[shorten(label) for label in labels], hovertemplate="%{y:+.2f}<br>%{hovertext}<extra></extra>",
    )  # fmt: skip
    figure = go.Figure(bar)
    figure.update_layout(height=260, showlegend=False)
    figure.update_xaxes(title="questions, the most helped first")
    figure.update_yaxes(title="change in recall", range=[-1.05, 1.05])
    return figure


def strata(levels: Mapping[str, Sequence[tuple[int, int]]], labels: Mapping[str, Sequence[str]]) -> go.Figure:
    """One strip a level, cut where its parts begin and end; parts alternate in colour."""
    figure = go.Figure()
    for name, parts in levels.items():
        figure.add_bar(
            x=[end - start for start, end in parts], base=[start for start, _ in parts], y=[name] * len(parts),
            orientation="h", marker={"color": [(CONTEXT, HIT)[i % 2] for i in range(len(parts))], "line": {"width": 0}},
            hovertext=labels[name], hoverinfo="text", opacity=0.75,
        )  # fmt: skip
    figure.update_layout(height=240, showlegend=False, barmode="overlay", bargap=0.25)
    figure.update_xaxes(title="characters of the text")
    figure.update_yaxes(autorange="reversed")
    return figure


def tradeoff(series: Mapping[str, Sequence[Any]]) -> go.Figure:
    """What evidence costs: one line a strategy, each point an evaluation with `tokens` and `recall`.

    Compare strategies where they cost the same: one above the other. Further left is cheaper, higher is better.
    """
    figure = go.Figure(
        [
            go.Scatter(
                x=[round(e.tokens) for e in evaluations],
                y=_rounded(e.recall for e in evaluations),
                mode="lines+markers",
                name=name,
                line={"color": color},
                hovertemplate="%{x} tokens: %{y:.2f}<extra>" + name + "</extra>",
            )
            for (name, evaluations), color in zip(series.items(), _SERIES, strict=False)
        ]
    )
    figure.update_layout(height=340, legend={"orientation": "h", "y": 1.02, "yanchor": "bottom"})
    figure.update_xaxes(title="tokens delivered, mean over questions", rangemode="tozero")
    figure.update_yaxes(title="share of evidence delivered", range=[0, 1])
    return figure


def _layer_trace(layer: Layer) -> go.Scatter:
    return go.Scatter(
        x=_rounded(point[0] for point in layer.points),
        y=_rounded(point[1] for point in layer.points),
        mode="markers",
        name=layer.name,
        hovertext=[shorten(text) for text in layer.texts],
        hoverinfo="text+name",
        opacity=layer.opacity,
        marker={
            "color": layer.color,
            "symbol": layer.symbol,
            "size": layer.size,
            "line": {"width": 2 * layer.symbol.endswith("open")},
        },
    )


def _arrow(start: Sequence[float], end: Sequence[float]) -> dict[str, Any]:
    (ax, ay), (x, y) = _rounded(start), _rounded(end)
    tail = {"ax": ax, "ay": ay, "axref": "x", "ayref": "y"}
    return {"x": x, "y": y, **tail, "text": "", "arrowhead": 2, "arrowwidth": 2, "arrowcolor": QUESTION, "standoff": 8}


def _line_trace(lines: Sequence[_Pair]) -> go.Scatter:
    x, y = [], []
    for start, end in lines:
        x += [*_rounded([start[0], end[0]]), None]
        y += [*_rounded([start[1], end[1]]), None]
    return go.Scatter(
        x=x, y=y, mode="lines", line={"color": QUESTION, "width": 1}, opacity=0.6, hoverinfo="skip", showlegend=False
    )


def _rounded(values: object) -> list[float]:
    # Three decimals are below a pixel, and short numbers keep a recording small.
    return [round(float(value), 3) for value in values]
