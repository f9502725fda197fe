"""Where controls can be and what is shown there: positions, values, and frames recorded in advance."""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
import reprlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..core.characters import is_blank
from .controls import Control, Text, place_in, start_of
from .languages import CHINESE_RUN
from .traces import BUNDLES, bundle_of
from .views import frame_of
from .words import WORDS

Position = tuple[int, ...]
# More than this takes minutes to compute and megabytes to ship: a control too many.
MOST_POSITIONS = 5000
_POOLED_FROM = 40
# The parts of a view that change as a reader moves: what is left, a text with its words say, is stored once.
_MOVING = {
    "passages": {"marks", "note"}, "figure": {"data", "alt", "table"}, "table": {"rows"}, "stages": {"stages", "copy"},
    "cuts": {"ends", "cuts", "tree"},
}  # fmt: skip


def spec_of(controls: Mapping[str, Control], name: str, timeout: float) -> dict[str, Any]:
    """What JavaScript has to know of a figure beside its frames; ValueError where a control is none or lacks examples.

    {"name", "timeout" in seconds, "start": a position, "controls": their labels and options, "words"}.
    """
    for key, control in controls.items():
        _check(controls, key, control)
    return {
        "name": name,
        "timeout": timeout,
        "start": [start_of(control) for control in controls.values()],
        "controls": [_described(controls, key, control) for key, control in controls.items()],
        "words": WORDS["en"],
        "chinese": CHINESE_RUN,
    }


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
        elif isinstance(controls[name], Text) and isinstance(values[name], str) and not is_blank(values[name]):
            own[name] = values[name]
        else:
            labels = ", ".join(_labels(controls, name, at))
            raise ValueError(f"{name} cannot be {reprlib.repr(values[name])}: it is one of {labels}")
    return tuple(at), own


def label_at(controls: Mapping[str, Control], name: str, at: Sequence[int]) -> str:
    """What a control shows at a position."""
    return _labels(controls, name, at)[at[list(controls).index(name)]]


def record(
    fn: Callable[..., Any], controls: Mapping[str, Control], where: Sequence[Position], on_page: bool = False
) -> dict[str, Any]:
    """Compute the frames at these positions: {"pool": [...], "frames": {"0,2": frame}, "idle": {"0,2": [1]}}.

    What is longer than about 40 bytes as JSON is stored once, in the pool, and is {"$": index} elsewhere; with other
    keys beside it, it has these too, and {"$": [index, …]} is a list of such parts. "idle" says which controls change
    nothing, wherever there are any. `on_page`: "bundle" names the plotly.js that draws it all, unless it is the
    smallest. RuntimeError where `fn` fails, or where a page cannot draw what it gives.
    """
    pool, frames, looks, bundles = Pool(), {}, {}, {next(iter(BUNDLES))}
    for at in where:
        views = _frame_at(fn, controls, at, bundles if on_page else None)
        frames[at] = pool.intern([_kept(view, pool) for view in views])
        looks[at] = _look(views, frames[at])
    recording = {"pool": pool.items, "frames": _by_key(frames)}
    larger = {"bundle": max(bundles, key=list(BUNDLES).index)} if len(bundles) > 1 else {}
    idle = _by_key(_idle(controls, looks))
    return recording | larger | ({"idle": idle} if idle else {})


def _by_key(found: Mapping[Position, Any]) -> dict[str, Any]:
    return {",".join(map(str, at)): value for at, value in found.items()}


def _frame_at(
    fn: Callable[..., Any], controls: Mapping[str, Control], at: Position, bundles: set[str] | None
) -> list[dict[str, Any]]:
    try:
        views = frame_of(fn(**values_at(controls, at)))
        if bundles is not None:
            bundles.add(bundle_of(views))
        return views
    except Exception as error:
        where = ", ".join(f"{name}={label_at(controls, name, at)}" for name in controls)
        raise RuntimeError(f"{name_of(fn)} failed at {where}: {type(error).__name__}: {error}") from error


