"""An index in memory or at a server: Chroma keeps the vectors, and beside them the documents in a second collection."""

from __future__ import annotations

import os
import threading
import uuid
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, TypeVar

from .batches import SIZE, batches
from .catalogue import Catalogue
from .chroma import SPAWN, document_collection, let_go, vector_collection
from .committed import Committed, Stored
from .location import Location

if TYPE_CHECKING:
    import numpy as np

    from ..embed import Embedder

STAMP = "#"  # the id of the record beside the documents' that changes whenever one of them does
_TURNS = 9  # times that a search at a server is made while others change it

T = TypeVar("T")


class Store:
    """What every kind of place has: a collection that searches, and the catalogue of the documents last read."""

    vectors: Any  # the Chroma collection that is searched
    batch: int = SIZE
    repairs = False  # whether it puts right what `verify` finds

    def __init__(self, location: Location, name: str, release: Callable[[], None]):
        self.location, self.name = location, name
        self._lock = threading.RLock()  # what is searched, and the catalogue, change under it together
        self._process = os.getpid()
        self._finalizer = weakref.finalize(self, _release, self._process, release)
        self._finalizer.atexit = False

    def close(self) -> None:
        """Let go of the folder or the server; what is in memory is gone."""
        self._finalizer()

    def check(self) -> None:
        """Raise ValueError when it is closed, RuntimeError in a forked child."""
        if not self._finalizer.alive:
            raise ValueError(f"the index {self.name!r} in {self.location} is closed")
        if os.getpid() != self._process:
            raise RuntimeError(
                f"the index {self.name!r} was opened by process {self._process}, and would hang in this forked child "
                f"of it: {SPAWN}"
            )

    @property
    def committed(self) -> Committed:
        """The documents in force, as this process knows them."""
        return self.catalogue.committed

    def settle(self, committed: Committed) -> None:
        """Take these documents for those in force."""
        self.catalogue = Catalogue(committed)

    def steadily(self, job: Callable[[Catalogue], T]) -> T:
        """Do what asks Chroma while neither it nor the catalogue that it is given is changed by another thread."""
        with self._lock:
            self.sync()
            return job(self.catalogue)

    def nearest(self, vector: np.ndarray, size: int, where: dict | None) -> tuple[list[str], list[float]]:
        """Ask Chroma for the nearest vectors: their ids, and their cosine distances."""
        found = self.vectors.query(query_embeddings=[vector], n_results=size, where=where, include=["distances"])
        return found["ids"][0], found["distances"][0]

    def searched(self, records: Sequence[str]) -> dict[str, np.ndarray]:
        """Vectors by their ids, (dimension,) each, as Chroma holds them."""
        rows: dict[str, np.ndarray] = {}
        for part in self.batches(records):
            got = self.vectors.get(ids=part, include=["embeddings"])
            rows |= zip(got["ids"], got["embeddings"], strict=True)
        return rows

    def labels(self) -> dict[str, dict[str, Any]]:
        """The labels of all vectors that Chroma holds, by their ids."""
        found = self.vectors.get(include=["metadatas"])
        return dict(zip(found["ids"], found["metadatas"], strict=True))

    def batches(self, items: Iterable[T]) -> Iterator[list[T]]:
        """Cut items into parts that one request can carry."""
        return batches(items, self.batch)


