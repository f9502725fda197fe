"""Several processes on one folder: one writes at a time, all read, and a forked child is told what to do."""

import json
import os
import re
import sqlite3
import threading

import pytest
from samples import sentences_of, texts, tree_of
from test_folder import PATHS

from s2b_lab.embed import HashEmbedder
from s2b_lab.index import Index
from s2b_lab.store.lock import Lock

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="children are forked, which loads Chroma once")


# --- the lock ---


def test_a_lock_is_taken_once_and_tells_by_whom(tmp_path):
    one, two = Lock(tmp_path / "lock"), Lock(tmp_path / "lock")
    with one.held("writing"):
        assert not two.take()
        with pytest.raises(BlockingIOError, match="this process is writing: one writes at a time"), two.held("writing"):
            pass
    with two.held("writing"):
        assert not one.take()
    assert one.take() and two.holder() == os.getpid()
    one.release()
    one.release()


@pytest.mark.parametrize("content", [b"", b"\xff\x00nonsense" * 999, b"SQLite format 3\x00" + b"\xff" * 4080])
def test_a_lock_whose_file_is_nonsense_is_taken_all_the_same(tmp_path, content):
    (tmp_path / "lock").write_bytes(content)
    one, two = Lock(tmp_path / "lock"), Lock(tmp_path / "lock")
    with one.held("writing"):
        assert not two.take() and two.holder() == os.getpid()
    assert two.take()
    two.release()


def test_a_lock_that_cannot_be_written_says_why(tmp_path):
    with pytest.raises(sqlite3.Error):
        Lock(tmp_path / "missing" / "lock").take()


def test_two_threads_do_not_write_at_once(tmp_path, fake):
    inside, go_on = threading.Event(), threading.Event()

    class Slow(HashEmbedder):
        def passages(self, texts):
            inside.set()
            assert go_on.wait(30)
            return super().passages(texts)

    with Index.open(tmp_path, Slow()) as one, Index.open(tmp_path, fake) as two:
        thread = threading.Thread(target=lambda: one.add(tree_of("Green tea.")))
        thread.start()
        assert inside.wait(30)
        for write in (lambda: two.add(tree_of("Late train.", "e")), lambda: two.delete("d")):
            with pytest.raises(BlockingIOError, match=f"this process is writing to the index folder '{tmp_path}': one"):
                write()
        assert two.search("tea") == []
        go_on.set()
        thread.join()
        assert two.add(tree_of("Late train.", "e")).added == 1 and one.count() == two.count() == 2


