"""Where an index lives: Chroma in memory, in a folder or at a server, with a record of each document."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from .chunk import Chunk
from .text import Document, Section, Span

if TYPE_CHECKING:
    from .embed import Embedder

FORMAT = 1
# Searching wider than Chroma's default costs a millisecond and finds the true neighbours of nearly every query.
_HNSW = {"space": "cosine", "ef_search": 400}


class Place:
    """The memory of this process (None), a folder, or a Chroma server's "http://host:port"."""

    def __init__(self, path: str | Path | None):
        self._server = urlsplit(path) if isinstance(path, str) and re.match(r"https?://", path) else None
        self.in_memory = path is None
        self._folder = None if self.in_memory or self._server else Path(path).expanduser().resolve()
        if self._server and not self._server.hostname:
            raise ValueError(f"a server's address is http://host:port, not {path!r}")
        if self._folder and self._folder.exists() and not self._folder.is_dir():
            raise ValueError(f"an index is kept in a folder, but {str(self._folder)!r} is a file")

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
            return chromadb.PersistentClient(self._folder, settings)
        try:
            return chromadb.HttpClient(*self._address, ssl=self._server.scheme == "https", settings=settings)
        except ValueError as error:  # what Chroma makes of a refused connection
            raise self._unanswered() from error

    def check(self) -> None:
        """Raise FileNotFoundError when the folder is gone: Chroma would go on reading the deleted file."""
        if self._folder and not (self._folder / "chroma.sqlite3").exists():
            raise FileNotFoundError(
                f"the index folder {self} was deleted while an index in it was open: close that one"
            )

    @contextmanager
    def reached(self) -> Iterator[None]:
        """Turn the errors of a lost server or collection into ones that say what was lost, and what to do."""
        import httpx
        from chromadb.errors import NotFoundError

        try:
            yield
        except httpx.TransportError as error:
            raise (self._unanswered() if self._server else error) from error
        except NotFoundError as error:
            raise LookupError(f"the index in {self} was deleted while it was open ({error})") from error

    @property
    def _address(self) -> tuple[str, int]:
        return self._server.hostname, self._server.port or (443 if self._server.scheme == "https" else 8000)

    def _unanswered(self) -> ConnectionError:
        host, port = self._address
        start = f"chroma run --path FOLDER --host {host} --port {port}"
        return ConnectionError(f"no Chroma server answers at {self}: start one with `{start}`, or give a folder")


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


def document_collection(client: Any, name: str) -> Any:
    """Get or make the document store beside a collection of vectors."""
    return _get_or_create(client, f"{name}-documents", {"s2b_format": FORMAT})


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
    def unpack(cls, text: str) -> Stored:
        """Read what `pack` wrote."""
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

    def labels(self) -> Callable[[Chunk], dict[str, str]]:
        """Give the function from a chunk to what filters ask of it: access, version and doc_id."""
        document, sections = self.document, {section.id: section for section in self.document.sections}

        def label(chunk: Chunk) -> dict[str, str]:
            section = sections.get(chunk.section_id)
            inside = section and section.span.contains(chunk.span)
            access = section.access if inside else _shared_access(document, chunk.span)
            return {"access": access, "version": document.version, "doc_id": document.id}

        return label

    def faults(self, metadata: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
        """Compare with the labels that the vectors (record id -> labels) carry, and look for missing parents."""
        ids, label = {chunk.id for chunk in self.chunks}, self.labels()
        for chunk in self.chunks:
            if chunk.parent_id is not None and chunk.parent_id not in ids:
                yield f"missing parent {chunk.parent_id!r} of chunk {chunk.id!r}"
            for record in self.records.get(chunk.id, ()):
                if record not in metadata:
                    yield f"missing vector {record!r} of document {self.document.id!r}"
                elif metadata[record] != label(chunk):
                    yield f"vector {record!r} is labelled {metadata[record]}, its document says {label(chunk)}"


def _shared_access(document: Document, span: Span) -> str:
    # A chunk across sections is for those who may read all of them, which no single label says.
    labels = {section.access for section in document.sections if section.span.overlaps(span)}
    return "+".join(sorted(labels or {document.access}))
