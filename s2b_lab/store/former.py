"""Folders of the first format, whose documents and vectors Chroma kept: they are moved once, without embedding."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .archive import Archive
from .batches import batches
from .chroma import check_collection, description, folder_client
from .collections import STAMP

if TYPE_CHECKING:
    from ..embed import Embedder
    from .location import Location


def moved(archive: Archive, location: Location, embedder: Embedder) -> None:
    """Make an index in its archive, with what the folder's own Chroma collections of its name hold.

    These are deleted once their content is committed; other collections stay as they are. ValueError where another
    model made them.
    """
    new = description(embedder)
    if not _is_there(location.folder / "chroma.sqlite3", archive.name):
        return archive.make(new, {}, ())
    client = folder_client(location.folder)
    try:
        vectors, documents = (_collection(client, name) for name in (archive.name, f"{archive.name}-documents"))
        if vectors is None:
            return archive.make(new, {}, ())
        check_collection(vectors, embedder, location)
        archive.make(new, _records(documents), _rows(vectors))
        for name in (archive.name, f"{archive.name}-documents"):
            if _collection(client, name):
                client.delete_collection(name)
    finally:
        client.close()


def _is_there(file: Path, name: str) -> bool:
    """Tell whether Chroma's file has a collection of a name, without a client: the reader may have one of its own."""
    if not file.exists():
        return False
    table = sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)
    try:
        return bool(table.execute("SELECT 1 FROM collections WHERE name = ?", [name]).fetchall())
    except sqlite3.Error:
        return True  # Chroma will say what is wrong with it
    finally:
        table.close()


def _collection(client: Any, name: str) -> Any | None:
    """A collection that this package wrote, None where there is none or another's."""
    from chromadb.errors import NotFoundError

    try:
        found = client.get_collection(name, embedding_function=None)
    except NotFoundError:
        return None
    return found if "s2b_format" in (found.metadata or {}) else None


def _records(documents: Any | None) -> dict[str, str]:
    if documents is None:
        return {}
    got = documents.get(include=["documents"])
    return {doc_id: text for doc_id, text in zip(got["ids"], got["documents"], strict=True) if doc_id != STAMP}


def _rows(vectors: Any) -> Iterator[tuple]:
    ids = vectors.get(include=[])["ids"]
    for part in batches(ids):
        got = vectors.get(ids=part, include=["embeddings", "metadatas"])
        for record, row, labels in zip(got["ids"], got["embeddings"], got["metadatas"], strict=True):
            if labels and "doc_id" in labels:
                yield labels["doc_id"], record, row
