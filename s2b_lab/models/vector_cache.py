"""Vectors kept in a file, so that each text is embedded once over all processes."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path


class VectorFile:
    """Vectors as bytes in an SQLite file, by model, side and the digest of what was embedded."""

    def __init__(self, folder: Path):
        self._file = folder / "embeddings.sqlite3"

    def make(self) -> None:
        """Make the folder and the file where they are not there; ValueError when they cannot be used."""
        folder = self._file.parent
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ValueError(f"the embedding cache cannot be kept in the folder {str(folder)!r}: {error}") from error
        with self._table() as table:
            table.execute(
                "CREATE TABLE IF NOT EXISTS vectors (model TEXT, side TEXT, digest BLOB, vector BLOB, "
                "PRIMARY KEY (model, side, digest)) WITHOUT ROWID"
            )

    def read(self, model: str, side: str, digests: Iterable[bytes]) -> dict[bytes, bytes]:
        """Give the vectors that are there by their digests."""
        question = "SELECT vector FROM vectors WHERE model = ? AND side = ? AND digest = ?"
        with self._table() as table:
            found = {digest: table.execute(question, (model, side, digest)).fetchone() for digest in digests}
        return {digest: row[0] for digest, row in found.items() if row}

    def write(self, model: str, side: str, vectors: Mapping[bytes, bytes]) -> None:
        """Keep vectors by their digests, all or none."""
        records = [(model, side, digest, vector) for digest, vector in vectors.items()]
        with self._table() as table:
            table.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)", records)

    @contextlib.contextmanager
    def _table(self) -> Iterator[sqlite3.Connection]:
        # One connection a call: sqlite's belong to a thread, and figures are computed in several.
        try:
            with contextlib.closing(sqlite3.connect(self._file, timeout=60)) as connection, connection:
                yield connection
        except sqlite3.DatabaseError as error:
            raise ValueError(f"the embedding cache {str(self._file)!r} cannot be used: {error}") from error