class CollectionStore(Store):
    """Two Chroma collections.

    A document's new vectors are written before it, and its old ones deleted after it: killed anywhere, it answers in
    its old version or its new one. Nothing keeps two writers at a server apart.
    """

    def __init__(self, location: Location, embedder: Embedder, name: str):
        # All memory indexes of a process share one Chroma: a name of its own keeps each apart.
        held = f"{name}-{uuid.uuid4().hex}" if location.in_memory else name
        with location.reached():
            client = location.client()
            try:
                self.vectors = vector_collection(client, held, embedder, location)
                self.documents = document_collection(client, held, location)
                self.batch = min(SIZE, client.get_max_batch_size())
            except BaseException:
                let_go(client)
                raise
            temporary = (held, f"{held}-documents") if location.in_memory else ()
            super().__init__(location, name, lambda: _drop(client, temporary))
            self.refresh()

    def steadily(self, job: Callable[[Catalogue], T]) -> T:
        """Do what asks Chroma; at a server again, up to nine times, where others changed something meanwhile."""
        if self.location.in_memory:
            return super().steadily(job)
        for _ in range(_TURNS):
            catalogue = self.catalogue
            found = job(catalogue)
            self.sync()
            if self.catalogue is catalogue:
                break
        return found

    def writing(self) -> AbstractContextManager:
        """Be the one that writes: left to the caller here."""
        self.sync()
        return nullcontext()

    def sync(self) -> None:
        """Read the documents again if another process has changed them."""
        # Nobody else reaches an index in memory.
        if not self.location.in_memory:
            found = self.documents.get(ids=[STAMP], include=["documents"])["documents"]
            if not found or found[0] != self.committed.stamp:
                self.refresh()

    def refresh(self) -> None:
        """Read the documents."""
        got = self.documents.get(include=["documents"])
        records = dict(zip(got["ids"], got["documents"], strict=True))
        stamp = records.pop(STAMP, None)
        self.settle(Committed.of(records, stamp))

    def present(self, doc_id: str) -> set[str]:
        """The ids of all vectors of a document, those of a killed run included."""
        return set(self.vectors.get(where={"doc_id": {"$in": [doc_id]}}, include=[])["ids"])

    def kept(self, doc_id: str, records: Sequence[str]) -> dict[str, np.ndarray]:
        """Vectors of a document by their ids."""
        return self.searched(records)

    def keep(self, records: Sequence[str], rows: Sequence[np.ndarray], labels: Sequence[dict[str, str]]) -> None:
        """Write vectors with their labels; they count once a document names them."""
        for part in self.batches(range(len(records))):
            first, end = part[0], part[-1] + 1
            self.vectors.upsert(ids=records[first:end], embeddings=rows[first:end], metadatas=labels[first:end])

    def together(self) -> AbstractContextManager:
        """Commit several documents, each by itself."""
        return nullcontext()

    def put(self, stored: Stored, old: set[str]) -> None:
        """Commit a document, whole, and drop the vectors that only its former version needed."""
        stamp, doc_id = uuid.uuid4().hex, stored.document.id
        with self._lock:
            # Readers see the document and the new stamp, or neither.
            self.documents.upsert(ids=[doc_id, STAMP], embeddings=[[1.0], [1.0]], documents=[stored.pack(), stamp])
            self.settle(self.committed.put(stored, stamp))
            self.drop(old)

    def remove(self, doc_id: str) -> int:
        """Remove a document and its vectors; count these."""
        with self._lock:
            # The stamp goes with the document: without one, every reader reads again.
            self.documents.delete(ids=[doc_id, STAMP])
            stamp = uuid.uuid4().hex
            self.documents.upsert(ids=[STAMP], embeddings=[[1.0]], documents=[stamp])
            self.settle(self.committed.remove(doc_id, stamp))
            present = self.present(doc_id)
            self.drop(present)
            return len(present)

    def drop(self, records: Iterable[str]) -> None:
        """Delete vectors by their ids."""
        for part in self.batches(sorted(records)):
            self.vectors.delete(ids=part)

    def flush(self) -> None:
        """Bring what is searched up to date: it always is."""

    def sweep(self) -> int:
        """Drop what a killed process left behind; count it."""
        # The vectors of a damaged document wait for it to be added again.
        if self.committed.damaged:
            return 0
        self.refresh()
        orphans = set(self.vectors.get(include=[])["ids"]) - self.catalogue.owners.keys()
        self.drop(orphans)
        return len(orphans)


def _release(process: int, release: Callable[[], None]) -> None:
    # Chroma would never answer a forked child.
    if os.getpid() == process:
        release()


def _drop(client: Any, temporary: tuple[str, ...]) -> None:
    for name in temporary:  # nobody could find them again
        client.delete_collection(name)
    let_go(client)
