"""Which of plotly.js's bundles draws a figure on a page: the small one, a larger one, or none that a page has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

_BASIC = frozenset({"bar", "pie", "scatter"})
_CARTESIAN = _BASIC | {
    "box", "contour", "heatmap", "histogram", "histogram2d", "histogram2dcontour", "image", "scatterternary", "violin",
}  # fmt: skip
# The types of traces that each bundle draws, the smallest bundle first, by the names that npm has for them.
BUNDLES: dict[str, frozenset[str]] = {"basic": _BASIC, "cartesian": _CARTESIAN}


def bundle_of(views: Iterable[Mapping[str, Any]]) -> str:
    """The smallest bundle that draws all figures among these views; ValueError where none draws a trace."""
    # A trace that does not say what it is, is a scatter to Plotly.
    types = {trace.get("type") or "scatter" for view in views if view["kind"] == "figure" for trace in view["data"]}
    if other := types - _CARTESIAN:
        drawn = ", ".join(sorted(_CARTESIAN))
        raise ValueError(f"a page cannot draw a trace of type {', '.join(sorted(other))}; it draws {drawn}")
    return next(name for name, drawn in BUNDLES.items() if types <= drawn)
