"""A figure on a page without Python: its recording, and a static twin of its start for where no script runs."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from ..core.characters import is_blank
from .cut_tables import tables_of
from .languages import with_languages
from .words import WORDS, page_words

# A larger recording is a file of its own, fetched when the figure comes into view.
INLINE_BYTES = 20_000
# So many letters of a text that a reader typed are shown as a control's value.
_SHOWN = 200
_WORDS, _PAGE = WORDS["en"], page_words("en")


def page(spec: dict[str, Any], recording: dict[str, Any]) -> str:
    """The figure as HTML: its twin, and its recording inline or as a file named by its content.

    The environment variable S2B_RECORDINGS names the folder of such files; without it all are inline.
    """
    data = json.dumps({"spec": spec, "recording": recording}, ensure_ascii=False, separators=(",", ":"))
    folder = os.environ.get("S2B_RECORDINGS")
    fault = f'data-fault="{escape(_PAGE["fault"])}"'
    if folder and len(data.encode()) > INLINE_BYTES:
        at = f'data-recording="{_stored(Path(folder), data)}" data-missing="{escape(_PAGE["missing"])}"'
        return f'<div class="s2b-host" {at} {fault}>{twin(spec, recording)}</div>'
    inline = data.replace("<", "\\u003c")
    script = f'<script type="application/json">{inline}</script>'
    return f'<div class="s2b-host" {fault}>{script}{twin(spec, recording)}</div>'


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
        option = options[i] if len(options[i]) <= _SHOWN else f"{options[i][:_SHOWN]}…"
        shown.append(f"{with_languages(control['label'])}: <b>{with_languages(option)}</b>")
    return f'<p class="s2b-settings">{" · ".join(shown)}</p>' if shown else ""


def _resolved(tree: Any, pool: list[Any]) -> Any:
    if isinstance(tree, dict):
        own = {key: _resolved(part, pool) for key, part in tree.items() if key != "$"}
        if isinstance(tree.get("$"), list):
            return [_resolved(pool[place], pool) for place in tree["$"]]
        shared = _resolved(pool[tree["$"]], pool) if "$" in tree else {}
        return shared | own if own else shared
    return [_resolved(part, pool) for part in tree] if isinstance(tree, list) else tree


def _passages(view: Mapping[str, Any]) -> str:
    # UTF-16, as the offsets are: two bytes a unit.
    units = view["text"].encode("utf-16-le")
    named, marked = view["words"]["legend"], view["marks"]
    marks = [(kind, i, *mark, "")[:5] for kind in named for i, mark in enumerate(marked.get(kind, []))]
    near = _near(view, marks, len(units) // 2)
    parts, hidden = [], ""
    for start, end, inside in [*pieces_between(len(units) // 2, marks, view["breaks"]), (0, 0, [])]:
        text = units[2 * start : 2 * end].decode("utf-16-le")
        if end and not near(start, inside):
            hidden += text
            continue
        parts += [escape(hidden) if is_blank(hidden) else _left_out(len(hidden), view["words"]["gap"])]
        parts, hidden = [*parts, _piece(text, start, inside)], ""
    title = f'<p class="s2b-title">{with_languages(view["title"])}</p>' if view["title"] else ""
    note = f'<p class="s2b-aside">{with_languages(view["note"])}</p>' if view["note"] else ""
    legend = _legend([name for kind, name in named.items() if marked.get(kind)], view["lang"])
    label = escape(view["title"] or _WORDS["text"])
    at = f'class="s2b-text" lang="{escape(view["lang"])}" tabindex="0" role="group" aria-label="{label}"'
    return f"{title}{note}{legend}<div {at}>{''.join(parts)}</div>"


def _near(view: Mapping[str, Any], marks: Sequence[tuple], length: int) -> Callable[[int, list[tuple]], bool]:
    """Tell what of a text is shown: what is marked, or of a whole text the paragraphs where something is."""
    if view["show"] == "marked":
        return lambda start, inside: bool(inside)
    # Chunks cover a whole text: they lead nowhere.
    spans = [mark[2:4] for mark in marks if mark[0] != "chunk"]
    blocks = list(itertools.pairwise([*view["breaks"], length]))
    shown = [(a, b) for a, b in blocks if not spans or any(start < b and a < end for start, end in spans)]
    return lambda start, inside: any(a <= start < b for a, b in shown)


def pieces_between(length: int, marks: Iterable[tuple], more: Iterable[int] = ()) -> list[tuple[int, int, list[tuple]]]:
    """Cut 0..length at `more` and at the ends of marks (kind, order, start, end, label); each piece has its marks."""
    marks = list(marks)
    edges = sorted({0, length, *more, *(edge for mark in marks for edge in mark[2:4])})
    return [(a, b, [m for m in marks if m[2] <= a and b <= m[3]]) for a, b in itertools.pairwise(edges)]


def _piece(text: str, start: int, inside: list[tuple]) -> str:
    if not inside:
        return escape(text)
    classes = {f"s2b-{kind}": None for kind, *_ in inside}
    tints = [f"s2b-t{order % 4}" for kind, order, *_ in inside if kind == "chunk"][:1]
    tags = [f'<span class="s2b-tag">{escape(m[4])}</span>' for m in inside if m[4] and m[2] == start]
    return f'{"".join(tags)}<mark class="{" ".join([*classes, *tints])}">{escape(text)}</mark>'


def _left_out(count: int, gap: Sequence[str]) -> str:
    words = gap[count != 1].format(count=f"{count:,}")
    return f'<span class="s2b-gap">{escape(words)}</span>'


def _legend(kinds: Sequence[str], lang: str) -> str:
    words = page_words(lang)
    marked = with_languages(words["marked"].format(kinds=words["between"].join(kinds)))
    return f'<p class="s2b-legend">{marked}</p>' if kinds else ""


def _table(view: Mapping[str, Any]) -> str:
    columns, folded = view["columns"], view.get("folded")
    caption = f"<caption>{with_languages(view['caption'])}</caption>" if view["caption"] and not folded else ""
    stacks = len(columns) > 2
    names = [f' data-column="{escape(name)}"' if name and stacks else "" for name in columns]
    body = "".join(_row("td", cells, names) for cells in view["rows"])
    kind = "s2b-table s2b-stacks" if stacks else "s2b-table"
    table = f'<table class="{kind}">{caption}<thead>{_row("th", columns)}</thead><tbody>{body}</tbody></table>'
    label = escape(view["caption"] or _WORDS["table"])
    scroller = f'<div class="s2b-scroll" tabindex="0" role="group" aria-label="{label}">{table}</div>'
    return _folded(_summary(view), scroller) if folded else scroller


def _summary(view: Mapping[str, Any]) -> str:
    """What a folded table holds, for who decides whether to open it."""
    count = len(view["rows"])
    return _WORDS["folded"][count != 1].format(title=view["caption"] or _WORDS["table"], count=count)


def _row(tag: str, cells: Iterable[str], attributes: Iterable[str] = itertools.repeat("")) -> str:
    # An empty corner is no head.
    named = ((tag if cell else "td", more, with_languages(cell)) for cell, more in zip(cells, attributes, strict=False))
    return f"<tr>{''.join(f'<{name}{more}>{cell}</{name}>' for name, more, cell in named)}</tr>"


def _folded(title: str, inside: str) -> str:
    return f'<details class="s2b-fold"><summary>{with_languages(title)}</summary>{inside}</details>'


def _meter(view: Mapping[str, Any]) -> str:
    value, maximum = _number(view["value"]), _number(view["maximum"])
    of = _WORDS["of"].format(value=value, maximum=maximum, unit=view["unit"])
    return f'<p class="s2b-meter">{escape(view["label"])}: {escape(of)}</p>'


def _figure(view: Mapping[str, Any]) -> str:
    said = f'<p class="s2b-alt">{with_languages(view["alt"] or _PAGE["undrawn"])}</p>'
    return said + (_data(view["table"]) if "table" in view else "")


def _data(table: Mapping[str, Any]) -> str:
    """The numbers of a chart that is not drawn."""
    rows = [[_number(value) for value in row] for row in zip(*table["cells"], strict=True)]
    inside = _table({"columns": table["columns"], "rows": rows, "caption": _WORDS["data"], "folded": True})
    return inside.replace('class="s2b-fold"', 'class="s2b-data" open', 1)


def _number(value: Any) -> str:
    # As JavaScript shows it: 1,234.5 and at most three decimals.
    if isinstance(value, str) or value is None:
        return "–" if value is None else value
    return f"{value:,.3f}".rstrip("0").rstrip(".")


def _note(view: Mapping[str, Any]) -> str:
    return f'<p class="s2b-note">{with_languages(view["text"])}</p>'


def _stages(view: Mapping[str, Any]) -> str:
    stages = f'<div class="s2b-stages">{"".join(_stage(stage, view["copy"]) for stage in view["stages"])}</div>'
    return _folded(view["title"] or _WORDS["stages"], stages)


def _stage(stage: Mapping[str, Any], data: Any) -> str:
    ms = round(data["timings"][stage["ms"]], 1) if isinstance(stage["ms"], str) else stage["ms"]
    spent = "" if ms is None else f' <span class="s2b-ms">{escape(_WORDS["ms"].format(ms=ms))}</span>'
    parts = (
        f'<p class="s2b-aside">{escape(label)}</p>'
        + (_text("\n\n".join(part["text"])) if "text" in part else _table(_rows(part, data)))
        for label, part in ((_WORDS["in"], stage["given"]), (_WORDS["out"], stage["made"]))
    )
    return f"<details><summary><b>{with_languages(stage['name'])}</b>{spent}</summary>{''.join(parts)}</details>"


def _rows(part: Mapping[str, Any], data: Any) -> Mapping[str, Any]:
    """A table as it is, and one whose rows stand in the data of its stages with these."""
    if "of" not in part:
        return part
    rows = [[_held(n if key == "#" else row[key]) for key in part["keys"]] for n, row in enumerate(data[part["of"]], 1)]
    return {"columns": part["columns"], "numeric": part["numeric"], "caption": "", "rows": rows}


def _held(value: Any) -> str:
    if not isinstance(value, list):
        return _number(value)
    return ("-" if all(isinstance(one, int) for one in value) else ", ").join(map(str, value))


def _text(text: str) -> str:
    return f'<div class="s2b-part" tabindex="0">{with_languages(text)}</div>'


def _cuts(view: Mapping[str, Any]) -> str:
    return f'<div class="s2b-cut-tables">{"".join(map(_table, tables_of(view)))}</div>'


_DRAWN: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "passages": _passages, "table": _table, "meter": _meter, "figure": _figure, "note": _note,
    "stages": _stages, "cuts": _cuts,
}  # fmt: skip
