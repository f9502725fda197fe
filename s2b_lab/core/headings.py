"""From headings to sections: what a document is made of, and who may read each part."""

from __future__ import annotations

import re
from collections.abc import Mapping

from .blocks import Blocks
from .characters import is_blank
from .text import Document, Section, Span

_SPACE = re.compile(r"\s*+")


def document(
    id: str,
    text: str,
    *,
    title: str | None = None,
    version: str = "1",
    access: str = "public",
    section_access: Mapping[int | str, str] | None = None,
) -> Document:
    """Build a document and find its sections.

    Section ids are `id/ordinal`; the text before the first heading, or the only level-1 heading (marked by `#` or a
    line below) when the text opens with it, has ordinal 0. `section_access` maps an ordinal or a title to the label
    of that section and of the deeper sections below it; a key that fits no section is a ValueError. TypeError for a
    text, or labels, of another kind.
    """
    if not isinstance(section_access, Mapping | None):
        raise TypeError(f"section_access must be a mapping of labels, not {type(section_access).__name__}")
    headings = Blocks(text).headings
    titled = _opens_with_title(text, headings)
    parts = _parts(text, headings)
    first = 0 if titled or (parts and not parts[0][1]) else 1
    labels = _labels(parts, first, access, dict(section_access or {}))
    found = tuple(
        Section(f"{id}/{ordinal}", heading, level, span, label)
        for ordinal, ((heading, level, span), label) in enumerate(zip(parts, labels, strict=True), first)
    )
    if title is None:
        title = headings[0][2] if titled else id
    return Document(id, title, text, version, access, found)


def sections(text: str) -> list[Span]:
    """Cut a text at its headings; the spans cover all of it, and blank text has none.

    TypeError for what is no text.
    """
    return [span for _, _, span in _parts(text, Blocks(text).headings)]


def heading_starts(text: str) -> set[int]:
    """Where the headings of a text begin, white space before them skipped."""
    return {_SPACE.match(text, start).end() for start, *_ in Blocks(text).headings}


def _opens_with_title(text: str, headings: list[tuple]) -> bool:
    tops = [start for start, level, _, marked in headings if marked and level == 1]
    return len(tops) == 1 and tops[0] == headings[0][0] and is_blank(text, 0, tops[0])


def _parts(text: str, headings: list[tuple]) -> list[tuple[str, int, Span]]:
    if is_blank(text):
        return []
    starts = [heading[0] for heading in headings]
    names = [(heading[2], heading[1]) for heading in headings]
    if not starts or not is_blank(text, 0, starts[0]):
        starts, names = [0, *starts], [("", 0), *names]
    starts[0] = 0
    spans = map(Span, starts, [*starts[1:], len(text)])
    return [(name, level, span) for (name, level), span in zip(names, spans, strict=True)]


def _labels(parts: list[tuple[str, int, Span]], first: int, access: str, wanted: dict) -> list[str]:
    known = {name for name, _, _ in parts} | set(range(first, first + len(parts)))
    if unknown := [key for key in wanted if key not in known]:
        raise ValueError(f"section_access names no section of the text: {unknown[0]!r}")
    labels: list[str] = []
    above: list[tuple[int, str]] = []  # level and label of the sections that hold the current one
    for ordinal, (name, level, _) in enumerate(parts, first):
        while above and above[-1][0] >= level:
            above.pop()
        label = wanted.get(ordinal, wanted.get(name, above[-1][1] if above else access))
        labels.append(label)
        if ordinal:  # the title section stands for itself: the whole document has a label of its own
            above.append((level, label))
    return labels
