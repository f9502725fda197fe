"""The documents of an index as they were committed, each with its chunks and the vectors these are found by."""

from __future__ import annotations

import json
import uuid
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ..core.text import Document, Section, Span
from ..core.tree import Chunk

FORMAT = 1
STAMP = "#"  # the id of the record beside the documents' that changes whenever one of them does

Labels = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Stored:
    """A document as it was committed: its place among the others, its chunks, and the vectors each is found by."""

    order: int
    document: Document
    chunks: tuple[Chunk, ...]
    records: dict[str, tuple[str, ...]]

    def pack(self) -> str:
        """Write it as the JSON of one record; texts of chunks are spans of the document's."""
        chunks = [[c.id, c.span.start, c.span.end, c.level, c.parent_id, c.section_id] for c in self.chunks]
        record = {"format": FORMAT, "order": self.order, "document": asdict(self.document)}
        record |= {"chunks": chunks, "records": self.records}
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
            return cls(record["order"], document, tuple(chunks), records)
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

    def faults(self, metadata: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
        """Compare with the labels that the vectors (record id -> labels) carry, and look for missing parents."""
        ids, labels = {chunk.id for chunk in self.chunks}, self.labels()
        for chunk in self.chunks:
            if chunk.parent_id is not None and chunk.parent_id not in ids:
                yield f"missing parent {chunk.parent_id!r} of chunk {chunk.id!r}"
            for record in self.records.get(chunk.id, ()):
                if record not in metadata:
                    yield f"missing vector {record!r} of document {self.document.id!r}"
                elif metadata[record] != (ours := as_metadata(labels(chunk))):
                    yield f"vector {record!r} is labelled {metadata[record]}, its document says {ours}"


def as_metadata(labels: Labels) -> dict[str, str]:
    """Write labels as Chroma keeps them: a chunk across sections carries those of all of them as one."""
    return {key: "+".join(values) for key, values in labels.items()}


def _shared_access(document: Document, span: Span) -> tuple[str, ...]:
    return tuple(sorted(document.labels(span) or {document.access}))


@dataclass(frozen=True, slots=True)
class Committed:
    """The documents in force in their order, why others cannot be read, and the stamp of the last change.

    The stamp is None while a deletion is under way (or was killed), and before the first change.
    """

    documents: dict[str, Stored]
    damaged: dict[str, str]
    stamp: str | None

    @classmethod
    def read(cls, collection: Any) -> Committed:
        """Read all records; one that is damaged is kept apart, with a warning."""
        got = collection.get(include=["documents"])
        texts = dict(zip(got["ids"], got["documents"], strict=True))
        stamp, documents, damaged = texts.pop(STAMP, None), {}, {}
        for doc_id, text in texts.items():
            try:
                documents[doc_id] = Stored.unpack(doc_id, text)
            except ValueError as error:
                damaged[doc_id] = f"{error}: add the document again, or delete it"
                warnings.warn(damaged[doc_id], stacklevel=2)
        return cls(_in_order(documents), damaged, stamp)

    def is_current(self, collection: Any) -> bool:
        """Tell by the stamp, without reading the documents, whether they are still in force."""
        found = collection.get(ids=[STAMP], include=["documents"])["documents"]
        return bool(found) and found[0] == self.stamp

    def put(self, collection: Any, stored: Stored) -> Committed:
        """Write one document, and a new stamp with it: readers see both or neither."""
        stamp, doc_id = uuid.uuid4().hex, stored.document.id
        collection.upsert(ids=[doc_id, STAMP], embeddings=[[1.0], [1.0]], documents=[stored.pack(), stamp])
        others = self._without(doc_id)
        return Committed(_in_order({**others.documents, doc_id: stored}), others.damaged, stamp)

    def remove(self, collection: Any, doc_id: str) -> Committed:
        """Delete one document, and the stamp with it: without one, every reader reads again."""
        collection.delete(ids=[doc_id, STAMP])
        stamp = uuid.uuid4().hex
        collection.upsert(ids=[STAMP], embeddings=[[1.0]], documents=[stamp])
        others = self._without(doc_id)
        return Committed(others.documents, others.damaged, stamp)

    def _without(self, doc_id: str) -> Committed:
        documents, damaged = ({k: v for k, v in d.items() if k != doc_id} for d in (self.documents, self.damaged))
        return Committed(documents, damaged, self.stamp)


def _in_order(documents: dict[str, Stored]) -> dict[str, Stored]:
    return dict(sorted(documents.items(), key=lambda item: (item[1].order, item[0])))
