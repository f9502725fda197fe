"""Controls that a reader moves: each has a label, `values` for Python and `texts` for the reader."""

from __future__ import annotations

import reprlib
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .shown import check_shown, is_number, keep, listed


@dataclass(frozen=True, slots=True)
class Slider:
    """A row of discrete values; `labels` (a list, or a mapping of some values) replace number and unit.

    It begins at `start`, a value or its label, else at the first. ValueError for no values, one that is there twice,
    labels that are too few or too many, and a label that is no text.
    """

    label: str
    values: Sequence[Any]
    start: Any = None
    unit: str = ""
    labels: Sequence[str] | Mapping[Any, str] | None = None

    def __post_init__(self) -> None:
        check_shown(self, "label", "unit")
        keep(self, "values", _filled(self.label, self.values))
        if self.labels is None or isinstance(self.labels, Mapping):
            return
        keep(self, "labels", listed(self.label, self.labels))
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
    """One of several options: a list of labels, or a mapping from labels to values.

    It begins at `start`, a value or its label, else at the first. ValueError for no options, one that is there twice,
    and a label that is no text.
    """

    label: str
    options: Sequence[str] | Mapping[str, Any]
    start: Any = None

    def __post_init__(self) -> None:
        check_shown(self, "label")
        if isinstance(self.options, Mapping):
            _filled(self.label, self.options.values())
        else:
            keep(self, "options", _filled(self.label, self.options))

    @property
    def values(self) -> tuple[Any, ...]:
        """What Python gets for each option."""
        return tuple(self.options.values() if isinstance(self.options, Mapping) else self.options)

    def texts(self) -> list[str]:
        """What the reader sees for each option."""
        return [str(option) for option in self.options]


@dataclass(frozen=True, slots=True)
class Switch:
    """On or off; ValueError for a label that is no text."""

    label: str
    start: bool = False

    def __post_init__(self) -> None:
        check_shown(self, "label")

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

    With `by`, the name of another control, examples are a mapping from each of its labels to a list. A `long` one has
    several lines to type in, as a text that is pasted needs. ValueError for no examples, one that is there twice or is
    no text, and for a mapping without `by`.
    """

    label: str
    examples: Sequence[str] | Mapping[str, Sequence[str]]
    by: str | None = None
    long: bool = False

    def __post_init__(self) -> None:
        check_shown(self, "label")
        if isinstance(self.examples, Mapping) != (self.by is not None):
            raise ValueError(f"{self.label!r}: a mapping of examples needs by=, a list of them must not have it")
        if isinstance(self.examples, Mapping):
            keep(self, "examples", {key: _questions(self.label, texts) for key, texts in self.examples.items()})
        else:
            keep(self, "examples", _questions(self.label, self.examples))

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


def _filled(label: str, values: Iterable[Any]) -> list[Any]:
    kept = listed(label, values)
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


def _quantity(value: Any, unit: str) -> str:
    words = unit.split(" ")
    if is_number(value) and value == 1 and len(words[0]) > 3:
        words[0] = words[0].removesuffix("s")
    return " ".join([f"{value:g}" if isinstance(value, float) else str(value), *words]).strip()
