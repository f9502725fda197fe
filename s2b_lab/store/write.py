"""Writing an index: plan -> embed -> write new vectors -> commit (one upsert of the document) -> delete old vectors.

A vector counts only while the committed document names it: stopped anywhere, the old version answers whole.
"""

from __future__ import annotations

import hashlib
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..core.cards import Card, Rows, counted
from ..core.characters import is_blank
from ..core.split import recursive
from ..core.text import Document
from ..core.tree import Chunk, ChunkTree
from ..embed import Embedder, as_rows
from ..models.copies import normalise
from .collections import Store
from .committed import STAMP, Labels, Stored, as_metadata

if TYPE_CHECKING:
    import numpy as np

_SUFFIX = re.compile(r"(#[0-9a-f]{16})\.[0-9a-f]{8}(#\d+)?$")


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

    @property
    def old(self) -> set[str]:
        return self.present - {one.record for one in self.wanted}


class Writer:
    """Adds documents to a store and deletes them; one process writes at a time."""

    def __init__(self, store: Store, embedder: Embedder):
        self._store, self._embedder, self._swept = store, embedder, False

    def add(self, tree: ChunkTree) -> Report:
        """Put in each document of a tree, whole or not at all; see `Index.add`."""
        if not isinstance(tree, ChunkTree):
            raise TypeError(f"add takes a ChunkTree, such as sentence_tree(doc), not {type(tree).__name__}")
        self._store.sync()
        self._check_ids(tree)
        chunks: dict[str, list[Chunk]] = {doc_id: [] for doc_id in tree.documents}
        for chunk in tree:
            chunks[chunk.doc_id].append(chunk)
        indexed, report, changes = {chunk.id for chunk in tree.indexed}, Report(), []
        for document in tree.documents.values():
            changes.append(self._plan(document, chunks[document.id], indexed))
            # Texts of many documents in one call are sorted by length together, which saves padding.
            if sum(len(change.new) for change in changes) >= self._store.batch:
                report += self._carry_out(changes)
                changes = []
        return report + self._carry_out(changes) + self._sweep()

    def delete(self, doc_id: str) -> Report:
        """Remove a document and its vectors; ValueError when there is no such document."""
        self._store.refresh()
        committed = self._store.committed
        known = committed.documents.keys() | committed.damaged.keys()
        if doc_id not in known:
            raise ValueError(f"no document {doc_id!r} to delete; the index holds {sorted(known)}")
        self._store.remove(doc_id)
        present = self._store.present(doc_id)
        self._store.drop(present)
        return Report(deleted=len(present), documents=1)

    def verify(self) -> list[str]:
        """List what is wrong, [] when whole; see `Index.verify`."""
        store = self._store
        store.refresh()
        found = store.vectors.get(include=["metadatas"])
        labels = dict(zip(found["ids"], found["metadatas"], strict=True))
        orphans = labels.keys() - store.catalogue.owners.keys()
        problems = [f"orphan vector {record!r}: no document names it" for record in orphans]
        problems += store.committed.damaged.values()
        problems += [fault for stored in store.committed.documents.values() for fault in stored.faults(labels)]
        for row in store.vectors.get(limit=1, include=["embeddings"])["embeddings"]:
            if len(row) != self._embedder.dimension:
                problems.append(f"vectors have {len(row)} dimensions, not {self._embedder.dimension}")
        return sorted(problems)

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

    def _plan(self, document: Document, chunks: list[Chunk], indexed: set[str]) -> _Change:
        former = self._store.committed.documents.get(document.id)
        planned = Stored(former.order if former else 0, document, tuple(chunks), {})
        change = _Change(former, planned, [], self._store.present(document.id))
        labels = planned.labels()
        for chunk in chunks:
            if chunk.id in indexed and (wanted := self._needed(chunk, labels(chunk), change)):
                change.wanted.extend(wanted)
                planned.records[chunk.id] = tuple(one.record for one in wanted)
        return change

    def _needed(self, chunk: Chunk, labels: Labels, change: _Change) -> list[_Wanted]:
        copy = normalise(chunk.text)
        if is_blank(copy):
            return []
        record = f"{chunk.id}#{_hash(copy)[:16]}.{_hash(chunk.level, *as_metadata(labels).values())[:8]}"
        known = change.former.records.get(chunk.id, ()) if change.former else ()
        if known and known[0].startswith(record) and change.present.issuperset(known):
            return [_Wanted(chunk, piece, "") for piece in known]
        return self._pieces(chunk, copy, record)

    def _pieces(self, chunk: Chunk, copy: str, record: str) -> list[_Wanted]:
        model = self._embedder
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
            stacklevel=7,  # the caller of Index.add
        )
        texts = [text for span in spans if not is_blank(text := normalise(span.of(chunk.text)))]
        return [_Wanted(chunk, f"{record}#{number}", text) for number, text in enumerate(texts)]

    def _carry_out(self, changes: list[_Change]) -> Report:
        rows, report = self._embed(changes), Report()
        for change in changes:
            self._write(change.new, rows, change.planned.labels())
            current = change.planned if change.former else replace(change.planned, order=self._last() + 1)
            if current != change.former:
                self._store.put(current)
            self._store.drop(change.old)
            added, written = len(change.new), int(current != change.former)
            report += Report(added, len(change.wanted) - added, len(change.old), written)
        return report

    def _last(self) -> int:
        return max((stored.order for stored in self._store.committed.documents.values()), default=0)

    def _embed(self, changes: list[_Change]) -> dict[str, np.ndarray]:
        # The same text under another id or label (a paragraph was put before it) takes over the vector that is there.
        texts = {_text_key(one.record): one.text for change in changes for one in change.new}
        present = (record for change in changes for record in change.present)
        donors = {key: record for record in present if (key := _text_key(record)) in texts}
        rows = {_text_key(record): row for record, row in self._store.fetch(list(donors.values())).items()}
        missing = {key: text for key, text in texts.items() if key not in rows}
        if missing:
            vectors = self._embedder.passages(list(missing.values()))
            rows |= zip(missing, as_rows(self._embedder, vectors, len(missing)), strict=True)
        return rows

    def _write(self, new: list[_Wanted], rows: dict[str, np.ndarray], labels: Callable[[Chunk], Labels]) -> None:
        for part in self._store.batches(new):
            self._store.vectors.upsert(
                ids=[one.record for one in part],
                embeddings=[rows[_text_key(one.record)] for one in part],
                metadatas=[as_metadata(labels(one.chunk)) for one in part],
            )

    def _sweep(self) -> Report:
        # What a killed process left behind. Once an opening is enough, since one process writes at a time. The vectors
        # of a damaged document wait for it to be added again.
        if self._swept or self._store.committed.damaged:
            return Report()
        self._store.refresh()
        orphans = set(self._store.vectors.get(include=[])["ids"]) - self._store.catalogue.owners.keys()
        self._store.drop(orphans)
        self._swept = True
        return Report(deleted=len(orphans))


def _hash(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _text_key(record: str) -> str:
    # Equal for equal embedded texts, whatever chunk or label they belong to.
    found = _SUFFIX.search(record)
    return "".join(filter(None, found.groups())) if found else record
