"""The documents and vectors that a folder keeps, in one SQLite file: where a kill cannot tear them."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

FILE = "s2b.sqlite3"
_VERSION = 2  # of the tables; 1 was Chroma's collections
_WAIT = 60.0  # seconds that a transaction of another process may last
_TABLES = (
    # `held` is the stamp of what Chroma's folder holds and `files` what its files looked like then; NULL while they are
    # being written.
    "CREATE TABLE indexes (number INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, model TEXT NOT NULL, "
    "stamp TEXT NOT NULL, chroma TEXT, held TEXT, files TEXT)",
    "CREATE TABLE documents (number INTEGER, doc_id TEXT, record TEXT NOT NULL, PRIMARY KEY (number, doc_id))",
    "CREATE TABLE vectors (number INTEGER, doc_id TEXT, record TEXT, vector BLOB NOT NULL, made INTEGER NOT NULL, "
    "PRIMARY KEY (number, doc_id, record))",
    f"PRAGMA user_version = {_VERSION}",
)


class Archive:
    """What one index keeps in the file: documents as their records, and vectors as bytes of little-endian float32.

    Each change is one transaction: all of it or nothing, whoever is killed. A vector belongs to a document, and may be
    there before it.
    """

    def __init__(self, folder: Path, name: str):
        self.name = name
        self._lock = threading.RLock()
        self._connection = sqlite3.connect(folder / FILE, timeout=_WAIT, isolation_level=None, check_same_thread=False)
        try:
            self._make()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._connection.close()

    # --- the index itself ---

    def model(self) -> dict[str, Any] | None:
        """What the index was made with, None before it is."""
        row = self._row("SELECT model FROM indexes WHERE name = ?", self.name)
        return json.loads(row[0]) if row else None

    def make(self, model: Mapping[str, Any], documents: Mapping[str, str], vectors: Iterable[tuple]) -> None:
        """Make the index, with documents (id -> record) and vectors (document's id, record's id, row) in it, once."""
        with self._change() as table:
            if self._number() is not None:  # another process was quicker, and may have changed it since
                return
            table.execute(
                "INSERT INTO indexes (name, model, stamp) VALUES (?, ?, ?)",
                (self.name, json.dumps(model), _stamp()),
            )
            number = self._number()
            table.executemany("INSERT INTO documents VALUES (?, ?, ?)", ((number, *one) for one in documents.items()))
            self._insert(table, number, vectors)

    def stamp(self) -> str | None:
        """What changes with every change of a document, None when the index is gone."""
        row = self._row("SELECT stamp FROM indexes WHERE name = ?", self.name)
        return row[0] if row else None

    def chroma(self) -> tuple[str | None, str | None, str | None]:
        """The name of Chroma's folder, the stamp of what it holds, and its files: None while they are being written."""
        asked = "SELECT chroma, held, files FROM indexes WHERE name = ?"
        return self._row(asked, self.name) or (None, None, None)

    def set_chroma(self, folder: str, held: str | None = None, files: str | None = None) -> None:
        """Note Chroma's folder, the stamp of what it holds, and what its files look like."""
        with self._change() as table:
            asked = "UPDATE indexes SET chroma = ?, held = ?, files = ? WHERE name = ?"
            table.execute(asked, (folder, held, files, self.name))

    def chroma_folders(self) -> set[str]:
        """The names of Chroma's folders of all indexes in the file."""
        with self._lock:
            return {row[0] for row in self._connection.execute("SELECT chroma FROM indexes")} - {None}

    # --- documents ---

    def read(self) -> tuple[dict[str, str], str | None]:
        """All documents' records by their ids, and the stamp of that moment."""
        with self._moment():
            rows = self._connection.execute("SELECT doc_id, record FROM documents WHERE number = ?", [self._number()])
            return dict(rows), self.stamp()

    def put(self, doc_id: str, record: str, vectors: Collection[str]) -> tuple[str, int]:
        """Commit a document with the vectors it needs, and drop its others: the new stamp, the number dropped.

        RuntimeError when one that it needs is not there: where a lock was deleted, two may write after all.
        """
        with self._change() as table:
            number, present = self._number(), self.present(doc_id)
            if lost := set(vectors) - present:
                raise RuntimeError(
                    f"{len(lost):,} vectors of document {doc_id!r} were dropped by another process while it was added: "
                    f"nothing of it was changed, add it again"
                )
            old = present - set(vectors)
            table.execute("INSERT OR REPLACE INTO documents VALUES (?, ?, ?)", (number, doc_id, record))
            table.executemany(
                "DELETE FROM vectors WHERE number = ? AND doc_id = ? AND record = ?",
                ((number, doc_id, one) for one in old),
            )
            return self._restamp(table), len(old)

    def remove(self, doc_id: str) -> tuple[str, int]:
        """Remove a document and all its vectors: the new stamp, the number of vectors."""
        with self._change() as table:
            where = (self._number(), doc_id)
            table.execute("DELETE FROM documents WHERE number = ? AND doc_id = ?", where)
            gone = table.execute("DELETE FROM vectors WHERE number = ? AND doc_id = ?", where).rowcount
            return self._restamp(table), gone

    # --- vectors ---

    def keep(self, vectors: Iterable[tuple[str, str, np.ndarray]]) -> None:
        """Keep vectors (document's id, record's id, row), also before their document is there."""
        with self._change() as table:
            self._insert(table, self._number(), vectors)

    def present(self, doc_id: str) -> set[str]:
        """The ids of all vectors kept for a document, those of an unfinished version included."""
        with self._lock:
            asked = "SELECT record FROM vectors WHERE number = ? AND doc_id = ?"
            return {row[0] for row in self._connection.execute(asked, (self._number(), doc_id))}

    def vectors(self, doc_id: str) -> dict[str, np.ndarray]:
        """All vectors kept for a document, (dimension,) each, by their ids."""
        import numpy as np

        with self._lock:
            asked = "SELECT record, vector FROM vectors WHERE number = ? AND doc_id = ?"
            rows = self._connection.execute(asked, (self._number(), doc_id))
            return {record: np.frombuffer(vector, dtype="<f4") for record, vector in rows}

    def sweep(self, days: float) -> int:
        """Drop the vectors of documents that nobody finished in so many days; count them."""
        oldest = time.time() - 86400 * days
        number = self._number()
        asked = (
            "FROM vectors WHERE number = ? AND made < ? AND doc_id NOT IN "
            "(SELECT doc_id FROM documents WHERE number = ?)"
        )
        if not self._row(f"SELECT 1 {asked} LIMIT 1", number, oldest, number):
            return 0
        with self._change() as table:
            return table.execute(f"DELETE {asked}", (number, oldest, number)).rowcount

    def faults(self, dimension: int) -> list[str]:
        """Say what is wrong with the file, and with the size of its vectors."""
        with self._lock:
            found = [row[0] for row in self._connection.execute("PRAGMA quick_check")]
            asked = "SELECT record FROM vectors WHERE number = ? AND length(vector) != ?"
            short = [row[0] for row in self._connection.execute(asked, (self._number(), 4 * dimension))]
        faults = [f"{FILE}: {fault}" for fault in found if fault != "ok"]
        return faults + [f"vector {record!r} has not the size of {dimension} dimensions" for record in short]

    # --- SQL ---

    def _make(self) -> None:
        found = self._row("PRAGMA user_version")[0]
        if found > _VERSION:
            raise ValueError(f"{FILE} has tables of version {found}, this version of s2b_lab reads {_VERSION}")
        if found < _VERSION:
            with self._change() as table:
                if self._row("PRAGMA user_version")[0] < _VERSION:  # nobody else was quicker
                    for statement in _TABLES:
                        table.execute(statement)

    def _row(self, asked: str, *values: Any) -> tuple | None:
        with self._lock:
            return self._connection.execute(asked, values).fetchone()

    def _number(self) -> int | None:
        row = self._row("SELECT number FROM indexes WHERE name = ?", self.name)
        return row[0] if row else None

    @staticmethod
    def _insert(table: sqlite3.Connection, number: int | None, vectors: Iterable[tuple]) -> None:
        import numpy as np

        now = int(time.time())
        rows = ((number, *ids, np.asarray(row, dtype="<f4").tobytes(), now) for *ids, row in vectors)
        table.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?, ?)", rows)

    def _restamp(self, table: sqlite3.Connection) -> str:
        stamp = _stamp()
        table.execute("UPDATE indexes SET stamp = ? WHERE name = ?", (stamp, self.name))
        return stamp

    @contextmanager
    def together(self) -> Iterator[None]:
        """Make several changes one: a transaction waits for the disk."""
        with self._transaction("BEGIN IMMEDIATE"):
            yield

    @contextmanager
    def _change(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            if self._connection.in_transaction:
                yield self._connection
            else:
                with self._transaction("BEGIN IMMEDIATE"):
                    yield self._connection

    @contextmanager
    def _moment(self) -> Iterator[None]:
        with self._transaction("BEGIN"):
            yield

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        with self._lock:
            try:
                self._connection.execute(begin)  # an interruption can arrive when it has begun
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise


def _stamp() -> str:
    return uuid.uuid4().hex
