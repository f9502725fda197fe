"""A process that is really killed in the middle of a change: the old version stays whole, the next change repairs."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from samples import tree_of

from benchmarks.killing import is_right
from s2b_lab.embed import HashEmbedder
from s2b_lab.index import Index

ROOT = Path(__file__).parents[2]
PATHS = os.pathsep.join(map(str, (ROOT, ROOT / "tests")))
KEPT = [f"Rule {n} stays as it is." for n in range(10)]
OLD = " ".join([f"Zebra {n} is old." for n in range(20)] + KEPT)
NEW = " ".join([f"Tea {n} is new." for n in range(30)] + KEPT)

# Each change is stopped before the named call is made for the given time (from 0), by a signal that nothing can catch.
PROGRAM = """
import functools, json, os, shutil, signal, sys
import chromadb.api.rust, numpy
from samples import tree_of
from s2b_lab import HashEmbedder, Index
from s2b_lab.store import write

folder, steps = sys.argv[1], json.loads(sys.argv[2])
write._PART = 6

def stopped(index, target, turn, text):
    *path, name = target.split(".")
    owner = functools.reduce(getattr, path, index)
    method, calls = getattr(owner, name), []

    def stop_before(*arguments, **options):
        if len(calls) == turn:
            os.kill(os.getpid(), signal.SIGKILL)
        calls.append(1)
        return method(*arguments, **options)

    object.__setattr__(owner, name, stop_before)
    index.add(tree_of(text)) if text else index.delete("d")

for step, (target, turn, text) in steps.items():
    copy = shutil.copytree(folder + "/base", f"{folder}/{step}")
    if os.fork() == 0:
        stopped(Index.open(copy, HashEmbedder()), target, turn, text)
        os._exit(0)
    assert os.wait()[1] == signal.SIGKILL, step
"""

# step -> (what is called, the how manieth time, whether the new version is in force by then)
STEPS = {
    "before the plan": ("_writer._plan", 0, False),
    "after the plan": ("_writer._embed", 0, False),
    "during embedding": ("embedder.passages", 3, False),
    "before the first vectors": ("_store.archive.keep", 0, False),
    "after half of the vectors": ("_store.archive.keep", 3, False),
    "after all vectors": ("_store.archive.put", 0, False),
    "before the commit": ("_store.archive._restamp", 0, False),
    "after the commit": ("_store._mirror._update", 0, True),
    "before Chroma is written": ("_store.vectors.upsert", 0, True),
    "before Chroma's old vectors are deleted": ("_store.vectors.delete", 0, True),
    "before Chroma is noted as whole": ("_store._mirror._files", 0, True),
    "before the sweep": ("_writer._sweep", 0, True),
}
DELETIONS = {
    "before a deletion": ("_store.archive.remove", 0, False),
    "before a deletion's commit": ("_store.archive._restamp", 0, False),
    "before Chroma's deletion": ("_store.vectors.delete", 0, True),
}


def answers(index):
    """What a reader gets: every sentence, in document order."""
    hits = index.search("rule zebra tea is", 99)
    return [hit.chunk.text for hit in sorted(hits, key=lambda hit: hit.chunk.span)]


def sentences_of(text):
    return [chunk.text for chunk in tree_of(text).indexed]


@pytest.fixture(scope="module")
def left(tmp_path_factory):
    """The folders that killed processes left, one a step."""
    folder = tmp_path_factory.mktemp("left")
    with Index.open(folder / "base", HashEmbedder()) as index:
        index.add(tree_of(OLD))
        index.add(tree_of("Another document is here.", "other"))
    steps = {step: (target, turn, NEW) for step, (target, turn, _) in STEPS.items()}
    steps |= {step: (target, turn, "") for step, (target, turn, _) in DELETIONS.items()}
    command = [sys.executable, "-c", PROGRAM, str(folder), json.dumps(steps)]
    subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": PATHS}, timeout=300)
    return folder


@pytest.mark.parametrize("step", STEPS)
def test_a_killed_add(left, step, tmp_path):
    committed = STEPS[step][2]
    whole = sentences_of(NEW if committed else OLD)
    folder = shutil.copytree(left / step, tmp_path / "index")
    with Index.open(folder, HashEmbedder()) as index:
        assert [text for text in answers(index) if text != "Another document is here."] == whole
        assert index.tree.documents["d"].text == (NEW if committed else OLD)
        assert index.verify() == [] and index._store.vectors.count() == index.count()
    for number, later in enumerate((NEW, OLD, None)):
        copy = shutil.copytree(left / step, tmp_path / f"copy{number}")
        with Index.open(copy, HashEmbedder()) as index:
            index.add(tree_of(later) if later else tree_of("A third document.", "third"))
            assert index.verify() == [] and index._store.vectors.count() == index.count()
            found = [text for text in answers(index) if "document" not in text]
            assert found == (sentences_of(later) if later else whole)


@pytest.mark.parametrize(
    ("step", "embedded", "added"),
    [("after all vectors", 0, 0), ("after half of the vectors", 18, 18), ("before the first vectors", 30, 40)],
)
def test_vectors_written_before_the_kill_are_not_embedded_again(left, fake, tmp_path, step, embedded, added):
    for other in (False, True):  # another document may come first
        with Index.open(shutil.copytree(left / step, tmp_path / str(other)), fake) as index:
            if other:
                index.add(tree_of("A third document.", "third"))
            fake.embedded.clear()
            report = index.add(tree_of(NEW))
            assert (len(fake.embedded), report.added, report.documents) == (embedded, added, 1)
            assert index.add(tree_of(NEW)).kept == 40 and index.verify() == []
            assert set(fake.embedded).isdisjoint(KEPT)


@pytest.mark.parametrize("step", DELETIONS)
def test_a_killed_delete(left, tmp_path, step):
    committed = DELETIONS[step][2]
    with Index.open(shutil.copytree(left / step, tmp_path / "index"), HashEmbedder()) as index:
        assert len(answers(index)) == (1 if committed else 31) and index.verify() == []
        index.add(tree_of("A third document.", "third"))
        assert index.verify() == [] and index._store.vectors.count() == index.count() == (2 if committed else 32)


KILLS = 9


def test_random_kills_at_thousands_of_vectors_lose_nothing():
    """`make kill` kills more of them, and writes down what it found."""
    command = [sys.executable, "-m", "benchmarks.killing", str(KILLS), "7"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=300)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert len(found) == KILLS and [one for one in found if not is_right(one)] == []
