"""What the figures of the built book show at every position of their controls, read from their recordings."""

from __future__ import annotations

import functools
import html
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SITE = Path(__file__).resolve().parents[2] / "_build" / "html"
_HOST = re.compile(r'<div class="s2b-host[^"]*"([^>]*)>(?:<script type="application/json">(.*?)</script>)?', re.DOTALL)


@dataclass(frozen=True)
class Frame:
    """One position: `at` has the label that each control shows, by the control's name, and `views` what is drawn."""

    at: dict[str, str]
    views: list[dict[str, Any]]

    def all(self, kind: str) -> list[dict[str, Any]]:
        """The views of a kind: "note", "passages", "meter", "figure", "table" or "stages"."""
        return [view for view in self.views if view["kind"] == kind]

    def one(self, kind: str) -> dict[str, Any]:
        """The only view of a kind."""
        (view,) = self.all(kind)
        return view

    @property
    def note(self) -> str:
        return self.one("note")["text"]

    def rows(self, place: int = 0) -> list[dict[str, str]]:
        """The rows of a table, each cell as it is shown, by its column."""
        table = self.all("table")[place]
        return [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]

    def marks(self, kind: str, place: int = 0) -> list[tuple[int, int, str]]:
        """Start, end (in UTF-16 units, which our texts count as characters) and label of the marks in a text."""
        return [(*mark, "")[:3] for mark in self.all("passages")[place]["marks"].get(kind, [])]

    def trace(self, name: str, place: int = -1) -> dict[str, Any] | None:
        """The trace of this name in a chart, the last one unless told; None where it has no such trace."""
        return next((trace for trace in self.all("figure")[place]["data"] if trace.get("name") == name), None)


class Recorded:
    """A figure as it was recorded: its controls, and a Frame for each of its positions."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.spec, self._frames, self._pool = data["spec"], data["recording"]["frames"], data["recording"]["pool"]
        self.name: str = self.spec["name"]
        self.controls: dict[str, dict[str, Any]] = {control["name"]: control for control in self.spec["controls"]}
        self._known: dict[int, Any] = {}

    def __len__(self) -> int:
        return len(self._frames)

    def __iter__(self) -> Iterator[Frame]:
        return map(self._frame, self._frames)

    @property
    def start(self) -> Frame:
        """What is shown first."""
        return self._frame(",".join(map(str, self.spec["start"])))

    def where(self, **labels: str | tuple[str, ...]) -> list[Frame]:
        """The frames at which these controls show these labels (or, of several, one of them), in reading order.

        AssertionError for no such frame, or no such label, so that a test of nothing does not pass.
        """
        wanted = {name: (label,) if isinstance(label, str) else label for name, label in labels.items()}
        every = {key: self._labels(key) for key in self._frames}
        for name, options in wanted.items():
            assert {*options} <= {at[name] for at in every.values()}, f"{self.name}: {name} has no {options}"
        found = [key for key, at in every.items() if all(at[name] in options for name, options in wanted.items())]
        assert found, f"{self.name} is nowhere at {labels}"
        return [self._frame(key) for key in found]

    def labels(self, name: str) -> list[str]:
        """Every label that a control shows, in its order; a question's in all languages."""
        options = self.controls[name]["options"]
        nested = options if isinstance(options[0], list) else [options]
        return [label for some in nested for label in some]

    def _frame(self, key: str) -> Frame:
        return Frame(self._labels(key), self._resolved(self._frames[key]))

    def _labels(self, key: str) -> dict[str, str]:
        at = [int(place) for place in key.split(",")] if key else []
        shown = {}
        for place, (name, control) in zip(at, self.controls.items(), strict=True):
            by = control.get("by") if control["kind"] == "text" else None
            options = control["options"]
            if control["kind"] == "text":
                options = options[0 if by is None else at[by]]
            shown[name] = options[place]
        return shown

    def _resolved(self, tree: Any) -> Any:
        # Each part of the pool once: frames share most of what they show.
        if isinstance(tree, list):
            return [self._resolved(part) if isinstance(part, (list, dict)) else part for part in tree]
        if not isinstance(tree, dict):
            return tree
        own = {key: self._resolved(part) for key, part in tree.items() if key != "$"}
        if "$" not in tree:
            return own
        place = tree["$"]
        if isinstance(place, list):
            return [self._resolved({"$": one}) for one in place]
        if place not in self._known:
            self._known[place] = self._resolved(self._pool[place])
        return self._known[place] | own if own else self._known[place]


@functools.cache
def figures(page: str) -> dict[str, Recorded]:
    """The figures of a page ("01-one-size") by name, in reading order; a second "figure" is "figure 2", and so on.

    A chart without controls is one with a single frame. AssertionError where the book is not built.
    """
    path = SITE / "book" / f"{page}.html"
    assert path.is_file(), f"{path} is not there: run `make site` first (`make test` does)"
    named: dict[str, Recorded] = {}
    for attributes, inline in _HOST.findall(path.read_text(encoding="utf-8")):
        one = Recorded(json.loads(inline or _stored(attributes)))
        count = sum(other.name == one.name for other in named.values())
        named[f"{one.name} {count + 1}" if count else one.name] = one
    assert named, f"{path} has no figures"
    return named


def _stored(attributes: str) -> str:
    name = html.unescape(re.search(r'data-recording="([^"]+)"', attributes)[1])
    return (SITE / "_static" / "recordings" / name).read_text(encoding="utf-8")
