"""Maps of meaning as plain JSON for plotly.js: layers of points on a plane, with lines and arrows between them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from .data import Data
from .plot import QUESTION, shorten
from .views import Figure

_Pair = tuple[Sequence[float], Sequence[float]]


@dataclass(frozen=True, slots=True)
class Layer:
    """One kind of thing on a map: its name in the legend, (n, 2) points, hover texts and look.

    What has similarities to the question, one a point, stands in the map's table too.
    """

    name: str
    points: Sequence[Sequence[float]]
    texts: Sequence[str]
    color: str
    symbol: str = "circle"
    size: int = 9
    opacity: float = 1.0
    similarities: Sequence[float] | None = None


def scatter_map(
    layers: Sequence[Layer], lines: Sequence[_Pair] = (), arrows: Sequence[_Pair] = (), alt: str = ""
) -> Figure:
    """Draw layers of points on one plane, with optional thin lines and arrows between pairs of points.

    The axes of a UMAP plane have no unit, so they are not drawn; only nearness means something.
    """
    traces = [_line_trace(lines)] if lines else []
    layout = {
        "height": 340, "hovermode": "closest", "legend": {"orientation": "h", "y": -0.02, "yanchor": "top"},
        "xaxis": {"visible": False}, "yaxis": {"visible": False},
    }  # fmt: skip
    if arrows:
        layout["annotations"] = [_arrow(start, end) for start, end in arrows]
    drawn = [_layer_trace(layer) for layer in layers]
    return Figure({"data": [*traces, *drawn], "layout": layout}, alt or _counts(layers), _near(layers, drawn))


def _counts(layers: Sequence[Layer]) -> str:
    # The plane says nothing in words; how near things are in truth does.
    near = (_nearest(layer) for layer in layers)
    said = "; ".join(part for part in near if part)
    return f"Map of meaning. {said[0].upper()}{said[1:]}." if said else f"Map of {_all(layers)}."


def _nearest(layer: Layer) -> str:
    if not layer.similarities:
        return ""
    best = max(layer.similarities)
    if len(layer.similarities) == 1:
        return f"{layer.name}: similarity {best:.2f} to the question"
    return f"{layer.name}: similarity up to {best:.2f} among {len(layer.similarities)}"


def _all(layers: Sequence[Layer]) -> str:
    return ", ".join(f"{layer.name}: {len(layer.texts)}" for layer in layers)


def _near(layers: Sequence[Layer], drawn: Sequence[dict[str, Any]]) -> Data | None:
    """What has similarities, the nearest of each kind first; the map's own table of points says nothing."""
    rows = [
        (layer.name, trace["hovertext"][i], round(float(layer.similarities[i]), 3))
        for layer, trace in zip(layers, drawn, strict=True)
        for i in _downward(layer.similarities)
    ]
    return Data(["on the map", "text", "similarity to the question"], list(zip(*rows, strict=True))) if rows else None


def _downward(similarities: Sequence[float] | None) -> list[int]:
    return sorted(range(len(similarities or ())), key=lambda i: -similarities[i])


def _layer_trace(layer: Layer) -> dict[str, Any]:
    look = {"color": layer.color, "symbol": layer.symbol, "size": layer.size}
    return {
        "type": "scatter",
        "x": _placed(point[0] for point in layer.points),
        "y": _placed(point[1] for point in layer.points),
        "mode": "markers",
        "name": layer.name,
        "hovertext": [shorten(text) for text in layer.texts],
        "hoverinfo": "text+name",
        "opacity": layer.opacity,
        "marker": {**look, "line": {"width": 2 * layer.symbol.endswith("open")}},
    }


def _arrow(start: Sequence[float], end: Sequence[float]) -> dict[str, Any]:
    (ax, ay), (x, y) = _placed(start), _placed(end)
    tail = {"ax": ax, "ay": ay, "axref": "x", "ayref": "y"}
    return {"x": x, "y": y, **tail, "text": "", "arrowhead": 2, "arrowwidth": 2, "arrowcolor": QUESTION, "standoff": 8}


def _line_trace(lines: Sequence[_Pair]) -> dict[str, Any]:
    x, y = [], []
    for start, end in lines:
        x += [*_placed([start[0], end[0]]), None]
        y += [*_placed([start[1], end[1]]), None]
    look = {"mode": "lines", "line": {"color": QUESTION, "width": 1}, "opacity": 0.6}
    return {"type": "scatter", "x": x, "y": y, **look, "hoverinfo": "skip", "showlegend": False}


def _placed(values: Iterable[Any]) -> list[float]:
    # A map is some ten units wide: two decimals are below a pixel, and short numbers keep a recording small.
    return [round(float(value), 2) for value in values]
