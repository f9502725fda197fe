"""Where an index lives: folders, servers and collections, and what is said when they cannot be used."""

import gc
import os
import re
import shutil
import socket
import tempfile
from pathlib import Path

import chromadb
import pytest
from chromadb.config import Settings
from heard import heard
from samples import texts, tree_of

from s2b_lab.embed import HashEmbedder
from s2b_lab.index import Index


def client(path):
    return chromadb.PersistentClient(path, Settings(anonymized_telemetry=False))


# --- what does not fit ---


def test_a_folder_written_with_another_model_names_both_E7(opened, fake):
    opened(fake)
    if not opened.lasts:
        return
    for other in (HashEmbedder(name="other"), HashEmbedder(64, name="hash")):
        with pytest.raises(
            ValueError, match=f"'hash' \\(dimension 256.*not '{other.name}' \\(dimension {other.dimension}"
        ):
            opened(other)
    assert opened(HashEmbedder()).search("tea") == []


def test_a_collection_with_another_distance_is_refused_E2(tmp_path, fake):
    client(tmp_path).create_collection("s2b", metadata={"s2b_format": 1})
    with pytest.raises(ValueError, match=r"collection 's2b' in .* by 'l2', an index by 'cosine'"):
        Index.open(tmp_path, fake)


def test_a_foreign_collection_is_refused(server, fake):
    theirs = chromadb.HttpClient("127.0.0.1", server.port)
    theirs.create_collection("foreign", configuration={"hnsw": {"space": "cosine"}})
    with pytest.raises(ValueError, match="was not written by s2b_lab"):
        Index.open(server.address, fake, "foreign")


def test_a_foreign_collection_in_the_folder_is_left_alone(tmp_path, fake):
    theirs = client(tmp_path).create_collection("s2b")
    theirs.upsert(ids=["1"], embeddings=[[1.0, 2.0]])
    with Index.open(tmp_path, fake) as index:
        index.add(tree_of("Green tea."))
        assert texts(index.search("tea")) == ["Green tea."] and index.verify() == []
    assert theirs.count() == 1


def test_a_new_collection_measures_cosine_E2(opened, fake):
    assert opened(fake)._store.vectors.configuration["hnsw"]["space"] == "cosine"


def test_a_file_is_not_a_folder(tmp_path, fake):
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(ValueError, match=r"notes\.txt' is a file"):
        Index.open(tmp_path / "notes.txt", fake)


def test_a_folder_deleted_underneath_is_named(tmp_path, fake):
    index = Index.open(tmp_path / "index", fake)
    index.add(tree_of("Green tea."))
    shutil.rmtree(tmp_path / "index")
    for use in (lambda: index.search("tea"), lambda: index.add(tree_of("x")), index.verify):
        with pytest.raises(FileNotFoundError, match=r"index folder '.*index' was deleted"):
            use()
    with Index.open(tmp_path / "index", fake) as fresh:
        assert fresh.search("tea") == [] and fresh.add(tree_of("Green tea.")).added == 1
        with pytest.raises(FileNotFoundError, match=r"was deleted while an index in it was open: close that one"):
            index.search("tea")  # the folder that is there now is another one
    index.close()


def test_a_collection_deleted_underneath_is_named(server, fake):
    with Index.open(server.address, fake, "underneath") as index:
        index.add(tree_of("Green tea."))
        chromadb.HttpClient("127.0.0.1", server.port).delete_collection("underneath")
        with pytest.raises(LookupError, match="was deleted while it was open"):
            index.search("tea")


def test_a_server_that_never_ran_is_named(fake):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(
        ConnectionError, match=f"no Chroma server answers at http://127.0.0.1:{port}: .*`chroma run .*--port {port}`"
    ):
        Index.open(f"http://127.0.0.1:{port}", fake)


def test_no_connection_to_a_server_outlives_its_last_index(server):
    gc.collect()  # whatever others have left
    with heard(ResourceWarning) as left:
        with Index.open(server.address, HashEmbedder(), "one") as one:
            with Index.open(server.address, HashEmbedder(), "two") as two:
                two.add(tree_of("Late train."))
            one.add(tree_of("Green tea."))
            assert texts(one.search("tea")) == ["Green tea."], "what the two share is not closed with the first"
        del one, two
        gc.collect()
    assert [str(warning.message) for warning in left if "socket" in str(warning.message)] == []


def test_a_server_that_closed_is_named(own_server, fake):
    index = Index.open(own_server.address, fake)
    index.add(tree_of("Green tea."))
    own_server.stop()
    for use in (
        lambda: index.search("tea"),
        lambda: index.add(tree_of("Late.", "e")),
        index.verify,
        lambda: index.delete("d"),
    ):
        with pytest.raises(ConnectionError, match=f"no Chroma server answers at {own_server.address}"):
            use()


