"""Views that answer a reader: each turns into plain JSON, a frame, offsets counted as JavaScript counts them."""

from __future__ import annotations

import functools
import math
import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .cut_points import CutPoints
from .data import Data, check_drawable, data_of, title_of
from .page import alone
from .passages import Passages
from .plain import checked_json, plain_json
from .shown import cell, check_shown, is_number, keep, listed
from .words import WORDS


@dataclass(frozen=True, slots=True)
class Figure:
    """A Plotly figure, with one sentence and a table for those who cannot see it.

    It may be given as plain JSON, {"data": [...], "layout": {...}}, as our plots are; what has a figure is one. The
    table is made of its traces unless it is given. ValueError for anything else.
    """

    fig: Any
    alt: str = ""
    table: Data | None = None

    def __post_init__(self) -> None:
        check_shown(self, "alt")
        if isinstance(self.fig, Figure):
            keep(self, "alt", self.alt or self.fig.alt)
            keep(self, "table", self.table or self.fig.table)
            keep(self, "fig", self.fig.fig)
        if isinstance(self.fig, Mapping):
            check_drawable(self.fig)
        elif not hasattr(self.fig, "to_plotly_json"):
            raise ValueError(f"a Figure needs a Plotly figure, not {reprlib.repr(self.fig)}, or plain JSON of one")

    def frame(self) -> dict[str, Any]:
        """Plain JSON: traces and layout with short decimal lists, no template (the page sets the colours)."""
        drawn = self.fig if isinstance(self.fig, Mapping) else self.fig.to_plotly_json()
        layout = {key: value for key, value in drawn["layout"].items() if key != "template"}
        data, layout = plain_json(list(drawn["data"])), plain_json(layout)
        shown = {"kind": "figure", "data": data, "layout": layout, "alt": self.alt or title_of(layout)}
        table = self.table or data_of(data, layout)
        return shown | ({"table": table.frame()} if table else {})

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        # Outside our own host: for whoever draws Plotly's figures, and a sentence for whoever does not.
        frame = self.frame()
        drawn = {"data": frame["data"], "layout": frame["layout"]}
        shown = {"text/html": alone(frame), "text/plain": frame["alt"] or WORDS["en"]["figure"]}
        return {"application/vnd.plotly.v1+json": drawn, **shown}


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under column names; numbers stand to the right.

    Cells are shown with three decimals, as "yes" and "no", or as a dash for None. A folded one shows its caption and
    how many rows it has until its reader opens it. ValueError for no columns, and for a row that has more or fewer
    cells than there are columns.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    caption: str = ""
    folded: bool = False

    def __post_init__(self) -> None:
        check_shown(self, "caption")
        keep(self, "columns", [cell(name) for name in listed("columns", self.columns)])
        keep(self, "rows", [listed("a row", row) for row in listed("rows", self.rows, 0)])
        for row in self.rows:
            if len(row) != len(self.columns):
                shown = reprlib.repr(row)
                raise ValueError(f"a row of {len(row)} cells in a table of {len(self.columns)} columns: {shown}")

    def frame(self) -> dict[str, Any]:
        """Plain JSON: cells as the strings to show, and which columns hold numbers."""
        rows = [[cell(value) for value in row] for row in self.rows]
        numeric = [int(all(is_number(row[i]) for row in self.rows)) for i in range(len(self.columns))]
        fields = {"columns": list(self.columns), "rows": rows, "numeric": numeric, "caption": self.caption}
        return {"kind": "table", **fields} | ({"folded": True} if self.folded else {})

    def _repr_html_(self) -> str:
        return alone(self.frame())

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        # Beside the HTML, for a terminal or an export to text.
        lines = [self.columns, *([cell(value) for value in row] for row in self.rows)]
        printer.text("\n".join([*filter(None, [self.caption]), *(" | ".join(line) for line in lines)]))


@dataclass(frozen=True, slots=True)
class Meter:
    """How much of a maximum is used; ValueError for numbers that are not finite."""

    label: str
    value: float
    maximum: float
    unit: str = ""

    def __post_init__(self) -> None:
        check_shown(self, "label", "unit")
        for name in ("value", "maximum"):
            number = getattr(self, name)
            if not is_number(number) or not math.isfinite(number):
                raise ValueError(f"{name} of a Meter is a finite number, not {reprlib.repr(number)}")

    def frame(self) -> dict[str, Any]:
        """Plain JSON."""
        value, maximum = plain_json(self.value), plain_json(self.maximum)
        return {"kind": "meter", "label": self.label, "value": value, "maximum": maximum, "unit": self.unit}


