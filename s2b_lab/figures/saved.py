"""What a notebook keeps of a figure: its picture as HTML, and a widget's view only where nothing else comes to life.

A view is saved as no more than the number of a model, and the model is gone when the notebook is opened again. In
JupyterLab and Jupyter Notebook saved.js therefore lets the figure live beside its picture, and where cells run with
nobody in front of them a picture is all that can be shown.
"""

from __future__ import annotations

import os
import sys
import uuid
import weakref
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from ipywidgets import HTML, Box, DOMWidget, HTMLMath, Label

_OUTPUTS = 8  # of one figure or box, that are kept up to date
_STYLE = Path(__file__).with_name("widget.css").read_text(encoding="utf-8")
# The outputs of each figure, or box of figures, by their ids: the picture in each, None beside a view.
_outputs: weakref.WeakKeyDictionary[DOMWidget, dict[str, str | None]] = weakref.WeakKeyDictionary()


def figures_in(widget: Any) -> list[Any]:
    """The figures in a widget, itself or in its boxes at any depth, in their order."""
    if hasattr(widget, "last_picture"):
        return [widget]
    return [figure for child in getattr(widget, "children", ()) for figure in figures_in(child)]


def picture_of(widget: DOMWidget) -> str:
    """A figure or a box of figures as HTML, its style in it, with nothing to be fetched or run.

    The style stands last: what shows no style may show its text.
    """
    box = "" if hasattr(widget, "last_picture") else f' data-box="{widget.model_id}"'
    token = figures_in(widget)[0].token
    return f'<div data-saved="{token}"{box}>{_drawn(widget)}<style>{_STYLE}</style></div>'


def _drawn(widget: Any) -> str:
    if hasattr(widget, "last_picture"):
        return widget.last_picture()
    if isinstance(widget, HTML | HTMLMath):
        return f"<div>{widget.value}</div>"
    if isinstance(widget, Label):
        return f"<p>{escape(widget.value)}</p>"
    # Of a slider or a button there is nothing to read.
    return "".join(_drawn(child) for child in getattr(widget, "children", ()))


def with_picture(bundle: Any, html: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a widget shows, given as data or as (data, metadata), and a picture for where no widget can be shown."""
    data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
    return {**data, "text/html": html}, metadata


def show(widget: DOMWidget) -> None:
    """Show a figure or a box of figures in an output that can be kept up to date."""
    outputs = _outputs.setdefault(widget, {})
    while len(outputs) >= _OUTPUTS:
        outputs.pop(next(iter(outputs)))
    _put(widget, uuid.uuid4().hex, needs_view())


def keep_pictures(figure: DOMWidget) -> None:
    """Let every output with this figure hold its picture as it is now, and no widget's view."""
    for widget in _showing(figure):
        now = picture_of(widget)
        for output in [output for output, picture in _outputs[widget].items() if picture != now]:
            _put(widget, output, view=False, update=True)


def give_views(figure: DOMWidget) -> None:
    """Let every output with this figure hold a view: its page shows widgets, but no figure beside a picture."""
    for widget in _showing(figure):
        for output in [output for output, picture in _outputs[widget].items() if picture is not None]:
            _put(widget, output, view=True, update=True)


def _showing(figure: DOMWidget) -> list[DOMWidget]:
    return [widget for widget in list(_outputs) if figure in figures_in(widget)]


def _put(widget: DOMWidget, output: str, view: bool, **options: Any) -> None:
    from IPython.display import display

    html = picture_of(widget)
    names = ", ".join(figure.spec["name"] for figure in figures_in(widget))
    data, metadata = {"text/html": html, "text/plain": f"Figure: {names}"}, {}
    if view:
        data, metadata = with_picture(widget._repr_mimebundle_(), html)
    _outputs[widget][output] = None if view else html
    display(data, raw=True, metadata=metadata, display_id=output, **options)


# --- where a notebook runs ---


def show_boxes() -> None:
    """Let a box that holds figures be shown as a figure is; any other box is shown as ever."""
    shell = _shell()
    # ipywidgets before version 8 shows boxes by a method that this would hide.
    if shell is not None and not hasattr(Box, "_ipython_display_"):
        shell.display_formatter.ipython_display_formatter.for_type(Box, _show_box)


def _show_box(box: Box) -> None:
    if not figures_in(box):
        raise NotImplementedError  # as IPython is told to show it in another way
    show(box)


def needs_view() -> bool:
    """Whether a figure comes to life only where a widget's view is shown: not so in Jupyter's own pages."""
    if runs_alone():
        return False
    shell, session = _shell(), os.environ.get("JPY_SESSION_NAME")
    # The server names the notebook of a kernel that it starts; VS Code leaves its mark in that name.
    is_vscode = "-jvsc-" in (session or "") or (shell is not None and "__vsc_ipynb_file__" in shell.user_ns)
    return session is None or is_vscode or "google.colab" in sys.modules


def runs_alone() -> bool:
    """Whether the running cell was sent by a program that can ask nobody for input, as nbconvert's --execute does.

    Not so in Voilà, which runs a notebook in this way and then shows it with its kernel.
    """
    parent = getattr(getattr(_shell(), "kernel", None), "get_parent", dict)()
    if _is_in_voila() or parent.get("header", {}).get("msg_type") != "execute_request":
        return False
    content: Mapping[str, Any] = parent["content"]
    return content.get("allow_stdin") is False


def _is_in_voila() -> bool:
    return any(name.startswith("VOILA_") for name in os.environ)


def _shell() -> Any:
    return sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
