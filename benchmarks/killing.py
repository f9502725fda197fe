"""Kills in the middle of additions, updates and deletions of a folder with 5,000 vectors: is anything lost?

A killed process and the one that looks at what it left are forked from one that has loaded all and opened nothing.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import chromadb.api.rust  # noqa: F401  # loaded once, before all children
import numpy as np  # noqa: F401
import tqdm.auto  # noqa: F401

from s2b_lab import ChunkTree, HashEmbedder, Index, document, sentence_tree

from .report import Result, Row, Target

SIZE = 2500  # sentences of each of two documents
CHANGES = ("add", "update", "delete")
_PART = 128  # texts that are embedded together: a kill between embedding and writing can lose so many
_WORDS = "tea coffee train plane hotel ticket receipt claim invoice deadline system manager budget currency".split()


class Counting(HashEmbedder):
    """A small fake model that writes down how many texts it embedded, also when it is killed."""

    def __init__(self, log: Path):
        super().__init__(16)
        self._log = log

    def passages(self, texts: Any) -> Any:
        """Embed texts, and note their number."""
        with open(self._log, "a") as log:
            log.write(f"{len(texts)}\n")
        return super().passages(texts)


def embedded(log: Path) -> int:
    """Count the texts that were embedded."""
    return sum(map(int, log.read_text().split())) if log.exists() else 0


@cache
def tree_of(name: str, version: int, size: int = SIZE) -> ChunkTree:
    """Make a document whose sentences all say which version they are of."""
    chance = random.Random(f"{name} {version}")
    text = " ".join(f"{name.title()} v{version} n{n} {' '.join(chance.choices(_WORDS, k=4))}." for n in range(size))
    return sentence_tree(document(name, text))


def change(index: Index, what: str) -> None:
    """Carry out one of the changes that are killed."""
    if what == "delete":
        index.delete("two")
    else:
        index.add(tree_of("three" if what == "add" else "two", 2, 1500 if what == "add" else SIZE))


def versions(what: str) -> tuple[dict[str, ChunkTree], dict[str, ChunkTree]]:
    """The documents before a change and after it."""
    before = {name: tree_of(name, 1) for name in ("one", "two")}
    after = {
        "add": {**before, "three": tree_of("three", 2, 1500)},
        "update": {**before, "two": tree_of("two", 2)},
        "delete": {"one": before["one"]},
    }
    return before, after[what]


def is_whole(index: Index, state: dict[str, ChunkTree]) -> bool:
    """Tell whether an index holds exactly these documents, and finds what comparing every sentence finds."""
    chunks = [chunk for tree in state.values() for chunk in tree.indexed]
    if index.count() != len(chunks) or {*index.tree.documents} != {*state}:
        return False
    model = HashEmbedder(16)
    rows = model.passages([chunk.text for chunk in chunks])
    for query in ("tea coffee train", "two v1 budget", "three v2 hotel", "one n7"):
        scores = sorted((rows @ model.query(query)).tolist(), reverse=True)[:20]
        hits = index.search(query, 20)
        found = [hit.score for hit in hits]
        if any(abs(one - other) > 1e-5 for one, other in zip(scores, found, strict=True)):
            return False
        if any(hit.chunk.text not in state[hit.chunk.doc_id].documents[hit.chunk.doc_id].text for hit in hits):
            return False
    return True


def look(folder: Path, what: str, log: Path) -> dict[str, Any]:
    """Open what a killed process left, look at all of it, and finish the change."""
    before, after = versions(what)
    with sqlite3.connect(folder / "s2b.sqlite3") as table:
        torn = table.execute("SELECT held IS NULL FROM indexes").fetchone()[0]
    spent, start = embedded(log), time.perf_counter()
    with Index.open(folder, Counting(log)) as index:
        took = time.perf_counter() - start
        state = "old" if is_whole(index, before) else "new" if is_whole(index, after) else "mixed"
        problems, again = index.verify(), embedded(log) - spent
        if state == "old":
            change(index, what)
        finished = is_whole(index, after) and index.verify() == []
    total = 0 if what == "delete" else len(after["three" if what == "add" else "two"].indexed)
    return {
        "state": state,
        "while Chroma was written": bool(torn),
        "problems": problems,
        "embedded on opening": again,
        "embedded twice": max(0, embedded(log) - total),
        "finished": finished,
        "seconds to open": round(took, 3),
    }


def is_right(found: dict[str, Any]) -> bool:
    """Tell whether nothing was lost, mixed or embedded again."""
    if found["finished"] is None:
        return False
    quiet = found["problems"] == [] and found["embedded on opening"] == 0 and found["embedded twice"] <= _PART
    return found["state"] in ("old", "new") and found["finished"] and quiet


def run(count: int = 50, seed: int = 9) -> Result:
    """Kill fifty changes, in a process of its own that has opened nothing."""
    command = [sys.executable, "-m", __name__, str(count), str(seed)]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    named = [
        Row(what, f"found {state}", len(these), (), None, _told(these))
        for what in CHANGES
        for state in sorted({one["state"] for one in found if one["change"] == what})
        if (these := [one for one in found if (one["change"], one["state"]) == (what, state)])
    ]
    bad = sum(not is_right(one) for one in found)
    how = f"{count} kills, every other one at a write of Chroma's own files, with 5,000 vectors of 16 dimensions"
    target = Target("folders with anything lost, mixed or embedded again", "<= 0", bad)
    return Result("killing", "Folders after kills", "", "lower", how, tuple(named), (target,), ("s2b-lab", "chromadb"))


def _told(found: list[dict[str, Any]]) -> str:
    slow = max((one["seconds to open"] for one in found if one["finished"] is not None), default=0)
    torn = sum(one.get("while Chroma was written", False) for one in found)
    right = sum(map(is_right, found))
    return f"{right} right; {torn} while Chroma was written; opened in at most {slow:.1f} s"


# --- killing ---


def forked(job: Callable[[], Any]) -> Any:
    """Run a job in a forked child; RuntimeError with its traceback when it fails."""
    with tempfile.NamedTemporaryFile() as told:
        pid = os.fork()
        if pid == 0:
            result: Any = None
            try:
                result = {"result": job()}
            except BaseException:
                result = {"error": traceback.format_exc()}
            Path(told.name).write_text(json.dumps(result))
            os._exit(0)
        os.waitpid(pid, 0)
        found = json.loads(Path(told.name).read_text() or '{"error": "died"}')
    if "error" in found:
        raise RuntimeError(found["error"])
    return found["result"]


def begin(folder: Path, what: str, log: Path) -> tuple[int, int]:
    """Begin a change in a child: its number, and a pipe that says when the index is open and when all is done."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(read)
            index = Index.open(folder, Counting(log))
            os.write(write, b"o")
            change(index, what)
            os.write(write, b"d")
            time.sleep(30)
        finally:
            os._exit(1)
    os.close(write)
    return pid, read


