"""Finding what is wrong with an index and, in a folder, putting it right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from .folder import FolderStore

if TYPE_CHECKING:
    import numpy as np

    from .collections import Store

_APART = 1e-3  # more than the noise of float32
_TURNS = 9  # times that an index is looked at while others change it

Labels = Mapping[str, Mapping[str, Any]]


def verify(store: Store, dimension: int) -> list[str]:
    """Say what is wrong, [] when whole, and what was done about it; see `Index.verify`."""
    look = _folder if store.repairs else _collections
    for _ in range(_TURNS):
        store.refresh()
        committed = store.committed
        faults = sorted([*committed.damaged.values(), *look(store, dimension)])
        store.sync()
        if store.committed is committed or not faults:
            break  # what another process changed meanwhile would look like a fault
    return faults


def _collections(store: Store, dimension: int) -> Iterator[str]:
    labels = store.labels()
    for stored in store.committed.documents.values():
        yield from stored.lost_parents()
    yield from (fault for _, fault in _faults(store, labels))
    for row in store.vectors.get(limit=1, include=["embeddings"])["embeddings"]:
        if len(row) != dimension:
            yield f"vectors have {len(row)} dimensions, not {dimension}"


def _folder(store: FolderStore, dimension: int) -> Iterator[str]:
    yield from store.archive.faults(dimension)
    kept = {record for doc_id in store.committed.documents for record in store.archive.present(doc_id)}
    for record in store.catalogue.owners.keys() - kept:
        yield f"missing vector {record!r}: add the document {store.catalogue.owners[record].chunk.doc_id!r} again"
    yield from (fault for stored in store.committed.documents.values() for fault in stored.lost_parents())
    torn = [fault for record, fault in _chroma(store) if record is None or record in kept]
    if torn:
        store.rebuild()
    count = len(store.catalogue.owners)
    yield from (f"{fault}: put right, Chroma's copy was made anew from {count:,} kept vectors" for fault in torn)


def _faults(store: Store, labels: Labels) -> Iterator[tuple[str | None, str]]:
    """What is wrong with the vectors that Chroma holds: a record's id and the fault, None for what nobody needs."""
    for stored in store.committed.documents.values():
        yield from stored.faults(labels)
    for record in labels.keys() - store.catalogue.owners.keys():
        yield None, f"orphan vector {record!r}: no document names it"


def _chroma(store: FolderStore) -> Iterator[tuple[str | None, str]]:
    """What Chroma's copy has otherwise than the folder keeps it."""
    try:
        labels = store.labels()
        yield from _faults(store, labels)
        yield from _changed(store, labels)
    except Exception as error:  # whatever Chroma makes of torn files
        yield None, f"Chroma's files cannot be read ({error})"


def _changed(store: FolderStore, labels: Labels) -> Iterator[tuple[str, str]]:
    """Vectors that Chroma holds with other numbers."""
    kept = store.fetch([record for record in store.catalogue.owners if record in labels])
    held = store.searched(list(kept))
    for record, row in kept.items():
        if _apart(row, held[record]) > _APART:
            yield record, f"vector {record!r} has other numbers in Chroma than were kept"


def _apart(one: np.ndarray, other: np.ndarray) -> float:
    sizes = (one @ one) ** 0.5 * (other @ other) ** 0.5
    return 1 - float(one @ other) / float(sizes) if sizes else 0.0
