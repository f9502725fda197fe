"""What shows figures in a notebook: HTML while the book is built, else a widget with the kernel behind it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

from .controls import Control
from .page import page
from .record import positions, record, spec_of
from .views import Figure

_SECONDS = 20.0


class Recorded:
    """What `explore` returns while the book is built: HTML that host.js brings to life."""

    def __init__(self, spec: dict[str, Any], recording: dict[str, Any]) -> None:
        self._spec, self._recording = spec, recording

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/html": page(self._spec, self._recording), "text/plain": f"Figure: {self._spec['name']}"}


def figure_of(fn: Callable[..., Any], controls: Mapping[str, Control], spec: dict[str, Any]) -> Any:
    """The figure as it can be shown here: every position recorded while the book is built, else a live widget."""
    if _is_building():
        return Recorded(spec, record(fn, controls, positions(controls), on_page=True))
    from .widget import Explorer

    return Explorer(fn, controls, spec, record(fn, controls, [tuple(spec["start"])]))


def show_figures() -> None:
    """Let a bare Figure at the end of a cell be shown as one with controls is, wherever the notebook runs.

    While the book is built this holds for Plotly's figures too, which elsewhere show themselves. Nothing is imported
    for it, and nothing happens outside a notebook.
    """
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is None:
        return
    formatter = shell.display_formatter.ipython_display_formatter
    formatter.for_type(Figure, _show)
    if _is_building():
        formatter.for_type_by_name("plotly.graph_objs._figure", "Figure", _show)


def _show(fig: Any) -> None:
    from IPython.display import display

    display(figure_of(lambda: fig, {}, spec_of({}, "figure", _SECONDS)))


def _is_building() -> bool:
    return os.environ.get("S2B_BUILD") == "1"
