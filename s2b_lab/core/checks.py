"""Bad input gets a clear error that names the value and the limit."""

from collections.abc import Iterable
from numbers import Integral

from .characters import is_blank


def check_str(name: str, value: object) -> None:
    """Refuse what is no str (TypeError)."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a str, not {type(value).__name__}")


def check_filled(name: str, value: object) -> None:
    """Refuse what is no text or has nothing to see in it."""
    if not isinstance(value, str) or is_blank(value):
        raise ValueError(f"the {name} is blank: {value!r}")


def check_whole(name: str, value: object, least: int) -> None:
    """Refuse what is no whole number or is less than `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise ValueError(f"{name} must be a whole number, not {value!r}")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, not {value}")


def check_choice(name: str, value: object, choices: Iterable[object]) -> None:
    """Refuse what is none of the choices."""
    choices = tuple(choices)
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, not {value!r}")
