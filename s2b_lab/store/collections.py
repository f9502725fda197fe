"""What an index keeps: a collection of vectors, one of documents, and what this process knows of them."""

from __future__ import annotations

import uuid
import weakref
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from .catalogue import Catalogue
from .chroma import Location, document_collection, release, vector_collection
from .committed import Committed, Stored

if TYPE_CHECKING:
    import numpy as np

    from ..embed import Embedder

_BATCH = 2000  # vectors a request: a server accepts this many in one body


class Store:
    """Two Chroma collections, and the catalogue of the documents that were committed when they were last read."""

    def __init__(self, location: Location, embedder: Embedder, name: str):
        self.location, self.name = location, name
        # All memory indexes of a process share one Chroma: a name of its own keeps each apart.
        held = f"{name}-{uuid.uuid4().hex}" if location.in_memory else name
        with location.reached():
            client = location.client()
            try:
                location.check()
                self.vectors = vector_collection(client, held, embedder, location)
                self.documents = document_collection(client, held, location)
                self.batch = min(_BATCH, client.get_max_batch_size())
            except BaseException:
                client.close()  # a refused folder stays usable, and deletable
                raise
            temporary = (held, f"{held}-documents") if location.in_memory else ()
            self._finalizer = weakref.finalize(self, release, client, temporary)
            self._finalizer.atexit = False
            self.refresh()

    def close(self) -> None:
        """Let go of the folder or the server; what is in memory is gone."""
        self._finalizer()

    def check(self) -> None:
        """Raise ValueError when it is closed, FileNotFoundError when its folder is gone."""
        if not self._finalizer.alive:
            raise ValueError(f"the index {self.name!r} in {self.location} is closed")
        self.location.check()

    # --- documents ---

    @property
    def committed(self) -> Committed:
        """The documents in force, as this process knows them."""
        return self.catalogue.committed

    def sync(self) -> None:
        """Read the documents again if another process has changed them."""
        # Nobody else reaches an index in memory.
        if not self.location.in_memory and not self.committed.is_current(self.documents):
            self.refresh()

    def refresh(self) -> None:
        """Read the documents."""
        self._settle(Committed.read(self.documents))

    def put(self, stored: Stored) -> None:
        """Commit a document: from now on it is in force, whole."""
        self._settle(self.committed.put(self.documents, stored))

    def remove(self, doc_id: str) -> None:
        """Remove a document, but not yet its vectors."""
        self._settle(self.committed.remove(self.documents, doc_id))

    def _settle(self, committed: Committed) -> None:
        self.catalogue = Catalogue(committed)

    # --- vectors ---

    def present(self, doc_id: str) -> set[str]:
        """The ids of all vectors of a document, those of a killed run included."""
        return set(self.vectors.get(where={"doc_id": {"$in": [doc_id]}}, include=[])["ids"])

    def fetch(self, records: list[str]) -> dict[str, np.ndarray]:
        """Vectors by their ids, (dimension,) each."""
        rows: dict[str, np.ndarray] = {}
        for part in self.batches(records):
            got = self.vectors.get(ids=part, include=["embeddings"])
            rows |= zip(got["ids"], got["embeddings"], strict=True)
        return rows

    def drop(self, records: Iterable[str]) -> None:
        """Delete vectors by their ids."""
        for part in self.batches(sorted(records)):
            self.vectors.delete(ids=part)

    def batches(self, items: list) -> Iterator[list]:
        """Cut a list into parts that one request can carry."""
        return (items[start : start + self.batch] for start in range(0, len(items), self.batch))