def kill_after(pid: int, read: int, seconds: float) -> None:
    """Kill a child so long after it opened its index."""
    os.read(read, 1)
    time.sleep(seconds)
    _kill(pid, read)


def kill_at_write(pid: int, read: int, folder: Path, number: int, delay: float) -> None:
    """Kill a child when a file of Chroma's has changed so many times, or when it is done."""
    os.read(read, 1)
    os.set_blocking(read, False)
    seen, count = _files(folder), 0
    while count < number:
        now = _files(folder)
        count += sum(now[name] != seen.get(name) for name in now)
        seen = now
        try:
            os.read(read, 1)
            break
        except BlockingIOError:
            time.sleep(0.0002)
    time.sleep(delay)
    _kill(pid, read)


def _kill(pid: int, read: int) -> None:
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(read)


def _files(folder: Path) -> dict[str, tuple[int, int]]:
    found = {}
    for place, _, names in os.walk(folder):
        for name in names:
            if name.startswith("s2b."):  # ours
                continue
            try:
                about = os.stat(path := f"{place}/{name}")
                found[path] = (about.st_mtime_ns, about.st_size)
            except FileNotFoundError:
                continue
    return found


def make(folder: Path) -> None:
    """Make the folder that is changed and killed."""
    with Index.open(folder, HashEmbedder(16)) as index:
        for name in ("one", "two"):
            index.add(tree_of(name, 1))


def trials(root: Path, count: int, seed: int) -> list[dict[str, Any]]:
    """Kill so many changes at random moments, half of them at writes of Chroma's own files."""
    chance, found, base = random.Random(seed), [], root / "base"
    for what in CHANGES:
        versions(what)  # cut once, before all children
    forked(lambda: make(base))
    took = {what: _duration(root, base, what) for what in CHANGES}
    for number in range(count):
        what, folder, log = CHANGES[number % 3], root / f"trial{number}", root / f"log{number}"
        shutil.copytree(base, folder)
        pid, read = begin(folder, what, log)
        if number % 2:
            how = f"write {(turn := chance.randint(1, 40))}"
            kill_at_write(pid, read, folder, turn, chance.random() * 0.003)
        else:
            how = f"{(seconds := chance.random() * took[what]):.3f} s"
            kill_after(pid, read, seconds)
        found.append({"change": what, "killed at": how, **_looked(folder, what, log)})
        shutil.rmtree(folder)
    return found


def _looked(folder: Path, what: str, log: Path) -> dict[str, Any]:
    try:
        return forked(lambda: look(folder, what, log))
    except RuntimeError as error:
        return {"state": f"unusable: {str(error).strip().splitlines()[-1]}"} | dict.fromkeys(
            ("problems", "embedded on opening", "embedded twice", "finished", "seconds to open")
        )


def _duration(root: Path, base: Path, what: str) -> float:
    folder = root / f"timed-{what}"
    shutil.copytree(base, folder)
    pid, read = begin(folder, what, root / "ignored")
    os.read(read, 1)
    start = time.perf_counter()
    os.read(read, 1)
    took = time.perf_counter() - start
    _kill(pid, read)
    shutil.rmtree(folder)
    return took


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as root:
        print(json.dumps(trials(Path(root), int(sys.argv[1]), int(sys.argv[2]))))
