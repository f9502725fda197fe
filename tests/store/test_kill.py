"""A process that is really killed in the middle of a change: the old version stays whole, the next change repairs."""

import shutil
import signal

import pytest

from s2b_lab.core.build import sentence_tree
from s2b_lab.core.headings import document
from s2b_lab.embed import HashEmbedder
from s2b_lab.index import Index

KEPT = [f"Rule {n} stays as it is." for n in range(10)]
OLD = " ".join([f"Zebra {n} is old." for n in range(20)] + KEPT)
NEW = " ".join([f"Tea {n} is new." for n in range(30)] + KEPT)

# The change is stopped before the named call is made for the given time (from 0), by a signal that nothing can catch.
PROGRAM = """
import functools, os, signal, sys
from s2b_lab import HashEmbedder, Index, document, sentence_tree

folder, target, turn, text = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
index = Index.open(folder, HashEmbedder())
index._store.batch = 6
*path, name = target.split(".")
owner = functools.reduce(getattr, path, index)
method, calls = getattr(owner, name), []

def stop_before(*arguments, **options):
    if len(calls) == turn:
        os.kill(os.getpid(), signal.SIGKILL)
    calls.append(1)
    return method(*arguments, **options)

object.__setattr__(owner, name, stop_before)
if text:
    index.add(sentence_tree(document("d", text)))
else:
    index.delete("d")
"""

# step -> (what is called, the how manieth time, whether the new version is in force by then)
STEPS = {
    "before the plan": ("_writer._plan", 0, False),
    "after the plan": ("_writer._embed", 0, False),
    "during embedding": ("embedder.passages", 0, False),
    "before the first vectors": ("_store.vectors.upsert", 0, False),
    "after half of the vectors": ("_store.vectors.upsert", 3, False),
    "after all vectors": ("_store.documents.upsert", 0, False),
    "after the commit": ("_store.vectors.delete", 0, True),
    "after half of the deletions": ("_store.vectors.delete", 2, True),
    "before the sweep": ("_writer._sweep", 0, True),
}
DIRTY = ("after half of the vectors", "after all vectors", "after the commit", "after half of the deletions")


def tree_of(text, id="d"):
    return sentence_tree(document(id, text))


def answers(index):
    """What a reader gets: every sentence, in document order."""
    hits = index.search("rule zebra tea is", 99)
    return [hit.chunk.text for hit in sorted(hits, key=lambda hit: hit.chunk.span)]


def sentences_of(text):
    return [chunk.text for chunk in tree_of(text).indexed]


@pytest.fixture
def folder(tmp_path):
    with Index.open(tmp_path / "index", HashEmbedder()) as index:
        index.add(tree_of(OLD))
        index.add(tree_of("Another document is here.", "other"))
    return tmp_path / "index"


@pytest.fixture
def killed(folder, run_python):
    def change(target, turn, text):
        done = run_python(PROGRAM, folder, target, turn, text, check=False)
        assert done.returncode == -signal.SIGKILL, done.stderr
        return Index.open(folder, HashEmbedder())

    return change


@pytest.mark.parametrize("step", STEPS)
def test_a_killed_add(killed, folder, step, tmp_path):
    target, turn, committed = STEPS[step]
    whole = sentences_of(NEW if committed else OLD)
    with killed(target, turn, NEW) as index:
        assert [text for text in answers(index) if text != "Another document is here."] == whole
        assert index.tree.documents["d"].text == (NEW if committed else OLD)
        assert all("orphan vector" in problem for problem in index.verify())
        assert bool(index.verify()) == (step in DIRTY)
    for number, later in enumerate((NEW, OLD, None)):
        copy = shutil.copytree(folder, tmp_path / f"copy{number}")
        with Index.open(copy, HashEmbedder()) as index:
            index.add(tree_of(later) if later else tree_of("A third document.", "third"))
            assert index.verify() == [] and index._store.vectors.count() == index.count()
            found = [text for text in answers(index) if "document" not in text]
            assert found == (sentences_of(later) if later else whole)


def test_vectors_written_before_the_kill_are_not_embedded_again(killed, folder, fake):
    killed("_store.documents.upsert", 0, NEW).close()
    with Index.open(folder, fake) as index:
        report = index.add(tree_of(NEW))
        assert fake.embedded == [] and report.added == 0 and report.documents == 1


@pytest.mark.parametrize(("target", "committed"), [("_store.documents.delete", False), ("_store.vectors.delete", True)])
def test_a_killed_delete(killed, target, committed):
    with killed(target, 0, "") as index:
        assert len(answers(index)) == (1 if committed else 31)
        assert bool(index.verify()) == committed
        index.add(tree_of("A third document.", "third"))
        assert index.verify() == [] and index._store.vectors.count() == index.count() == (2 if committed else 32)
