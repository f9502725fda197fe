"""Sections as an outline: what is below what, and the headings above a span that its readers may read."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from .front_matter import body_start
from .text import PUBLIC, Document, Section, Span, trimmed

_WORDS = re.compile(r"\w+")


class Outline:
    """The sections of one document; `above` has for each the place of the one that it is directly below, or -1."""

    def __init__(self, document: Document) -> None:
        self.document, self.sections = document, document.sections
        self.above = _above(self.sections)
        self._starts = [section.span.start for section in self.sections]
        self._body = body_start(document.text)
        spans = (Span(min(max(s.span.start, self._body), s.span.end), s.span.end) for s in self.sections)
        self._solid = [trimmed(document.text, span) for span in spans]

    def place(self, position: int) -> int:
        """The number, from 0, of the section that a place of the text is in."""
        return max(0, bisect_right(self._starts, position) - 1)

    def span(self, run: range) -> Span:
        """The part of the text that neighbouring sections cover, without front matter and white space at its ends."""
        return Span(self._solid[run.start].start, self._solid[run.stop - 1].end)

    def has_title(self) -> bool:
        """Tell whether the first section is what stands before all others: the title of the document, or a preamble."""
        return bool(self.sections) and self.sections[0].id == f"{self.document.id}/0"

    def path(self, span: Span) -> list[str]:
        """The titles of the headings above a span, outermost first, without the one that it begins with.

        One that not everybody may read is left out, unless its label is among those of the span.
        """
        if not self.sections:
            return []
        here = self.place(span.start)
        # The heading of its own section is in a span that begins with it.
        begins = not self.document.text[max(self._starts[here], self._body) : span.start].strip()
        readers = {*PUBLIC, *self._labels(span, here)}
        upwards = self._upwards(self.above[here] if begins else here)
        return [section.title for section in upwards if section.title and section.access in readers][::-1]

    def alone(self, place: int) -> bool:
        """Tell whether a section has no word beyond its heading."""
        title, text = self.sections[place].title, self._solid[place].of(self.document.text)
        # What is much longer has more in it: the line below a heading is about as long as the title.
        return len(text) <= 4 * len(title) + 100 and _WORDS.findall(text) == _WORDS.findall(title)

    def _upwards(self, place: int) -> Iterator[Section]:
        while place >= 0:
            yield self.sections[place]
            place = self.above[place]

    def _labels(self, span: Span, place: int) -> Iterator[str]:
        while place < len(self.sections) and self._starts[place] < span.end:
            yield self.sections[place].access
            place += 1


def _above(sections: Sequence[Section]) -> list[int]:
    above: list[int] = []
    path: list[int] = []
    for place, section in enumerate(sections):
        while path and sections[path[-1]].level >= section.level:
            path.pop()
        above.append(path[-1] if path else -1)
        path.append(place)
    return above
