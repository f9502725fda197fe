"""From documents to trees: parents and children, sentences, several granularities at once."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator

from .blocks import paragraphs
from .characters import is_blank
from .sentences import sentences
from .sizes import Unit
from .split import Cuts, check_size
from .text import Document, Span, trimmed
from .tree import Chunk, ChunkTree


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
    parent; its children still respect the sections. ValueError for a size below 1, children larger than parents, an
    overlap that is no smaller than a child, or another unit; TypeError for what is no Document.
    Source: to search passages and read what is around them, Salton, Allan and Buckley, SIGIR 1993, and Callan, SIGIR
    1994; as children that point to a parent, LangChain's ParentDocumentRetriever, August 2023.
    """
    check_size(child_size, overlap, "child_size")
    if parent_size is not None:
        check_size(parent_size, 0, "parent_size")
        if child_size > parent_size:
            raise ValueError(f"child_size must be at most parent_size {parent_size}, not {child_size}")
    documents, chunks = _documents(docs), []
    for doc in documents:
        cuts = Cuts(doc.text, unit, length)
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
    """Sentences (indexed) inside paragraphs inside sections; TypeError for what is no Document."""
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
    ValueError for a size below 1 or another unit; TypeError for what is no Document.
    Source: logits-guided multi-granular chunking (LGMGC), arXiv:2501.09940.
    """
    check_size(parent_size, 0, "parent_size")
    documents, chunks = _documents(docs), []
    for doc in documents:
        cuts = Cuts(doc.text, unit, length)
        for section in _section_chunks(doc):
            chunks.append(section)
            for n, span in enumerate(_whole_sentences(cuts, section.span, parent_size), 1):
                parent = _chunk(doc, f"{section.id}/p{n}", span, "passage", None, section.id)
                chunks += [parent, *_smaller(doc, cuts, parent, parent_size)]
    return ChunkTree(documents, chunks, (c.id for c in chunks if c.level == "passage"))


def flat_tree(doc: Document, spans: Iterable[Span]) -> ChunkTree:
    """The chunks of one document just as a splitter cut them: all indexed, none with a parent.

    Ids are `document/cN` in the order given. A span outside the text is a ValueError, a blank one is left out.
    """
    chunks = []
    for n, span in enumerate(spans, 1):
        if span.end > len(doc.text):
            raise ValueError(f"span {span} ends after the text of {doc.id!r}, which has {len(doc.text)} characters")
        if not is_blank(doc.text, span.start, span.end):
            section = next(s for s in doc.sections if s.span.end > span.start)
            chunks.append(_chunk(doc, f"{doc.id}/c{n}", span, "passage", None, section.id))
    return ChunkTree([doc], chunks)


def _smaller(doc: Document, cuts: Cuts, parent: Chunk, parent_size: int) -> Iterator[Chunk]:
    seen = {parent.span}
    for mark, size in (("h", parent_size // 2), ("q", parent_size // 4)):
        for n, span in enumerate(_whole_sentences(cuts, parent.span, max(1, size)), 1):
            if span not in seen:
                seen.add(span)
                yield _chunk(doc, f"{parent.id}/{mark}{n}", span, "passage", parent.id, parent.section_id)


def _whole_sentences(cuts: Cuts, within: Span, size: int) -> list[Span]:
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


def _cut(doc: Document, outer: Chunk, cuts: Cuts, size: int, overlap: int, prefix: str, parent_id: str) -> list[Chunk]:
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


def _inside(spans: list[Span], outer: Span) -> list[Span]:
    start = bisect_left(spans, outer.start, key=lambda s: s.start)
    return spans[start : bisect_left(spans, outer.end, key=lambda s: s.start)]
