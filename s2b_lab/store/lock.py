"""One at a time: a lock that dies with its process, however that ends, and that a forked child does not inherit."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_WAIT = 10_000  # ms for a reader of the holder's number to be done


class Lock:
    """SQLite's own lock on a file, the same on all systems: nothing is left of it after a kill."""

    def __init__(self, file: Path):
        self._file = file
        self._connection: sqlite3.Connection | None = None

    def take(self, signed: bool = False) -> bool:
        """Take it, or tell at once that another holds it; `signed` tells others who does. sqlite3.Error, or OSError."""
        try:
            return self._take(signed)
        except sqlite3.DatabaseError as error:
            if not is_torn(error):
                raise
            os.truncate(self._file, 0)  # nothing is kept in it; the same file, so that a lock on it holds
            return self._take(signed)

    def _take(self, signed: bool) -> bool:
        connection = sqlite3.connect(self._file, timeout=0, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("BEGIN IMMEDIATE")
            if signed:
                _sign(connection)
        except BaseException as error:
            connection.close()
            if is_busy(error):
                return False
            raise
        self._connection = connection
        return True

    def release(self) -> None:
        """Let go of it; nothing happens when it is not held."""
        connection, self._connection = self._connection, None
        if connection:
            connection.close()

    def holder(self) -> int:
        """The number of the process that signed last, 0 when it cannot be read."""
        connection = sqlite3.connect(self._file, timeout=1)
        try:
            return connection.execute("PRAGMA user_version").fetchone()[0]
        except sqlite3.Error:
            return 0
        finally:
            connection.close()

    @contextmanager
    def held(self, what: str) -> Iterator[None]:
        """Hold it for a while; BlockingIOError, which says who does `what`, when another does."""
        if not self.take(signed=True):
            holder = self.holder()
            whose = "this process" if holder == os.getpid() else f"process {holder}" if holder else "another process"
            raise BlockingIOError(f"{whose} is {what}: one writes at a time, so wait until it is done, or stop it")
        try:
            yield
        finally:
            self.release()


def is_busy(error: BaseException) -> bool:
    """Tell whether SQLite found another at work."""
    code = getattr(error, "sqlite_errorcode", 0)
    return bool(code) and code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def is_torn(error: sqlite3.Error) -> bool:
    """Tell whether SQLite found no database in a file, or a damaged one."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _sign(connection: sqlite3.Connection) -> None:
    # Others can read what was committed, so the lock is let go of for a moment; who takes it then has it.
    connection.execute(f"PRAGMA busy_timeout = {_WAIT}")
    connection.execute(f"PRAGMA user_version = {os.getpid()}")
    connection.execute("COMMIT")
    connection.execute("PRAGMA busy_timeout = 0")
    connection.execute("BEGIN IMMEDIATE")
