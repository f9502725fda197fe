"""From documents to trees: parents and children, sentences, several granularities at once."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain

from .blocks import paragraphs
from .characters import is_blank
from .checks import check_callable, check_kind, list_of
from .outline import Outline
from .packing import Packing
from .sentences import sentences
from .sizes import Unit
from .split import HEADED_LEVELS, Cuts, check_size
from .text import Document, Span, as_documents, trimmed
from .tree import Chunk, ChunkTree

# Whether trees put the headings above a chunk into the copy that is embedded, where nothing else is said.
HEADING_PATH = False
_SENTENCES = ("titled sentence",)


def parents_and_children(
    docs: Document | Iterable[Document],
    parent_size: int | None = 2000,
    child_size: int = 500,
    overlap: int = 20,
    unit: Unit = "char",
    length: Callable[[str], int] | None = None,
    heading_path: bool = HEADING_PATH,
) -> ChunkTree:
    """Sections, parents of at most `parent_size`, children of at most `child_size` inside those.

    Small neighbouring sections of one label below one heading share a parent, and a larger section has parents of its
    own; at the top, where nothing but the document's title is above, those of levels 1 and 2 stay apart. A child stays
    inside its section. A heading goes with what follows and is no chunk alone, unless not a word of its label fits
    beside it. Only the children are indexed and only they overlap. With parent_size None the whole document is one
    parent. `heading_path` puts the headings above a child before it in the copy that is embedded. ValueError for a size
    below 1, children larger than parents, an overlap that is no smaller than a child, or another unit; TypeError for
    what is no Document.
    Source: to search passages and read what is around them, Salton, Allan and Buckley, SIGIR 1993, and Callan, SIGIR
    1994; as children that point to a parent, LangChain's ParentDocumentRetriever, August 2023.
    """
    check_size(child_size, overlap, "child_size")
    if parent_size is not None:
        check_size(parent_size, 0, "parent_size")
        if child_size > parent_size:
            raise ValueError(f"child_size must be at most parent_size {parent_size}, not {child_size}")
    documents, chunks, indexed = as_documents(docs), [], []
    for doc in documents:
        plan = _Plan(doc, unit, length)
        families = plan.whole() if parent_size is None else plan.parents(parent_size, HEADED_LEVELS)
        for parent, run in families:
            chunks.append(parent)
            indexed += plan.children(parent, run, child_size, overlap, parent_size is None)
        chunks += _section_chunks(doc)
    return ChunkTree(documents, [*chunks, *indexed], indexed, heading_path)


def sentence_tree(docs: Document | Iterable[Document], heading_path: bool = HEADING_PATH) -> ChunkTree:
    """Sentences (indexed) inside paragraphs inside sections; TypeError for what is no Document.

    Each row of a table is a sentence, the first one with the table's head; a heading is one, too. `heading_path` puts
    the headings above a sentence before it in the copy that is embedded.
    """
    documents, chunks = as_documents(docs), []
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
    # Not every leaf: a section may have nothing but front matter.
    return ChunkTree(documents, chunks, (c.id for c in chunks if c.level == "sentence"), heading_path)


def multi_granular(
    docs: Document | Iterable[Document],
    parent_size: int = 200,
    unit: Unit = "word",
    length: Callable[[str], int] | None = None,
    heading_path: bool = HEADING_PATH,
    parents: Callable[[Document], Iterable[Span]] | None = None,
) -> ChunkTree:
    """Parents of about `parent_size`, halves and quarters of that size inside them, all of them indexed.

    No sentence is cut, so one larger than the size stands alone. Small neighbouring sections share a parent, and
    headings go with what follows, as in `parents_and_children`. Halves and quarters both have the parent as parent,
    which has none: its score is the best of all three. A piece equal to the parent is left out. `heading_path` puts the
    headings above a piece before it in the copy that is embedded. `parents` gives the spans of a document's parents,
    cut in another way. ValueError for a size below 1, another unit, or a span outside the text; TypeError for what is
    no Document, and for `parents` that is no function or gives no Spans.
    Source: logits-guided multi-granular chunking (LGMGC), arXiv:2501.09940.
    """
    check_size(parent_size, 0, "parent_size")
    if parents is not None:
        check_callable("parents", parents, "from a Document to Spans")
    documents, chunks = as_documents(docs), []
    for doc in documents:
        plan = _Plan(doc, unit, length)
        chunks += _section_chunks(doc)
        families = plan.given(parents(doc)) if parents else plan.parents(parent_size, _SENTENCES)
        for parent, run in families:
            parent = replace(parent, parent_id=None)
            chunks += [parent, *plan.smaller(parent, run, parent_size)]
    return ChunkTree(documents, chunks, (c.id for c in chunks if c.level == "passage"), heading_path)


def flat_tree(doc: Document, spans: Iterable[Span], heading_path: bool = HEADING_PATH) -> ChunkTree:
    """The chunks of one document just as a splitter cut them: all indexed, none with a parent.

    Ids are `document/cN` in the order given. `heading_path` puts the headings above a chunk before it in the copy that
    is embedded. A span outside the text is a ValueError, a blank one is left out. TypeError for what is no Document,
    and what are no Spans.
    """
    check_kind("doc", doc, Document)
    chunks = []
    for n, span in enumerate(list_of(Span, "spans", spans), 1):
        _check_inside(doc, span)
        if not is_blank(doc.text, span.start, span.end):
            section = next(s for s in doc.sections if s.span.end > span.start)
            chunks.append(_chunk(doc, f"{doc.id}/c{n}", span, "passage", None, section.id))
    return ChunkTree([doc], chunks, None, heading_path)


class _Plan:
    """How one document is cut: which sections go together, and where a chunk may end."""

    def __init__(self, doc: Document, unit: Unit, length: Callable[[str], int] | None) -> None:
        self.doc, self.cuts = doc, Cuts(doc.text, unit, length)
        self.outline = Outline(doc)
        self.packing = Packing(self.outline)

    def parents(self, size: int, levels: tuple[str, ...]) -> Iterator[tuple[Chunk, range]]:
        """The parents, each with the sections that it is cut from; one that is inside its section points to it."""
        for run in self.packing.runs(lambda span: self.cuts.fits(span.start, span.end, size)):
            spans = self._fill(self.outline.span(run), size, 0, levels)
            for n, span in enumerate(spans, 1):
                section = self.doc.sections[self.outline.place(span.start)]
                above = section.id if section.span.contains(span) else None
                yield self._passage(f"{self.doc.sections[run.start].id}/p{n}", span, above), run

    def given(self, spans: Iterable[Span]) -> Iterator[tuple[Chunk, range]]:
        """Parents that were cut elsewhere, numbered in the section where each begins; blank ones are left out."""
        numbers: Counter[str] = Counter()
        for span in list_of(Span, "parents", spans):
            _check_inside(self.doc, span)
            if is_blank(self.doc.text, span.start, span.end):
                continue
            run = range(self.outline.place(span.start), self.outline.place(span.end - 1) + 1)
            prefix = self.doc.sections[run.start].id
            numbers[prefix] += 1
            yield self._passage(f"{prefix}/p{numbers[prefix]}", span, None), run

    def whole(self) -> Iterator[tuple[Chunk, range]]:
        """The whole document as one parent of all its sections."""
        every = range(len(self.doc.sections))
        span = trimmed(self.doc.text, self.outline.span(every)) if every else Span(0, 0)
        if not is_blank(span.of(self.doc.text)):
            yield self._passage(f"{self.doc.id}/p1", span, None), every

    def children(self, parent: Chunk, run: range, size: int, overlap: int, by_section: bool) -> Iterator[Chunk]:
        """The children of a parent, numbered in it or in the section that each begins with."""
        numbers: Counter[str] = Counter()
        for unit, within in self._units(parent, run):
            prefix = self.doc.sections[unit.start].id if by_section else parent.id
            for span in self._fill(within, size, overlap, HEADED_LEVELS):
                numbers[prefix] += 1
                yield self._passage(f"{prefix}/c{numbers[prefix]}", span, parent.id)

    def smaller(self, parent: Chunk, run: range, parent_size: int) -> Iterator[Chunk]:
        """The halves and quarters of a parent that are not the parent, or a half, again."""
        seen = {parent.span}
        for mark, size in (("h", parent_size // 2), ("q", parent_size // 4)):
            inside = (self._fill(part, max(1, size), 0, _SENTENCES) for _, part in self._units(parent, run))
            for n, span in enumerate(chain.from_iterable(inside), 1):
                if span not in seen:
                    seen.add(span)
                    yield self._passage(f"{parent.id}/{mark}{n}", span, parent.id)

    def _units(self, parent: Chunk, run: range) -> Iterator[tuple[range, Span]]:
        """The sections of a run as far as a parent has a part of them, headings alone with what they go with."""
        for unit in self.packing.units(run):
            span = self.outline.span(unit)
            if span.overlaps(parent.span):
                yield unit, Span(max(span.start, parent.span.start), min(span.end, parent.span.end))

    def _fill(self, span: Span, size: int, overlap: int, levels: tuple[str, ...]) -> list[Span]:
        return self.cuts.fill(span.start, span.end, size, overlap, levels)

    def _passage(self, chunk_id: str, span: Span, parent_id: str | None) -> Chunk:
        section = self.doc.sections[self.outline.place(span.start)]
        return _chunk(self.doc, chunk_id, span, "passage", parent_id, section.id)


def _check_inside(doc: Document, span: Span) -> None:
    if span.end > len(doc.text):
        raise ValueError(f"span {span} ends after the text of {doc.id!r}, which has {len(doc.text)} characters")


def _chunk(doc: Document, chunk_id: str, span: Span, level: str, parent_id: str | None, section_id: str) -> Chunk:
    return Chunk(chunk_id, doc.id, span, span.of(doc.text), level, parent_id, section_id)


def _section_chunks(doc: Document) -> list[Chunk]:
    seen = (s for s in doc.sections if not is_blank(doc.text, s.span.start, s.span.end))
    return [_chunk(doc, s.id, trimmed(doc.text, s.span), "section", None, s.id) for s in seen]


def _inside(spans: list[Span], outer: Span) -> list[Span]:
    start = bisect_left(spans, outer.start, key=lambda s: s.start)
    return spans[start : bisect_left(spans, outer.end, key=lambda s: s.start)]
