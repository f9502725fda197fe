"""Chroma's copy of the vectors that a folder keeps: made from them, brought up to date with them, and made anew."""

from __future__ import annotations

import json
import shutil
import sqlite3
import uuid
import warnings
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .archive import Archive
from .batches import batches
from .catalogue import Catalogue, Owner
from .chroma import folder_client, memory_client, new_collection
from .committed import as_metadata
from .lock import Lock
from .progress import Progress

if TYPE_CHECKING:
    import numpy as np

FOLDER = "s2b-chroma"


class Outdated(Exception):
    """Another process has changed the documents meanwhile: read them again."""


class Mirror:
    """Chroma's copy: in files for the first index that opens the folder, in memory for any other beside it.

    So no two processes ever share Chroma's files. These are trusted when they are what was noted after they were last
    written, and answer: torn ones can end the process that reads them. Else the copy is made anew from what is kept.
    """

    def __init__(self, archive: Archive, folder: Path, model: Mapping[str, Any]):
        self._archive, self._root, self._model = archive, folder / FOLDER, model
        self._claim = Lock(self._root / f"{archive.name}.lock")
        self._on_disk = self._claimed()
        self._client: Any = None
        self._temporary: str | None = None
        self.collection: Any = None
        # What the collection holds: a stamp and records' ids, None where that is not known.
        self._stamp: str | None = None
        self._held: set[str] | None = None
        self._sums: dict[tuple, int] = {}  # of files by their name, size and time

    def close(self) -> None:
        """Let go of Chroma."""
        self._leave()
        self._claim.release()

    def open(self, catalogue: Catalogue) -> None:
        """Open the files as they are, or make the copy anew where they cannot be trusted."""
        try:
            trusted = self._on_disk and self._reopen(catalogue)
        except Exception:  # whatever Chroma makes of torn files
            trusted = False
        if trusted:
            self.follow(catalogue)
        else:
            self.rebuild(catalogue)

    def follow(self, catalogue: Catalogue) -> None:
        """Bring the copy to these documents; Outdated when their vectors are gone meanwhile."""
        if self._stamp == catalogue.committed.stamp:
            return
        try:
            self._update(catalogue)
        except Outdated:
            raise
        except Exception:  # a full disk, or files that were torn
            self.rebuild(catalogue)

    def rebuild(self, catalogue: Catalogue) -> None:
        """Make the copy anew from the kept vectors: in files or, where these cannot be written, in memory."""
        if self._on_disk:
            try:
                self._begin_files()
                return self._update(catalogue)
            except Outdated:
                raise
            except Exception as error:
                warnings.warn(
                    f"Chroma's files in {str(self._root)!r} cannot be written ({error}): this index searches a copy "
                    "in memory, nothing that was added is lost",
                    stacklevel=2,
                )
                self._on_disk = False
        self._begin_memory()
        self._update(catalogue)

    # --- the steps ---

    def _claimed(self) -> bool:
        try:
            self._root.mkdir(exist_ok=True)
            return self._claim.take()
        except (OSError, sqlite3.Error):  # a full disk: memory will do
            return False

    def _reopen(self, catalogue: Catalogue) -> bool:
        name, held, files = self._archive.chroma()
        if not (name and held and files == self._files(name)):
            return False
        self._client = folder_client(self._root / name)
        self.collection = self._client.get_collection(self._archive.name, embedding_function=None)
        count = self.collection.count()
        for row in self.collection.get(limit=1, include=["embeddings"])["embeddings"]:
            self.collection.query(query_embeddings=[row], n_results=1)  # reads the files of the graph
        if held == catalogue.committed.stamp and count != len(catalogue.owners):
            return False
        self._stamp, self._held = held, None
        return True

    def _begin_files(self) -> None:
        self._leave()
        name = uuid.uuid4().hex[:12]
        self._archive.set_chroma(name)
        self._begin(folder_client(self._root / name), self._archive.name)
        for other in set(self._root.iterdir()) - {self._root / one for one in self._archive.chroma_folders()}:
            if other.is_dir():
                shutil.rmtree(other, ignore_errors=True)

    def _begin_memory(self) -> None:
        self._leave()
        self._temporary = f"{self._archive.name}-{uuid.uuid4().hex}"
        self._begin(memory_client(), self._temporary)

    def _begin(self, client: Any, name: str) -> None:
        self._client = client
        self.collection = new_collection(client, name, self._model)
        self._stamp, self._held = None, set()

    def _leave(self) -> None:
        client, self._client = self._client, None
        name, self._temporary = self._temporary, None
        if client:
            if name:
                client.delete_collection(name)
            client.close()

    def _update(self, catalogue: Catalogue) -> None:
        owners, stamp = catalogue.owners, catalogue.committed.stamp
        held = set(self.collection.get(include=[])["ids"]) if self._held is None else self._held
        new, old = owners.keys() - held, sorted(held - owners.keys())
        self._stamp = self._held = None
        self._note(None)
        written = self._write(owners, new)
        for part in batches(old):
            self.collection.delete(ids=part)
        if written != new and self._archive.stamp() != stamp:
            raise Outdated
        self._stamp, self._held = stamp, (held | written).difference(old)
        self._note(stamp)

    def _note(self, held: str | None) -> None:
        if self._on_disk:
            name, noted, _ = self._archive.chroma()
            if noted != held:
                self._archive.set_chroma(name, held, held and self._files(name))

    def _files(self, name: str) -> str:
        """What the files of the graph look like: Chroma's own SQLite file is as safe as ours."""
        former, self._sums = self._sums, {}
        for path in sorted((self._root / name).glob("*/*")):
            about = path.stat()
            place = (path.relative_to(self._root).as_posix(), about.st_size, about.st_mtime_ns)
            self._sums[place] = former[place] if place in former else zlib.crc32(path.read_bytes())
        return json.dumps([[name, size, total] for (name, size, _), total in self._sums.items()])

    def _write(self, owners: Mapping[str, Owner], new: set[str]) -> set[str]:
        written: set[str] = set()
        with Progress("bringing Chroma up to date", len(new)) as progress:
            for part in batches(self._rows(owners, new)):
                ids, rows, labels = zip(*part, strict=True)
                self.collection.upsert(ids=list(ids), embeddings=list(rows), metadatas=list(labels))
                written.update(ids)
                progress.advance(len(ids))
        return written

    def _rows(self, owners: Mapping[str, Owner], new: set[str]) -> Iterator[tuple[str, np.ndarray, dict[str, str]]]:
        """What is to be written: records' ids, vectors and labels; those that are lost are left out."""
        wanted: dict[str, list[str]] = {}
        for record, owner in owners.items():
            if record in new:
                wanted.setdefault(owner.chunk.doc_id, []).append(record)
        for doc_id, records in wanted.items():
            kept = self._archive.vectors(doc_id)
            yield from ((one, kept[one], as_metadata(owners[one].labels)) for one in records if one in kept)
