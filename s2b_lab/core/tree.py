"""The tree that ties small chunks to big ones."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from .cards import Card, Rows, abridged, beginning, counted, first_few
from .checks import check_kind, check_str, check_whole, list_of
from .embedded import Copies
from .text import Document, Section, Span

# Levels of chunks, what is around before what is inside.
_RANK = {"section": 0, "passage": 1, "sentence": 2}


@dataclass(frozen=True, slots=True)
class Chunk(Card):
    """One indexed or delivered unit: `text` is exactly `span` of its document.

    `level` is "section", "passage" or "sentence"; parent and child are roles, told by `parent_id`. TypeError for a
    field of another kind.
    """

    id: str
    doc_id: str
    span: Span
    text: str
    level: Literal["section", "passage", "sentence"]
    parent_id: str | None
    section_id: str

    def __post_init__(self) -> None:
        if type(self.id) is type(self.doc_id) is type(self.text) is type(self.section_id) is str:
            if type(self.span) is Span and (self.parent_id is None or type(self.parent_id) is str):
                return  # at once: there are thousands of chunks
        for name in ("id", "doc_id", "text", "section_id"):
            check_str(f"{name} of a chunk", getattr(self, name))
        check_kind("the parent_id of a chunk", self.parent_id, str | None)
        check_kind("the span of a chunk", self.span, Span)

    def _card(self) -> tuple[str, Rows]:
        place = f"{self.span.start} to {self.span.end}, {counted(len(self.text), 'character')}"
        parent = [("parent", self.parent_id)] if self.parent_id is not None else []
        return f"Chunk {self.id}", [("level", self.level), ("span", place), *parent, ("text", abridged(self.text))]


class ChunkTree(Card):
    """Documents and their chunks, small ones pointing to big ones; nothing changes after construction.

    `indexed` gives the chunks to embed, or their ids, by default those that are nobody's parent and nobody's section. A
    parent may be missing (a store that lost one): asking for it is a KeyError, all else works. `heading_path`, for all
    documents or for those with the ids given, puts the headings above a chunk before its text in the copy that is
    embedded; `headed` has their ids. ValueError for an id that is given twice or is unknown, and for a chunk that is
    not the text of its span or is its own parent; TypeError for what are no Documents or Chunks.
    """

    def __init__(
        self,
        documents: Iterable[Document],
        chunks: Iterable[Chunk],
        indexed: Iterable[str | Chunk] | None = None,
        heading_path: bool | Iterable[str] = False,
    ) -> None:
        self.documents: dict[str, Document] = _by_id(list_of(Document, "documents", documents), "document")
        self._chunks: dict[str, Chunk] = _by_id(list_of(Chunk, "chunks", chunks), "chunk")
        for chunk in self:
            self._check(chunk)
        self._chunks = {c.id: c for c in sorted(self, key=self._order())}
        wanted = self._leaves() if indexed is None else indexed
        wanted = [item.id if isinstance(item, Chunk) else item for item in list_of(object, "indexed", wanted)]
        self._indexed = set(list_of(str, "indexed", wanted))
        if unknown := sorted(self._indexed - self._chunks.keys()):
            raise ValueError(f"indexed names {unknown[0]!r}, which is no chunk of the tree")
        self.headed: frozenset[str] = _chosen(self.documents, heading_path)
        self._copies: dict[str, Copies] = {}
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

    def _card(self) -> tuple[str, Rows]:
        sections = [chunk for chunk in self if chunk.level == "section"]
        above = [chunk for chunk in self if chunk.id in self._children and chunk.level != "section"]
        below = [chunk for chunk in self if chunk.parent_id is not None and chunk.id not in self._children]
        counts = {"sections": sections, "parents": above, "children": below, "indexed": self._indexed}
        rows: Rows = [(name, f"{len(chunks):,}") for name, chunks in counts.items()]
        rows.insert(0, ("documents", first_few([f"{len(self.documents):,}", *self.documents], 6)))
        # Of a text that is for some readers alone nothing is shown.
        public = (c for c in self.indexed if self.document(c).is_public(c.span))
        first = [("first indexed", [c.id, beginning(c.text)]) for c in public][:1]
        return f"Tree of {counted(len(self), 'chunk')}", [*rows, *first]

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
        """The chunk's place in its row, from 0; TypeError for what is no Chunk."""
        check_kind("chunk", chunk, Chunk)
        return self._positions[chunk.id]

    def neighbours(self, chunk: Chunk, before: int = 1, after: int = 1) -> list[Chunk]:
        """The chunk with up to `before` and `after` others around it, across paragraphs and sections.

        ValueError where one of them is below 0.
        """
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

    def embedded(self, chunk: Chunk) -> str:
        """The text that is embedded for a chunk: its own, made readable for a model; spans never change.

        Before it stand the heading path, where the tree has them, and the head of the table that it begins inside.
        """
        if chunk.doc_id not in self._copies:
            self._copies[chunk.doc_id] = Copies(self.document(chunk), chunk.doc_id in self.headed)
        return self._copies[chunk.doc_id].whole(chunk.span)

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
        self._check_circle(chunk)

    def _check_circle(self, chunk: Chunk) -> None:
        depth, below = 0, chunk
        while below and below.parent_id is not None:
            depth, below = depth + 1, self._chunks.get(below.parent_id)
            if depth > len(self):
                raise ValueError(f"chunk {chunk.id!r} is its own parent, or a parent of its parents is")

    def _order(self) -> Callable[[Chunk], tuple]:
        """Sort key: the order of the text, what is around before what is inside."""
        place = {doc_id: n for n, doc_id in enumerate(self.documents)}
        return lambda c: (place[c.doc_id], c.span.start, -c.span.end, _RANK[c.level], self._kind(c)[1], c.id)

    def _kind(self, chunk: Chunk) -> tuple[str, int, str]:
        """What a row has in common; parents and children are both passages, so their depth tells them apart."""
        return chunk.doc_id, self._passages_above(chunk) if chunk.level == "passage" else 0, chunk.level

    def _passages_above(self, chunk: Chunk) -> int:
        # Not the section: it is around some parents, but not around one that holds several sections.
        count, below = 0, chunk
        while below and below.parent_id not in (None, below.section_id):
            below = self._chunks.get(below.parent_id)
            count += below is None or below.level == "passage"
        return count

    def _leaves(self) -> set[str]:
        others = {c.parent_id for c in self} | {c.section_id for c in self if c.id != c.section_id}
        return {c.id for c in self if c.id not in others}


def _chosen(documents: dict[str, Document], heading_path: bool | Iterable[str]) -> frozenset[str]:
    if isinstance(heading_path, bool):
        return frozenset(documents if heading_path else ())
    if isinstance(heading_path, str) or not isinstance(heading_path, Iterable):
        raise TypeError(f"heading_path must be True, False or a collection of document ids, not {heading_path!r}")
    if unknown := sorted({*heading_path} - documents.keys()):
        raise ValueError(f"heading_path names {unknown[0]!r}, which is no document of the tree")
    return frozenset(heading_path)


def _by_id(items: Iterable, kind: str) -> dict:
    found: dict = {}
    for item in items:
        if item.id in found:
            files = [one.source for one in (found[item.id], item) if getattr(one, "source", "")]
            whose = f", by the files {files[0]!r} and {files[1]!r}" if len(files) == 2 else ""
            raise ValueError(f"{kind} id {item.id!r} is given twice{whose}")
        found[item.id] = item
    return found
