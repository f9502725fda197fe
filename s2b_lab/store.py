"""Where an index lives: Chroma in memory, in a folder or at a server, with a record of each document."""

from __future__ import annotations

import json
import os
import re
import uuid
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urlsplit

from .chunk import Chunk
from .text import Document, Section, Span

if TYPE_CHECKING:
    from .embed import Embedder

FORMAT = 1
# Searching wider than Chroma's default costs a millisecond and finds the true neighbours of nearly every query.
_HNSW = {"space": "cosine", "ef_search": 400}
STAMP = "#"  # the id of the record beside the documents' that changes whenever one of them does

Labels = Mapping[str, tuple[str, ...]]


class Place:
    """The memory of this process (None), a folder, or a Chroma server's "http://host:port"."""

    def __init__(self, path: str | Path | None):
        if path is not None and not isinstance(path, (str, Path)):
            raise TypeError(f"an index is opened at None, a folder or an address, not {path!r}")
        self._server = _address(path) if isinstance(path, str) else None
        self.in_memory = path is None
        self._folder = None if self.in_memory or self._server else Path(path).expanduser().resolve()

    def __str__(self) -> str:
        return "memory" if self.in_memory else self._server.geturl() if self._server else repr(str(self._folder))

    def client(self) -> Any:
        """Open Chroma there, with its telemetry off; ConnectionError when no server answers."""
        import chromadb
        from chromadb.config import Settings

        settings = Settings(anonymized_telemetry=False)  # a client writes into it, so each gets its own
        if self.in_memory:
            return chromadb.EphemeralClient(settings)
        if self._folder:
            self._check_folder()
            return chromadb.PersistentClient(self._folder, settings)
        try:
            return chromadb.HttpClient(*self._address, ssl=self._server.scheme == "https", settings=settings)
        except ValueError as error:  # what Chroma makes of a refused connection
            raise self._unanswered() from error

    def _check_folder(self) -> None:
        there = next(path for path in (self._folder, *self._folder.parents) if os.path.lexists(path))
        if not there.is_dir():
            raise ValueError(f"an index is kept in a folder, but {str(there)!r} is a file")
        for path in filter(os.path.exists, (there, there / "chroma.sqlite3")):
            if not os.access(path, os.W_OK):
                raise PermissionError(
                    f"the index folder {self} cannot be used: Chroma writes even to read, and {str(path)!r} is "
                    "read-only: make it writable, or open a copy"
                )

    def check(self) -> None:
        """Raise FileNotFoundError when the folder is gone: Chroma would go on reading the deleted file."""
        if self._folder and not (self._folder / "chroma.sqlite3").exists():
            raise FileNotFoundError(
                f"the index folder {self} was deleted while an index in it was open: close that one"
            )

    @contextmanager
    def reached(self) -> Iterator[None]:
        """Turn the errors of a lost server, collection or file into ones that say what was lost, and what to do."""
        import httpx
        from chromadb.errors import InternalError, NotFoundError

        try:
            yield
        except httpx.TransportError as error:
            raise (self._unanswered() if self._server else error) from error
        except NotFoundError as error:
            raise LookupError(f"the index in {self} was deleted while it was open ({error})") from error
        except InternalError as error:
            raise OSError(
                f"Chroma cannot use the index in {self} ({error}): mend what it names or bring back a whole copy, "
                "or take another place and add the documents again"
            ) from error

    @property
    def _address(self) -> tuple[str, int]:
        return self._server.hostname, self._server.port or (443 if self._server.scheme == "https" else 8000)

    def _unanswered(self) -> ConnectionError:
        host, port = self._address
        start = f"chroma run --path FOLDER --host {host} --port {port}"
        return ConnectionError(f"no Chroma server answers at {self}: start one with `{start}`, or give a folder")


def _address(path: str) -> SplitResult | None:
    # None for a folder. A slip in an address must not make a folder of that name.
    if not path.strip():
        raise ValueError(f"the path of an index is blank: {path!r}; give None for memory, a folder or http://host:port")
    if "://" not in path and not re.fullmatch(r"[\w.-]+:\d+", path):
        return None
    try:
        server = urlsplit(path)
        known = server.scheme in ("http", "https") and server.hostname and server.port != 0
        more = server.path.strip("/") or server.query or server.fragment or server.username
    except ValueError:  # a port that is no port, or a bracket that stays open
        known = False
    if not known or more:
        raise ValueError(f"a server's address is http://host:port and no more, not {path!r}")
    return server


def vector_collection(client: Any, name: str, model: Embedder, place: Place) -> Any:
    """Get or make the collection of vectors; ValueError when another model, distance or program wrote it."""
    keys = ("dimension", "query_prefix", "passage_prefix")
    ours = {"s2b_format": FORMAT, "model": model.name, **{key: getattr(model, key) for key in keys}}
    collection = _get_or_create(client, name, ours)
    theirs = collection.metadata or {}
    what, advice = f"collection {name!r} in {place}", "take another name or folder"
    space = (collection.configuration.get("hnsw") or {}).get("space")
    if space != "cosine":
        raise ValueError(f"{what} measures distance by {space!r}, an index by 'cosine': {advice}")
    if "s2b_format" not in theirs:
        raise ValueError(f"{what} was not written by s2b_lab: {advice}")
    if any(theirs.get(key) != ours[key] for key in ours):
        raise ValueError(f"{what} was written with {_described(theirs)}, not {_described(ours)}: {advice}")
    return collection


def document_collection(client: Any, name: str, place: Place) -> Any:
    """Get or make the document store beside a collection of vectors; ValueError when it is something else."""
    collection = _get_or_create(client, f"{name}-documents", {"s2b_format": FORMAT})
    theirs = collection.metadata or {}
    if theirs.get("s2b_format") != FORMAT or "model" in theirs:
        raise ValueError(
            f"collection {collection.name!r} in {place} is no document store of format {FORMAT} of s2b_lab: take "
            f"another name than {name!r}, or another folder"
        )
    return collection


def release(client: Any, temporary: tuple[str, ...]) -> None:
    """Let go of a client, and of collections that nobody could find again."""
    for name in temporary:
        client.delete_collection(name)
    client.close()


def _get_or_create(client: Any, name: str, metadata: dict[str, Any]) -> Any:
    from chromadb.errors import NotFoundError

    try:
        return client.get_collection(name, embedding_function=None)
    except NotFoundError:
        settings = {"hnsw": _HNSW}
        return client.create_collection(name, metadata=metadata, configuration=settings, embedding_function=None)


def _described(metadata: Mapping[str, Any]) -> str:
    return (
        f"{metadata.get('model')!r} (dimension {metadata.get('dimension')}, prefixes "
        f"{metadata.get('query_prefix')!r} and {metadata.get('passage_prefix')!r}, format {metadata.get('s2b_format')})"
    )


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
    labels = {section.access for section in document.sections if section.span.overlaps(span)}
    return tuple(sorted(labels or {document.access}))


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
