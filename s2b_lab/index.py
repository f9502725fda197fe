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
from .chunk import Chunk, ChunkTree, recursive
from .expand import Hit
from .store import Place, Stored, document_collection, release, vector_collection
from .text import Document

if TYPE_CHECKING:
    import numpy as np

_KEYS = ("access", "version", "doc_id")
_BATCH = 2000  # vectors a request: a server accepts this many in one body
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
    labels: Mapping[str, str]


def allow(where: Mapping[str, Any] | None) -> dict[str, tuple[str, ...]]:
    """Complete a filter to the values each key may have: "access" is always there, ("public",) when not given."""
    unknown = sorted(set(where or ()) - set(_KEYS))
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
        another model, measures another distance or is no index; ConnectionError when no server answers.
        """
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{1,200}[A-Za-z0-9]", name):
            raise ValueError(f"an index's name has 3 to 202 letters, digits, '.', '_' or '-', not {name!r}")
        if embedder is None or isinstance(embedder, str):
            embedder = embed.embedder("en" if embedder is None else embedder)
        return cls(Place(path), embedder, name)

    def __init__(self, place: Place, embedder: embed.Embedder, name: str):
        self.embedder, self.name, self._place, self._swept = embedder, name, place, False
        # All memory indexes of a process share one Chroma: a name of its own keeps each apart.
        held = f"{name}-{uuid.uuid4().hex}" if place.in_memory else name
        with place.reached():
            client = place.client()
            try:
                place.check()
                self._vectors = vector_collection(client, held, embedder, place)
                self._documents = document_collection(client, held)
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
        return f"Index({self.name!r} in {self._place}, {self.embedder.name}, {len(self._stored)} documents)"

    def close(self) -> None:
        """Let go of the folder or the server; an index in memory is gone."""
        self._finalizer()

    @property
    @_guarded
    def tree(self) -> ChunkTree:
        """The tree of all documents, as the document store holds it."""
        if self._tree is None:
            stored = self._stored.values()
            indexed = (chunk_id for one in stored for chunk_id in one.records)
            self._tree = ChunkTree([one.document for one in stored], [c for one in stored for c in one.chunks], indexed)
        return self._tree

    @_guarded
    def count(self) -> int:
        """Count the vectors that searches can find."""
        return len(self._owners)

    # --- writing: plan -> embed -> write new vectors -> commit (one upsert of the document) -> delete old vectors ---
    # A vector counts only while the committed document names it: stopped anywhere, the old version answers whole.

    @_guarded
    def add(self, tree: ChunkTree) -> Report:
        """Put in each document of a tree, whole or not at all, replacing its former version.

        Only what changed is embedded. A chunk longer than the model reads is embedded in pieces, with a warning.
        """
        if not isinstance(tree, ChunkTree):
            raise TypeError(f"add takes a ChunkTree, such as sentence_tree(doc), not {type(tree).__name__}")
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
        if doc_id not in self._stored:
            raise ValueError(f"no document {doc_id!r} to delete; the index holds {sorted(self._stored)}")
        self._documents.delete(ids=[doc_id])
        self._settle({other: stored for other, stored in self._stored.items() if other != doc_id})
        present = self._present(doc_id)
        self._drop(present)
        return Report(deleted=len(present), documents=1)

    def _plan(self, document: Document, chunks: list[Chunk], indexed: set[str]) -> _Change:
        former = self._load([document.id]).get(document.id)
        planned = Stored(former.order if former else 0, document, tuple(chunks), {})
        label, present, wanted = planned.labels(), self._present(document.id), []
        for chunk in chunks:
            if chunk.id in indexed:
                copy = embed.normalise(chunk.text)
                record = f"{chunk.id}#{_hash(copy)[:16]}.{_hash(chunk.level, *label(chunk).values())[:8]}"
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
                order = 1 + max((stored.order for stored in self._stored.values()), default=0)
                current = replace(current, order=order)
            if current != change.former:
                self._commit(current)
            self._settle({**self._stored, current.document.id: current})
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
        return [_Wanted(chunk, f"{record}#{number}", span.of(chunk.text)) for number, span in enumerate(spans)]

    def _embed(self, changes: list[_Change]) -> dict[str, np.ndarray]:
        # The same text under another id or label (a paragraph was put before it) takes over the vector that is there.
        texts = {_text_key(one.record): one.text for change in changes for one in change.new}
        present = (record for change in changes for record in change.present)
        donors = {key: record for record in present if (key := _text_key(record)) in texts}
        rows = {_text_key(record): row for record, row in self._fetch(list(donors.values())).items()}
        missing = {key: text for key, text in texts.items() if key not in rows}
        if missing:
            rows |= zip(missing, self._checked(self.embedder.passages(list(missing.values()))), strict=True)
        return rows

    def _checked(self, vectors: np.ndarray) -> np.ndarray:
        import numpy as np

        if vectors.ndim != 2 or vectors.shape[1] != self.embedder.dimension or not np.isfinite(vectors).all():
            raise ValueError(
                f"the index {self.name!r} holds finite vectors of {self.embedder.dimension} dimensions, but "
                f"{self.embedder.name} gave an array of shape {vectors.shape}"
            )
        return vectors

    def _write(self, new: list[_Wanted], rows: dict[str, np.ndarray], label: Callable[[Chunk], dict[str, str]]) -> None:
        for part in _batches(new, self._batch):
            self._vectors.upsert(
                ids=[one.record for one in part],
                embeddings=[rows[_text_key(one.record)] for one in part],
                metadatas=[label(one.chunk) for one in part],
            )

    def _commit(self, stored: Stored) -> None:
        self._documents.upsert(ids=[stored.document.id], embeddings=[[1.0]], documents=[stored.pack()])

    def _drop(self, records: Iterable[str]) -> None:
        for part in _batches(sorted(records), self._batch):
            self._vectors.delete(ids=part)

    def _sweep(self) -> Report:
        # What a killed process left behind. Once an opening is enough, since one process writes at a time.
        if self._swept:
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
        if isinstance(k, bool) or not isinstance(k, int):
            raise TypeError(f"k must be a whole number, not {k!r}")
        if k < 1:
            raise ValueError(f"k must be at least 1, not {k}")
        if isinstance(query, str) and not query.strip():
            raise ValueError(f"the query is blank: {query!r}")
        allowed = allow(where)
        if not self._stored:
            self._refresh()
        return self._ranked(self._query_vector(query), k, allowed) if self._matching(allowed) else []

    @_guarded
    def verify(self) -> list[str]:
        """List what is wrong, [] when whole: vectors without a document, lost or mislabelled vectors, lost parents."""
        self._refresh()
        found = self._vectors.get(include=["metadatas"])
        labels = dict(zip(found["ids"], found["metadatas"], strict=True))
        problems = [f"orphan vector {record!r}: no document names it" for record in labels.keys() - self._owners.keys()]
        problems += [fault for stored in self._stored.values() for fault in stored.faults(labels)]
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
        size, where = k + 8, self._clause(allowed)
        while True:
            fetched = self._nearest(vector, size, where)
            best = self._best(fetched, allowed)
            # Asked for again where others' chunks or a killed run's took the places, or where a tie would be cut.
            if len(best) > k and best[k - 1][0] > best[-1][0]:
                break
            if len(fetched) < size:
                if len(best) < len({owner.chunk.id for owner in self._matching(allowed).values()}):
                    best = self._best(self._counted_out(vector, allowed), allowed)
                break
            size *= 2
        return [Hit(owner.chunk, score, rank) for rank, (score, owner) in enumerate(best[:k], 1)]

    def _nearest(self, vector: np.ndarray, size: int, where: dict | None) -> list[tuple[str, float]]:
        found = self._vectors.query(query_embeddings=[vector], n_results=size, where=where, include=["distances"])
        return [(record, _score(1 - away)) for record, away in zip(found["ids"][0], found["distances"][0], strict=True)]

    def _counted_out(self, vector: np.ndarray, allowed: Allowed) -> list[tuple[str, float]]:
        # Chroma's graph loses sight of some of hundreds of equal vectors: asked for nearly all, compare every one.
        rows = self._fetch(list(self._matching(allowed)))
        unit = vector / (vector @ vector) ** 0.5
        return [(record, _score(row @ unit / (row @ row) ** 0.5)) for record, row in rows.items()]

    def _best(self, fetched: list[tuple[str, float]], allowed: Allowed) -> list[tuple[float, _Owner]]:
        self._notice([record for record, _ in fetched])
        matching = self._matching(allowed)
        best: dict[str, tuple[float, _Owner]] = {}
        for record, score in fetched:
            owner = matching.get(record)
            if owner and (owner.chunk.id not in best or score > best[owner.chunk.id][0]):
                best[owner.chunk.id] = (score, owner)
        return sorted(best.values(), key=lambda found: (-found[0], found[1].place))

    def _clause(self, allowed: Allowed) -> dict | None:
        # Chroma lists all records that match before it searches: quick for a few, slow for nearly all. What it is not
        # told to leave out, _best leaves out by the same positive rule.
        if 10 * len(self._matching(allowed)) > len(self._owners):
            return None
        clauses = [{key: {"$in": list(values)}} for key, values in allowed.items()]
        return clauses[0] if len(clauses) == 1 else {"$and": clauses}

    # --- the committed documents, as this process knows them ---

    def _present(self, doc_id: str) -> set[str]:
        return set(self._vectors.get(where={"doc_id": {"$in": [doc_id]}}, include=[])["ids"])

    def _fetch(self, records: list[str]) -> dict[str, np.ndarray]:
        rows: dict[str, np.ndarray] = {}
        for part in _batches(records, self._batch):
            got = self._vectors.get(ids=part, include=["embeddings"])
            rows |= zip(got["ids"], got["embeddings"], strict=True)
        return rows

    def _load(self, doc_ids: list[str] | None = None) -> dict[str, Stored]:
        got = self._documents.get(ids=doc_ids, include=["documents"])
        return {doc_id: Stored.unpack(text) for doc_id, text in zip(got["ids"], got["documents"], strict=True)}

    def _refresh(self) -> None:
        self._settle(self._load())

    def _settle(self, stored: dict[str, Stored]) -> None:
        self._stored = dict(sorted(stored.items(), key=lambda item: (item[1].order, item[0])))
        self._tree: ChunkTree | None = None
        self._views: dict[tuple, dict[str, _Owner]] = {}
        self._orphans: set[str] = set()
        self.__dict__.pop("_owners", None)

    @functools.cached_property
    def _owners(self) -> dict[str, _Owner]:
        owners: dict[str, _Owner] = {}
        for stored in self._stored.values():
            label = stored.labels()
            for chunk in stored.chunks:
                if chunk.id in stored.records:
                    owner = _Owner(len(owners), chunk, label(chunk))
                    owners |= dict.fromkeys(stored.records[chunk.id], owner)
        return owners

    def _matching(self, allowed: Allowed) -> dict[str, _Owner]:
        view = tuple(sorted(allowed.items()))
        if view not in self._views:
            self._views[view] = {
                record: owner
                for record, owner in self._owners.items()
                if all(owner.labels[key] in values for key, values in view)
            }
        return self._views[view]

    def _notice(self, records: list[str]) -> None:
        # A vector that no known document names: another process wrote, or was killed while it did.
        if set(records) - self._owners.keys() - self._orphans:
            self._refresh()
            self._orphans = set(records) - self._owners.keys()


def _texts(key: str, value: Any) -> tuple[str, ...]:
    values = (value,) if isinstance(value, str) else tuple(value or ())
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
