"""From a text to chunks: sizes, splitters, and the tree that ties small chunks to big ones."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Literal

from .text import (
    Document,
    Section,
    Span,
    check_str,
    document,
    graphemes,
    is_blank,
    is_boundary,
    paragraphs,
    sentences,
)

Unit = Literal["char", "word", "token", "sentence"]
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_OPEN = "（「『《〈【〔［｛"
_CLOSE = "。！？；…，、：」』）》〉】〕］｝"
_UNITS = {
    "word": re.compile(rf"[{_CJK}]|[^\s{_CJK}{_OPEN}{_CLOSE}]+"),
    "token": re.compile(rf"[{_CJK}]|\d+(?:[.,]\d+)*|[^\W\d_{_CJK}][^\W_{_CJK}]*(?:['’][^\W_{_CJK}]+)*|\S"),
}
# A line of Chinese may start with an opening mark but not with a closing one.
_WORD = re.compile(rf"[{_OPEN}“‘]*(?:[{_CJK}]|[^\s{_CJK}{_OPEN}{_CLOSE}]+)[{_CLOSE}”’]*|[{_OPEN}]+|[{_CLOSE}]+")
_CLAUSE = re.compile(r"[，、；：]+[”’」』）》】]*|[,;:](?=\s)")
_LINE_END = re.compile(r"\S(?=[^\S\r\n]*(?:[\r\n]|\Z))")
_PATTERNS = {"line": _LINE_END, "clause": _CLAUSE, "word": _WORD}
_LEVELS = ("paragraph", "line", "sentence", "clause", "word", "grapheme")
_SENTENCE_LEVELS = _LEVELS[2:]
# Levels of chunks, what is around before what is inside.
_RANK = {"section": 0, "passage": 1, "sentence": 2}
# A heading stays with what follows: at these levels no chunk ends after one.
_TITLED = ("paragraph", "line", "titled sentence")


def count(text: str, unit: Unit = "char") -> int:
    """Size of a text in characters, words, tokens or sentences.

    A word is a run between white space or one CJK character. A token, an approximation that needs no
    model, is a word, a number, a punctuation mark or one CJK character.
    """
    check_str("text", text)
    _check_unit(unit)
    if unit == "char":
        return len(text)
    return len(_units(text, unit))


def _units(text: str, unit: Unit) -> list[tuple[int, int]]:
    """Start and end of each unit; one that begins inside a grapheme cluster belongs to the one before."""
    found = sentences(text) if unit == "sentence" else (Span(*m.span()) for m in _UNITS[unit].finditer(text))
    units: list[tuple[int, int]] = []
    for span in found:
        start, end = units[-1] if units else (0, -1)
        if end == span.start and not is_boundary(text, end, start):
            units[-1] = (start, span.end)
        else:
            units.append((span.start, span.end))
    return units


def recursive(
    text: str, size: int = 500, overlap: int = 20, unit: Unit = "char", length: Callable[[str], int] | None = None
) -> list[Span]:
    """Fill chunks up to `size`, each ended at the coarsest boundary that fits.

    Boundaries, coarse to fine: blank line, line, sentence, clause mark, word, grapheme cluster. A heading
    stays with what follows it. A chunk starts at most `overlap` before the end of the one before, at a word;
    it is less where a whole piece would not fit beside it. No chunk is larger than `size` in
    `unit` (or by `length`, a tokenizer's count), save one grapheme cluster that is larger by itself.
    """
    _check_size(size, overlap)
    cuts = _Cuts(text, unit, length)
    return cuts.fill(0, len(text), size, overlap)


def by_paragraph(
    text: str, size: int | None = None, unit: Unit = "char", length: Callable[[str], int] | None = None
) -> list[Span]:
    """One span a paragraph; a paragraph larger than `size` is cut as `recursive` does."""
    if size is not None:
        _check_size(size, 0)
    cuts = _Cuts(text, unit, length)
    whole = paragraphs(text)
    return whole if size is None else [part for p in whole for part in cuts.fill(p.start, p.end, size, 0)]


def by_sentence(
    text: str, size: int, overlap: int = 0, unit: Unit = "char", length: Callable[[str], int] | None = None
) -> list[Span]:
    """Fill chunks up to `size` with whole sentences, repeating those last ones that `overlap` holds.

    Only a sentence larger than `size` is cut; with unit "sentence", size and overlap are numbers of sentences.
    """
    _check_size(size, overlap)
    cuts = _Cuts(text, unit, length)
    return cuts.fill(0, len(text), size, overlap, _SENTENCE_LEVELS, ("sentence",))


def _check_unit(unit: str) -> None:
    if unit not in ("char", "word", "token", "sentence"):
        raise ValueError(f"unit must be 'char', 'word', 'token' or 'sentence', not {unit!r}")


def _check_size(size: int, overlap: int, name: str = "size") -> None:
    check_whole(name, size, 1)
    check_whole("overlap", overlap, 0)
    if overlap >= size:
        raise ValueError(f"overlap must be smaller than {name} {size}, not {overlap}")


def check_whole(name: str, value: int, least: int) -> None:
    """Refuse what is no whole number or is less than `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise ValueError(f"{name} must be a whole number, not {value!r}")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, not {value}")


class _Cuts:
    """The places where one text may be cut, by level, and the size of any slice of it."""

    def __init__(self, text: str, unit: Unit, length: Callable[[str], int] | None = None) -> None:
        check_str("text", text)
        _check_unit(unit)
        if length is not None and not callable(length):
            raise TypeError(f"length must be a function from text to a number, not {length!r}")
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
        return end <= self.reach(start, size) and self.size(start, end) <= size

    def size(self, start: int, end: int) -> int:
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
        return [] if self.length or self.unit == "char" else _units(self.text, self.unit)

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
        if level in _PATTERNS:
            found = [match.end() for match in _PATTERNS[level].finditer(self.text)]
        else:
            cut = {"paragraph": paragraphs, "grapheme": graphemes}.get(level, sentences)
            found = [span.end for span in cut(self.text)]
        return sorted({*found} - self._heading_ends) if level in _TITLED else found

    @cached_property
    def _heading_ends(self) -> set[int]:
        starts = {self._skip(s.span.start) for s in document("-", self.text).sections if s.title}
        return {p.end for p in paragraphs(self.text) if p.start in starts}

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


@dataclass(frozen=True, slots=True)
class Chunk:
    """One indexed or delivered unit: `text` is exactly `span` of its document."""

    id: str
    doc_id: str
    span: Span
    text: str
    level: Literal["section", "passage", "sentence"]
    parent_id: str | None
    section_id: str


class ChunkTree:
    """Documents and their chunks, small ones pointing to big ones; nothing changes after construction.

    `indexed` gives the chunks to embed, or their ids, by default those that are nobody's parent and nobody's section. A
    parent may be missing (a store that lost one): asking for it is a KeyError, all else works.
    """

    def __init__(
        self, documents: Iterable[Document], chunks: Iterable[Chunk], indexed: Iterable[str | Chunk] | None = None
    ) -> None:
        self.documents: dict[str, Document] = _by_id(documents, "document")
        self._chunks: dict[str, Chunk] = _by_id(chunks, "chunk")
        for chunk in self:
            self._check(chunk)
        self._chunks = {c.id: c for c in sorted(self, key=self._order())}
        wanted = self._leaves() if indexed is None else indexed
        self._indexed = {item if isinstance(item, str) else item.id for item in wanted}
        if unknown := sorted(self._indexed - self._chunks.keys()):
            raise ValueError(f"indexed names {unknown[0]!r}, which is no chunk of the tree")
        self._children: dict[str, list[Chunk]] = {}
        self._rows: dict[tuple[str, int, str], list[Chunk]] = {}
        self._positions: dict[str, int] = {}
        for chunk in self:
            row = self._rows.setdefault(self._kind(chunk), [])
            self._positions[chunk.id] = len(row)
            row.append(chunk)
            if chunk.parent_id is not None:
                self._children.setdefault(chunk.parent_id, []).append(chunk)

    def __getitem__(self, chunk_id: str) -> Chunk:
        return self._chunks[chunk_id]

    def __contains__(self, chunk_id: object) -> bool:
        return chunk_id in self._chunks

    def __len__(self) -> int:
        return len(self._chunks)

    def __iter__(self) -> Iterator[Chunk]:
        return iter(self._chunks.values())

    def __repr__(self) -> str:
        return f"ChunkTree({len(self.documents)} documents, {len(self)} chunks, {len(self._indexed)} indexed)"

    @property
    def indexed(self) -> list[Chunk]:
        """The chunks to embed, in document order."""
        return [chunk for chunk in self if chunk.id in self._indexed]

    def parent(self, chunk: Chunk) -> Chunk:
        """The chunk around this one; a chunk without a parent is its own."""
        if chunk.parent_id is None:
            return chunk
        if chunk.parent_id not in self:
            raise KeyError(f"parent {chunk.parent_id!r} of chunk {chunk.id!r} is missing in the tree")
        return self[chunk.parent_id]

    def children(self, chunk: Chunk) -> list[Chunk]:
        """The chunks whose parent this is, in the order of the text."""
        return list(self._children.get(chunk.id, ()))

    def siblings(self, chunk: Chunk) -> list[Chunk]:
        """All children of the chunk's parent, itself included."""
        return [chunk] if chunk.parent_id is None else list(self._children[chunk.parent_id])

    def row(self, chunk: Chunk) -> list[Chunk]:
        """All chunks of the document at this chunk's level and depth, in the order of the text."""
        return self._rows[self._kind(chunk)]

    def position(self, chunk: Chunk) -> int:
        """The chunk's place in its row, from 0."""
        return self._positions[chunk.id]

    def neighbours(self, chunk: Chunk, before: int = 1, after: int = 1) -> list[Chunk]:
        """The chunk with up to `before` and `after` others around it, across paragraphs and sections."""
        check_whole("before", before, 0)
        check_whole("after", after, 0)
        place = self.position(chunk)
        return self.row(chunk)[max(0, place - before) : place + after + 1]

    def document(self, chunk: Chunk) -> Document:
        """The document that the chunk is a slice of."""
        return self.documents[chunk.doc_id]

    def section(self, chunk: Chunk) -> Section:
        """The section that the chunk begins in."""
        for section in self.document(chunk).sections:
            if section.id == chunk.section_id:
                return section
        raise KeyError(f"section {chunk.section_id!r} of chunk {chunk.id!r} is missing in its document")

    def _check(self, chunk: Chunk) -> None:
        if chunk.doc_id not in self.documents:
            raise ValueError(f"chunk {chunk.id!r} belongs to document {chunk.doc_id!r}, which is not given")
        if chunk.span.of(self.documents[chunk.doc_id].text) != chunk.text:
            raise ValueError(f"chunk {chunk.id!r} is not the text of its span {chunk.span} in its document")
        if chunk.level not in _RANK:
            raise ValueError(f"level of chunk {chunk.id!r} must be one of {', '.join(_RANK)}, not {chunk.level!r}")
        parent = self._chunks.get(chunk.parent_id, chunk)
        if parent.doc_id != chunk.doc_id:
            raise ValueError(f"chunk {chunk.id!r} and its parent {parent.id!r} are in two documents")
        self._depth(chunk)

    def _depth(self, chunk: Chunk) -> int:
        """How many parents are above the chunk, the last of which may be missing."""
        depth, below = 0, chunk
        while below and below.parent_id is not None:
            depth, below = depth + 1, self._chunks.get(below.parent_id)
            if depth > len(self):
                raise ValueError(f"chunk {chunk.id!r} is its own parent, or a parent of its parents is")
        return depth

    def _order(self) -> Callable[[Chunk], tuple]:
        """Sort key: the order of the text, what is around before what is inside."""
        place = {doc_id: n for n, doc_id in enumerate(self.documents)}
        return lambda c: (place[c.doc_id], c.span.start, -c.span.end, _RANK[c.level], self._kind(c)[1], c.id)

    def _kind(self, chunk: Chunk) -> tuple[str, int, str]:
        """What a row has in common; parents and children are both passages, so their depth tells them apart."""
        return chunk.doc_id, self._depth(chunk) if chunk.level == "passage" else 0, chunk.level

    def _leaves(self) -> set[str]:
        others = {c.parent_id for c in self} | {c.section_id for c in self if c.id != c.section_id}
        return {c.id for c in self if c.id not in others}


def _by_id(items: Iterable, kind: str) -> dict:
    found: dict = {}
    for item in items:
        if item.id in found:
            raise ValueError(f"{kind} id {item.id!r} is given twice")
        found[item.id] = item
    return found


def parents_and_children(
    docs: Document | Iterable[Document],
    parent_size: int | None = 2000,
    child_size: int = 500,
    overlap: int = 20,
    unit: Unit = "char",
    length: Callable[[str], int] | None = None,
) -> ChunkTree:
    """Sections, parents of at most `parent_size` inside them, children of at most `child_size` inside those.

    Only the children are indexed and only they overlap. With parent_size None the whole document is one
    parent; its children still respect the sections.
    """
    _check_size(child_size, overlap, "child_size")
    if parent_size is not None:
        _check_size(parent_size, 0, "parent_size")
        if child_size > parent_size:
            raise ValueError(f"child_size must be at most parent_size {parent_size}, not {child_size}")
    documents, chunks = _documents(docs), []
    for doc in documents:
        cuts = _Cuts(doc.text, unit, length)
        whole = _whole(doc) if parent_size is None else None
        chunks += [whole] if whole else []
        for section in _section_chunks(doc):
            chunks.append(section)
            parents = [whole] if whole else _cut(doc, section, cuts, parent_size, 0, f"{section.id}/p", section.id)
            for parent in parents:
                chunks += [] if whole else [parent]
                outer = section if whole else parent
                chunks += _cut(doc, outer, cuts, child_size, overlap, f"{outer.id}/c", parent.id)
    return ChunkTree(documents, chunks)


def sentence_tree(docs: Document | Iterable[Document]) -> ChunkTree:
    """Sentences (indexed) inside paragraphs inside sections."""
    documents, chunks = _documents(docs), []
    for doc in documents:
        all_paragraphs, all_sentences = paragraphs(doc.text), sentences(doc.text)
        for section in _section_chunks(doc):
            chunks.append(section)
            for n, span in enumerate(_inside(all_paragraphs, section.span), 1):
                paragraph = _chunk(doc, f"{section.id}/p{n}", span, "passage", section.id, section.id)
                chunks.append(paragraph)
                chunks += [
                    _chunk(doc, f"{paragraph.id}/s{m}", s, "sentence", paragraph.id, section.id)
                    for m, s in enumerate(_inside(all_sentences, span), 1)
                ]
    return ChunkTree(documents, chunks)


def multi_granular(
    docs: Document | Iterable[Document],
    parent_size: int = 200,
    unit: Unit = "word",
    length: Callable[[str], int] | None = None,
) -> ChunkTree:
    """Parents of about `parent_size`, halves and quarters of that size inside them, all of them indexed.

    No sentence is cut, so one larger than the size stands alone. Halves and quarters both have the parent
    as parent, which has none: its score is the best of all three. A piece equal to the parent is left out.
    Source: logits-guided multi-granular chunking (LGMGC), arXiv 2501.09940.
    """
    _check_size(parent_size, 0, "parent_size")
    documents, chunks = _documents(docs), []
    for doc in documents:
        cuts = _Cuts(doc.text, unit, length)
        for section in _section_chunks(doc):
            chunks.append(section)
            for n, span in enumerate(_whole_sentences(cuts, section.span, parent_size), 1):
                parent = _chunk(doc, f"{section.id}/p{n}", span, "passage", None, section.id)
                chunks += [parent, *_smaller(doc, cuts, parent, parent_size)]
    return ChunkTree(documents, chunks, (c.id for c in chunks if c.level == "passage"))


def _smaller(doc: Document, cuts: _Cuts, parent: Chunk, parent_size: int) -> Iterator[Chunk]:
    seen = {parent.span}
    for mark, size in (("h", parent_size // 2), ("q", parent_size // 4)):
        for n, span in enumerate(_whole_sentences(cuts, parent.span, max(1, size)), 1):
            if span not in seen:
                seen.add(span)
                yield _chunk(doc, f"{parent.id}/{mark}{n}", span, "passage", parent.id, parent.section_id)


def _whole_sentences(cuts: _Cuts, within: Span, size: int) -> list[Span]:
    return cuts.fill(within.start, within.end, size, 0, ("titled sentence",))


def _documents(docs: Document | Iterable[Document]) -> list[Document]:
    found = [docs] if isinstance(docs, Document) else docs
    if isinstance(found, str) or not isinstance(found, Iterable):
        raise TypeError(f"docs must be a Document or a list of them, not {type(docs).__name__}")
    found = list(found)
    for doc in found:
        if not isinstance(doc, Document):
            raise TypeError(f"docs must hold Documents only, not {type(doc).__name__}: use document(id, text)")
    return found


def _chunk(doc: Document, chunk_id: str, span: Span, level: str, parent_id: str | None, section_id: str) -> Chunk:
    return Chunk(chunk_id, doc.id, span, span.of(doc.text), level, parent_id, section_id)


def _cut(doc: Document, outer: Chunk, cuts: _Cuts, size: int, overlap: int, prefix: str, parent_id: str) -> list[Chunk]:
    spans = cuts.fill(outer.span.start, outer.span.end, size, overlap)
    return [
        _chunk(doc, f"{prefix}{n}", span, "passage", parent_id, outer.section_id) for n, span in enumerate(spans, 1)
    ]


def _whole(doc: Document) -> Chunk | None:
    if is_blank(doc.text):
        return None
    span = trimmed(doc.text, Span(0, len(doc.text)))
    return _chunk(doc, f"{doc.id}/p1", span, "passage", None, doc.sections[0].id)


def _section_chunks(doc: Document) -> list[Chunk]:
    seen = (s for s in doc.sections if not is_blank(doc.text, s.span.start, s.span.end))
    return [_chunk(doc, s.id, trimmed(doc.text, s.span), "section", None, s.id) for s in seen]


def trimmed(text: str, span: Span) -> Span:
    """The span without the white space at its ends."""
    inner = span.of(text)
    start = span.start + len(inner) - len(inner.lstrip())
    return Span(start, max(start, span.start + len(inner.rstrip())))


def _inside(spans: list[Span], outer: Span) -> list[Span]:
    start = bisect_left(spans, outer.start, key=lambda s: s.start)
    return spans[start : bisect_left(spans, outer.end, key=lambda s: s.start)]
