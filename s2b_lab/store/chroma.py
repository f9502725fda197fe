"""Where an index lives: Chroma in memory, in a folder or at a server."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urlsplit

from ..core.characters import is_blank
from .committed import FORMAT

if TYPE_CHECKING:
    from ..embed import Embedder

# Searching wider than Chroma's default costs a millisecond and finds the true neighbours of nearly every query.
_HNSW = {"space": "cosine", "ef_search": 400}


class Location:
    """The memory of this process (None), a folder, or a Chroma server's "http://host:port"."""

    def __init__(self, path: str | Path | None):
        if path is not None and not isinstance(path, (str, Path)):
            raise TypeError(f"an index is opened at None, a folder or an address, not {path!r}")
        self._server = _address(path) if isinstance(path, str) else None
        self.in_memory = path is None
        self._folder = None if self.in_memory or self._server else Path(path).expanduser().resolve()

    def __str__(self) -> str:
        return "memory" if self.in_memory else self._server.geturl() if self._server else repr(str(self._folder))

    def client(self) -> Any:
        """Open Chroma there, with its telemetry off; ConnectionError when no server answers."""
        import chromadb
        from chromadb.config import Settings

        settings = Settings(anonymized_telemetry=False)  # a client writes into it, so each gets its own
        if self.in_memory:
            return chromadb.EphemeralClient(settings)
        if self._folder:
            self._check_folder()
            return chromadb.PersistentClient(self._folder, settings)
        try:
            return chromadb.HttpClient(*self._address, ssl=self._server.scheme == "https", settings=settings)
        except ValueError as error:  # what Chroma makes of a refused connection
            raise self._unanswered() from error

    def _check_folder(self) -> None:
        there = next(path for path in (self._folder, *self._folder.parents) if os.path.lexists(path))
        if not there.is_dir():
            raise ValueError(f"an index is kept in a folder, but {str(there)!r} is a file")
        for path in filter(os.path.exists, (there, there / "chroma.sqlite3")):
            if not os.access(path, os.W_OK):
                raise PermissionError(
                    f"the index folder {self} cannot be used: Chroma writes even to read, and {str(path)!r} is "
                    "read-only: make it writable, or open a copy"
                )

    def check(self) -> None:
        """Raise FileNotFoundError when the folder is gone: Chroma would go on reading the deleted file."""
        if self._folder and not (self._folder / "chroma.sqlite3").exists():
            raise FileNotFoundError(
                f"the index folder {self} was deleted while an index in it was open: close that one"
            )

    @contextmanager
    def reached(self) -> Iterator[None]:
        """Turn the errors of a lost server, collection or file into ones that say what was lost, and what to do."""
        import httpx
        from chromadb.errors import InternalError, NotFoundError

        try:
            yield
        except httpx.TransportError as error:
            raise (self._unanswered() if self._server else error) from error
        except NotFoundError as error:
            raise LookupError(f"the index in {self} was deleted while it was open ({error})") from error
        except InternalError as error:
            raise OSError(
                f"Chroma cannot use the index in {self} ({error}): mend what it names or bring back a whole copy, "
                "or take another place and add the documents again"
            ) from error

    @property
    def _address(self) -> tuple[str, int]:
        return self._server.hostname, self._server.port or (443 if self._server.scheme == "https" else 8000)

    def _unanswered(self) -> ConnectionError:
        host, port = self._address
        start = f"chroma run --path FOLDER --host {host} --port {port}"
        return ConnectionError(f"no Chroma server answers at {self}: start one with `{start}`, or give a folder")


def _address(path: str) -> SplitResult | None:
    # None for a folder. A slip in an address must not make a folder of that name.
    if is_blank(path):
        raise ValueError(f"the path of an index is blank: {path!r}; give None for memory, a folder or http://host:port")
    if "://" not in path and not re.fullmatch(r"[\w.-]+:\d+", path):
        return None
    try:
        server = urlsplit(path)
        known = server.scheme in ("http", "https") and server.hostname and server.port != 0
        more = server.path.strip("/") or server.query or server.fragment or server.username
    except ValueError:  # a port that is no port, or a bracket that stays open
        known = False
    if not known or more:
        raise ValueError(f"a server's address is http://host:port and no more, not {path!r}")
    return server


def vector_collection(client: Any, name: str, model: Embedder, location: Location) -> Any:
    """Get or make the collection of vectors; ValueError when another model, distance or program wrote it."""
    keys = ("dimension", "query_prefix", "passage_prefix")
    ours = {"s2b_format": FORMAT, "model": model.name, **{key: getattr(model, key) for key in keys}}
    collection = _get_or_create(client, name, ours)
    theirs = collection.metadata or {}
    what, advice = f"collection {name!r} in {location}", "take another name or folder"
    space = (collection.configuration.get("hnsw") or {}).get("space")
    if space != "cosine":
        raise ValueError(f"{what} measures distance by {space!r}, an index by 'cosine': {advice}")
    if "s2b_format" not in theirs:
        raise ValueError(f"{what} was not written by s2b_lab: {advice}")
    if any(theirs.get(key) != ours[key] for key in ours):
        raise ValueError(f"{what} was written with {_described(theirs)}, not {_described(ours)}: {advice}")
    return collection


def document_collection(client: Any, name: str, location: Location) -> Any:
    """Get or make the document store beside a collection of vectors; ValueError when it is something else."""
    collection = _get_or_create(client, f"{name}-documents", {"s2b_format": FORMAT})
    theirs = collection.metadata or {}
    if theirs.get("s2b_format") != FORMAT or "model" in theirs:
        raise ValueError(
            f"collection {collection.name!r} in {location} is no document store of format {FORMAT} of s2b_lab: take "
            f"another name than {name!r}, or another folder"
        )
    return collection


def release(client: Any, temporary: tuple[str, ...]) -> None:
    """Let go of a client, and of collections that nobody could find again."""
    for name in temporary:
        client.delete_collection(name)
    client.close()


def _get_or_create(client: Any, name: str, metadata: dict[str, Any]) -> Any:
    from chromadb.errors import NotFoundError

    try:
        return client.get_collection(name, embedding_function=None)
    except NotFoundError:
        settings = {"hnsw": _HNSW}
        return client.create_collection(name, metadata=metadata, configuration=settings, embedding_function=None)


def _described(metadata: Mapping[str, Any]) -> str:
    return (
        f"{metadata.get('model')!r} (dimension {metadata.get('dimension')}, prefixes "
        f"{metadata.get('query_prefix')!r} and {metadata.get('passage_prefix')!r}, format {metadata.get('s2b_format')})"
    )
