"""The index: vectors of small chunks in a Chroma collection, and beside it the documents and trees they belong to."""

from __future__ import annotations

import functools
import hashlib
import re
import uuid
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import embed
from .chunk import Chunk, ChunkTree, check_whole, recursive
from .expand import Hit
from .store import STAMP, Committed, Labels, Place, Stored, as_metadata, document_collection, release, vector_collection
from .text import Document

if TYPE_CHECKING:
    import numpy as np

_KEYS = ("access", "version", "doc_id")
_BATCH = 2000  # vectors a request: a server accepts this many in one body
_NAME = re.compile(r"(?!.*\.\.|.*-documents\Z|(?:\d+\.){3}\d+\Z)[A-Za-z0-9][A-Za-z0-9._-]{1,200}[A-Za-z0-9]")
_SUFFIX = re.compile(r"(#[0-9a-f]{16})\.[0-9a-f]{8}(#\d+)?$")

Allowed = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Report:
    """What a change did: vectors added, kept and deleted, and documents written or removed."""

    added: int = 0
    kept: int = 0
    deleted: int = 0
    documents: int = 0

    def __add__(self, other: Report) -> Report:
        sums = (getattr(self, name) + getattr(other, name) for name in Report.__slots__)
        return Report(*sums)


@dataclass(frozen=True, slots=True)
class _Wanted:
    # A vector that a document needs: its record id is the chunk's id, "#", a hash of the text, ".", a hash of the
    # labels and, for a piece of a chunk, "#" and a number.
    chunk: Chunk
    record: str
    text: str


@dataclass(frozen=True, slots=True)
class _Change:
    # What is to become of a document: its committed version, the next one with the vectors that it needs, and the
    # records that are there.
    former: Stored | None
    planned: Stored
    wanted: list[_Wanted]
    present: set[str]

    @property
    def new(self) -> list[_Wanted]:
        return [one for one in self.wanted if one.record not in self.present]


@dataclass(frozen=True, slots=True)
class _Owner:
    # What a record id stands for in the committed documents.
    place: int
    chunk: Chunk
    labels: Labels


@dataclass(frozen=True, slots=True)
class _View:
    # What a filter leaves: the records, the number of chunks they stand for, and the same filter for Chroma.
    owners: dict[str, _Owner]
    chunks: int
    clause: dict | None


def allow(where: Mapping[str, Any] | None) -> dict[str, tuple[str, ...]]:
    """Complete a filter to the values each key may have: "access" is always there, ("public",) when not given."""
    if where is not None and not isinstance(where, Mapping):
        raise ValueError(f"where is a mapping such as {{'access': ['public']}}, not {where!r}")
    unknown = [key for key in where or () if key not in _KEYS]
    if unknown:
        raise ValueError(f"unknown key {unknown[0]!r} in where; allowed are {', '.join(_KEYS)}")
    return {key: _texts(key, value) for key, value in {"access": "public", **(where or {})}.items()}


def _guarded(method: Callable) -> Callable:
    @functools.wraps(method)
    def call(self: Index, *args: Any, **kwargs: Any) -> Any:
        if not self._finalizer.alive:
            raise ValueError(f"the index {self.name!r} in {self._place} is closed")
        self._place.check()
        with self._place.reached():
            return method(self, *args, **kwargs)

    return call


