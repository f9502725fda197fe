"""The documents of an index as they were committed, each with its chunks and the vectors these are found by."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ..core.text import Document, Section, Span
from ..core.tree import Chunk

FORMAT = 1
Labels = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Stored:
    """A document as it was committed: its place among the others, its chunks, and the vectors each is found by."""

    order: int
    document: Document
    chunks: tuple[Chunk, ...]
    records: dict[str, tuple[str, ...]]
    heading_path: bool = False  # its chunks are embedded with the headings above them

    def pack(self) -> str:
        """Write it as the JSON of one record; texts of chunks are spans of the document's."""
        chunks = [[c.id, c.span.start, c.span.end, c.level, c.parent_id, c.section_id] for c in self.chunks]
        record = {"format": FORMAT, "order": self.order, "document": asdict(self.document)}
        record |= {"chunks": chunks, "records": self.records, "heading_path": self.heading_path}
        return json.dumps(record, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def unpack(cls, doc_id: str, text: str) -> Stored:
        """Read what `pack` wrote; ValueError when it is damaged."""
        try:
            record = json.loads(text)
            held = record["document"]
            sections = (Section(**{**section, "span": Span(**section["span"])}) for section in held["sections"])
            document = Document(**{**held, "sections": tuple(sections)})
            chunks = (
                Chunk(chunk_id, document.id, Span(start, end), document.text[start:end], level, parent_id, section_id)
                for chunk_id, start, end, level, parent_id, section_id in record["chunks"]
            )
            records = {chunk_id: tuple(ids) for chunk_id, ids in record["records"].items()}
            return cls(record["order"], document, tuple(chunks), records, record.get("heading_path", False))
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            raise ValueError(f"the record of document {doc_id!r} is damaged ({error!r})") from error

    def labels(self) -> Callable[[Chunk], Labels]:
        """Give the function from a chunk to what filters ask of it: access (of all its sections), version, doc_id."""
        document, sections = self.document, {section.id: section for section in self.document.sections}

        def label(chunk: Chunk) -> Labels:
            section = sections.get(chunk.section_id)
            inside = section and section.span.contains(chunk.span)
            access = (section.access,) if inside else _shared_access(document, chunk.span)
            return {"access": access, "version": (document.version,), "doc_id": (document.id,)}

        return label

    def lost_parents(self) -> Iterator[str]:
        """Say which chunks have a parent that is not there."""
        ids = {chunk.id for chunk in self.chunks}
        for chunk in self.chunks:
            if chunk.parent_id is not None and chunk.parent_id not in ids:
                yield f"missing parent {chunk.parent_id!r} of chunk {chunk.id!r}"

    def faults(self, held: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
        """Compare with the labels that the vectors (record's id -> labels) carry: a record's id and what is wrong."""
        labels = self.labels()
        for chunk in self.chunks:
            ours = as_metadata(labels(chunk))
            for record in self.records.get(chunk.id, ()):
                if record not in held:
                    yield record, f"missing vector {record!r} of document {self.document.id!r}"
                elif held[record] != ours:
                    yield record, f"vector {record!r} is labelled {held[record]}, its document says {ours}"


def as_metadata(labels: Labels) -> dict[str, str]:
    """Write labels as Chroma keeps them: a chunk across sections carries those of all of them as one."""
    return {key: "+".join(values) for key, values in labels.items()}


def _shared_access(document: Document, span: Span) -> tuple[str, ...]:
    return tuple(sorted(document.labels(span) or {document.access}))


@dataclass(frozen=True, slots=True)
class Committed:
    """The documents in force in their order, why others cannot be read, and the stamp of the last change.

    At a server the stamp is None while a deletion is under way (or was killed), and before the first change.
    """

    documents: dict[str, Stored]
    damaged: dict[str, str]
    stamp: str | None

    @classmethod
    def of(cls, records: Mapping[str, str], stamp: str | None) -> Committed:
        """Read all records (document's id -> record); one that is damaged is kept apart, with a warning."""
        documents, damaged = {}, {}
        for doc_id, text in records.items():
            try:
                documents[doc_id] = Stored.unpack(doc_id, text)
            except ValueError as error:
                damaged[doc_id] = f"{error}: add the document again, or delete it"
                warnings.warn(damaged[doc_id], stacklevel=2)
        return cls(_in_order(documents), damaged, stamp)

    def put(self, stored: Stored, stamp: str) -> Committed:
        """Give what is in force once a document is written."""
        others = self.remove(stored.document.id, stamp)
        return Committed(_in_order({**others.documents, stored.document.id: stored}), others.damaged, stamp)

    def remove(self, doc_id: str, stamp: str) -> Committed:
        """Give what is in force once a document is removed."""
        documents, damaged = ({k: v for k, v in d.items() if k != doc_id} for d in (self.documents, self.damaged))
        return Committed(documents, damaged, stamp)


def _in_order(documents: dict[str, Stored]) -> dict[str, Stored]:
    return dict(sorted(documents.items(), key=lambda item: (item[1].order, item[0])))
