"""A figure on a page without Python: its recording, and a static twin of its start for where no script runs."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
from collections.abc import Callable, Iterable, Mapping
from html import escape
from pathlib import Path
from typing import Any

from ..interact import Figure

# A larger recording is a file of its own, fetched when the figure comes into view.
INLINE_BYTES = 20_000
# Outer kinds first, in the words of the legend.
_NAMED = {
    "context": "delivered",
    "chunk": "chunk",
    "hit": "match",
    "gold": "evidence",
    "lost": "evidence not delivered",
}


class Recorded:
    """What `explore` returns while the book is built: HTML that host.js brings to life."""

    def __init__(self, spec: dict[str, Any], recording: dict[str, Any]) -> None:
        self._spec, self._recording = spec, recording

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/html": page(self._spec, self._recording), "text/plain": f"Figure: {self._spec['name']}"}


def page(spec: dict[str, Any], recording: dict[str, Any]) -> str:
    """The figure as HTML: its twin, and its recording inline or as a file named by its content.

    The environment variable S2B_RECORDINGS names the folder of such files; without it all are inline.
    """
    data = json.dumps({"spec": spec, "recording": recording}, ensure_ascii=False, separators=(",", ":"))
    folder = os.environ.get("S2B_RECORDINGS")
    if folder and len(data.encode()) > INLINE_BYTES:
        return f'<div class="s2b-host" data-recording="{_stored(Path(folder), data)}">{twin(spec, recording)}</div>'
    inline = data.replace("<", "\\u003c")
    return f'<div class="s2b-host"><script type="application/json">{inline}</script>{twin(spec, recording)}</div>'


def _stored(folder: Path, data: str) -> str:
    name = f"{hashlib.sha256(data.encode()).hexdigest()[:16]}.json"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(data, encoding="utf-8")
    return name


def twin(spec: Mapping[str, Any], recording: Mapping[str, Any]) -> str:
    """The start frame as plain HTML."""
    start = ",".join(map(str, spec["start"]))
    views = _resolved(recording["frames"][start], recording["pool"])
    settings = _settings(spec)
    return f'<div class="s2b-twin s2b-surface">{settings}{"".join(map(_draw, views))}</div>'


def alone(view: Mapping[str, Any]) -> str:
    """One view as plain HTML, outside any figure."""
    return f'<div class="s2b-alone s2b-surface">{_draw(view)}</div>'


def _draw(view: Mapping[str, Any]) -> str:
    return _DRAWN[view["kind"]](view)


def _settings(spec: Mapping[str, Any]) -> str:
    shown = []
    for control, i in zip(spec["controls"], spec["start"], strict=True):
        options = control["options"]
        if control["kind"] == "text":
            options = options[0 if control["by"] is None else spec["start"][control["by"]]]
        shown.append(f"{escape(control['label'])}: <b>{escape(options[i])}</b>")
    return f'<p class="s2b-settings">{" · ".join(shown)}</p>' if shown else ""


def _resolved(tree: Any, pool: list[Any]) -> Any:
    if isinstance(tree, dict):
        return _resolved(pool[tree["$"]], pool) if "$" in tree else {k: _resolved(v, pool) for k, v in tree.items()}
    return [_resolved(part, pool) for part in tree] if isinstance(tree, list) else tree


def _passages(view: Mapping[str, Any]) -> str:
    # UTF-16, as the offsets are: two bytes a unit.
    units = view["text"].encode("utf-16-le")
    marks = [(kind, i, *mark, "")[:5] for kind in _NAMED for i, mark in enumerate(view["marks"].get(kind, []))]
    parts = []
    for start, end, inside in cut(len(units) // 2, marks):
        text = units[2 * start : 2 * end].decode("utf-16-le")
        parts.append(_piece(text, start, inside, whole=view["show"] == "all"))
    title = f'<p class="s2b-title">{escape(view["title"])}</p>' if view["title"] else ""
    note = f'<p class="s2b-aside">{escape(view["note"])}</p>' if view["note"] else ""
    kinds = ", ".join(_NAMED[kind] for kind in _NAMED if view["marks"].get(kind))
    legend = f'<p class="s2b-legend">Marked: {kinds}</p>' if kinds else ""
    text = f'<div class="s2b-text" lang="{escape(view["lang"])}" tabindex="0">{"".join(parts)}</div>'
    return f"{title}{note}{legend}{text}"


def cut(length: int, marks: Iterable[tuple]) -> list[tuple[int, int, list[tuple]]]:
    """Cut 0..length at every boundary of marks (kind, order, start, end, label); each piece has the marks over it."""
    marks = list(marks)
    edges = sorted({0, length, *(edge for mark in marks for edge in mark[2:4])})
    return [(a, b, [m for m in marks if m[2] <= a and b <= m[3]]) for a, b in itertools.pairwise(edges)]


def _piece(text: str, start: int, inside: list[tuple], whole: bool) -> str:
    if not inside:
        return escape(text) if whole or not text.strip() else f'<span class="s2b-gap">{_left_out(len(text))}</span>'
    classes = {f"s2b-{kind}": None for kind, *_ in inside}
    tints = [f"s2b-t{order % 4}" for kind, order, *_ in inside if kind == "chunk"][:1]
    tags = [f'<span class="s2b-tag">{escape(m[4])}</span>' for m in inside if m[4] and m[2] == start]
    return f'{"".join(tags)}<mark class="{" ".join([*classes, *tints])}">{escape(text)}</mark>'


def _left_out(count: int) -> str:
    return f"⋯ {count:,} character{'' if count == 1 else 's'} left out ⋯"


def _table(view: Mapping[str, Any]) -> str:
    caption = f"<caption>{escape(view['caption'])}</caption>" if view["caption"] else ""
    body = "".join(_row("td", cells) for cells in view["rows"])
    head = _row("th", view["columns"])
    return f'<table class="s2b-table">{caption}<thead>{head}</thead><tbody>{body}</tbody></table>'


def _row(tag: str, cells: Iterable[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"


def _meter(view: Mapping[str, Any]) -> str:
    return (
        f'<p class="s2b-meter">{escape(view["label"])}: {view["value"]:,} of {view["maximum"]:,} '
        f"{escape(view['unit'])}</p>"
    )


def _figure(view: Mapping[str, Any]) -> str:
    return f'<p class="s2b-alt">{escape(view["alt"] or "A figure, drawn by JavaScript.")}</p>'


def _note(view: Mapping[str, Any]) -> str:
    return f'<p class="s2b-note">{escape(view["text"])}</p>'


def _stages(view: Mapping[str, Any]) -> str:
    title = f'<p class="s2b-title">{escape(view["title"])}</p>' if view["title"] else ""
    return f'{title}<div class="s2b-stages">{"".join(map(_stage, view["stages"]))}</div>'


def _stage(stage: Mapping[str, Any]) -> str:
    spent = "" if stage["ms"] is None else f' <span class="s2b-ms">{stage["ms"]} ms</span>'
    parts = (
        f'<p class="s2b-aside">{label}</p>{_table(part) if "rows" in part else _text(part["text"])}'
        for label, part in (("in", stage["given"]), ("out", stage["made"]))
    )
    return f"<details><summary><b>{escape(stage['name'])}</b>{spent}</summary>{''.join(parts)}</details>"


def _text(text: str) -> str:
    return f'<div class="s2b-part">{escape(text)}</div>'


_DRAWN: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "passages": _passages, "table": _table, "meter": _meter, "figure": _figure, "note": _note,
    "stages": _stages,
}  # fmt: skip


def show_figures() -> None:
    """Let a bare Plotly figure at the end of a cell be shown as a page does, without importing Plotly for it."""
    from IPython import get_ipython

    formatter = get_ipython().display_formatter.ipython_display_formatter
    formatter.for_type_by_name("plotly.graph_objs._figure", "Figure", _show)


def _show(fig: Any) -> None:
    from IPython.display import display

    spec = {"name": "figure", "timeout": 20, "start": [], "controls": []}
    display(Recorded(spec, {"pool": [], "frames": {"": [Figure(fig).frame()]}}))