@dataclass(frozen=True, slots=True)
class Note:
    """One short sentence, read aloud by screen readers when it changes; ValueError for what is no text."""

    text: str

    def __post_init__(self) -> None:
        check_shown(self, "text")

    def frame(self) -> dict[str, Any]:
        """Plain JSON."""
        return {"kind": "note", "text": self.text}


@dataclass(frozen=True, slots=True)
class Rows:
    """A table whose rows stand in the `data` of its Stages, under the key `of`: a title a column, and its key there.

    The key "#" is a row's place, from 1. ValueError where there is no such list of mappings.
    """

    of: str
    columns: Mapping[str, str]

    def frame(self, data: Mapping[str, Any] | None) -> dict[str, Any]:
        """Plain JSON: the list, the columns with their keys, which hold numbers; ValueError where there is no list."""
        rows = (data or {}).get(self.of)
        if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
            raise ValueError(f"the data of Stages has no list of rows {self.of!r}")
        keys = list(self.columns.values())
        numeric = [int(key == "#" or all(is_number(row[key]) for row in rows)) for key in keys]
        return {"of": self.of, "columns": list(self.columns), "keys": keys, "numeric": numeric}


@dataclass(frozen=True, slots=True)
class Stage:
    """One step: what it was given and what it made, each a text, a Table or Rows (else ValueError), and its time.

    `ms` are milliseconds, or the key that they have in `data["timings"]`.
    """

    name: str
    given: str | Table | Rows
    made: str | Table | Rows
    ms: float | str | None = None

    def __post_init__(self) -> None:
        check_shown(self, "name")
        if not (self.ms is None or isinstance(self.ms, str) or is_number(self.ms)):
            raise ValueError(f"ms of a Stage is a number of milliseconds, not {reprlib.repr(self.ms)}")
        for part in (self.given, self.made):
            if not isinstance(part, str | Table | Rows):
                raise ValueError(f"a Stage is given a text or a Table and makes one, not {reprlib.repr(part)}")


@dataclass(frozen=True, slots=True)
class Stages:
    """A computation, step by step, to open and to copy as JSON: `data`, else the stages; ValueError for other JSON."""

    stages: Sequence[Stage]
    title: str = ""
    data: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        check_shown(self, "title")
        keep(self, "stages", listed("stages", self.stages))
        if other := [stage for stage in self.stages if not isinstance(stage, Stage)]:
            raise ValueError(f"stages must hold Stages only, not {reprlib.repr(other[0])}")
        if self.data is not None:
            keep(self, "data", checked_json(self.data))
        known = (self.data or {}).get("timings", {})
        if lost := [stage.ms for stage in self.stages if isinstance(stage.ms, str) and stage.ms not in known]:
            raise ValueError(f"the data of Stages has no time of {lost[0]!r} in its timings")

    def frame(self) -> dict[str, Any]:
        """Plain JSON: a part of a stage is {"text": paragraphs} or a frame; "copy" is what is copied."""
        part = functools.partial(_part, data=self.data)
        stages = [
            {"name": s.name, "ms": plain_json(s.ms), "given": part(s.given), "made": part(s.made)} for s in self.stages
        ]
        copy = [_copied(stage) for stage in stages] if self.data is None else self.data
        return {"kind": "stages", "title": self.title, "stages": stages, "copy": copy}

    def _repr_html_(self) -> str:
        return alone(self.frame())


def _copied(stage: Mapping[str, Any]) -> dict[str, Any]:
    # Each row of a table is an object.
    given, made = (
        [dict(zip(part["columns"], row, strict=True)) for row in part["rows"]]
        if "rows" in part
        else "\n\n".join(part["text"])
        for part in (stage["given"], stage["made"])
    )
    return {"stage": stage["name"], "ms": stage["ms"], "in": given, "out": made}


def _part(part: str | Table | Rows, data: Mapping[str, Any] | None) -> dict[str, Any]:
    if isinstance(part, Rows):
        return part.frame(data)
    # A long text goes by its paragraphs, most of which other positions have too.
    return {"text": part.split("\n\n")} if isinstance(part, str) else part.frame()


def frame_of(result: Any) -> list[dict[str, Any]]:
    """Turn what a function returned, one view or a list of them, into plain JSON."""
    return [_view(part).frame() for part in (result if isinstance(result, (list, tuple)) else [result])]


def _view(result: Any) -> Any:
    if isinstance(result, (Passages, Figure, Table, Meter, Note, Stages, CutPoints)):
        return result
    if hasattr(result, "to_plotly_json"):
        return Figure(result)
    kinds = "Passages, Figure, Table, Meter, Note, Stages, CutPoints or a Plotly figure"
    raise ValueError(f"a view is {kinds}, not {reprlib.repr(result)}")