class Index:
    """Chunks found by meaning: Chroma holds their vectors, a document store beside it their texts and trees.

    One process writes at a time; any number may read, and each sees a document's old version or its new one, whole.
    """

    @classmethod
    def open(
        cls, path: str | Path | None = None, embedder: embed.Embedder | str | None = None, name: str = "s2b"
    ) -> Index:
        """Open the index in memory (None), in a folder, or at a Chroma server's "http://host:port".

        `embedder` is a model or a model's name, "en" when not given. ValueError when the collection was written with
        another model, measures another distance or is no index; OSError when the folder cannot be used or no server
        answers.
        """
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise ValueError(
                f"an index's name has 3 to 202 letters, digits, '.', '_' or '-', is no IP address, has no '..' and "
                f"no '-documents' at its end; not {name!r}"
            )
        place = Place(path)
        return cls(place, embed.as_embedder(embedder), name)

    def __init__(self, place: Place, embedder: embed.Embedder, name: str):
        self.embedder, self.name, self._place, self._swept = embedder, name, place, False
        # All memory indexes of a process share one Chroma: a name of its own keeps each apart.
        held = f"{name}-{uuid.uuid4().hex}" if place.in_memory else name
        with place.reached():
            client = place.client()
            try:
                place.check()
                self._vectors = vector_collection(client, held, embedder, place)
                self._documents = document_collection(client, held, place)
                self._batch = min(_BATCH, client.get_max_batch_size())
            except BaseException:
                client.close()  # a refused folder stays usable, and deletable
                raise
            temporary = (held, f"{held}-documents") if place.in_memory else ()
            self._finalizer = weakref.finalize(self, release, client, temporary)
            self._finalizer.atexit = False
            self._refresh()

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        size = len(self._committed.documents)
        return f"Index({self.name!r} in {self._place}, {self.embedder.name}, {size} documents)"

    def close(self) -> None:
        """Let go of the folder or the server; an index in memory is gone."""
        self._finalizer()

    @property
    @_guarded
    def tree(self) -> ChunkTree:
        """The tree of all documents, as the document store holds it."""
        self._sync()
        if self._tree is None:
            stored = self._committed.documents.values()
            indexed = [chunk for one in stored for chunk in one.chunks if chunk.id in one.records]
            self._tree = ChunkTree([one.document for one in stored], [c for one in stored for c in one.chunks], indexed)
        return self._tree

    @_guarded
    def count(self) -> int:
        """Count the vectors that searches can find."""
        self._sync()
        return len(self._owners)

    # --- writing: plan -> embed -> write new vectors -> commit (one upsert of the document) -> delete old vectors ---
    # A vector counts only while the committed document names it: stopped anywhere, the old version answers whole.

    @_guarded
    def add(self, tree: ChunkTree) -> Report:
        """Put in each document of a tree, whole or not at all, replacing its former version.

        Only what changed is embedded. A chunk longer than the model reads is embedded in pieces, with a warning; one
        with nothing to read (NUL characters) is not embedded. ValueError when an id is another document's already.
        """
        if not isinstance(tree, ChunkTree):
            raise TypeError(f"add takes a ChunkTree, such as sentence_tree(doc), not {type(tree).__name__}")
        self._sync()
        self._check_ids(tree)
        chunks: dict[str, list[Chunk]] = {doc_id: [] for doc_id in tree.documents}
        for chunk in tree:
            chunks[chunk.doc_id].append(chunk)
        indexed, report, changes = {chunk.id for chunk in tree.indexed}, Report(), []
        for document in tree.documents.values():
            changes.append(self._plan(document, chunks[document.id], indexed))
            # Texts of many documents in one call are sorted by length together, which saves padding.
            if sum(len(change.new) for change in changes) >= self._batch:
                report += self._carry_out(changes)
                changes = []
        return report + self._carry_out(changes) + self._sweep()

    @_guarded
    def delete(self, doc_id: str) -> Report:
        """Remove a document and its vectors; ValueError when there is no such document."""
        self._refresh()
        known = self._committed.documents.keys() | self._committed.damaged.keys()
        if doc_id not in known:
            raise ValueError(f"no document {doc_id!r} to delete; the index holds {sorted(known)}")
        self._settle(self._committed.remove(self._documents, doc_id))
        present = self._present(doc_id)
        self._drop(present)
        return Report(deleted=len(present), documents=1)

    def _check_ids(self, tree: ChunkTree) -> None:
        if STAMP in tree.documents:
            raise ValueError(f"an index keeps the id {STAMP!r} for itself: give the document another")
        others = [one for doc_id, one in self._committed.documents.items() if doc_id not in tree.documents]
        taken = next((chunk for one in others for chunk in one.chunks if chunk.id in tree), None)
        if taken:
            raise ValueError(
                f"document {tree[taken.id].doc_id!r} has a chunk {taken.id!r}, an id that a chunk of document "
                f"{taken.doc_id!r} has in the index: give one of the documents another id"
            )

    def _plan(self, document: Document, chunks: list[Chunk], indexed: set[str]) -> _Change:
        former = self._committed.documents.get(document.id)
        planned = Stored(former.order if former else 0, document, tuple(chunks), {})
        labels, present, wanted = planned.labels(), self._present(document.id), []
        for chunk in chunks:
            if chunk.id in indexed and (copy := embed.normalise(chunk.text)):
                label = as_metadata(labels(chunk))
                record = f"{chunk.id}#{_hash(copy)[:16]}.{_hash(chunk.level, *label.values())[:8]}"
                known = former.records.get(chunk.id, ()) if former else ()
                if known and known[0].startswith(record) and present.issuperset(known):
                    wanted += [_Wanted(chunk, piece, "") for piece in known]
                else:
                    wanted += self._pieces(chunk, copy, record)
        for one in wanted:
            planned.records[one.chunk.id] = (*planned.records.get(one.chunk.id, ()), one.record)
        return _Change(former, planned, wanted, present)

    def _carry_out(self, changes: list[_Change]) -> Report:
        rows, report = self._embed(changes), Report()
        for change in changes:
            self._write(change.new, rows, change.planned.labels())
            current = change.planned
            if not change.former:
                order = 1 + max((stored.order for stored in self._committed.documents.values()), default=0)
                current = replace(current, order=order)
            if current != change.former:
                self._commit(current)
            old = change.present - {one.record for one in change.wanted}
            self._drop(old)
            added, written = len(change.new), int(current != change.former)
            report += Report(added, len(change.wanted) - added, len(old), written)
        return report

    def _pieces(self, chunk: Chunk, copy: str, record: str) -> list[_Wanted]:
        model = self.embedder
        # A token is at least one byte: most chunks are short enough without counting.
        if len(copy.encode()) + len(model.passage_prefix.encode()) + 8 <= model.max_tokens:
            return [_Wanted(chunk, record, copy)]
        size = model.count_tokens(copy)
        if size <= model.max_tokens:
            return [_Wanted(chunk, record, copy)]
        spans = recursive(chunk.text, model.max_tokens, 0, "token", model.count_tokens)
        warnings.warn(
            f"chunk {chunk.id!r} has {size} tokens, {model.name} reads {model.max_tokens}: "
            f"it is embedded in {len(spans)} pieces",
            stacklevel=5,  # the caller of add
        )
        texts = [text for span in spans if embed.normalise(text := span.of(chunk.text))]
        return [_Wanted(chunk, f"{record}#{number}", text) for number, text in enumerate(texts)]

    def _embed(self, changes: list[_Change]) -> dict[str, np.ndarray]:
        # The same text under another id or label (a paragraph was put before it) takes over the vector that is there.
        texts = {_text_key(one.record): one.text for change in changes for one in change.new}
        present = (record for change in changes for record in change.present)
        donors = {key: record for record in present if (key := _text_key(record)) in texts}
        rows = {_text_key(record): row for record, row in self._fetch(list(donors.values())).items()}
        missing = {key: text for key, text in texts.items() if key not in rows}
        if missing:
            vectors = self.embedder.passages(list(missing.values()))
            rows |= zip(missing, embed.as_rows(self.embedder, vectors, len(missing)), strict=True)
        return rows

    def _write(self, new: list[_Wanted], rows: dict[str, np.ndarray], labels: Callable[[Chunk], Labels]) -> None:
        for part in _batches(new, self._batch):
            self._vectors.upsert(
                ids=[one.record for one in part],
                embeddings=[rows[_text_key(one.record)] for one in part],
                metadatas=[as_metadata(labels(one.chunk)) for one in part],
            )

    def _commit(self, stored: Stored) -> None:
        self._settle(self._committed.put(self._documents, stored))

    def _drop(self, records: Iterable[str]) -> None:
        for part in _batches(sorted(records), self._batch):
            self._vectors.delete(ids=part)

    def _sweep(self) -> Report:
        # What a killed process left behind. Once an opening is enough, since one process writes at a time. The vectors
        # of a damaged document wait for it to be added again.
        if self._swept or self._committed.damaged:
            return Report()
        self._refresh()
        orphans = set(self._vectors.get(include=[])["ids"]) - self._owners.keys()
        self._drop(orphans)
        self._swept = True
        return Report(deleted=len(orphans))

    # --- reading ---

    @_guarded
    def search(
        self, query: str | Sequence[float] | np.ndarray, k: int = 16, where: Mapping[str, Any] | None = None
    ) -> list[Hit]:
        """Find the k chunks most like a question or a vector, best first, over all documents.

        Scores are cosine similarities; equal scores stand in document order. `where` narrows by "access", "version"
        and "doc_id", each a value or a list of values; without "access" only public chunks are found.
        """
        check_whole("k", k, 1)
        allowed = allow(where)
        if isinstance(query, str) and not embed.normalise(query):
            raise ValueError(f"the query is blank: {query!r}")
        self._sync()
        return self._ranked(self._query_vector(query), int(k), allowed) if self._matching(allowed).owners else []

    @_guarded
    def verify(self) -> list[str]:
        """List what is wrong, [] when whole: damaged documents, lost parents, lost, mislabelled or orphan vectors."""
        self._refresh()
        found = self._vectors.get(include=["metadatas"])
        labels = dict(zip(found["ids"], found["metadatas"], strict=True))
        problems = [f"orphan vector {record!r}: no document names it" for record in labels.keys() - self._owners.keys()]
        problems += self._committed.damaged.values()
        problems += [fault for stored in self._committed.documents.values() for fault in stored.faults(labels)]
        for row in self._vectors.get(limit=1, include=["embeddings"])["embeddings"]:
            if len(row) != self.embedder.dimension:
                problems.append(f"vectors have {len(row)} dimensions, not {self.embedder.dimension}")
        return sorted(problems)

    def _query_vector(self, query: str | Sequence[float] | np.ndarray) -> np.ndarray:
        import numpy as np

        vector = self.embedder.query(query) if isinstance(query, str) else np.asarray(query, dtype=np.float32)
        if vector.shape != (self.embedder.dimension,):
            raise ValueError(f"a query vector has the shape ({self.embedder.dimension},), not {vector.shape}")
        if not np.isfinite(vector).all() or not vector.any():
            raise ValueError("a query vector must be finite and not all zero")
        return vector

    def _ranked(self, vector: np.ndarray, k: int, allowed: Allowed) -> list[Hit]:
        view = self._matching(allowed)
        k = min(k, view.chunks)
        size = k + 8
        while True:
            fetched = self._nearest(vector, size, view.clause)
            best = self._best(fetched, allowed)
            if len(best) == self._matching(allowed).chunks:
                break
            # Asked for again where others' chunks or a killed run's took the places, or where a tie would be cut.
            if len(best) > k and best[k - 1][0] > best[-1][0]:
                break
            if len(fetched) < size:
                best = self._best(self._counted_out(vector, allowed), allowed)
                break
            size *= 2
        return [Hit(owner.chunk, score, rank) for rank, (score, owner) in enumerate(best[:k], 1)]

    def _nearest(self, vector: np.ndarray, size: int, where: dict | None) -> list[tuple[str, float]]:
        found = self._vectors.query(query_embeddings=[vector], n_results=size, where=where, include=["distances"])
        return [(record, _score(1 - away)) for record, away in zip(found["ids"][0], found["distances"][0], strict=True)]

    def _counted_out(self, vector: np.ndarray, allowed: Allowed) -> list[tuple[str, float]]:
        # Chroma's graph loses sight of some of hundreds of equal vectors: asked for nearly all, compare every one.
        rows = self._fetch(list(self._matching(allowed).owners))
        unit = vector / (vector @ vector) ** 0.5
        return [(record, _score(row @ unit / (row @ row) ** 0.5)) for record, row in rows.items()]

    def _best(self, fetched: list[tuple[str, float]], allowed: Allowed) -> list[tuple[float, _Owner]]:
        if not self._owners.keys() >= {record for record, _ in fetched}:
            self._sync()  # another process wrote just now, or was killed while it did
        matching = self._matching(allowed).owners
        best: dict[str, tuple[float, _Owner]] = {}
        for record, score in fetched:
            owner = matching.get(record)
            if owner and (owner.chunk.id not in best or score > best[owner.chunk.id][0]):
                best[owner.chunk.id] = (score, owner)
        return sorted(best.values(), key=lambda found: (-found[0], found[1].place))

    # --- the committed documents, as this process knows them ---

    def _present(self, doc_id: str) -> set[str]:
        return set(self._vectors.get(where={"doc_id": {"$in": [doc_id]}}, include=[])["ids"])

    def _fetch(self, records: list[str]) -> dict[str, np.ndarray]:
        rows: dict[str, np.ndarray] = {}
        for part in _batches(records, self._batch):
            got = self._vectors.get(ids=part, include=["embeddings"])
            rows |= zip(got["ids"], got["embeddings"], strict=True)
        return rows

    def _sync(self) -> None:
        # Nobody else reaches an index in memory.
        if not self._place.in_memory and not self._committed.is_current(self._documents):
            self._refresh()

    def _refresh(self) -> None:
        self._settle(Committed.read(self._documents))

    def _settle(self, committed: Committed) -> None:
        self._committed = committed
        self._tree: ChunkTree | None = None
        self._views: dict[tuple, _View] = {}
        self.__dict__.pop("_owners", None)

    @functools.cached_property
    def _owners(self) -> dict[str, _Owner]:
        owners: dict[str, _Owner] = {}
        for stored in self._committed.documents.values():
            labels = stored.labels()
            for chunk in stored.chunks:
                if chunk.id in stored.records:
                    owner = _Owner(len(owners), chunk, labels(chunk))
                    owners |= dict.fromkeys(stored.records[chunk.id], owner)
        return owners

    def _matching(self, allowed: Allowed) -> _View:
        key = tuple(sorted(allowed.items()))
        if key not in self._views:
            self._views[key] = self._view({name: frozenset(values) for name, values in key})
        return self._views[key]

    def _view(self, allowed: Mapping[str, frozenset[str]]) -> _View:
        # A chunk across sections is for those alone who may read all of them.
        owners = {
            record: owner
            for record, owner in self._owners.items()
            if all(values.issuperset(owner.labels[name]) for name, values in allowed.items())
        }
        chunks, clause = len({owner.chunk.id for owner in owners.values()}), None
        # Chroma lists all records that match before it searches: quick for a few, slow for nearly all. What it is not
        # told to leave out, _best leaves out by the same positive rule.
        if 10 * len(owners) <= len(self._owners):
            held = [as_metadata(owner.labels) for owner in owners.values()]
            clauses = [{name: {"$in": sorted({labels[name] for labels in held})}} for name in allowed]
            clause = clauses[0] if len(clauses) == 1 else {"$and": clauses}
        return _View(owners, chunks, clause)


def _texts(key: str, value: Any) -> tuple[str, ...]:
    values = (value,) if isinstance(value, str) else () if value is None else value
    if not isinstance(values, Iterable) or isinstance(values, (Mapping, bytes)):
        raise ValueError(f"where[{key!r}] is a text or a list of texts, not {value!r}")
    values = tuple(values)
    if not all(isinstance(one, str) for one in values):
        raise ValueError(f"where[{key!r}] is a text or a list of texts, not {value!r}")
    return values


def _hash(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _text_key(record: str) -> str:
    # Equal for equal embedded texts, whatever chunk or label they belong to.
    found = _SUFFIX.search(record)
    return "".join(filter(None, found.groups())) if found else record


def _score(similarity: float) -> float:
    # Six decimals: the noise of float32 must not put equal texts in an order.
    return round(min(1.0, max(-1.0, float(similarity))), 6)


def _batches(items: list, size: int) -> Iterator[list]:
    return (items[start : start + size] for start in range(0, len(items), size))
