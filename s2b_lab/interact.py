"""What `explore` is made of: controls that a reader moves and views that answer them."""

from __future__ import annotations

import functools
import itertools
import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .text import Span

KINDS = ("chunk", "context", "hit", "gold", "lost")


# --- Controls: each has a label, `values` for Python and `texts` for the reader ---


@dataclass(frozen=True, slots=True)
class Slider:
    """A row of discrete values; `labels` (a list, or a mapping of some values) replace number and unit."""

    label: str
    values: Sequence[Any]
    start: Any = None
    unit: str = ""
    labels: Sequence[str] | Mapping[Any, str] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", _filled(self.label, self.values))
        if self.labels is not None and not isinstance(self.labels, Mapping) and len(self.labels) != len(self.values):
            raise ValueError(f"{self.label!r} has {len(self.values)} values but {len(self.labels)} labels")

    def texts(self) -> list[str]:
        """What the reader sees at each value."""
        if self.labels is not None and not isinstance(self.labels, Mapping):
            return [str(label) for label in self.labels]
        named = self.labels or {}
        return [str(named[v]) if v in named else _quantity(v, self.unit) for v in self.values]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several options: a list of labels, or a mapping from labels to values."""

    label: str
    options: Sequence[str] | Mapping[str, Any]
    start: Any = None

    def __post_init__(self) -> None:
        _filled(self.label, self.options)

    @property
    def values(self) -> tuple[Any, ...]:
        """What Python gets for each option."""
        return tuple(self.options.values() if isinstance(self.options, Mapping) else self.options)

    def texts(self) -> list[str]:
        """What the reader sees for each option."""
        return [str(option) for option in self.options]


@dataclass(frozen=True, slots=True)
class Switch:
    """On or off."""

    label: str
    start: bool = False

    @property
    def values(self) -> tuple[bool, bool]:
        """Off, then on."""
        return (False, True)

    def texts(self) -> list[str]:
        """What the reader hears for off and on."""
        return ["off", "on"]


@dataclass(frozen=True, slots=True)
class Text:
    """A string: one of the examples, or where a kernel answers, any string the reader types.

    With `by`, the name of another control, examples are a mapping from each of its labels to a list.
    """

    label: str
    examples: Sequence[str] | Mapping[str, Sequence[str]]
    by: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.examples, Mapping) != (self.by is not None):
            raise ValueError(f"{self.label!r}: a mapping of examples needs by=, a list of them must not have it")
        for texts in self.examples.values() if isinstance(self.examples, Mapping) else [self.examples]:
            _filled(self.label, texts)

    def under(self, label: str | None) -> Sequence[str]:
        """The examples while the control named by `by` shows this label."""
        return self.examples[label] if isinstance(self.examples, Mapping) else self.examples


Control = Slider | Choice | Switch | Text


def start_of(control: Control) -> int:
    """The index a control starts at: that of the value, or of the label, given as `start`."""
    if isinstance(control, Text) or control.start is None:
        return 0
    for options in (list(control.values), control.texts()):
        if control.start in options:
            return options.index(control.start)
    raise ValueError(f"{control.label!r} cannot start at {control.start!r}: it has {', '.join(control.texts())}")


def _filled(label: str, values: Iterable[Any]) -> tuple[Any, ...]:
    if isinstance(values, str) or not (kept := tuple(values)):
        raise ValueError(f"{label!r} needs a list of at least one value, got {values!r}")
    return kept


def _quantity(value: Any, unit: str) -> str:
    words = unit.split(" ")
    if value == 1 and len(words[0]) > 3:
        words[0] = words[0].removesuffix("s")
    return " ".join([f"{value:g}" if isinstance(value, float) else str(value), *words]).strip()


# --- Views: each turns into plain JSON, offsets counted as JavaScript counts them ---


@dataclass(frozen=True, slots=True)
class Mark:
    """A highlighted span: a "chunk", a delivered "context", a "hit", "gold" evidence or evidence "lost"."""

    span: Span
    kind: str
    label: str = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"a mark cannot be {self.kind!r}; it is one of {', '.join(KINDS)}")


@dataclass(frozen=True, slots=True)
class Passages:
    """One text with highlighted spans, which may nest and overlap; show="marked" leaves the rest out, visibly."""

    text: str
    marks: Sequence[Mark] = ()
    title: str = ""
    show: str = "all"
    lang: str = "en"
    note: str = ""

    def __post_init__(self) -> None:
        if self.show not in ("all", "marked"):
            raise ValueError(f'show is "all" or "marked", not {self.show!r}')
        for mark in self.marks:
            if mark.span.end > len(self.text):
                raise ValueError(f"{mark} ends after the text, which has {len(self.text)} characters")

    def frame(self) -> dict[str, Any]:
        """Plain JSON: marks as [start, end] or [start, end, label] in UTF-16 units, grouped by kind."""
        at = _utf16(self.text)
        marks: dict[str, list[list[Any]]] = {}
        for mark in self.marks:
            ends = [at[mark.span.start], at[mark.span.end]]
            marks.setdefault(mark.kind, []).append([*ends, mark.label] if mark.label else ends)
        fields = {"title": self.title, "show": self.show, "lang": self.lang, "note": self.note}
        return {"kind": "passages", "text": self.text, "marks": marks, **fields}

    def _repr_html_(self) -> str:
        return _alone(self)


@dataclass(frozen=True, slots=True)
class Figure:
    """A Plotly figure, with one sentence for those who cannot see it."""

    fig: Any
    alt: str = ""

    def frame(self) -> dict[str, Any]:
        """Plain JSON: traces and layout with short decimal lists, no template (the page sets the colours)."""
        drawn = self.fig.to_plotly_json()
        layout = {key: value for key, value in drawn["layout"].items() if key != "template"}
        alt = self.alt or layout.get("title", {}).get("text") or ""
        return {"kind": "figure", "data": _plain(list(drawn["data"])), "layout": _plain(layout), "alt": alt}


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under column names; numbers stand to the right."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    caption: str = ""

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"a row of {len(row)} cells in a table of {len(self.columns)} columns: {row!r}")

    def frame(self) -> dict[str, Any]:
        """Plain JSON: cells as the strings to show, and which columns hold numbers."""
        rows = [[_cell(value) for value in row] for row in self.rows]
        numeric = [int(all(_is_number(row[i]) for row in self.rows)) for i in range(len(self.columns))]
        return {
            "kind": "table", "columns": list(self.columns), "rows": rows, "numeric": numeric, "caption": self.caption
        }  # fmt: skip

    def _repr_html_(self) -> str:
        return _alone(self)


@dataclass(frozen=True, slots=True)
class Meter:
    """How much of a maximum is used."""

    label: str
    value: float
    maximum: float
    unit: str = ""

    def frame(self) -> dict[str, Any]:
        """Plain JSON."""
        value, maximum = _plain(self.value), _plain(self.maximum)
        return {"kind": "meter", "label": self.label, "value": value, "maximum": maximum, "unit": self.unit}


@dataclass(frozen=True, slots=True)
class Note:
    """One short sentence, read aloud by screen readers when it changes."""

    text: str

    def frame(self) -> dict[str, Any]:
        """Plain JSON."""
        return {"kind": "note", "text": self.text}


def _alone(view: Passages | Table) -> str:
    # At the end of a cell, without a figure around it.
    from .widgets.page import alone

    return alone(view.frame())


def frame_of(result: Any) -> list[dict[str, Any]]:
    """Turn what a function returned, one view or a list of them, into plain JSON."""
    return [_view(part).frame() for part in (result if isinstance(result, (list, tuple)) else [result])]


def _view(result: Any) -> Any:
    if isinstance(result, (Passages, Figure, Table, Meter, Note)):
        return result
    if hasattr(result, "to_plotly_json"):
        return Figure(result)
    raise ValueError(f"a view is Passages, Figure, Table, Meter, Note or a Plotly figure, not {result!r}")


@functools.lru_cache(maxsize=16)
def _utf16(text: str) -> Sequence[int]:
    # JavaScript counts a character beyond U+FFFF (an emoji, say) as two.
    if text.isascii() or max(text) <= "\uffff":
        return range(len(text) + 1)
    return [0, *itertools.accumulate(1 + (character > "\uffff") for character in text)]


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, numbers.Real) and not isinstance(value, numbers.Integral):
        return f"{float(value):.3f}"
    return str(value)


def _short(number: float) -> float | None:
    # Three decimals, or three digits where the number is below one: finer than a pixel either way.
    if not math.isfinite(number):
        return None
    return round(number, 3) if abs(number) >= 1 else float(f"{number:.3g}")


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return _short(value)
    if isinstance(value, Mapping):
        return _unpacked(value) if "bdata" in value else {key: _plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    return _plain(value.tolist()) if hasattr(value, "tolist") else str(value)


def _unpacked(packed: Mapping[str, Any]) -> list[Any]:
    # Plotly packs arrays as base64, which neither compresses nor compares well.
    import base64

    import numpy as np

    array = np.frombuffer(base64.b64decode(packed["bdata"]), dtype=packed["dtype"])
    shape = packed.get("shape")
    return _plain((array.reshape([int(n) for n in str(shape).split(",")]) if shape else array).tolist())
