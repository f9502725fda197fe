"""An index in a folder: SQLite keeps documents and vectors, Chroma's copy of these searches."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .archive import FILE, Archive
from .chroma import begin, check_model
from .collections import Store
from .committed import Committed, Stored
from .former import moved
from .location import Location
from .lock import Lock
from .mirror import FOLDER, Mirror, Outdated

if TYPE_CHECKING:
    import numpy as np

    from ..embed import Embedder

_UNFINISHED = 7  # days that the vectors of a document wait for somebody to finish it


class FolderStore(Store):
    """A folder: one process writes at a time, any number read, and each sees whole documents."""

    repairs = True

    def __init__(self, location: Location, embedder: Embedder, name: str):
        begin()
        with location.reached():
            folder = location.make_folder(FILE)
            _check_kept(folder)
            self.archive = Archive(folder, name)
            try:
                model = self._model(location, embedder)
                self._file = _identity(folder)
                self._writers = Lock(folder / "s2b.lock")
                self._mirror = Mirror(self.archive, folder, model)
            except BaseException:
                self.archive.close()  # a refused folder stays usable, and deletable
                raise
            mirror, archive = self._mirror, self.archive
            super().__init__(location, name, lambda: (mirror.close(), archive.close()))
            self.settle(Committed.of(*self.archive.read()))
            self._with_mirror(self._mirror.open)

    @property
    def vectors(self) -> Any:
        """The Chroma collection that is searched."""
        return self._mirror.collection

    def check(self) -> None:
        """Raise ValueError when it is closed, RuntimeError in a forked child, FileNotFoundError without its folder."""
        super().check()
        if _identity(self.location.folder) != self._file:
            raise FileNotFoundError(
                f"the index folder {self.location} was deleted while an index in it was open: close that one"
            )

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Be the one that writes; BlockingIOError, which names who does, when another process is."""
        with self._writers.held(f"writing to the index folder {self.location}"):
            self.sync()
            yield

    def sync(self) -> None:
        """Read the documents again if another process has changed them, and bring Chroma's copy to them."""
        with self._lock:
            if self.archive.stamp() != self.committed.stamp:
                self.refresh()
            else:
                self.flush()

    def refresh(self) -> None:
        """Read the documents, and bring Chroma's copy to them."""
        with self._lock:
            self.settle(Committed.of(*self.archive.read()))
            self.flush()

    def flush(self) -> None:
        """Bring Chroma's copy to the documents in force."""
        self._with_mirror(self._mirror.follow)

    def rebuild(self) -> None:
        """Make Chroma's copy anew."""
        self._with_mirror(self._mirror.rebuild)

    def nearest(self, vector: np.ndarray, size: int, where: dict | None) -> tuple[list[str], list[float]]:
        """Ask Chroma for the nearest vectors; where its files were torn underneath, once more with a new copy."""
        try:
            return super().nearest(vector, size, where)
        except Exception:
            self.rebuild()
            return super().nearest(vector, size, where)

    def fetch(self, records: Sequence[str]) -> dict[str, np.ndarray]:
        """Vectors by their ids, (dimension,) each."""
        wanted, owners = set(records), self.catalogue.owners
        kept = [self.archive.vectors(doc_id) for doc_id in {owners[one].chunk.doc_id for one in records}]
        return {record: row for rows in kept for record, row in rows.items() if record in wanted}

    # --- writing ---

    def present(self, doc_id: str) -> set[str]:
        """The ids of all vectors kept for a document, those of an unfinished version included."""
        return self.archive.present(doc_id)

    def kept(self, doc_id: str, records: Sequence[str]) -> dict[str, np.ndarray]:
        """Vectors of a document by their ids."""
        rows = self.archive.vectors(doc_id)
        return {record: rows[record] for record in records if record in rows}

    def keep(self, records: Sequence[str], rows: Sequence[np.ndarray], labels: Sequence[dict[str, str]]) -> None:
        """Keep vectors of documents that are to follow."""
        of = (label["doc_id"] for label in labels)
        self.archive.keep(zip(of, records, rows, strict=True))

    @contextmanager
    def together(self) -> Iterator[None]:
        """Commit several documents at once."""
        # Always this lock before the archive's own, as a search in another thread takes them.
        with self._lock, self.archive.together():
            yield

    def put(self, stored: Stored, old: set[str]) -> None:
        """Commit a document, whole, and drop the vectors that only its former version needed."""
        needed = {record for records in stored.records.values() for record in records}
        with self._lock:
            stamp, _ = self.archive.put(stored.document.id, stored.pack(), needed)
            self.settle(self.committed.put(stored, stamp))

    def remove(self, doc_id: str) -> int:
        """Remove a document and its vectors; count these."""
        with self._lock:
            stamp, gone = self.archive.remove(doc_id)
            self.settle(self.committed.remove(doc_id, stamp))
            self.flush()
        return gone

    def sweep(self) -> int:
        """Drop the vectors of documents that nobody finished; count them."""
        return self.archive.sweep(_UNFINISHED)

    def _with_mirror(self, change: Any) -> None:
        with self._lock:
            while True:
                try:
                    return change(self.catalogue)
                except Outdated:
                    self.settle(Committed.of(*self.archive.read()))

    def _model(self, location: Location, embedder: Embedder) -> dict[str, Any]:
        if self.archive.model() is None:
            moved(self.archive, location, embedder)
        held = self.archive.model()
        check_model(held, embedder, f"index {self.archive.name!r} in {location}")
        return held


def _check_kept(folder: Path) -> None:
    """Raise FileNotFoundError when the kept documents are gone and Chroma's copy, which is younger, is not."""
    copies = [path for path in (folder / FOLDER).glob("*") if path.is_dir()]
    if copies and not ((folder / FILE).exists() and (folder / FILE).stat().st_size):
        raise FileNotFoundError(
            f"the index folder {str(folder)!r} lost its documents: {FILE} is missing or empty, and {FOLDER} holds no "
            f"texts: bring {FILE} back from a copy, or delete {FOLDER} too and add the documents again"
        )


def _identity(folder: Path) -> tuple[int, int] | None:
    """What tells the file from another one of its name that was made later."""
    try:
        found = os.stat(folder / FILE)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino
