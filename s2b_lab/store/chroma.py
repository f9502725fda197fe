"""Chroma: its clients, and the collections of an index."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .committed import FORMAT

if TYPE_CHECKING:
    from ..embed import Embedder

_ADVICE = "take another name or folder"
SPAWN = "start such a process by multiprocessing's 'spawn', and open the index in it"
# Whether this process has opened Chroma, and whether one had that it was forked from: its threads are not there then.
_state = {"opened": False, "forked": False}
# Searching wider than Chroma's default costs a millisecond and finds the true neighbours of nearly every query.
_HNSW = {"space": "cosine", "ef_search": 400}


def memory_client() -> Any:
    """Open the one Chroma in the memory of this process, which the reader's own client shares.

    ValueError where that one has settings that no other client can share, RuntimeError in a forked child.
    """
    import chromadb

    begin()
    # All clients in memory are one, and must have the same settings: those of `chromadb.EphemeralClient()` first. The
    # pinned version reports nothing, whatever they are.
    try:
        return chromadb.EphemeralClient()
    except ValueError:
        return _shared(lambda: chromadb.EphemeralClient(_quiet()), "memory", "chromadb.EphemeralClient()")


def folder_client(folder: Path) -> Any:
    """Open Chroma in a folder; ValueError where this process has done so with settings that no other can share.

    RuntimeError in a forked child.
    """
    import chromadb

    begin()
    try:
        return chromadb.PersistentClient(folder)
    except ValueError:
        return _shared(lambda: chromadb.PersistentClient(folder, _quiet()), repr(str(folder)), "its settings left out")


def server_client(host: str, port: int, secure: bool) -> Any:
    """Open Chroma at a server; ValueError when none answers."""
    import chromadb

    return chromadb.HttpClient(host, port, ssl=secure, settings=_quiet())


def let_go(client: Any) -> None:
    """Close a client, and with the last one at a server its connections, which Chroma would leave open."""
    apis = [getattr(one, "_server", None) for one in (client, getattr(client, "_admin_client", None))]
    client.close()
    for api in apis:
        if hasattr(api, "_session") and not getattr(api, "_running", True):
            api._session.close()


def _quiet() -> Any:
    from chromadb.config import Settings

    return Settings(anonymized_telemetry=False)  # a client writes into it, so each gets its own


def _shared(client: Callable[[], Any], place: str, advice: str) -> Any:
    try:
        return client()
    except ValueError as error:
        raise ValueError(
            f"a Chroma client of your own in {place} has settings that an index cannot share ({error}): open it with "
            f"{advice}, close it first, or open the index in another process"
        ) from error


def begin() -> None:
    """Note that Chroma is opened; RuntimeError in a process that was forked from one that had opened it."""
    if _state["forked"]:
        raise RuntimeError(f"this process was forked from one that had opened Chroma, which would hang here: {SPAWN}")
    _state["opened"] = True


def _forked() -> None:
    loaded = sys.modules.get("chromadb.api.shared_system_client")
    _state["forked"] |= _state["opened"] or bool(loaded and loaded.SharedSystemClient._identifier_to_system)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def description(model: Embedder) -> dict[str, Any]:
    """What is kept beside an index's vectors of the model that made them."""
    keys = ("dimension", "query_prefix", "passage_prefix")
    return {"s2b_format": FORMAT, "model": model.name, **{key: getattr(model, key) for key in keys}}


def check_model(theirs: Mapping[str, Any], model: Embedder, what: str) -> None:
    """Raise ValueError when the vectors of an index were made by another model than this one."""
    ours = description(model)
    if any(theirs.get(key) != ours[key] for key in ours):
        raise ValueError(f"{what} was written with {_described(theirs)}, not {_described(ours)}: {_ADVICE}")


def new_collection(client: Any, name: str, metadata: Mapping[str, Any]) -> Any:
    """Make a collection of vectors that measures the cosine distance."""
    settings = {"hnsw": _HNSW}
    return client.create_collection(name, metadata=dict(metadata), configuration=settings, embedding_function=None)


def vector_collection(client: Any, name: str, model: Embedder, location: Any) -> Any:
    """Get or make the collection of vectors; ValueError when another model, distance or program wrote it."""
    collection = _get_or_create(client, name, description(model))
    check_collection(collection, model, location)
    return collection


def check_collection(collection: Any, model: Embedder, location: Any) -> None:
    """Raise ValueError when another model, distance or program wrote a collection of vectors."""
    what = f"collection {collection.name!r} in {location}"
    space = (collection.configuration.get("hnsw") or {}).get("space")
    if space != "cosine":
        raise ValueError(f"{what} measures distance by {space!r}, an index by 'cosine': {_ADVICE}")
    if "s2b_format" not in (collection.metadata or {}):
        raise ValueError(f"{what} was not written by s2b_lab: {_ADVICE}")
    check_model(collection.metadata, model, what)


def document_collection(client: Any, name: str, location: Any) -> Any:
    """Get or make the document store beside a collection of vectors; ValueError when it is something else."""
    collection = _get_or_create(client, f"{name}-documents", {"s2b_format": FORMAT})
    theirs = collection.metadata or {}
    if theirs.get("s2b_format") != FORMAT or "model" in theirs:
        raise ValueError(
            f"collection {collection.name!r} in {location} is no document store of format {FORMAT} of s2b_lab: take "
            f"another name than {name!r}, or another folder"
        )
    return collection


def _get_or_create(client: Any, name: str, metadata: dict[str, Any]) -> Any:
    from chromadb.errors import NotFoundError

    try:
        return client.get_collection(name, embedding_function=None)
    except NotFoundError:
        return new_collection(client, name, metadata)


def _described(metadata: Mapping[str, Any]) -> str:
    return (
        f"{metadata.get('model')!r} (dimension {metadata.get('dimension')}, prefixes "
        f"{metadata.get('query_prefix')!r} and {metadata.get('passage_prefix')!r}, format {metadata.get('s2b_format')})"
    )
