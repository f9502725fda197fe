"""Where an index lives: the memory of this process, a folder or a Chroma server."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

from ..core.characters import is_blank
from .chroma import memory_client, server_client
from .lock import is_torn


class Location:
    """The memory of this process (None), a folder, or a Chroma server's "http://host:port"."""

    def __init__(self, path: str | Path | None):
        if path is not None and not isinstance(path, (str, Path)):
            raise TypeError(f"an index is opened at None, a folder or an address, not {path!r}")
        self._server = _address(path) if isinstance(path, str) else None
        self.in_memory = path is None
        self.folder = None if self.in_memory or self._server else Path(path).expanduser().resolve()

    def __str__(self) -> str:
        return "memory" if self.in_memory else self._server.geturl() if self._server else repr(str(self.folder))

    def client(self) -> Any:
        """Open Chroma in memory or at the server; ConnectionError when no server answers."""
        if self.in_memory:
            return memory_client()
        try:
            return server_client(*self._address, self._server.scheme == "https")
        except ValueError as error:  # what Chroma makes of a refused connection
            raise self._unanswered() from error

    def make_folder(self, *files: str) -> Path:
        """Make the folder where it is not there; ValueError when it is a file, PermissionError when it is read-only."""
        there = next(path for path in (self.folder, *self.folder.parents) if os.path.lexists(path))
        if not there.is_dir():
            raise ValueError(f"an index is kept in a folder, but {str(there)!r} is a file")
        for path in filter(os.path.exists, (there, *(there / name for name in files))):
            if not os.access(path, os.W_OK):
                raise PermissionError(
                    f"the index folder {self} cannot be used: an index writes even to read, and {str(path)!r} is "
                    "read-only: make it writable, or open a copy"
                )
        self.folder.mkdir(parents=True, exist_ok=True)
        return self.folder

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
        except sqlite3.Error as error:
            raise self._unusable(error) from error

    def _unusable(self, error: sqlite3.Error) -> OSError:
        if is_torn(error):
            return OSError(
                f"SQLite cannot use the index in {self} ({error}): bring back a whole copy, or take another place and "
                "add the documents again"
            )
        return OSError(
            f"the index in {self} could not be written ({error}): documents that were finished are kept, all others "
            "are as they were; make room or let it be written, and try again"
        )

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