def _kept(view: Mapping[str, Any], pool: Pool) -> dict[str, Any]:
    moving = _MOVING.get(view["kind"])
    if view["kind"] == "stages" and isinstance(view["copy"], Mapping):
        view = view | {"copy": {key: _rows_kept(part, pool) for key, part in view["copy"].items()}}
    return dict(view) if moving is None else _parted(view, moving.__contains__, pool)


def _rows_kept(rows: Any, pool: Pool) -> Any:
    # A hit is the same chunk at many positions, with another score and rank.
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        return rows
    return [_parted(row, lambda key, row=row: isinstance(row[key], int | float), pool) for row in rows]


def _parted(tree: Mapping[str, Any], moves: Callable[[str], bool], pool: Pool) -> dict[str, Any]:
    """What stays in the pool, with what moves beside it."""
    still = pool.intern({key: part for key, part in tree.items() if not moves(key)})
    return still | {key: part for key, part in tree.items() if moves(key)}


def _look(views: Sequence[Mapping[str, Any]], frame: Any) -> str:
    # What a reader would see change: a computation that took other milliseconds is the same.
    timed = any(view["kind"] == "stages" for view in views)
    shown = json.dumps([_timeless(view) if view["kind"] == "stages" else view for view in views] if timed else frame)
    return hashlib.sha256(shown.encode()).hexdigest()


def _timeless(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {key: _timeless(part) for key, part in tree.items() if key not in ("ms", "timings")}
    return [_timeless(part) for part in tree] if isinstance(tree, list) else tree


def _idle(controls: Mapping[str, Control], looks: Mapping[Position, str]) -> dict[Position, list[int]]:
    described = [_described(controls, name, control) for name, control in controls.items()]
    still = {at: [c for c in range(len(at)) if _does_nothing(described, c, at, looks)] for at in looks}
    return {at: found for at, found in still.items() if found}


def _does_nothing(described: Sequence[dict[str, Any]], c: int, at: Position, looks: Mapping[Position, str]) -> bool:
    moved = {_clamped(described, (*at[:c], i, *at[c + 1 :])) for i in range(len(_offered(described[c], at)))}
    return len(moved) > 1 and moved <= looks.keys() and len({looks[there] for there in moved}) == 1


def _clamped(described: Sequence[dict[str, Any]], at: Position) -> Position:
    # As the page does when a text with fewer questions is chosen.
    return tuple(min(i, len(_offered(control, at)) - 1) for control, i in zip(described, at, strict=True))


def _offered(control: Mapping[str, Any], at: Position) -> Sequence[str]:
    if control["kind"] != "text":
        return control["options"]
    return control["options"][0 if control["by"] is None else at[control["by"]]]


class Pool:
    """Equal parts of JSON trees, each kept once."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self._index: dict[str, int] = {}

    def intern(self, tree: Any) -> Any:
        """The tree with {"$": index} where it, or a part of it, is among the items."""
        if isinstance(tree, dict):
            # What is interned already is left as it is.
            tree = {key: part if key == "$" else self.intern(part) for key, part in tree.items()}
        elif isinstance(tree, list):
            tree = [self.intern(part) if isinstance(part, (str, list, dict)) else part for part in tree]
            if len(tree) > 1 and all(isinstance(part, dict) and _is_place(part) for part in tree):
                tree = {"$": [part["$"] for part in tree]}
        elif not isinstance(tree, str) or len(tree) * 6 < _POOLED_FROM:
            return tree
        key = json.dumps(tree, separators=(",", ":"))
        if len(key) <= _POOLED_FROM:
            return tree
        if key not in self._index:
            self._index[key] = len(self.items)
            self.items.append(tree)
        return {"$": self._index[key]}


def _is_place(part: Mapping[str, Any]) -> bool:
    return part.keys() == {"$"} and isinstance(part["$"], int)


def name_of(fn: Callable[..., Any]) -> str:
    """What a function is called, or else its type; of a partial one, the function inside."""
    while isinstance(fn, functools.partial):
        fn = fn.func
    return getattr(fn, "__name__", type(fn).__name__)


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
    if control.long:
        described["long"] = True
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
