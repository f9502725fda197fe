"""Bad input gets a clear error that names the value and the limit."""

import math
import reprlib
import warnings
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral, Real
from types import UnionType
from typing import Any, TypeVar

from .characters import is_blank, without_surrogates

T = TypeVar("T")


def check_str(name: str, value: object) -> None:
    """Refuse what is no str (TypeError)."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a str, not {_shown(value)}")


def check_filled(name: str, value: object) -> str:
    """Give a text with its lone surrogates replaced; ValueError for what is no text or has nothing to see in it."""
    if not isinstance(value, str | None):
        raise ValueError(f"the {name} must be a text, not {_shown(value)}")
    if value is None or is_blank(value):
        raise ValueError(f"the {name} is blank: {value!r}")
    return mended(f"the {name}", value, stacklevel=4)


def check_whole(name: str, value: object, least: int) -> None:
    """Refuse what is no whole number or is less than `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise ValueError(f"{name} must be a whole number, not {value!r}")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, not {value}")


def check_number(name: str, value: object, least: float | None = None, most: float | None = None) -> None:
    """Refuse what is no finite number, is less than `least` or more than `most`."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ValueError(f"{name} must be a number, not {_shown(value)}")
    if not math.isfinite(value) or (least is not None and value < least):
        limit = "" if least is None else f" of at least {least}"
        raise ValueError(f"{name} must be a finite number{limit}, not {value}")
    if most is not None and value > most:
        raise ValueError(f"{name} must be at most {most}, not {value}")


def check_choice(name: str, value: object, choices: Iterable[object]) -> None:
    """Refuse what is none of the choices."""
    choices = tuple(choices)
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, not {value!r}")


def check_kind(name: str, value: object, kind: type | UnionType) -> None:
    """Refuse what is not of this kind, a class or a union of some (TypeError)."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be {_wanted(kind)}, not {_shown(value)}")


def check_callable(name: str, value: object, wanted: str) -> None:
    """Refuse what cannot be called (TypeError); `wanted` says what it is a function of."""
    if not callable(value):
        raise TypeError(f"{name} must be a function {wanted}, not {_shown(value)}")


def list_of(kind: Callable[..., T], name: str, values: Iterable[T]) -> list[T]:
    """Give the values as a list; TypeError unless they are a collection of this kind, a class, alone."""
    plural = "texts" if kind is str else f"{kind.__name__}s"
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise TypeError(f"{name} must be a list of {plural}, not {_shown(values)}")
    found = list(values)
    for value in found:
        if not isinstance(value, kind):
            raise TypeError(f"{name} must hold {plural} only, not {_shown(value)}")
    return found


def mended(name: str, text: str, stacklevel: int = 3) -> str:
    """Give a text whose lone surrogates are replaced one by one, with a warning; every offset stays true.

    They are halves of characters that a wrong decoding left: no model, store or file takes them.
    """
    sound = without_surrogates(text)
    if sound != text:
        first = next(place for place, (a, b) in enumerate(zip(text, sound, strict=True)) if a != b)
        warnings.warn(
            f"{name} has lone surrogates, the first at character {first}, which are replaced by U+FFFD: was it "
            "decoded with another encoding?",
            stacklevel=stacklevel,
        )
    return sound


def _wanted(kind: Any) -> str:
    if isinstance(kind, UnionType):
        return " or ".join(_wanted(one) for one in kind.__args__)
    name = "None" if kind is type(None) else kind.__name__
    return name if name == "None" else f"{'an' if name[0] in 'AEIOUaeiou' else 'a'} {name}"


def _shown(value: object) -> str:
    """The kind of a value, and in short the value itself."""
    return "NoneType" if value is None else f"{type(value).__name__} {reprlib.repr(value)}"
