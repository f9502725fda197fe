"""Small neighbouring sections share a parent, and a heading goes with what follows it."""

from collections.abc import Callable, Iterator
from itertools import pairwise

from .outline import Outline
from .text import Span

_CHAPTERS = 2  # the levels of sections that stay apart at the top


class Packing:
    """Which sections of a document share a parent: ranges of their places in the outline.

    Sections of the two highest levels with nothing but the document's title above them stay apart: they are what a
    document is made of. A heading with nothing of its own is never alone where a section of the same label follows it,
    or else is before it.
    """

    def __init__(self, outline: Outline) -> None:
        self._sections, self._above = outline.sections, outline.above
        self._span = outline.span
        self._title = 0 if outline.has_title() else -1
        self._alone = [outline.alone(place) for place in range(len(self._sections))]
        self._filled = self._first_filled()
        self._below = self._last_below()
        self._alike = self._last_alike()

    def runs(self, fits: Callable[[Span], bool]) -> Iterator[range]:
        """Neighbours of one label below one heading (or at the top) that fit into a parent, or one large section.

        What is below a section of a run is in the run as well, save where that section's own text begins it.
        """
        kept: range | None = None
        for run in self._forwards(fits):
            if kept and self._empty(run) and run.stop <= self._alike[kept.start]:
                run = range(kept.start, run.stop)
            elif kept:
                yield kept
            kept = run
        if kept:
            yield kept

    def units(self, run: range) -> Iterator[range]:
        """The sections of a range one by one, headings alone with the one of their label after them, or else before."""
        start = run.start
        while start < run.stop:
            stop = min(self._alike[start], run.stop)
            ends = [place + 1 for place in range(start, stop) if not self._alone[place]]
            yield from (range(*edges) for edges in pairwise([start, *ends[:-1], stop]))
            start = stop

    def _forwards(self, fits: Callable[[Span], bool]) -> Iterator[range]:
        start = 0
        while start < len(self._sections):
            stop = self._fill(start, start, fits)
            while stop < self._alike[start] and self._empty(range(start, stop)):
                stop = self._fill(start, stop, fits)
            yield range(start, stop)
            start = stop

    def _fill(self, start: int, place: int, fits: Callable[[Span], bool]) -> int:
        """The end of a run from `start` that has the section at `place` in it and, as they fit, those after it."""

        def small(stop: int) -> bool:
            return stop <= self._alike[start] and fits(self._span(range(start, stop)))

        stop, level, last = self._below[place], self._above[place], len(self._sections)
        if place == self._title or not small(stop):  # its own text, and the first of what is below it
            stop, level, last = place + 1, place, stop
        elif self._apart(place):
            return stop
        while stop < last and self._above[stop] == level and not self._apart(stop) and small(self._below[stop]):
            stop = self._below[stop]
        return stop

    def _apart(self, place: int) -> bool:
        return self._above[place] in (-1, self._title) and self._sections[place].level <= _CHAPTERS

    def _empty(self, run: range) -> bool:
        return self._filled[run.start] >= run.stop

    def _first_filled(self) -> list[int]:
        """For each section the place of the first one, from it on, that is more than a heading."""
        found = [len(self._sections)] * (len(self._sections) + 1)
        for place in reversed(range(len(self._sections))):
            found[place] = found[place + 1] if self._alone[place] else place
        return found

    def _last_below(self) -> list[int]:
        """For each section where the next one begins that is not below it."""
        ends = list(range(1, len(self._sections) + 1))
        for place in reversed(range(len(ends))):
            if (above := self._above[place]) >= 0:
                ends[above] = max(ends[above], ends[place])
        return ends

    def _last_alike(self) -> list[int]:
        """For each section where the next one begins that has another label."""
        ends = [len(self._sections)] * len(self._sections)
        for place in reversed(range(len(ends) - 1)):
            alike = self._sections[place].access == self._sections[place + 1].access
            ends[place] = ends[place + 1] if alike else place + 1
        return ends
