"""What a folder keeps: torn files of Chroma's are made anew, a full disk changes nothing, a former folder is moved."""

import os
import shutil
import sqlite3
import sys
from pathlib import Path

import chromadb
import pytest
from chromadb.config import Settings
from samples import sentences_of, texts, tree_of

from s2b_lab.embed import HashEmbedder
from s2b_lab.index import Index
from s2b_lab.store import mirror
from s2b_lab.store.chroma import description, new_collection
from s2b_lab.store.committed import Stored
from s2b_lab.store.write import Report

TESTS = Path(__file__).parents[1]
PATHS = os.pathsep.join(map(str, (TESTS, TESTS.parent)))
TEXT = " ".join(f"Rule {n} is about {'tea' if n % 2 else 'trains'}." for n in range(1200))  # Chroma writes its graph


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    with Index.open(folder, HashEmbedder(16)) as index:
        index.add(tree_of(TEXT))
    return folder


@pytest.fixture
def copied(whole, tmp_path):
    return shutil.copytree(whole, tmp_path / "copy")


class Deaf(HashEmbedder):
    """A model that embeds no passage."""

    def passages(self, texts):
        raise AssertionError(f"{len(texts)} texts were embedded again")


def files(folder):
    return sorted(path for path in (folder / "s2b-chroma").rglob("*") if path.is_file() and path.suffix != ".lock")


def chroma_folder(folder):
    return next(path for path in (folder / "s2b-chroma").iterdir() if path.is_dir())


def test_chroma_writes_its_graph_here(whole):
    assert {"data_level0.bin", "index_metadata.pickle", "chroma.sqlite3"} <= {path.name for path in files(whole)}


def cut_to(part):
    return lambda path: path.write_bytes(path.read_bytes()[: int(path.stat().st_size * part)])


