"""What is shown is text, and a list is read once: the checks that controls and views have in common."""

from __future__ import annotations

import numbers
import re
import reprlib
from collections.abc import Iterable
from typing import Any


def is_number(value: Any) -> bool:
    """Tell whether a value is a number to a reader: True and False are not."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def cell(value: Any) -> str:
    """A value as a table shows it: three decimals, "yes" and "no", a dash for nothing."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, numbers.Real) and not isinstance(value, numbers.Integral):
        return f"{float(value):.3f}"
    return str(value)


def listed(label: str, values: Iterable[Any], least: int = 1) -> list[Any]:
    """The values as a list, so that a generator is read once; ValueError for a text, or for fewer than `least`."""
    if isinstance(values, str) or not isinstance(values, Iterable) or len(kept := list(values)) < least:
        wanted = "a list of at least one value" if least else "a list"
        raise ValueError(f"{label!r} needs {wanted}, got {reprlib.repr(values)}")
    return kept


def keep(part: Any, name: str, value: Any) -> None:
    """Set a field of a frozen dataclass, while it is made."""
    object.__setattr__(part, name, value)


def check_shown(part: Any, *names: str) -> None:
    """Make sure that these fields are text to show (else ValueError); a number is shown as in a table."""
    for name in names:
        value = getattr(part, name)
        if is_number(value):
            keep(part, name, cell(value))
        elif not isinstance(value, str):
            raise ValueError(f"{name} of a {type(part).__name__} is a text to show, not {reprlib.repr(value)}")


def badges(labelled: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Which kinds of marks, given (kind, label), have a badge that has a meaning, and which: a kind and its meaning.

    By the first label of a kind: a decimal is a similarity, a whole number the place of a chunk or of a context.
    """
    first: dict[str, str] = {}
    for kind, label in labelled:
        if label:
            first.setdefault(kind, label)
    return [(kind, meaning) for kind, label in sorted(first.items()) if (meaning := _meaning(kind, label))]


def _meaning(kind: str, label: str) -> str:
    if label.isdecimal():
        return kind if kind in ("chunk", "context") else ""
    return "similarity" if re.fullmatch(r"-?\d*\.\d+", label) else ""
