"""From headings to sections: what a document is made of, and who may read each part."""

from __future__ import annotations

import re
from collections.abc import Mapping

from .blocks import Blocks, Heading
from .characters import is_blank
from .front_matter import front_title
from .text import PUBLIC, Document, Section, Span

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
    line below) when the text opens with it, has ordinal 0. Front matter belongs to the first section and is read for a
    title alone. `access` is the label of what has no other. `section_access` maps an ordinal or a title to the label of
    all that stands below that heading, down to the next of its level or above. Nothing in there can loosen it: "public"
    below another label changes nothing, two other labels for one text are a ValueError, and a heading that may as well
    be an item of a list ends no label. A key that fits no section is a ValueError. TypeError for a text, or labels, of
    another kind.
    """
    if not isinstance(section_access, Mapping | None):
        raise TypeError(f"section_access must be a mapping of labels, not {type(section_access).__name__}")
    blocks = Blocks(text)
    parts = _parts(blocks)
    titled = _opens_with_title(blocks)
    first = 0 if titled or (parts and not parts[0][0].level) else 1
    labels = _labels([heading for heading, _ in parts], first, access, dict(section_access or {}))
    found = tuple(
        Section(f"{id}/{ordinal}", heading.title, heading.level, span, label)
        for ordinal, ((heading, span), label) in enumerate(zip(parts, labels, strict=True), first)
    )
    if title is None:
        title = front_title(blocks.text) or (blocks.headings[0].title if titled else id)
    return Document(id, title, text, version, access, found)


def sections(text: str) -> list[Span]:
    """Cut a text at its headings; the spans cover all of it, and blank text has none.

    TypeError for what is no text.
    """
    return [span for _, span in _parts(Blocks(text))]


def heading_starts(text: str) -> set[int]:
    """Where the headings of a text begin, white space before them skipped."""
    return {_SPACE.match(text, heading.start).end() for heading in Blocks(text).headings}


def _opens_with_title(blocks: Blocks) -> bool:
    tops = [heading.start for heading in blocks.headings if heading.marked and heading.level == 1]
    return len(tops) == 1 and tops[0] == blocks.headings[0].start and is_blank(blocks.text, blocks.body, tops[0])


def _parts(blocks: Blocks) -> list[tuple[Heading, Span]]:
    """The sections with their headings; the text before the first has one of level 0."""
    headings, length = blocks.headings, len(blocks.text)
    if is_blank(blocks.text):
        return []
    if not headings or not is_blank(blocks.text, blocks.body, headings[0].start):
        headings = [Heading(0, 0, "", False, True), *headings]
    starts = [0, *(heading.start for heading in headings[1:])]
    return list(zip(headings, map(Span, starts, [*starts[1:], length]), strict=True))


def _labels(headings: list[Heading], first: int, access: str, wanted: dict) -> list[str]:
    known = {heading.title for heading in headings} | set(range(first, first + len(headings)))
    if unknown := [key for key in wanted if key not in known]:
        raise ValueError(f"section_access names no section of the text: {unknown[0]!r}")
    labels: list[str] = []
    above: list[tuple[int, list[str]]] = []  # levels and labels of the headings that the current one stands below
    for ordinal, heading in enumerate(headings, first):
        while above and heading.sure and above[-1][0] >= heading.level:
            above.pop()
        label = above[-1][1] if above else []
        own = [wanted[key] for key in (ordinal, heading.title) if key in wanted]
        for one in own:
            label = _stricter(label, one, heading.title or ordinal)
        labels += label or [access]
        if heading.level:  # nothing stands below what has no heading
            # A doubtful heading is an item of what is above, but a label of its own holds as if it were a heading.
            item = not (heading.sure or own) and above
            above.append((above[-1][0] + 1 if item else heading.level, label))
    return labels


def _stricter(one: list[str], other: str, where: int | str) -> list[str]:
    if not one or one[0] in (other, *PUBLIC):
        return [other]
    if other in PUBLIC:
        return one
    raise ValueError(f"section_access gives section {where!r} two labels, {one[0]!r} and {other!r}: give it one")