@pytest.mark.parametrize("folder", [True, False])
@pytest.mark.parametrize("same", [True, False])
def test_threads_search_while_one_writes(tmp_path, folder, same):
    """Each answer is of one version, whole; equal sentences are counted out. Two locks in two orders would hang."""
    sizes, found, over = (5, 60), [], threading.Event()
    wanted = "Rule of version {v}." if same else "Rule {n} of version {v}."

    def write(index):
        for v in range(1, 9):
            index.add(tree_of(" ".join(wanted.format(n=n, v=v) for n in range(sizes[v % 2]))))
        over.set()

    def read(index):
        while not over.is_set():
            found.append(index.search("rule version", 400))

    index = Index.open(tmp_path if folder else None, HashEmbedder(16))
    index.add(tree_of("Another one is here.", "other"))
    threads = [threading.Thread(target=job, args=[index], daemon=True) for job in (write, read, read)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()  # closing would hang as well
    index.close()
    assert len(found) > 3
    for hits in found:
        versions = {hit.chunk.text.split()[-1] for hit in hits if hit.chunk.doc_id == "d"}
        assert len(versions) <= 1
        assert len(hits) == 1 + sum(sizes[int(v[:-1]) % 2] for v in versions)


# --- processes ---


# Two writers change two documents again and again and are killed at times; a reader and the first process look on. Each
# sentence says its document's version, so that a mixture shows.
MANY = """
import json, os, random, signal, sys, time, traceback
import chromadb.api.rust, numpy, tqdm.auto
from samples import tree_of
from s2b_lab import HashEmbedder, Index

folder, until = sys.argv[1], time.time() + float(sys.argv[2])
SIZES = (40, 700)

def text(name, version):
    return " ".join(f"{name} rule {n} of version {version}." for n in range(SIZES[version % 2]))

def write(name, seed):
    chance, told = random.Random(seed), {"name": name, "written": 0, "refused": 0}
    with Index.open(folder, HashEmbedder(16)) as index:
        while time.time() < until:
            try:
                if chance.random() < 0.2 and name in index.tree.documents:
                    index.delete(name)
                index.add(tree_of(text(name, chance.randrange(1000)), name))
                told["written"] += 1
                time.sleep(0.1)
            except BlockingIOError as error:
                assert " is writing to the index folder " in str(error), error
                told["refused"] += 1
                time.sleep(0.01)
    return told

def read():
    told = {"asked": 0, "seen": set()}
    with Index.open(folder, HashEmbedder(16)) as index:
        while time.time() < until:
            hits = index.search("rule version", 1500)
            for name in {hit.chunk.doc_id for hit in hits}:
                found = {hit.chunk.text.split()[-1] for hit in hits if hit.chunk.doc_id == name}
                count = sum(hit.chunk.doc_id == name for hit in hits)
                assert len(found) == 1 and count in SIZES, (name, found, count)
                told["seen"].add((name, *found))
            assert {chunk.doc_id for chunk in index.tree} <= {"A", "B"}
            told["asked"] += 1
    return {"asked": told["asked"], "seen": len(told["seen"])}

def start(job, *arguments):
    pid = os.fork()
    if pid == 0:
        try:
            found = job(*arguments)
        except BaseException:
            found = {"error": traceback.format_exc()}
        os.write(1, (json.dumps({job.__name__: found}) + "\\n").encode())  # at once, or lines of several would mix
        os._exit(0)
    return pid

start(read), start(read), start(write, "A", 1)
killed, turn = 0, 0
while time.time() < until:
    pid = start(write, "B", turn := turn + 1)
    time.sleep(random.Random(turn).uniform(0.3, 1.5))
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    killed += 1
for _ in range(3):
    os.wait()
with Index.open(folder, HashEmbedder(16)) as index:
    faults = index.verify()
    index.add(tree_of(text("A", 1), "A")), index.add(tree_of(text("B", 1), "B"))
    print(json.dumps({"end": {"faults": faults, "killed": killed, "count": index.count(), "after": index.verify()}}))
"""


def test_readers_and_writers_in_other_processes_get_right_answers_or_a_clear_error(tmp_path, run_python):
    done = run_python(MANY, tmp_path, 5, PYTHONPATH=PATHS)
    told = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert [found for found in told if "error" in next(iter(found.values()))] == []
    readers = [found["read"] for found in told if "read" in found]
    assert len(readers) == 2 and all(found["asked"] > 3 and found["seen"] > 1 for found in readers)
    writers = [found["write"] for found in told if "write" in found]
    assert next(found for found in writers if found["name"] == "A")["written"] > 0
    end = told[-1]["end"]
    assert end["faults"] == end["after"] == [] and end["count"] == 1400 and end["killed"] > 2


# --- a fork ---


FORKED = """
import os, signal, sys
from samples import tree_of
from s2b_lab import HashEmbedder, Index

indexes = [Index.open(None, HashEmbedder()), Index.open(sys.argv[1], HashEmbedder())]
for index in indexes:
    index.add(tree_of("Green tea."))
sys.stdout.flush()
if os.fork() == 0:
    signal.alarm(60)
    for index in indexes:
        for use in (lambda: index.search("tea"), lambda: index.add(tree_of("x")), index.verify, index.count,
                    lambda: index.tree, lambda: index.delete("d")):
            try:
                use()
            except RuntimeError as error:
                print(error)
        str(index), repr(index), index.close()
    for place in (None, sys.argv[1]):
        try:
            Index.open(place, HashEmbedder())
        except RuntimeError as error:
            print(error)
    sys.stdout.flush()
    os._exit(0)
print(os.wait()[1])
for index in indexes:
    print([hit.chunk.text for hit in index.search("tea train", 9)])
"""


def test_a_forked_child_is_told_at_once_H17(tmp_path, run_python):
    lines = run_python(FORKED, tmp_path, PYTHONPATH=PATHS).stdout.splitlines()
    advice = "start such a process by multiprocessing's 'spawn', and open the index in it"
    used = rf"the index 's2b' was opened by process \d+, and would hang in this forked child of it: {advice}"
    assert all(re.fullmatch(used, line) for line in lines[:12]), lines
    assert (
        lines[12:14]
        == [f"this process was forked from one that had opened Chroma, which would hang here: {advice}"] * 2
    )
    assert lines[14:] == ["0", "['Green tea.']", "['Green tea.']"]  # the child is at its end, the parent goes on


def test_a_reader_follows_what_grows_and_shrinks(tmp_path, fake):
    with Index.open(tmp_path, fake) as writer, Index.open(tmp_path, fake) as reader:
        for turn in range(6):
            size = (9, 2, 5)[turn % 3]
            writer.add(tree_of(sentences_of(*(f"green tea {turn} {n}" for n in range(size)))))
            assert len(reader.search("green tea", 99)) == reader.count() == reader._store.vectors.count() == size
            assert {text.split()[2] for text in texts(reader.search("green tea", 99))} == {str(turn)}


@pytest.mark.parametrize("moment", ["nearest", "searched"])
@pytest.mark.parametrize(("place", "answer"), [("server", "New tea."), ("folder", "Old tea.")])
def test_a_search_that_another_overtakes_is_of_one_version(request, tmp_path, monkeypatch, place, answer, moment):
    """At a server the new one; a folder's reader has a copy of its own, and goes on with the one it began with."""
    path = tmp_path if place == "folder" else request.getfixturevalue("server").address
    with Index.open(path, HashEmbedder(), "overtaken") as reader, Index.open(path, HashEmbedder(), "overtaken") as two:
        reader.add(tree_of(" ".join(["Old tea."] * 30)))
        store, turns = reader._store, []
        nearest, method = store.nearest, getattr(store, moment)

        def overtaken(*values):
            if not turns:
                turns.append(two.add(tree_of(" ".join(["New tea."] * 20 + ["Old tea."] * 9))))
            return method(*values)

        # Chroma loses sight of some of many equal vectors: then all are counted out.
        monkeypatch.setattr(store, "nearest", lambda *values: [found[:10] for found in nearest(*values)])
        if moment == "nearest":
            monkeypatch.setattr(store, "nearest", overtaken)
        else:
            monkeypatch.setattr(store, "searched", overtaken)
        assert {hit.chunk.text for hit in reader.search("tea", 20)} == {answer} and turns
        assert len(reader.search("tea", 20)) == 20 and texts(reader.search("tea", 20))[0] == "New tea."


@pytest.mark.parametrize("moment", ["nearest", "searched"])
def test_a_search_in_memory_is_overtaken_by_no_thread(monkeypatch, moment):
    with Index.open(None, HashEmbedder()) as index:
        index.add(tree_of(" ".join(["Old tea."] * 30)))
        store, threads = index._store, []
        nearest, method = store.nearest, getattr(store, moment)

        def overtaken(*values):
            if not threads:
                threads.append(threading.Thread(target=lambda: index.add(tree_of("New tea."))))
                threads[0].start()
                threads[0].join(0.5)
            return method(*values)

        monkeypatch.setattr(store, "nearest", lambda *values: [found[:10] for found in nearest(*values)])
        monkeypatch.setattr(store, moment, overtaken)
        assert texts(index.search("tea", 20)) == ["Old tea."] * 20
        threads[0].join()
        assert texts(index.search("tea", 20)) == ["New tea."]


def test_what_another_writes_meanwhile_is_no_fault(tmp_path, monkeypatch):
    with Index.open(tmp_path, HashEmbedder()) as reader, Index.open(tmp_path, HashEmbedder()) as writer:
        writer.add(tree_of("Green tea. Late train."))
        present, turns = reader._store.archive.present, []

        def overtaken(doc_id):
            if not turns:
                turns.append(writer.add(tree_of("Black tea. Late train. A hotel.")))
            return present(doc_id)

        monkeypatch.setattr(reader._store.archive, "present", overtaken)
        assert reader.verify() == [] and turns[0].deleted == 1
        assert sorted(texts(reader.search("tea", 9))) == ["A hotel.", "Black tea.", "Late train."]