TORN = ("chroma.sqlite3", "data_level0.bin", "index_metadata.pickle", "link_lists.bin")
DAMAGE = {
    "emptied": cut_to(0),
    "cut": cut_to(0.5),
    "gone": os.remove,
    "nonsense": lambda path: path.write_bytes(b"\xff\x00nonsense" * 99),
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize(
    "name", ["chroma.sqlite3", "data_level0.bin", "index_metadata.pickle", "link_lists.bin", "all"]
)
def test_torn_files_of_chroma_are_made_anew_without_embedding(copied, name, damage):
    hurt = [path for path in files(copied) if name in ("all", path.name)]
    assert hurt
    for path in hurt:
        DAMAGE[damage](path)
    with Index.open(copied, Deaf(16)) as index:
        assert texts(index.search("rule 7 tea", 1)) == ["Rule 7 is about tea."]
        assert len(index.search("trains", 2000)) == index.count() == 1200
        index.verify()
        assert index.verify() == [] and index.add(tree_of(TEXT)) == Report(kept=1200)
    with Index.open(copied, Deaf(16)) as index:
        assert index.verify() == []


def test_no_chroma_at_all_is_made_anew(copied):
    shutil.rmtree(copied / "s2b-chroma")
    with Index.open(copied, Deaf(16)) as index:
        assert index.verify() == [] and index.count() == index._store.vectors.count() == 1200


@pytest.mark.parametrize("lose", [os.remove, lambda file: file.write_bytes(b"")])
def test_lost_documents_are_told_and_no_empty_index_takes_their_place(copied, lose):
    lose(copied / "s2b.sqlite3")
    held = files(copied)
    for _ in range(2):
        with pytest.raises(FileNotFoundError, match=r"lost its documents: s2b\.sqlite3 is missing or empty"):
            Index.open(copied, HashEmbedder(16))
    assert files(copied) == held  # Chroma's copy, the last of the vectors, is left alone
    shutil.rmtree(copied / "s2b-chroma")
    with Index.open(copied, HashEmbedder(16)) as index:
        assert index.count() == 0 and index.add(tree_of("Green tea.")).added == 1


def test_a_lock_of_nonsense_keeps_nobody_out(copied):
    for lock in (copied / "s2b.lock", copied / "s2b-chroma" / "s2b.lock"):
        lock.write_bytes(b"\xff\x00nonsense" * 999)
    with Index.open(copied, HashEmbedder(16)) as index:
        assert index._store._mirror._on_disk and index.add(tree_of("Green tea.", "e")).added == 1
        assert index.verify() == []


class Interrupted:
    """A connection that is interrupted once, just when a statement is carried out."""

    def __init__(self, connection, statement):
        self._connection, self._statement = connection, statement

    def __getattr__(self, name):
        return getattr(self._connection, name)

    def execute(self, statement, *values):
        found = self._connection.execute(statement, *values)
        if statement == self._statement:
            self._statement = None
            raise KeyboardInterrupt
        return found


@pytest.mark.parametrize("statement", ["BEGIN IMMEDIATE", "COMMIT"])
def test_an_interruption_as_a_transaction_begins_or_ends_loses_nothing_later(tmp_path, statement):
    with Index.open(tmp_path, HashEmbedder(16)) as index:
        archive = index._store.archive
        archive._connection = Interrupted(archive._connection, statement)
        with pytest.raises(KeyboardInterrupt):
            index.add(tree_of("Green tea."))
        assert not archive._connection.in_transaction
        index.add(tree_of("Green tea. Late train."))
        assert len(index.search("tea", 9)) == 2
    with Index.open(tmp_path, HashEmbedder(16)) as index:
        assert index.count() == 2 and index.verify() == []


def test_a_document_whose_vectors_were_dropped_meanwhile_is_not_committed(tmp_path):
    """Two write after all where somebody deleted the lock: the second is told."""
    with Index.open(tmp_path, HashEmbedder(16)) as index:
        index.add(tree_of("Green tea."))
        archive = index._store.archive
        record = archive.read()[0]["d"]
        with pytest.raises(RuntimeError, match="1 vectors of document 'd' were dropped by another process"):
            archive.put("d", record.replace("Green", "Black"), {"lost"})
        assert archive.read()[0]["d"] == record and len(archive.present("d")) == 1


def test_files_that_were_being_written_are_not_trusted(copied):
    former = chroma_folder(copied)
    with sqlite3.connect(copied / "s2b.sqlite3") as table:
        table.execute("UPDATE indexes SET held = NULL")
    with Index.open(copied, Deaf(16)) as index:
        assert index.verify() == [] and chroma_folder(copied) != former and not former.exists()


def test_whole_files_are_used_as_they_are(copied):
    former = chroma_folder(copied)
    with Index.open(copied, Deaf(16)) as index:
        assert texts(index.search("rule 7 tea", 1)) == ["Rule 7 is about tea."]
    assert chroma_folder(copied) == former


def test_files_torn_while_the_index_is_open_are_made_anew(copied, monkeypatch):
    with Index.open(copied, Deaf(16)) as index:
        before = index.search("rule 7 tea", 5)

        def torn(**options):
            raise chromadb.errors.InternalError("EOF while parsing")

        index._store.vectors.query = torn
        assert index.search("rule 7 tea", 5) == before
        index._store.vectors.get = torn
        assert [problem.split(": ")[0] for problem in index.verify()] == [
            "Chroma's files cannot be read (EOF while parsing)"
        ]
        assert index.verify() == [] and index.search("rule 7 tea", 5) == before


def test_a_second_index_keeps_its_own_copy_and_both_follow(copied):
    with Index.open(copied, Deaf(16)) as one, Index.open(copied, HashEmbedder(16)) as two:
        two.add(tree_of(sentences_of("green tea", "old hotel"), "e"))
        for index in (one, two):
            assert index.count() == index._store.vectors.count() == 1202 and index.verify() == []
            assert texts(index.search("old hotel", 1)) == ["Old hotel."]
        one.delete("d")
        assert two.count() == len(two.search("tea", 9)) == 2
    with Index.open(copied, Deaf(16)) as index:  # the files had stood still since the second wrote
        assert index.count() == index._store.vectors.count() == 2 and index.verify() == []


# --- no room ---


FULL = """
import os, resource, sys, warnings
from samples import tree_of
from s2b_lab import HashEmbedder, Index

folder, text = sys.argv[1], " ".join(f"Fresh {n} is about hotels." for n in range(600))
limits = resource.getrlimit(resource.RLIMIT_FSIZE)
for name, place in (("roomy", 20), ("tight", 1.1), ("tighter", 1)):
    with Index.open(folder, HashEmbedder(16)) as index:
        size = int(os.path.getsize(folder + "/s2b.sqlite3") * place)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
        try:
            print("added", index.add(tree_of(text, name)).documents)
        except OSError as error:
            print(type(error).__name__, error)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        hits = index.search("rule 7 tea", 9)
        print(sorted(index.tree.documents), len(hits), hits[0].chunk.text)
    with Index.open(folder, HashEmbedder(16)) as index:
        print(index.verify())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit of a file's size")
def test_a_full_disk_leaves_the_old_version_whole(copied, run_python):
    lines = run_python(FULL, copied, PYTHONPATH=PATHS).stdout.splitlines()
    roomy, *told = lines[::3]
    assert roomy == "added 1" and len(told) == 2
    assert all("could not be written" in line and "are as they were; make room" in line for line in told)
    assert all(line.startswith("OSError the index in ") for line in told)
    assert set(lines[1::3]) == {"['d', 'roomy'] 9 Rule 7 is about tea."} and set(lines[2::3]) == {"[]"}


@pytest.mark.parametrize("moment", ["opening", "writing"])
def test_where_chroma_alone_has_no_room_memory_takes_over(copied, monkeypatch, moment):
    def full(*anything, **options):
        raise chromadb.errors.InternalError("database or disk is full")

    if moment == "opening":
        shutil.rmtree(chroma_folder(copied))
        monkeypatch.setattr(mirror, "folder_client", full)
        with pytest.warns(UserWarning, match="cannot be written .*full.*a copy in memory, nothing .* is lost"):
            index = Index.open(copied, Deaf(16))
    else:
        index = Index.open(copied, HashEmbedder(16))
        index._store.vectors.upsert = full
        monkeypatch.setattr(mirror, "folder_client", full)
        with pytest.warns(UserWarning, match="a copy in memory"):
            index.add(tree_of("Green hotel.", "e"))
    with index:
        more = 0 if moment == "opening" else 1
        assert index.count() == index._store.vectors.count() == 1200 + more and index.verify() == []
        assert texts(index.search("rule 7 tea", 1)) == ["Rule 7 is about tea."]
    monkeypatch.undo()
    with Index.open(copied, Deaf(16)) as index:
        assert index.count() == index._store.vectors.count() == 1200 + more and index.verify() == []
        assert chroma_folder(copied).exists()


# --- folders of the first format ---


def former_folder(folder, embedder, name="s2b"):
    """A folder as the first format kept it: two collections of Chroma's."""
    with Index.open(None, embedder) as index:
        index.add(tree_of(sentences_of("green tea", "late train", "old hotel")))
        index.add(tree_of("Another text.", "e", access="secret"))
        owners = dict(index._store.catalogue.owners)
        records = index._store.documents.get(include=["documents"])
        rows, labels = index._store.searched(list(owners)), index._store.labels()
    chroma = chromadb.PersistentClient(folder, Settings(anonymized_telemetry=False))
    vectors = new_collection(chroma, name, description(embedder))
    vectors.upsert(ids=list(rows), embeddings=list(rows.values()), metadatas=[labels[one] for one in rows])
    documents = new_collection(chroma, f"{name}-documents", {"s2b_format": 1})
    documents.upsert(ids=records["ids"], embeddings=[[1.0]] * len(records["ids"]), documents=records["documents"])
    chroma.create_collection("theirs").upsert(ids=["1"], embeddings=[[1.0]])
    return chroma


def test_a_former_folder_is_moved_without_embedding(tmp_path, fake):
    chroma = former_folder(tmp_path, fake)
    for _ in range(2):
        with Index.open(tmp_path, Deaf()) as index:
            assert index.verify() == [] and list(index.tree.documents) == ["d", "e"]
            assert texts(index.search("late train", 1)) == ["Late train."] and index.count() == 4
            assert index.search("another", where={"access": "secret"})[0].chunk.doc_id == "e"
    assert [one.name for one in chroma.list_collections()] == ["theirs"]


def test_a_slow_second_mover_puts_nothing_old_back(tmp_path):
    """Two processes move a former folder, and the first has changed it before the second writes what it had read."""
    with Index.open(tmp_path, HashEmbedder(16)) as index:
        index.add(tree_of("Green tea."))
        archive = index._store.archive
        read, stamp = archive.read()
        archive.make({}, {"d": "old", "gone": "old"}, [("d", "old", [1.0])])
        assert archive.read() == (read, stamp) and len(archive.present("d")) == 1 and index.verify() == []


def test_a_former_folder_of_another_model_is_refused_and_kept(tmp_path, fake):
    chroma = former_folder(tmp_path, fake)
    for _ in range(2):
        with pytest.raises(ValueError, match=r"was written with 'hash' \(dimension 256"):
            Index.open(tmp_path, HashEmbedder(8))
    assert len(chroma.list_collections()) == 3
    with Index.open(tmp_path, Deaf()) as index:
        assert index.count() == 4


def test_a_record_without_later_fields_is_read():
    record = Stored(1, tree_of("Green tea.").documents["d"], (), {}).pack()
    assert Stored.unpack("d", record.replace(',"heading_path":false', "")) == Stored.unpack("d", record)


# --- clients of the reader's own ---


OWN = """
import os, sys, chromadb.api.rust
from chromadb.config import Settings
from samples import tree_of
from s2b_lab import HashEmbedder, Index

def quiet(**options):
    return Settings(anonymized_telemetry=False, **options)

def use(path):
    with Index.open(path, HashEmbedder()) as index:
        index.add(tree_of("Green tea."))
        return index.search("tea")[0].chunk.text

def own(how, folder):
    settings = {"quiet": quiet, "other": lambda: quiet(allow_reset=True)}.get(how, lambda: None)
    return chromadb.EphemeralClient(settings()), chromadb.PersistentClient(folder, settings())

for how in ("before", "quiet", "after", "other"):
    sys.stdout.flush()
    if os.fork() == 0:
        folder = f"{sys.argv[1]}/{how}"
        clients = own(how, folder) if how != "after" else ()
        try:
            print(use(None))
        except ValueError as error:
            print(error)
        print(use(folder))
        for client in clients or own(how, folder):
            client.create_collection("mine").upsert(ids=["1"], embeddings=[[1.0]])
            print(client.get_collection("mine").count())
        sys.stdout.flush()
        os._exit(0)
    os.wait()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="one process that loads Chroma once")
def test_a_client_of_ones_own_is_shared_or_explained_H16(tmp_path, run_python):
    lines = run_python(OWN, tmp_path, PYTHONPATH=PATHS, ANONYMIZED_TELEMETRY="True").stdout.splitlines()
    before, quiet, after, (advice, *rest) = (lines[start : start + 4] for start in range(0, 16, 4))
    assert before == quiet == after == ["Green tea.", "Green tea.", "1", "1"] and rest == before[1:]
    assert "client of your own in memory has settings that an index cannot share" in advice
    assert "open it with chromadb.EphemeralClient(), close it first, or open the index in another process" in advice
