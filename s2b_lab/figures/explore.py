"""`explore`: an interact that survives publishing, since one function answers on a page and in a kernel alike."""

from __future__ import annotations

import math
import numbers
import reprlib
from collections.abc import Callable
from typing import Any

from .controls import Control
from .notebook import figure_of, show_figures
from .record import name_of, spec_of


def explore(fn: Callable[..., Any], /, *, name: str | None = None, timeout: float = 20.0, **controls: Control) -> Any:
    """Show what `fn`, an ordinary function from the controls' values to views, gives wherever the reader moves them.

    While the book is built (S2B_BUILD=1) every position is computed, at most 5000 of them, and the figure that is
    returned is plain HTML. Otherwise it is an ipywidgets widget whose `values` can be observed and set, and which asks
    `fn` as it is moved; after `timeout` seconds without a sign of life from Python it says so. `name` is what a screen
    reader calls the figure; no control can be called `name` or `timeout`. ValueError for what is no function or no
    control, more positions than that, and a timeout that is not above 0; RuntimeError where `fn` fails, or gives a page
    what it cannot draw.
    """
    _check_call(fn, name, timeout)
    show_figures()
    return figure_of(fn, controls, spec_of(controls, name or name_of(fn).strip("_").replace("_", " "), timeout))


def _check_call(fn: Any, name: Any, timeout: Any) -> None:
    if not callable(fn):
        raise ValueError(f"explore needs a function of the controls' values, not {reprlib.repr(fn)}")
    for key, value in {"name": name, "timeout": timeout}.items():
        if isinstance(value, Control):
            raise ValueError(f"{key}= is explore's own, so no control can be called that: rename the parameter")
    if not isinstance(name, str | None):
        raise ValueError(f"name is a text, not {name!r}")
    if not isinstance(timeout, numbers.Real) or not 0 < timeout < math.inf:
        raise ValueError(f"timeout is a number of seconds above 0, not {timeout!r}")
