"""`explore`: an interact that survives publishing, since one function answers on a page and in a kernel alike."""

from __future__ import annotations

import functools
import itertools
import json
import math
import numbers
import os
import reprlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .interact import Control, Text, frame_of, place_in, start_of

Position = tuple[int, ...]
# More than this takes minutes to compute and megabytes to ship: a control too many.
MOST_POSITIONS = 5000
_POOLED_FROM = 40


def explore(fn: Callable[..., Any], /, *, name: str | None = None, timeout: float = 20.0, **controls: Control) -> Any:
    """Show what `fn`, an ordinary function from the controls' values to views, gives wherever the reader moves them.

    While the book is built (S2B_BUILD=1) every position is computed, at most 5000 of them, and the figure that is
    returned is plain HTML. Otherwise it is an ipywidgets widget whose `values` can be observed and set, and which asks
    `fn` as it is moved; after `timeout` seconds without an answer it says so. `name` is what a screen reader calls the
    figure; no control can be called `name` or `timeout`.
    """
    _check_call(fn, name, timeout)
    spec = _spec(controls, name or _called(fn).strip("_").replace("_", " "), timeout)
    if os.environ.get("S2B_BUILD") == "1":
        from .widgets.page import Recorded

        return Recorded(spec, record(fn, controls, positions(controls)))
    from .widgets.explorer import Explorer

    return Explorer(fn, controls, spec, record(fn, controls, [tuple(spec["start"])]))


def positions(controls: Mapping[str, Control]) -> list[Position]:
    """Every combination of indices of the controls; a question's index runs over the examples it has there."""
    lengths = [_longest(control) for control in controls.values()]
    every = [at for at in itertools.product(*map(range, lengths)) if _exists(controls, at)]
    if len(every) > MOST_POSITIONS:
        raise ValueError(f"{len(every)} positions to record, at most {MOST_POSITIONS}: give the controls fewer values")
    return every


def values_at(controls: Mapping[str, Control], at: Sequence[int], own: Mapping[str, str] | None = None) -> dict:
    """Keyword arguments for the function at a position; `own` holds questions that the reader typed."""
    values = {name: _options(controls, name, at)[i] for (name, _), i in zip(controls.items(), at, strict=True)}
    return values | {name: text for name, text in (own or {}).items() if isinstance(controls.get(name), Text)}


def position_of(controls: Mapping[str, Control], values: Mapping[str, Any]) -> tuple[Position, dict[str, str]]:
    """Where these values are: indices, and the questions that are none of the examples."""
    at = [0] * len(controls)
    own = {}
    # Questions last: their examples depend on where the other controls are.
    for i, name in sorted(enumerate(controls), key=lambda item: isinstance(controls[item[1]], Text)):
        place = place_in(_options(controls, name, at), values[name])
        if place is not None:
            at[i] = place
        elif isinstance(controls[name], Text) and isinstance(values[name], str) and values[name].strip():
            own[name] = values[name]
        else:
            labels = ", ".join(_labels(controls, name, at))
            raise ValueError(f"{name} cannot be {reprlib.repr(values[name])}: it is one of {labels}")
    return tuple(at), own


def label_at(controls: Mapping[str, Control], name: str, at: Sequence[int]) -> str:
    """What a control shows at a position."""
    return _labels(controls, name, at)[at[list(controls).index(name)]]


def record(fn: Callable[..., Any], controls: Mapping[str, Control], where: Sequence[Position]) -> dict[str, Any]:
    """Compute the frames at these positions: {"pool": [...], "frames": {"0,2": frame}}.

    What is longer than about 40 bytes as JSON is stored once, in the pool, and is {"$": index} elsewhere.
    """
    pool = _Pool()
    frames = {",".join(map(str, at)): pool.intern(_frame_at(fn, controls, at)) for at in where}
    return {"pool": pool.items, "frames": frames}


def _frame_at(fn: Callable[..., Any], controls: Mapping[str, Control], at: Position) -> list[dict[str, Any]]:
    try:
        return frame_of(fn(**values_at(controls, at)))
    except Exception as error:
        where = ", ".join(f"{name}={label_at(controls, name, at)}" for name in controls)
        raise RuntimeError(f"{_called(fn)} failed at {where}: {type(error).__name__}: {error}") from error


class _Pool:
    """Equal parts of JSON trees, each kept once."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self._index: dict[str, int] = {}

    def intern(self, tree: Any) -> Any:
        if isinstance(tree, dict):
            tree = {key: self.intern(part) for key, part in tree.items()}
        elif isinstance(tree, list):
            tree = [self.intern(part) if isinstance(part, (str, list, dict)) else part for part in tree]
        elif not isinstance(tree, str) or len(tree) * 6 < _POOLED_FROM:
            return tree
        key = json.dumps(tree, separators=(",", ":"))
        if len(key) <= _POOLED_FROM:
            return tree
        if key not in self._index:
            self._index[key] = len(self.items)
            self.items.append(tree)
        return {"$": self._index[key]}


def _called(fn: Callable[..., Any]) -> str:
    while isinstance(fn, functools.partial):
        fn = fn.func
    return getattr(fn, "__name__", type(fn).__name__)


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


def _spec(controls: Mapping[str, Control], name: str, timeout: float) -> dict[str, Any]:
    for key, control in controls.items():
        _check(controls, key, control)
    return {
        "name": name,
        "timeout": timeout,
        "start": [start_of(control) for control in controls.values()],
        "controls": [_described(controls, key, control) for key, control in controls.items()],
    }


def _check(controls: Mapping[str, Control], name: str, control: Control) -> None:
    if not isinstance(control, Control):
        raise ValueError(f"{name} is {reprlib.repr(control)}: a control is a Slider, Choice, Switch or Text")
    if not isinstance(control, Text) or control.by is None:
        return
    if control.by not in controls or isinstance(controls[control.by], Text):
        raise ValueError(f"{name}: by={control.by!r} is not one of the other controls")
    if missing := [text for text in controls[control.by].texts() if text not in control.examples]:
        raise ValueError(f"{name} has no examples for {', '.join(missing)}")


def _described(controls: Mapping[str, Control], name: str, control: Control) -> dict[str, Any]:
    described = {"name": name, "label": control.label, "kind": type(control).__name__.lower()}
    if not isinstance(control, Text):
        return described | {"options": control.texts()}
    if control.by is None:
        return described | {"by": None, "options": [list(control.examples)]}
    labels = controls[control.by].texts()
    return described | {
        "by": list(controls).index(control.by), "options": [list(control.under(label)) for label in labels]
    }  # fmt: skip


def _options(controls: Mapping[str, Control], name: str, at: Sequence[int]) -> Sequence[Any]:
    control = controls[name]
    if not isinstance(control, Text):
        return control.values
    if control.by is None:
        return control.under(None)
    return control.under(controls[control.by].texts()[at[list(controls).index(control.by)]])


def _labels(controls: Mapping[str, Control], name: str, at: Sequence[int]) -> Sequence[str]:
    control = controls[name]
    return _options(controls, name, at) if isinstance(control, Text) else control.texts()


def _longest(control: Control) -> int:
    if not isinstance(control, Text):
        return len(control.values)
    return max(map(len, control.examples.values())) if control.by else len(control.examples)


def _exists(controls: Mapping[str, Control], at: Position) -> bool:
    return all(i < len(_options(controls, name, at)) for name, i in zip(controls, at, strict=True))
