"""The explorer as a widget: the kernel answers wherever the reader moves."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from ..explore import label_at, position_of, values_at
from ..interact import Control, frame_of
from .page import twin

_HERE = Path(__file__).parent


def _as_json(values: Mapping[str, Any], widget: Explorer) -> dict[str, Any]:
    # A value that JSON cannot hold (a document, a function, infinity) travels as the label the reader sees.
    return {name: value if _is_plain(value) else widget.label_of(name) for name, value in values.items()}


def _is_plain(value: Any) -> bool:
    return math.isfinite(value) if isinstance(value, float) else isinstance(value, str | int | None)


class Explorer(anywidget.AnyWidget):
    """A figure whose `values`, a dictionary of the controls' values, can be observed and set."""

    _esm = _HERE / "explorer.js"
    _css = _HERE / "explorer.css"
    spec = traitlets.Dict().tag(sync=True)
    recording = traitlets.Dict().tag(sync=True)
    values = traitlets.Dict().tag(sync=True, to_json=_as_json)

    def __init__(
        self, fn: Callable[..., Any], controls: Mapping[str, Control], spec: dict[str, Any], recording: dict[str, Any]
    ) -> None:
        self._fn, self._controls = fn, controls
        self._at, self._own = tuple(spec["start"]), {}
        self._asked = False
        super().__init__(spec=spec, recording=recording, values=values_at(controls, self._at))
        self.on_msg(self._receive)

    def label_of(self, name: str) -> str:
        """The label that a control shows."""
        return label_at(self._controls, name, self._at)

    @traitlets.validate("values")
    def _known(self, proposal: Any) -> dict[str, Any]:
        values = proposal["value"]
        if set(values) != set(self._controls):
            raise ValueError(f"values are of {', '.join(self._controls)}, not of {', '.join(values)}")
        self._at, self._own = position_of(self._controls, values)
        return values

    @traitlets.observe("values")
    def _move(self, _: Any) -> None:
        if not self._asked:
            self.send({"kind": "move", **self._where()})

    def _where(self) -> dict[str, Any]:
        return {"position": list(self._at), "own": dict(self._own)}

    def _receive(self, _: Any, message: dict[str, Any], buffers: list[Any]) -> None:
        if message["kind"] == "hello":
            self.send({"kind": "welcome", "to": message["from"], **self._where()})
        elif message["kind"] == "plotly":
            import plotly.offline

            self.send({"kind": "plotly"}, [plotly.offline.get_plotlyjs().encode()])
        elif message["kind"] == "ask":
            self.send({"kind": "answer", "id": message["id"], **self._answer(message)})

    def _answer(self, message: dict[str, Any]) -> dict[str, Any]:
        # Whatever goes wrong in the reader's function belongs on the figure, not in a log.
        self._asked = True
        try:
            values = values_at(self._controls, message["position"], message["own"])
            self.values = values
            return {"views": frame_of(self._fn(**values))}
        except ValueError as error:
            return {"error": str(error)}
        except Exception as error:
            return {"error": f"{type(error).__name__}: {error}"}
        finally:
            self._asked = False

    def _repr_mimebundle_(self, **options: Any) -> Any:
        # Where no widget can be shown (a preview, an exported notebook) its start frame still is.
        bundle = super()._repr_mimebundle_(**options)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        return (data | {"text/html": twin(self.spec, self.recording)}, metadata) if data else bundle
