"""What a chart shows, in numbers: a table for who cannot see it, made of the lists that its traces hold."""

from __future__ import annotations

import itertools
import reprlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .plain import plain_json
from .shown import cell, keep, listed


@dataclass(frozen=True, slots=True)
class Data:
    """One list of values a column: where it is also a list of the chart, a recording holds it once.

    ValueError for no columns, and for lists of different lengths.
    """

    columns: Sequence[str]
    cells: Sequence[Sequence[Any]]

    def __post_init__(self) -> None:
        keep(self, "columns", [cell(name) for name in listed("columns", self.columns)])
        keep(self, "cells", [list(column) for column in self.cells])
        if len(self.cells) != len(self.columns) or len({*map(len, self.cells)}) != 1:
            lengths = [len(column) for column in self.cells]
            raise ValueError(f"{len(self.columns)} columns need as many lists of one length, not lists of {lengths}")

    def frame(self) -> dict[str, Any]:
        """Plain JSON: names of columns, and the values of each column."""
        return {"columns": list(self.columns), "cells": plain_json(self.cells)}


def data_of(traces: Sequence[Mapping[str, Any]], layout: Mapping[str, Any]) -> Data | None:
    """The table of any chart of points, bars or slices; None where there are none. Lines that say nothing are left out.

    Traces over the same steps are columns side by side, others stand below each other, with a column of their names.
    """
    plotted = [(trace.get("name"), *_ends(trace)) for trace in traces if trace.get("hoverinfo") != "skip"]
    series = [(name, x, y) for name, x, y in plotted if x and len(x) == len(y)]
    if not series:
        return None
    across, up = (title_of(layout.get(axis) or {}) or axis[0] for axis in ("xaxis", "yaxis"))
    steps = series[0][1]
    if all(x == steps for _, x, _ in series):
        return Data([across, *(name or up for name, _, _ in series)], [steps, *(y for _, _, y in series)])
    if not any(name for name, _, _ in series):
        return Data([across, up], [chained(x for _, x, _ in series), chained(y for _, _, y in series)])
    names = [name or "" for name, x, _ in series for _ in x]
    return Data(["", across, up], [names, chained(x for _, x, _ in series), chained(y for _, _, y in series)])


def chained(lists: Iterable[Sequence[Any]]) -> list[Any]:
    """The values of several lists in one."""
    return list(itertools.chain.from_iterable(lists))


def title_of(part: Mapping[str, Any]) -> str:
    """The title of a layout or an axis, in either spelling of Plotly's; "" where it has none."""
    title = part.get("title") or ""
    return title if isinstance(title, str) else title.get("text") or ""


def check_drawable(fig: Mapping[str, Any]) -> None:
    """Make sure that plain JSON is that of a figure, else ValueError."""
    data, layout = fig.get("data"), fig.get("layout")
    traces = isinstance(data, (list, tuple)) and all(isinstance(trace, Mapping) for trace in data)
    if not traces or not isinstance(layout, Mapping):
        shown = reprlib.repr(dict(fig))
        raise ValueError(f'plain JSON of a figure is {{"data": a list of traces, "layout": a mapping}}, not {shown}')


def _ends(trace: Mapping[str, Any]) -> tuple[list[Any], list[Any]]:
    pairs = (("x", "y"), ("labels", "values"))
    x, y = next(((trace[a], trace[b]) for a, b in pairs if a in trace and b in trace), ([], []))
    return (list(x), list(y)) if isinstance(x, (list, tuple)) and isinstance(y, (list, tuple)) else ([], [])
