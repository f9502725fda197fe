"""Writing an index: plan -> embed and keep the vectors as they come -> commit each document -> bring the search to it.

A vector counts only while the committed document names it: stopped anywhere, the old version answers whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..core.cards import Card, Rows, counted
from ..core.text import Document
from ..core.tree import Chunk, ChunkTree
from ..embed import Embedder, as_rows
from .batches import batches
from .collections import STAMP, Store
from .plan import Change, Wanted, plan, text_key
from .progress import Progress, Teller

if TYPE_CHECKING:
    import numpy as np

_PART = 128  # texts embedded in one call: what an interruption can lose


@dataclass(frozen=True, slots=True)
class Report(Card):
    """What a change did: vectors added, kept and deleted, and documents written or removed."""

    added: int = 0
    kept: int = 0
    deleted: int = 0
    documents: int = 0

    def __add__(self, other: Report) -> Report:
        sums = (getattr(self, name) + getattr(other, name) for name in Report.__slots__)
        return Report(*sums)

    def _card(self) -> tuple[str, Rows]:
        vectors = f"{self.added:,} added, {self.kept:,} kept, {self.deleted:,} deleted"
        return f"{counted(self.documents, 'document')} written or removed", [("vectors", vectors)]


class Writer:
    """Adds documents to a store and deletes them."""

    def __init__(self, store: Store, embedder: Embedder):
        self._store, self._embedder, self._swept = store, embedder, False

    def add(self, tree: ChunkTree, progress: Teller = None) -> Report:
        """Put in each document of a tree, whole or not at all; see `Index.add`."""
        if not isinstance(tree, ChunkTree):
            raise TypeError(f"add takes a ChunkTree, such as sentence_tree(doc), not {type(tree).__name__}")
        with Progress("embedding", len(tree.indexed), progress) as told, self._store.writing():
            self._check_ids(tree)
            report = Report()
            for changes in self._batches(tree, told):
                report += self._carry_out(changes, told)
            self._store.flush()
            return report + self._sweep()

    def delete(self, doc_id: str) -> Report:
        """Remove a document and its vectors; ValueError when there is no such document."""
        with self._store.writing():
            self._store.refresh()
            committed = self._store.committed
            known = committed.documents.keys() | committed.damaged.keys()
            if doc_id not in known:
                raise ValueError(f"no document {doc_id!r} to delete; the index holds {sorted(known)}")
            return Report(deleted=self._store.remove(doc_id), documents=1)

    # --- the steps ---

    def _check_ids(self, tree: ChunkTree) -> None:
        if STAMP in tree.documents:
            raise ValueError(f"an index keeps the id {STAMP!r} for itself: give the document another")
        documents = self._store.committed.documents
        others = [one for doc_id, one in documents.items() if doc_id not in tree.documents]
        taken = next((chunk for one in others for chunk in one.chunks if chunk.id in tree), None)
        if taken:
            raise ValueError(
                f"document {tree[taken.id].doc_id!r} has a chunk {taken.id!r}, an id that a chunk of document "
                f"{taken.doc_id!r} has in the index: give one of the documents another id"
            )
        for doc_id in documents.keys() & tree.documents.keys():
            former, new = documents[doc_id].document, tree.documents[doc_id]
            if former.source and new.source and former.source != new.source and former.text != new.text:
                raise ValueError(
                    f"document {doc_id!r} of the file {new.source!r} would replace the one of {former.source!r}: give "
                    f"one of them another id, as read_files does, or delete the one in the index first"
                )

    def _batches(self, tree: ChunkTree, told: Progress) -> Iterator[list[Change]]:
        """Plan all documents, as many at a time as fill a batch: texts sorted by length together save padding."""
        chunks: dict[str, list[Chunk]] = {doc_id: [] for doc_id in tree.documents}
        for chunk in tree:
            chunks[chunk.doc_id].append(chunk)
        indexed, changes, size = {chunk.id for chunk in tree.indexed}, [], 0
        for document in tree.documents.values():
            try:
                change = self._plan(document, chunks[document.id], indexed, document.id in tree.headed)
            except Exception as error:
                yield changes  # those before it are kept
                raise _named(document.id, error) from error
            told.grow(len(change.wanted) - sum(chunk.id in indexed for chunk in chunks[document.id]))
            told.advance(len(change.wanted) - len(change.new))
            changes.append(change)
            size += len(change.new)
            if size >= self._store.batch:
                yield changes
                changes, size = [], 0
        yield changes

    def _plan(self, document: Document, chunks: list[Chunk], indexed: set[str], heading_path: bool) -> Change:
        former, present = self._store.committed.documents.get(document.id), self._store.present(document.id)
        return plan(document, chunks, indexed, former, present, self._embedder, heading_path)

    def _carry_out(self, changes: list[Change], told: Progress) -> Report:
        try:
            self._embed(changes, told)
        except _Refused as refused:
            if len(changes) == 1:
                raise _named(changes[0].doc_id, refused.error) from refused.error
            # Which one is bad? Those before it are kept.
            return sum((self._carry_out([change], told) for change in changes), Report())
        with self._store.together():
            return sum(map(self._commit, changes), Report())

    def _commit(self, change: Change) -> Report:
        current = change.planned if change.former else replace(change.planned, order=self._last() + 1)
        added, written = len(change.new), int(current != change.former)
        if written or added or change.old:
            self._store.put(current, change.old)
        return Report(added, len(change.wanted) - added, len(change.old), written)

    def _last(self) -> int:
        return max((stored.order for stored in self._store.committed.documents.values()), default=0)

    def _embed(self, changes: list[Change], told: Progress) -> None:
        """Keep a vector for each record that has none, part by part."""
        waiting: dict[str, list[tuple[Change, Wanted]]] = {}
        for change in changes:
            for one in change.new:
                if one.record not in change.kept:
                    waiting.setdefault(one.key, []).append((change, one))
        rows = self._taken_over(changes, waiting)
        self._keep(rows, waiting, told)
        missing = {key: waiting[key][0][1].text for key in waiting if key not in rows}
        for part in _parts(missing):
            self._keep(self._vectors(part), waiting, told)

    def _taken_over(self, changes: list[Change], waiting: dict) -> dict[str, np.ndarray]:
        # The same text under another id or label (a paragraph was put before it) takes over the vector that is there.
        rows: dict[str, np.ndarray] = {}
        for change in changes:
            donors = [record for record in change.present if text_key(record) in waiting]
            if donors:
                rows |= {text_key(record): row for record, row in self._store.kept(change.doc_id, donors).items()}
        return rows

    def _vectors(self, texts: dict[str, str]) -> dict[str, np.ndarray]:
        try:
            vectors = self._embedder.passages(list(texts.values()))
            return dict(zip(texts, as_rows(self._embedder, vectors, len(texts)), strict=True))
        except Exception as error:
            raise _Refused(error) from error

    def _keep(self, rows: dict[str, np.ndarray], waiting: dict, told: Progress) -> None:
        pairs = [(row, change, one) for key, row in rows.items() for change, one in waiting[key]]
        if pairs:
            vectors, _, wanted = zip(*pairs, strict=True)
            self._store.keep([one.record for one in wanted], list(vectors), [one.labels for one in wanted])
            for _, change, one in pairs:
                change.kept.add(one.record)
            told.advance(len(pairs))

    def _sweep(self) -> Report:
        # What a killed process left behind. Once an opening is enough, since one process writes at a time.
        if self._swept:
            return Report()
        self._swept = not self._store.committed.damaged
        return Report(deleted=self._store.sweep())


class _Refused(Exception):
    """A model refused texts, or gave no vectors for them."""

    def __init__(self, error: Exception):
        super().__init__(str(error))
        self.error = error


def _named(doc_id: str, error: Exception) -> Exception:
    kinds = (ValueError, TypeError, ConnectionError, OSError, RuntimeError)
    kind = next((kind for kind in kinds if isinstance(error, kind)), RuntimeError)
    return kind(f"document {doc_id!r} could not be added, those before it were: {str(error) or type(error).__name__}")


def _parts(texts: dict[str, str]) -> Iterator[dict[str, str]]:
    # Sorted by length, as a model would sort them all, so that little is padded.
    keys = sorted(texts, key=lambda key: -len(texts[key])) if len(texts) > _PART else list(texts)
    return ({key: texts[key] for key in part} for part in batches(keys, _PART))
