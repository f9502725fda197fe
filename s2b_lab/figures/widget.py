"""The explorer as a widget: the kernel answers wherever the reader moves."""

from __future__ import annotations

import math
import threading
import uuid
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from .controls import Control
from .esm import joined
from .heartbeat import beat_in_cells, beating
from .page import twin
from .record import label_at, position_of, values_at
from .saved import give_views, keep_pictures, picture_of, runs_alone, show, show_boxes, with_picture
from .views import frame_of

# All figures of this process: while one is computed, the others wait.
_figures: weakref.WeakSet[Explorer] = weakref.WeakSet()


def _beat() -> None:
    for figure in list(_figures):
        figure.send({"kind": "busy"})


def _often() -> float:
    # Several times in the patience of the least patient.
    return min(1.0, *(figure.spec["timeout"] / 4 for figure in _figures))


def _as_json(values: Mapping[str, Any], widget: Explorer) -> dict[str, Any]:
    # A value that JSON cannot hold (a document, a function, infinity) travels as the label the reader sees.
    return {name: value if _is_plain(value) else widget.label_of(name) for name, value in values.items()}


def _is_plain(value: Any) -> bool:
    return math.isfinite(value) if isinstance(value, float) else isinstance(value, str | int | None)


class _Values(dict):
    """Values that are set together: nothing would move if one of them were changed in here."""

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise TypeError('values are not changed one by one; set them: figure.values |= {"name": value}')

    __setitem__ = __delitem__ = clear = pop = popitem = setdefault = update = _refuse

    def __ior__(self, other: Mapping[str, Any]) -> dict[str, Any]:
        return {**self, **other}  # not in place, so that `figure.values |= …` sets them

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)


class Explorer(anywidget.AnyWidget):
    """A figure whose `values`, a dictionary of the controls' values, can be observed and set."""

    _esm = joined()
    _css = Path(__file__).with_name("widget.css")
    spec = traitlets.Dict().tag(sync=True)
    recording = traitlets.Dict().tag(sync=True)
    values = traitlets.Dict().tag(sync=True, to_json=_as_json)
    # By it JavaScript finds the pictures of this figure that a notebook saves.
    token = traitlets.Unicode().tag(sync=True)

    def __init__(
        self, fn: Callable[..., Any], controls: Mapping[str, Control], spec: dict[str, Any], recording: dict[str, Any]
    ) -> None:
        self._fn, self._controls = fn, controls
        self._at, self._own = tuple(spec["start"]), {}
        self._answering: int | None = None  # the thread that does
        self._last: tuple[dict[str, Any], dict[str, Any]] = {}, recording  # what was shown last
        values, token = values_at(controls, self._at), uuid.uuid4().hex
        super().__init__(spec=spec, recording=recording, values=values, token=token)
        self.on_msg(self._receive)
        if not _figures:
            beat_in_cells(_beat, _often)
            show_boxes()
        _figures.add(self)

    def label_of(self, name: str) -> str:
        """The label that a control shows."""
        return label_at(self._controls, name, self._at)

    @traitlets.validate("values")
    def _known(self, proposal: Any) -> dict[str, Any]:
        values = proposal["value"]
        if set(values) != set(self._controls):
            raise ValueError(f"values are of {', '.join(self._controls)}, not of {', '.join(values)}")
        self._at, self._own = position_of(self._controls, values)
        return _Values(values)

    @traitlets.observe("values")
    def _move(self, _: Any) -> None:
        if threading.get_ident() != self._answering:
            self.send({"kind": "move", **self._where()})
            if runs_alone():  # nobody will ask where the figure is now
                self._answer(self._where())
                keep_pictures(self)

    def _where(self) -> dict[str, Any]:
        return {"position": list(self._at), "own": dict(self._own)}

    # --- the conversation with kernel.js ---

    def _receive(self, _: Any, message: dict[str, Any], buffers: list[Any]) -> None:
        if message["kind"] == "hello":
            self.send({"kind": "welcome", "to": message["from"], **self._where()})
        elif message["kind"] == "plotly":
            import plotly.offline

            self.send({"kind": "plotly"}, [plotly.offline.get_plotlyjs().encode()])
        elif message["kind"] == "ask":
            self.send({"kind": "busy"})
            with beating(_beat, _often()):
                answer = self._answer(message)
            # To all displays of this figure: the others follow.
            self.send({"kind": "answer", "id": message["id"], **self._asked_at(message), **answer})
        elif message["kind"] == "keep":
            keep_pictures(self)
        elif message["kind"] == "elsewhere":
            give_views(self)

    def _asked_at(self, message: dict[str, Any]) -> dict[str, Any]:
        return {"position": message["position"], "own": message["own"]}

    def _answer(self, message: dict[str, Any]) -> dict[str, Any]:
        # Whatever goes wrong in the reader's function belongs on the figure, not in a log.
        self._answering = threading.get_ident()
        try:
            values = values_at(self._controls, message["position"], message["own"])
            self.values = values
            views = frame_of(self._fn(**values))
            self._remember(message["position"], message["own"], views)
            return {"views": views}
        except ValueError as error:
            return {"error": str(error)}
        except Exception as error:
            return {"error": f"{type(error).__name__}: {error}"}
        finally:
            self._answering = None

    # --- what a notebook saves, see saved.py ---

    def _repr_mimebundle_(self, **options: Any) -> Any:
        bundle = super()._repr_mimebundle_(**options)
        return with_picture(bundle, picture_of(self)) if bundle else bundle

    def _ipython_display_(self) -> None:
        show(self)

    def last_picture(self) -> str:
        """What was shown last, as plain HTML without its style."""
        return twin(self.spec | self._last[0], self._last[1])

    def _remember(self, position: list[int], own: dict[str, str], views: list[dict[str, Any]]) -> None:
        controls = [_with_own(control, own) for control in self.spec["controls"]]
        frames = {",".join(map(str, position)): views}
        self._last = {"start": position, "controls": controls}, {"pool": [], "frames": frames}


def _with_own(control: dict[str, Any], own: dict[str, str]) -> dict[str, Any]:
    # A question of the reader's own stands where its example stood.
    if control["name"] not in own:
        return control
    return control | {"options": [[own[control["name"]]] * len(row) for row in control["options"]]}
