"""What `explore` is made of: controls that a reader moves and views that answer them."""

from __future__ import annotations

import functools
import itertools
import math
import numbers
import reprlib
from collections.abc import Hashable, Iterable, Mapping, Sequence
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
        _check_shown(self, "label", "unit")
        _keep(self, "values", _filled(self.label, self.values))
        if self.labels is None or isinstance(self.labels, Mapping):
            return
        _keep(self, "labels", _listed(self.label, self.labels))
        if len(self.labels) != len(self.values):
            raise ValueError(f"{self.label!r} has {len(self.values)} values but {len(self.labels)} labels")

    def texts(self) -> list[str]:
        """What the reader sees at each value."""
        if self.labels is not None and not isinstance(self.labels, Mapping):
            return [str(label) for label in self.labels]
        named = list((self.labels or {}).items())
        found = (place_in([value for value, _ in named], value) for value in self.values)
        return [
            _quantity(value, self.unit) if place is None else str(named[place][1])
            for value, place in zip(self.values, found, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several options: a list of labels, or a mapping from labels to values."""

    label: str
    options: Sequence[str] | Mapping[str, Any]
    start: Any = None

    def __post_init__(self) -> None:
        _check_shown(self, "label")
        if isinstance(self.options, Mapping):
            _filled(self.label, self.options.values())
        else:
            _keep(self, "options", _filled(self.label, self.options))

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

    def __post_init__(self) -> None:
        _check_shown(self, "label")

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
        _check_shown(self, "label")
        if isinstance(self.examples, Mapping) != (self.by is not None):
            raise ValueError(f"{self.label!r}: a mapping of examples needs by=, a list of them must not have it")
        if isinstance(self.examples, Mapping):
            _keep(self, "examples", {key: _questions(self.label, texts) for key, texts in self.examples.items()})
        else:
            _keep(self, "examples", _questions(self.label, self.examples))

    def under(self, label: str | None) -> Sequence[str]:
        """The examples while the control named by `by` shows this label."""
        return self.examples[label] if isinstance(self.examples, Mapping) else self.examples


Control = Slider | Choice | Switch | Text


def start_of(control: Control) -> int:
    """The index a control starts at: that of the value, or of the label, given as `start`."""
    if isinstance(control, Text) or control.start is None:
        return 0
    for options in (control.values, control.texts()):
        if (place := place_in(options, control.start)) is not None:
            return place
    start = reprlib.repr(control.start)
    raise ValueError(f"{control.label!r} cannot start at {start}: it has {', '.join(control.texts())}")


def place_in(options: Sequence[Any], value: Any) -> int | None:
    """Where a value is among options: the very object, else an equal one of its type, else an equal one."""
    tests = (
        lambda option: option is value,
        lambda option: type(option) is type(value) and _equal(option, value),
        lambda option: _equal(option, value),
    )
    places = (place for test in tests for place, option in enumerate(options) if test(option))
    return next(places, None)


def _equal(one: Any, other: Any) -> bool:
    try:
        return bool(one == other)
    except Exception:  # arrays answer for each of their numbers, and their libraries raise what they like
        return False


def _listed(label: str, values: Iterable[Any]) -> list[Any]:
    # A generator is read once, here, so that every frame has its values.
    if isinstance(values, str) or not isinstance(values, Iterable) or not (kept := list(values)):
        raise ValueError(f"{label!r} needs a list of at least one value, got {reprlib.repr(values)}")
    return kept


def _filled(label: str, values: Iterable[Any]) -> list[Any]:
    kept = _listed(label, values)
    seen = set()
    for value in kept:
        if (key := _identity(value)) in seen:
            raise ValueError(f"{label!r} has the value {reprlib.repr(value)} twice")
        seen.add(key)
    return kept


def _identity(value: Any) -> Hashable:
    # True equals 1, but not to a reader; an array equals nothing but itself.
    try:
        hash(value)
    except TypeError:
        return id(value)
    return type(value), value


def _questions(label: str, texts: Iterable[str]) -> list[str]:
    texts = _filled(label, texts)
    if other := [text for text in texts if not isinstance(text, str)]:
        raise ValueError(f"an example of {label!r} is a text, not {reprlib.repr(other[0])}")
    return texts


def _keep(part: Any, name: str, value: Any) -> None:
    object.__setattr__(part, name, value)


def _check_shown(part: Any, *names: str) -> None:
    """Make sure that these fields are text to show; a number is shown as in a table."""
    for name in names:
        value = getattr(part, name)
        if _is_number(value):
            _keep(part, name, _cell(value))
        elif not isinstance(value, str):
            raise ValueError(f"{name} of a {type(part).__name__} is a text to show, not {reprlib.repr(value)}")


def _quantity(value: Any, unit: str) -> str:
    words = unit.split(" ")
    if _is_number(value) and value == 1 and len(words[0]) > 3:
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
        _check_shown(self, "label")
        if not isinstance(self.span, Span):
            raise ValueError(f"a mark needs a Span, not {reprlib.repr(self.span)}")
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
        _check_shown(self, "text", "title", "lang", "note")
        if self.show not in ("all", "marked"):
            raise ValueError(f'show is "all" or "marked", not {self.show!r}')
        _keep(self, "marks", tuple(self.marks))
        for mark in self.marks:
            if not isinstance(mark, Mark):
                raise ValueError(f"marks must hold Marks only, not {reprlib.repr(mark)}")
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

    def __post_init__(self) -> None:
        _check_shown(self, "alt")
        if not hasattr(self.fig, "to_plotly_json"):
            raise ValueError(f"a Figure needs a Plotly figure, not {reprlib.repr(self.fig)}")

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
        _check_shown(self, "caption")
        _keep(self, "columns", [_cell(name) for name in _listed("columns", self.columns)])
        _keep(self, "rows", [_listed("a row", row) for row in self.rows])
        for row in self.rows:
            if len(row) != len(self.columns):
                shown = reprlib.repr(row)
                raise ValueError(f"a row of {len(row)} cells in a table of {len(self.columns)} columns: {shown}")

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

    def __post_init__(self) -> None:
        _check_shown(self, "label", "unit")
        for name in ("value", "maximum"):
            number = getattr(self, name)
            if not _is_number(number) or not math.isfinite(number):
                raise ValueError(f"{name} of a Meter is a finite number, not {reprlib.repr(number)}")

    def frame(self) -> dict[str, Any]:
        """Plain JSON."""
        value, maximum = _plain(self.value), _plain(self.maximum)
        return {"kind": "meter", "label": self.label, "value": value, "maximum": maximum, "unit": self.unit}


@dataclass(frozen=True, slots=True)
class Note:
    """One short sentence, read aloud by screen readers when it changes."""

    text: str

    def __post_init__(self) -> None:
        _check_shown(self, "text")

    def frame(self) -> dict[str, Any]:
        """Plain JSON."""
        return {"kind": "note", "text": self.text}


@dataclass(frozen=True, slots=True)
class Stage:
    """One step of a computation: what it was given and what it made, each a text or a Table, and its milliseconds."""

    name: str
    given: str | Table
    made: str | Table
    ms: float | None = None

    def __post_init__(self) -> None:
        _check_shown(self, "name")
        if self.ms is not None and not _is_number(self.ms):
            raise ValueError(f"ms of a Stage is a number of milliseconds, not {reprlib.repr(self.ms)}")
        for part in (self.given, self.made):
            if not isinstance(part, str | Table):
                raise ValueError(f"a Stage is given a text or a Table and makes one, not {reprlib.repr(part)}")


@dataclass(frozen=True, slots=True)
class Stages:
    """A computation step by step, to be opened, and to be copied as JSON."""

    stages: Sequence[Stage]
    title: str = ""

    def __post_init__(self) -> None:
        _check_shown(self, "title")
        _keep(self, "stages", _listed("stages", self.stages))
        if other := [stage for stage in self.stages if not isinstance(stage, Stage)]:
            raise ValueError(f"stages must hold Stages only, not {reprlib.repr(other[0])}")

    def frame(self) -> dict[str, Any]:
        """Plain JSON: each part of a stage is {"text"}, or the frame of a table."""
        stages = [
            {"name": s.name, "ms": _plain(s.ms), "given": _part(s.given), "made": _part(s.made)} for s in self.stages
        ]
        return {"kind": "stages", "title": self.title, "stages": stages}

    def _repr_html_(self) -> str:
        return _alone(self)


def _part(part: str | Table) -> dict[str, Any]:
    return {"text": part} if isinstance(part, str) else part.frame()


def _alone(view: Passages | Table | Stages) -> str:
    # At the end of a cell, without a figure around it.
    from .widgets.page import alone

    return alone(view.frame())


def frame_of(result: Any) -> list[dict[str, Any]]:
    """Turn what a function returned, one view or a list of them, into plain JSON."""
    return [_view(part).frame() for part in (result if isinstance(result, (list, tuple)) else [result])]


def _view(result: Any) -> Any:
    if isinstance(result, (Passages, Figure, Table, Meter, Note, Stages)):
        return result
    if hasattr(result, "to_plotly_json"):
        return Figure(result)
    kinds = "Passages, Figure, Table, Meter, Note, Stages or a Plotly figure"
    raise ValueError(f"a view is {kinds}, not {reprlib.repr(result)}")


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
    # Four digits below one, as for similarities; else eight, and three decimals however large the number.
    if not math.isfinite(number):
        return None
    if abs(number) < 1:
        return float(f"{number:.4g}")
    return round(number, max(3, 7 - math.floor(math.log10(abs(number)))))


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return _short(value)
    if isinstance(value, Mapping):
        return _unpacked(value) if "bdata" in value else {key: _plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    if getattr(getattr(value, "dtype", None), "kind", "") == "M":
        value = value.astype("datetime64[us]")  # finer ones become bare numbers, and JavaScript has no finer ones
    return _plain(value.tolist()) if hasattr(value, "tolist") else str(value)


def _unpacked(packed: Mapping[str, Any]) -> list[Any]:
    # Plotly packs arrays as base64, which neither compresses nor compares well.
    import base64

    import numpy as np

    array = np.frombuffer(base64.b64decode(packed["bdata"]), dtype=packed["dtype"])
    shape = packed.get("shape")
    return _plain((array.reshape([int(n) for n in str(shape).split(",")]) if shape else array).tolist())
