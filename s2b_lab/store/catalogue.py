"""The committed documents as a search sees them: what each vector stands for, and who may find it."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass

from ..core.access import Allowed
from ..core.tree import Chunk, ChunkTree
from .committed import Committed, Labels, as_metadata


@dataclass(frozen=True, slots=True)
class Owner:
    """The chunk that a vector stands for, its place in the order of all, and what filters ask of it."""

    order: int
    chunk: Chunk
    labels: Labels


@dataclass(frozen=True, slots=True)
class View:
    """What a filter leaves: the vectors, the number of chunks they stand for, and the same filter for Chroma."""

    owners: dict[str, Owner]
    chunks: int
    clause: dict | None


class Catalogue:
    """What can be found in committed documents; nothing changes after construction."""

    def __init__(self, committed: Committed):
        self.committed = committed
        self._views: dict[tuple, View] = {}

    @functools.cached_property
    def tree(self) -> ChunkTree:
        """The tree of all documents."""
        stored = self.committed.documents.values()
        indexed = [chunk for one in stored for chunk in one.chunks if chunk.id in one.records]
        headed = [one.document.id for one in stored if one.heading_path]
        return ChunkTree([one.document for one in stored], [c for one in stored for c in one.chunks], indexed, headed)

    @functools.cached_property
    def owners(self) -> dict[str, Owner]:
        """What each vector stands for, in document order."""
        owners: dict[str, Owner] = {}
        for stored in self.committed.documents.values():
            labels = stored.labels()
            for chunk in stored.chunks:
                if chunk.id in stored.records:
                    owner = Owner(len(owners), chunk, labels(chunk))
                    owners |= dict.fromkeys(stored.records[chunk.id], owner)
        return owners

    def matching(self, allowed: Allowed) -> View:
        """What a filter leaves of all vectors."""
        key = tuple(sorted(allowed.items()))
        if key not in self._views:
            self._views[key] = self._view({name: frozenset(values) for name, values in key})
        return self._views[key]

    def _view(self, allowed: Mapping[str, frozenset[str]]) -> View:
        # A chunk across sections is for those alone who may read all of them.
        owners = {
            record: owner
            for record, owner in self.owners.items()
            if all(values.issuperset(owner.labels[name]) for name, values in allowed.items())
        }
        chunks, clause = len({owner.chunk.id for owner in owners.values()}), None
        # Chroma lists all records that match before it searches: quick for a few, slow for nearly all. What it is not
        # told to leave out, the search leaves out by the same positive rule.
        if 10 * len(owners) <= len(self.owners):
            held = [as_metadata(owner.labels) for owner in owners.values()]
            clauses = [{name: {"$in": sorted({labels[name] for labels in held})}} for name in allowed]
            clause = clauses[0] if len(clauses) == 1 else {"$and": clauses}
        return View(owners, chunks, clause)
