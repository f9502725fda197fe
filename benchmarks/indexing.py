"""The CPU time of indexing 200 KB as sentences, beside the least that it can cost."""

import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from s2b_lab import Document, embedder, python_docs, sentence_tree

from .clock import interleaved
from .report import Result, Row, Target, rows
from .stores import FLOOR, OURS, PACKAGES, STORES, Floor, Ours, encode

SIZE = 200_000
KEPT, FLOOR_KEPT = f"{OURS}, folder", f"{FLOOR}, folder"


def run(rounds: int = 3) -> Result:
    """Index the same 200 KB with every store."""
    import torch

    embedder("en").query("warm"), encode(["warm"])
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # threads that wait for each other would count as work
    try:
        found = measure(some_docs(SIZE), STORES, rounds)
        found += measure_folders(some_docs(SIZE), rounds)
    finally:
        torch.set_num_threads(threads)
    how = f"best of {rounds} interleaved rounds with fresh collections; user and system time, one torch thread"
    names = {FLOOR: "ours / floor", FLOOR_KEPT: "ours / floor, in a folder, where we keep vectors twice"}
    targets = tuple(Target(names[row.name], "<= 1.1", row.ratio) for row in found if row.name in names)
    return Result("indexing", "Indexing 200 KB as sentences", "s", "lower", how, tuple(found), targets, PACKAGES)


def some_docs(size: int) -> list[Document]:
    """Take topics of the Python documentation, in order, up to so many characters."""
    taken: list[Document] = []
    for doc in python_docs():
        if sum(len(one.text) for one in taken) + len(doc.text) <= size:
            taken.append(doc)
    return taken


def measure(documents: Sequence[Document], stores: dict[str, Callable[[], Any]], rounds: int) -> list[Row]:
    """Time each store's `add` of the same documents."""
    jobs = {name: lambda store=store: _index(store, documents) for name, store in stores.items()}
    spent = interleaved(jobs, rounds, time.process_time)
    count = len(sentence_tree(documents).indexed)
    return rows(f"documents: {len(documents)}, sentences by our rules: {count}", spent, min, OURS)


def measure_folders(documents: Sequence[Document], rounds: int, embedder: Any = "en", embed: Any = encode) -> list[Row]:
    """Time what is kept in a folder, and weigh the folders."""
    kinds = {
        KEPT: lambda folder: Ours(embedder, folder),
        FLOOR_KEPT: lambda folder: Floor(embed, folder),
    }
    with tempfile.TemporaryDirectory() as root:
        places = {name: iter([Path(root, f"{at}-{turn}") for turn in range(rounds)]) for at, name in enumerate(kinds)}
        jobs = {name: lambda name=name: _index(lambda: kinds[name](next(places[name])), documents) for name in kinds}
        spent = interleaved(jobs, rounds, time.process_time)
        stored = {name: f"{_size(Path(root, f'{at}-0')) / 1e6:.2f} MB stored" for at, name in enumerate(kinds)}
    return rows("the same, kept in a folder", spent, min, KEPT, stored)


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _index(store: Callable[[], Any], documents: Sequence[Document]) -> None:
    opened = store()
    opened.add(documents)
    opened.close()
