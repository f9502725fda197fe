"""Splitters: fill chunks up to a size, each ended at the coarsest boundary that fits."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from functools import cached_property
from itertools import zip_longest

from .blocks import Blocks, paragraphs
from .characters import HAN_AND_KANA, is_blank
from .checks import check_number, check_str, check_whole
from .graphemes import graphemes, is_boundary
from .sentences import sentences
from .sizes import CLOSING, OPENING, Unit, check_unit, units_of
from .tables import ends_in_rows, table_head
from .text import Span

# A line of Chinese may start with an opening mark but not with a closing one.
_WORD = re.compile(
    rf"[{OPENING}“‘]*(?:[{HAN_AND_KANA}]|[^\s{HAN_AND_KANA}{OPENING}{CLOSING}]+)[{CLOSING}”’]*|[{OPENING}]+|[{CLOSING}]+"
)
_CLAUSE = re.compile(r"[，、；：]+[”’」』）》】]*|[,;:](?=\s)")
_LINE_END = re.compile(r"\S(?=[^\S\r\n]*(?:[\r\n]|\Z))")
_PATTERNS = {"line": _LINE_END, "clause": _CLAUSE, "word": _WORD}
_LEVELS = ("paragraph", "line", "sentence", "row", "clause", "word", "grapheme")
_SENTENCE_LEVELS = _LEVELS[2:]
# For chunks none of which may be a heading alone: rather is a sentence cut.
HEADED_LEVELS = tuple(f"titled {level}" if level in ("sentence", "clause") else level for level in _LEVELS)
# A heading stays with what follows: at these levels no chunk ends after one.
_TITLED = ("paragraph", "line", "titled sentence", "titled clause")


def recursive(
    text: str, size: int = 500, overlap: int = 20, unit: Unit = "char", length: Callable[[str], int] | None = None
) -> list[Span]:
    """Fill chunks up to `size`, each ended at the coarsest boundary that fits.

    Boundaries, coarse to fine: blank line, line, sentence, clause mark, word, grapheme cluster. A heading
    stays with what follows it. A chunk starts at most `overlap` before the end of the one before, at a word;
    it is less where a whole piece would not fit beside it. No chunk is larger than `size` in
    `unit` (or by `length`, a tokenizer's count), save one grapheme cluster that is larger by itself. ValueError for a
    size below 1, an overlap that is no smaller than it, or another unit.
    """
    check_size(size, overlap)
    cuts = Cuts(text, unit, length)
    return cuts.fill(0, len(text), size, overlap)


def by_paragraph(
    text: str, size: int | None = None, unit: Unit = "char", length: Callable[[str], int] | None = None
) -> list[Span]:
    """One span a paragraph; a paragraph larger than `size` is cut as `recursive` does.

    ValueError for a size below 1 or another unit.
    """
    if size is not None:
        check_size(size, 0)
    cuts = Cuts(text, unit, length)
    whole = paragraphs(text)
    return whole if size is None else [part for p in whole for part in cuts.fill(p.start, p.end, size, 0)]


def by_sentence(
    text: str, size: int, overlap: int = 0, unit: Unit = "char", length: Callable[[str], int] | None = None
) -> list[Span]:
    """Fill chunks up to `size` with whole sentences, repeating those last ones that `overlap` holds.

    Only a sentence larger than `size` is cut; with unit "sentence", size and overlap are numbers of sentences.
    ValueError for a size below 1, an overlap that is no smaller than it, or another unit.
    """
    check_size(size, overlap)
    cuts = Cuts(text, unit, length)
    return cuts.fill(0, len(text), size, overlap, _SENTENCE_LEVELS, ("sentence",))


def check_size(size: int, overlap: int, name: str = "size") -> None:
    """Refuse a size below 1, and an overlap that is no smaller than it."""
    check_whole(name, size, 1)
    check_whole("overlap", overlap, 0)
    if overlap >= size:
        raise ValueError(f"overlap must be smaller than {name} {size}, not {overlap}")


class Cuts:
    """The places where one text may be cut, by level, and the size of any slice of it."""

    def __init__(self, text: str, unit: Unit, length: Callable[[str], int] | None = None) -> None:
        check_str("text", text)
        check_unit(unit)
        if length is not None and not callable(length):
            raise TypeError(f"length must be a function from text to a number, not {length!r}")
        if length is not None:
            check_number("what length gives", length(text[:1]), 0)
        self.text, self.unit, self.length = text, unit, length
        self._reached: dict[tuple[int, int], int] = {}
        self._ends: dict[str, list[int]] = {}
        self._starts: dict[str, list[int]] = {}

    def fill(
        self,
        start: int,
        stop: int,
        size: int,
        overlap: int,
        levels: tuple[str, ...] = _LEVELS,
        overlap_levels: tuple[str, ...] = ("word", "grapheme"),
    ) -> list[Span]:
        """Spans that cover all of text[start:stop] but white space; none of them is blank."""
        stop = start + len(self.text[start:stop].rstrip())
        spans: list[Span] = []
        head = first = self._skip(start)
        while head < stop:
            first, end = self._next(first, head, stop, size, levels, overlap_levels)
            if not is_blank(self.text, first, end):
                spans.append(Span(first, end))
            head = self._skip(end)
            first = self._step_back(first, end, head, overlap, overlap_levels)
        return spans

    def _next(
        self, first: int, head: int, stop: int, size: int, levels: tuple[str, ...], overlap_levels: tuple[str, ...]
    ) -> tuple[int, int]:
        """One chunk: new text from `head` on, and before it as much of text[first:head] as there is room for."""
        for level in levels:
            ends = self.ends(level)
            nearest = min(self._after(ends, head), stop)
            # The overlap gives way to a whole piece, not to the rest of one already begun.
            if self.fits(first, nearest, size) or (self._begins(level, head) and self.fits(head, nearest, size)):
                break
        else:
            return head, nearest
        if not self.fits(first, nearest, size):
            first = self._first_start(first, head, nearest, size, overlap_levels)
        return first, self._farthest(ends, first, nearest, stop, size)

    def _begins(self, level: str, head: int) -> bool:
        starts = self.starts(level)
        place = bisect_left(starts, head)
        return place < len(starts) and starts[place] == head

    def _after(self, ends: list[int], head: int) -> int:
        place = bisect_right(ends, head)
        return ends[place] if place < len(ends) else len(self.text)

    def _farthest(self, ends: list[int], first: int, nearest: int, stop: int, size: int) -> int:
        if self.fits(first, stop, size):
            return stop
        low, high = bisect_right(ends, nearest), bisect_left(ends, min(stop, self.reach(first, size) + 1))
        place = bisect_right(ends, size, low, max(low, high), key=lambda end: self.size(first, end))
        return ends[place - 1] if place > low else nearest

    def _step_back(self, first: int, end: int, head: int, overlap: int, levels: tuple[str, ...]) -> int:
        if not overlap:
            return head
        return self._first_start(first + 1, head, end, overlap, levels)

    def _first_start(self, low: int, head: int, end: int, size: int, levels: tuple[str, ...]) -> int:
        """The smallest start in [low, head) from which text up to `end` fits, else `head`."""
        for level in levels:
            # Only a cut inside a word may be overlapped by a part of a word.
            if self._begins(level, head):
                starts = self.starts(level)
                least, most = bisect_left(starts, low), bisect_left(starts, head)
                place = bisect_left(starts, -size, least, max(least, most), key=lambda s: -self.size(s, end))
                return starts[place] if place < most else head
        return head

    def fits(self, start: int, end: int, size: int) -> bool:
        """Tell whether text[start:end] is at most of this size."""
        return end <= self.reach(start, size) and self.size(start, end) <= size

    def size(self, start: int, end: int) -> int:
        """The size of text[start:end]; a unit that is cut counts."""
        if self.length:
            return self.length(self.text[start:end])
        if self.unit == "char":
            return end - start
        return max(0, bisect_left(self._unit_starts, end) - bisect_right(self._unit_ends, start))

    def reach(self, start: int, size: int) -> int:
        """An end beyond which nothing that begins at `start` fits."""
        if self.length:
            return self._reach_by_trial(start, size)
        if self.unit == "char":
            return start + size
        place = bisect_right(self._unit_ends, start) + size
        return self._unit_starts[place] if place < len(self._unit_starts) else len(self.text)

    def _reach_by_trial(self, start: int, size: int) -> int:
        if (start, size) not in self._reached:
            width = 4 * size
            while start + width < len(self.text) and self.size(start, start + width) <= size:
                width *= 2
            self._reached[start, size] = start + width
        return self._reached[start, size]

    @cached_property
    def _units(self) -> list[tuple[int, int]]:
        return [] if self.length or self.unit == "char" else units_of(self.text, self.unit)

    @cached_property
    def _unit_starts(self) -> list[int]:
        return [start for start, _ in self._units]

    @cached_property
    def _unit_ends(self) -> list[int]:
        return [end for _, end in self._units]

    def ends(self, level: str) -> list[int]:
        """Places to end a chunk: after a character that is not white space, between two units and two clusters."""
        if level not in self._ends:
            found, known = [], 0
            for end in self._raw_ends(level):
                if self._allowed(end, known):
                    known = end
                    found.append(end)
            self._ends[level] = found
        return self._ends[level]

    def starts(self, level: str) -> list[int]:
        """Where the text goes on after each end, and where it begins."""
        if level not in self._starts:
            begin = self._skip(0)
            self._starts[level] = sorted({begin, *(self._skip(end) for end in self.ends(level))})
        return self._starts[level]

    def _raw_ends(self, level: str) -> Iterable[int]:
        kind = level.removeprefix("titled ")
        if kind in _PATTERNS:
            found = [match.end() for match in _PATTERNS[kind].finditer(self.text)]
            found = [*{*found} - self._ends_in_rows] if level == "line" else found
        elif level in ("paragraph", "row"):
            found = self._paragraph_ends if level == "paragraph" else self._head_ends
        else:
            cut = graphemes if level == "grapheme" else sentences
            found = [span.end for span in cut(self.text)]
        return sorted({*found} - self._heading_ends) if level in _TITLED else found

    @cached_property
    def _blocks(self) -> Blocks:
        return Blocks(self.text)

    @cached_property
    def _paragraph_ends(self) -> list[int]:
        pieces = self._blocks.pieces
        return [end for (_, end, *_), after in zip_longest(pieces, pieces[1:]) if not after or after[3]]

    @cached_property
    def _opaque(self) -> list[Span]:
        return [Span(start, end) for start, end, opaque, _ in self._blocks.pieces if opaque]

    @cached_property
    def _heading_ends(self) -> set[int]:
        starts = {self._skip(heading.start) for heading in self._blocks.headings}
        return {piece.end for piece in self._opaque if piece.start in starts}

    @cached_property
    def _ends_in_rows(self) -> set[int]:
        return {end for piece in self._opaque for end in ends_in_rows(self.text, piece.start, piece.end)}

    @cached_property
    def _head_ends(self) -> list[int]:
        heads = (table_head(self.text, piece.start, piece.end) for piece in self._opaque)
        return [head.end for head in heads if head]

    def _allowed(self, end: int, known: int) -> bool:
        """Tell whether a chunk may end here; `known` is a place before where that is sure."""
        if self.text[end - 1].isspace():
            return False
        place = bisect_left(self._unit_starts, end) - 1
        if place >= 0 and end < self._unit_ends[place]:
            return False
        return is_boundary(self.text, end, known)

    def _skip(self, position: int) -> int:
        """The next place where there is more than white space."""
        while position < len(self.text) and self.text[position].isspace():
            position += 1
        return position
