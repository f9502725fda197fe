"""The index: vectors of small chunks in a Chroma collection, and beside it the documents and trees they belong to."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .core.access import Allowed, allow
from .core.cards import Card, Rows, first_few
from .core.checks import check_filled, check_str, check_whole
from .core.hits import Hit
from .core.tree import ChunkTree
from .embed import Embedder, as_embedder, query_row
from .queries import best_of, query_rows
from .store.catalogue import Catalogue, Owner, View
from .store.collections import CollectionStore, Store
from .store.folder import FolderStore
from .store.location import Location
from .store.verify import verify
from .store.write import Report, Writer

if TYPE_CHECKING:
    import numpy as np

_NAME = re.compile(r"(?!.*\.\.|.*-documents\Z|(?:\d+\.){3}\d+\Z)[A-Za-z0-9][A-Za-z0-9._-]{1,200}[A-Za-z0-9]")


def _guarded(method: Callable) -> Callable:
    @functools.wraps(method)
    def call(self: Index, *args: Any, **kwargs: Any) -> Any:
        self._store.check()
        with self._store.location.reached():
            return method(self, *args, **kwargs)

    return call


class Index(Card):
    """Chunks found by meaning: Chroma holds their vectors, a document store beside it their texts and trees.

    Open one with `Index.open`. Any number of processes may read, and each sees a document's old version or its new one,
    whole, and what others write. In a folder SQLite keeps the documents and vectors, whoever is killed in whatever
    step, and Chroma's files are made anew from them where they are torn; one process writes at a time, another that
    tries is told so at once by a BlockingIOError. At a server nothing but the caller keeps two writers apart. On a
    closed index everything is a ValueError, where its folder is gone a FileNotFoundError, and in a forked child a
    RuntimeError.
    """

    @classmethod
    def open(cls, path: str | Path | None = None, embedder: Embedder | str | None = None, name: str = "s2b") -> Index:
        """Open the index in memory (None), in a folder, or at a Chroma server's "http://host:port".

        `embedder` is a model or a model's name, "en" when not given. ValueError when the collection was written with
        another model, measures another distance or is no index, and for another name or address; TypeError for what is
        no place or no embedder; OSError when the folder cannot be used or no server answers.
        """
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise ValueError(
                f"an index's name has 3 to 202 letters, digits, '.', '_' or '-', is no IP address, has no '..' and "
                f"no '-documents' at its end; not {name!r}"
            )
        location = Location(path)
        model = as_embedder(embedder)
        kind = FolderStore if location.folder else CollectionStore
        return cls(kind(location, model, name), model)

    def __init__(self, store: Store, embedder: Embedder):
        self.embedder, self.name, self._store = embedder, store.name, store
        self._writer = Writer(store, embedder)

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        size = len(self._store.committed.documents)
        return f"Index({self.name!r} in {self._store.location}, {self.embedder.name}, {size} documents)"

    def _card(self) -> tuple[str, Rows]:
        held, model = self._store.committed.documents, self.embedder
        rows: Rows = [
            ("model", f"{model.name}, {model.dimension} dimensions"),
            ("documents", first_few([f"{len(held):,}", *held], 6)),
            ("vectors", f"{len(self._store.catalogue.owners):,}"),
        ]
        try:
            self._store.check()
        except (ValueError, OSError, RuntimeError) as error:  # it is shown all the same, as it was last known
            rows.append(("state", str(error)))
        return f"Index {self.name} in {self._store.location}", rows

    def close(self) -> None:
        """Let go of the folder or the server; an index in memory is gone."""
        self._store.close()

    # --- writing ---

    @_guarded
    def add(self, tree: ChunkTree, progress: Callable[[int, int], Any] | bool | None = None) -> Report:
        """Put in each document of a tree, whole or not at all, replacing its former version.

        Only what changed is embedded. A chunk longer than the model reads is embedded in pieces, with a warning; one
        with nothing to see in it is not embedded. An addition that takes more than two seconds shows a line that moves;
        `progress` is False for none, or a function of the numbers of vectors (done, all). Interrupted anywhere, it goes
        on where it stopped when the same tree is added again: finished documents are in, and the vectors of unfinished
        ones are kept (in a folder for a week, elsewhere until another addition ends). ValueError when an id is another
        document's already; what goes wrong with one document is an error that names it, and those before it are in.
        """
        return self._writer.add(tree, progress)

    @_guarded
    def delete(self, doc_id: str) -> Report:
        """Remove a document and its vectors; ValueError when there is no such document, TypeError for what is no id."""
        check_str("doc_id", doc_id)
        return self._writer.delete(doc_id)

    @_guarded
    def verify(self) -> list[str]:
        """List what is wrong, [] when whole: damaged documents, lost parents, lost, mislabelled or orphan vectors.

        In a folder, what Chroma holds otherwise than the folder keeps it is put right, and said so; what nobody can put
        right without the text says what to add again.
        """
        return verify(self._store, self.embedder.dimension)

    # --- reading ---

    @property
    @_guarded
    def tree(self) -> ChunkTree:
        """The tree of all documents, as the document store holds it."""
        self._store.sync()
        return self._store.catalogue.tree

    @_guarded
    def count(self) -> int:
        """Count the vectors that searches can find."""
        self._store.sync()
        return len(self._store.catalogue.owners)

    @_guarded
    def search(
        self, query: str | Sequence[float] | np.ndarray, k: int = 16, where: Mapping[str, Any] | None = None
    ) -> list[Hit]:
        """Find the k chunks most like a question or a vector, best first, over all documents.

        Scores are cosine similarities; equal scores stand in document order. A question longer than the model reads is
        searched in pieces, and a chunk has the score of the piece that it is most like. `where` narrows by "access",
        "version" and "doc_id", each a value or a list of values; without "access" only public chunks are found.
        ValueError for a blank question, a k below 1, another key or value in `where`, and a vector of another
        dimension, not finite or all zero; TypeError for what is no text or vector.
        """
        check_whole("k", k, 1)
        allowed = allow(where)
        query = check_filled("query", query) if isinstance(query, str) else query_row(self.embedder, query)
        if not self._found_by(allowed):
            self._store.sync()
            if not self._found_by(allowed):
                return []  # and no model is asked
        rows = query_rows(self.embedder, query)

        def ranked(catalogue: Catalogue) -> list[Hit]:
            view = catalogue.matching(allowed)
            return best_of((self._ranked(row, int(k), view) for row in rows), int(k))

        return self._store.steadily(ranked)

    def _found_by(self, allowed: Allowed) -> int:
        return self._store.catalogue.matching(allowed).chunks

    def _ranked(self, vector: np.ndarray, k: int, view: View) -> list[Hit]:
        k = min(k, view.chunks)
        if not k:
            return []
        size = k + 8
        while True:
            fetched = self._nearest(vector, size, view.clause)
            best = _best(fetched, view)
            if len(best) == view.chunks:
                break
            # Asked for again where others' chunks or a killed run's took the places, or where a tie would be cut.
            if len(best) > k and best[k - 1][0] > best[-1][0]:
                break
            if len(fetched) < size:
                best = _best(self._counted_out(vector, view), view)
                break
            size *= 2
        return [Hit(owner.chunk, score, rank) for rank, (score, owner) in enumerate(best[:k], 1)]

    def _nearest(self, vector: np.ndarray, size: int, where: dict | None) -> list[tuple[str, float]]:
        found = zip(*self._store.nearest(vector, size, where), strict=True)
        return [(record, _score(1 - away)) for record, away in found]

    def _counted_out(self, vector: np.ndarray, view: View) -> list[tuple[str, float]]:
        # Chroma's graph loses sight of some of hundreds of equal vectors: asked for nearly all, compare every one.
        rows = self._store.searched(list(view.owners))
        unit = vector / (vector @ vector) ** 0.5
        return [(record, _score(row @ unit / (row @ row) ** 0.5)) for record, row in rows.items()]


def _best(fetched: list[tuple[str, float]], view: View) -> list[tuple[float, Owner]]:
    # What a writer has not committed yet, or a killed one left, has no owner.
    best: dict[str, tuple[float, Owner]] = {}
    for record, score in fetched:
        owner = view.owners.get(record)
        if owner and (owner.chunk.id not in best or score > best[owner.chunk.id][0]):
            best[owner.chunk.id] = (score, owner)
    return sorted(best.values(), key=lambda found: (-found[0], found[1].order))


def _score(similarity: float) -> float:
    # Six decimals: the noise of float32 must not put equal texts in an order.
    return round(min(1.0, max(-1.0, float(similarity))), 6)