def test_an_address_needs_a_host(fake):
    with pytest.raises(ValueError, match="http://host:port"):
        Index.open("http://", fake)


@pytest.mark.parametrize(
    "address",
    [
        "ftp://127.0.0.1:1",
        "s3://bucket",
        "http://127.0.0.1:99999",
        "http://127.0.0.1:0",
        "http://127.0.0.1:80/some/where",
        "http://[::1",
        "http://me@127.0.0.1:1",
        "localhost:8000",
        "127.0.0.1:1",
    ],
)
def test_a_slip_in_an_address_makes_no_folder(tmp_path, monkeypatch, fake, address):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=re.escape(f"is http://host:port and no more, not {address!r}")):
        Index.open(address, fake)
    assert list(tmp_path.iterdir()) == []


def test_the_scheme_of_an_address_may_be_in_capitals(server, fake):
    with Index.open(server.address.upper() + "/", fake, "capitals") as index:
        assert index.search("tea") == []


@pytest.mark.parametrize("path", ["", " ", "\t"])
def test_a_blank_path_is_refused(tmp_path, monkeypatch, fake, path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="path of an index is blank"):
        Index.open(path, fake)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", [5, b"folder", ["folder"]])
def test_a_path_of_another_kind_is_refused(fake, path):
    with pytest.raises(TypeError, match="opened at None, a folder or an address"):
        Index.open(path, fake)


@pytest.mark.parametrize(
    ("model", "reason"), [(5, "5 has no name"), (HashEmbedder, "is a class"), (object(), "has no name")]
)
def test_what_is_no_model_is_refused(model, reason):
    with pytest.raises(TypeError, match=f"an embedder is a model or a model's name.*{reason}"):
        Index.open(None, model)


# --- a folder that cannot be used ---


def test_a_folder_below_a_file_is_named(tmp_path, fake):
    (tmp_path / "file").write_text("x")
    with pytest.raises(ValueError, match=r"kept in a folder, but '.*file' is a file"):
        Index.open(tmp_path / "file" / "sub" / "deep", fake)


@pytest.mark.parametrize("part", [0.5, None])
def test_a_broken_file_is_named(tmp_path, fake, part):
    with Index.open(tmp_path, fake) as index:
        index.add(tree_of("Green tea. " * 99))
    file = tmp_path / "s2b.sqlite3"
    file.write_bytes(file.read_bytes()[: int(file.stat().st_size * part)] if part else b"no database" * 999)
    with pytest.raises(OSError, match=r"cannot use the index in '.*' \(.*(malformed|not a database).*add the doc"):
        Index.open(tmp_path, fake)


READ_ONLY = """
import os, sys
from s2b_lab import HashEmbedder, Index
import chromadb
if os.getuid() == 0:  # whom nothing is read-only for
    os.setgid(65534), os.setuid(65534)
for path in sys.argv[1:]:
    try:
        Index.open(path, HashEmbedder())
    except OSError as error:
        print(type(error).__name__, error)
"""


def test_a_read_only_folder_is_named(run_python, fake):
    with tempfile.TemporaryDirectory() as root:
        os.chmod(root, 0o755)
        good, empty = Path(root, "good"), Path(root, "empty")
        with Index.open(good, fake) as index:
            index.add(tree_of("Green tea."))
        empty.mkdir()
        for path in (*good.rglob("*"), good, empty):
            path.chmod(0o555 if path.is_dir() else 0o444)
        (half := Path(root, "half")).mkdir(0o777)
        half.chmod(0o777)
        shutil.copy(good / "s2b.sqlite3", half)  # the folder may be written, its file not
        printed = run_python(READ_ONLY, good, empty, empty / "missing", half, HOME=root).stdout.splitlines()
        for path in (good, empty):
            path.chmod(0o755)
    named = (good, empty, empty / "missing", half)
    assert [line.split(" cannot")[0] for line in printed] == [f"PermissionError the index folder '{p}'" for p in named]
    assert all("is read-only: make it writable, or open a copy" in line for line in printed)


def test_a_collection_in_the_place_of_the_documents_is_refused(server, fake):
    chromadb.HttpClient("127.0.0.1", server.port).create_collection("placed-documents")
    with pytest.raises(ValueError, match=r"'placed-documents' in .* no document store .* another name than 'placed'"):
        Index.open(server.address, fake, "placed")


def test_an_index_in_the_place_of_the_documents_is_refused(server, fake):
    Index.open(server.address, fake, "moved").close()
    chroma = chromadb.HttpClient("127.0.0.1", server.port)
    chroma.delete_collection("moved-documents")
    chroma.get_collection("moved").modify(name="moved-documents")
    with pytest.raises(ValueError, match="is no document store"):
        Index.open(server.address, fake, "moved")
