"""The index on a real Chroma in memory, in a folder and at a server; E5 and the like name edge cases."""

import json
import os
import random
import subprocess
import sys
from functools import partial
from pathlib import Path

import chromadb
import numpy as np
import pytest
from chromadb.config import Settings
from samples import WORDS, ids, sentences_of, texts, tree_of

from s2b_lab import corpus
from s2b_lab.core import rank
from s2b_lab.core.access import allow
from s2b_lab.core.build import multi_granular, parents_and_children, sentence_tree
from s2b_lab.core.embedded import Copies
from s2b_lab.core.expand import sentence_window
from s2b_lab.core.headings import document
from s2b_lab.core.tree import ChunkTree
from s2b_lab.embed import HashEmbedder
from s2b_lab.index import Index
from s2b_lab.retrieve import Retriever
from s2b_lab.store.write import Report

ALL = {"access": ["public", "finance", "secret"]}


@pytest.fixture(scope="module")
def filled(en, policy):
    with Index.open(None, en) as opened:
        opened.add(policy)
        yield opened


# --- the right answers ---


@pytest.fixture(scope="module")
def public(policy, en):
    """The chunks that everyone may read, and their vectors."""
    readable = [chunk for chunk in policy.indexed if policy.section(chunk).access == "public"]
    copies = Copies(policy.documents["travel-en"])
    return readable, en.passages([copies.whole(chunk.span) for chunk in readable]).tolist()


@pytest.mark.parametrize("question", [question.text for question in corpus.questions("travel-en")])
def test_search_ranks_as_comparing_every_chunk_does(filled, public, en, question):
    readable, rows = public
    naive = rank.top_k(en.query(question).tolist(), rows, 20)
    hits = filled.search(question, 20)
    assert ids(hits) == [readable[place].id for place, _ in naive]
    assert [hit.score for hit in hits] == pytest.approx([score for _, score in naive], abs=2e-6)
    assert [hit.rank for hit in hits] == list(range(1, 21))


def test_places_answer_alike(opened, fake, policy, filled):
    index = opened(fake)
    assert index.add(policy) == Report(added=len(policy.indexed), documents=1)
    memory = Index.open(None, fake)
    memory.add(policy)
    for question in ("submit a claim within 30 days", "hotel"):
        here, there = index.search(question, 9), memory.search(question, 9)
        assert ids(here) == ids(there)
        assert [hit.score for hit in here] == pytest.approx([hit.score for hit in there], abs=2e-6)
    assert index.verify() == [] and index.count() == len(policy.indexed)


def test_the_score_is_cosine_similarity_E1(index, fake):
    index.add(tree_of(sentences_of("green tea", "late train")))
    hits = index.search("Green tea.", 2)
    assert texts(hits) == ["Green tea.", "Late train."]
    assert hits[0].score == pytest.approx(1, abs=1e-5) and abs(hits[1].score) < 1e-5
    assert index.search(-fake.query("green tea"), 2)[1].score == pytest.approx(-1, abs=1e-5)


def test_k_above_the_collection_gives_all_E3(opened, fake):
    index = opened(fake)
    index.add(tree_of(sentences_of("green tea", "late train")))
    assert len(index.search("tea", 50)) == 2


@pytest.mark.parametrize("k", [0, -3, 2.0, "3", True, None, float("nan")])
def test_k_is_a_whole_number_of_at_least_one_E3(index, k):
    with pytest.raises(ValueError, match=f"k must be (a whole number|at least 1), not {k!r}"):
        index.search("tea", k)


@pytest.mark.parametrize("k", [np.int64(2), 2**63, 10**30])
def test_any_whole_number_is_a_k(index, k):
    index.add(tree_of(sentences_of("green tea", "late train", "old hotel")))
    assert len(index.search("tea", k)) == min(k, 3)


@pytest.mark.parametrize("query", ["", " \n", "\u3000", "\0", "\u200b"])
def test_a_blank_query_is_refused_also_by_an_empty_index(index, query):
    with pytest.raises(ValueError, match="query is blank"):
        index.search(query)


def test_an_empty_index_finds_nothing(opened, fake):
    assert opened(fake).search("tea") == []


@pytest.mark.parametrize(("text", "expected"), [("", 0), (" \n\n ", 0), ("One", 1), ("长" * 400, 1)])
def test_blank_and_single_texts(index, text, expected):
    assert index.add(tree_of(text)).added == expected
    assert len(index.search("anything")) == expected and index.verify() == []


def test_a_vector_is_a_query_too(index, fake):
    index.add(tree_of(sentences_of("green tea", "late train")))
    vector = fake.query("late train")
    assert index.search(vector, 1) == index.search(vector.tolist(), 1) == index.search("late train", 1)


@pytest.mark.parametrize(
    ("vector", "reason"),
    [([1.0] * 5, r"\(256,\), not \(5,\)"), ([0.0] * 256, "not all zero"), ([float("nan")] * 256, "finite")],
)
def test_a_vector_that_cannot_be_compared_is_refused(index, vector, reason):
    index.add(tree_of("Green tea."))
    with pytest.raises(ValueError, match=reason):
        index.search(vector)


def test_ties_stand_in_document_order_E9(index):
    for name in ("z", "a"):  # the order of adding, not of names
        index.add(tree_of("\n\n".join(["Same words."] * 30), name))
    found = ids(index.search("same words", 40))
    assert found == [f"z/0/p{n}/s1" for n in range(1, 31)] + [f"a/0/p{n}/s1" for n in range(1, 11)]
    assert ids(index.search("same words", 5)) == found[:5]


def test_hundreds_of_equal_texts_do_not_hide_others_E3(index):
    rare = [f"{first} {second}." for first in WORDS for second in WORDS if first != second]
    index.add(tree_of("\n\n".join(["Page for internal use."] * 700 + rare)))
    assert len(index.search("tea", 2000)) == index.count() == 700 + len(rare)


def test_the_index_delivers_slices_of_the_source(opened, fake, policy):
    index = opened(fake)
    index.add(policy)
    for hit in index.search("the traveller", 30):
        assert hit.chunk.span.of(policy.documents["travel-en"].text) == hit.chunk.text


# --- opening again ---


def test_reopening_gives_the_same_answers_and_tree(opened, fake, policy):
    index = opened(fake)
    if not opened.lasts:
        return
    index.add(policy)
    index.add(multi_granular(document("granular", "One two three. Four five six. Seven eight nine. " * 9), 20))
    before, tree = index.search("submit within 30 days", 12), index.tree
    index.close()
    again = opened(HashEmbedder())
    assert again.search("submit within 30 days", 12) == before
    assert list(again.tree) == list(tree) and again.tree.indexed == tree.indexed
    assert again.tree.documents == tree.documents and list(again.tree.documents) == list(tree.documents)
    assert again.verify() == []


def test_a_fresh_process_answers_from_the_folder(tmp_path, fake, run_python, policy):
    with Index.open(tmp_path, fake) as index:
        index.add(policy)
        expected = [[hit.chunk.id, hit.score, hit.chunk.text] for hit in index.search("a lost receipt", 8)]
    program = """
import json, sys
from s2b_lab import HashEmbedder, Index
index = Index.open(sys.argv[1], HashEmbedder())
print(json.dumps([[h.chunk.id, h.score, h.chunk.text] for h in index.search("a lost receipt", 8)]))
"""
    done = run_python(program, tmp_path)
    assert json.loads(done.stdout) == expected and done.stderr == ""


def test_memory_indexes_are_strangers(fake):
    with Index.open(None, fake) as one, Index.open(None, fake) as two:
        one.add(tree_of("Green tea."))
        assert two.search("tea") == [] and two.count() == 0
        one.close()
        two.add(tree_of("Late train."))
        assert texts(two.search("tea")) == ["Late train."]


def test_a_forgotten_memory_index_leaves_nothing(fake):
    with Index.open(None, fake) as keeper:

        def names():
            return {collection.name for collection in chroma.list_collections()}

        chroma = chromadb.EphemeralClient(Settings(anonymized_telemetry=False))
        before = names()
        forgotten = Index.open(None, fake)
        assert len(names() - before) == 2
        del forgotten
        assert names() == before
        keeper.close()
        assert len(names()) == len(before) - 2


def test_indexes_of_one_folder_have_names(tmp_path, fake):
    with Index.open(tmp_path, fake, "first") as one, Index.open(tmp_path, HashEmbedder(8), "second") as two:
        one.add(tree_of("Green tea."))
        assert two.search("tea") == [] and texts(one.search("tea")) == ["Green tea."]


@pytest.mark.parametrize(
    "name", ["ab", "", "has blank", "-dash", "x" * 300, "a..b", "127.0.0.1", "s2b-documents", None, 5]
)
def test_a_name_that_chroma_would_refuse_is_named(fake, name):
    with pytest.raises(ValueError, match="index's name"):
        Index.open(None, fake, name)


def test_a_model_can_be_given_by_name(zh):
    with Index.open(None, "zh") as index:
        assert index.embedder is zh


def test_a_closed_index_says_so(index):
    index.close()
    for use in (index.count, index.verify, lambda: index.search("tea"), lambda: index.tree, lambda: index.delete("d")):
        with pytest.raises(ValueError, match="is closed"):
            use()


def test_another_index_on_the_folder_sees_what_was_written(opened, fake):
    writer = opened(fake)
    if not opened.lasts:
        return
    reader = opened(fake)
    assert reader.search("tea") == []
    writer.add(tree_of(sentences_of("green tea", "late train")))
    assert texts(reader.search("tea", 1)) == ["Green tea."]
    writer.add(tree_of(sentences_of("black tea", "late train")))
    assert texts(reader.search("black tea", 1)) == ["Black tea."]
    assert reader.tree.documents["d"].text == "Black tea. Late train."
    writer.delete("d")
    assert reader.search("tea") == []


def test_a_reader_stops_delivering_what_was_made_secret_or_deleted_E16(opened, fake):
    writer, reader = opened(fake), opened(fake)
    if not opened.lasts:
        return
    # What changes in section B is no hit, but in the window of one.
    beside = "\n\n".join(f"Alpha rule {number} is plain." for number in range(25))
    text = f"# A\n\n{beside}\n\n# B\n\nThe salary of Zulu is ninety."

    def told():
        contexts = Retriever(reader, partial(sentence_window, within=None, window_size=50), k=1)("alpha rule 20")
        return "".join(context.text for context in contexts.contexts)

    writer.add(tree_of(text))
    assert "salary" in told()
    writer.add(tree_of(text, section_access={"B": "finance"}))
    assert "Alpha rule 20" in told() and "salary" not in told()
    writer.add(tree_of(text.replace("salary", "pay")))
    assert "The pay of Zulu" in told()
    assert reader.count() == writer.count() and reader.tree.documents == writer.tree.documents
    writer.delete("d")
    assert told() == "" and reader.count() == 0 and list(reader.tree) == []


def test_a_reader_follows_another_process(tmp_path, fake):
    with Index.open(tmp_path, fake) as reader:
        program = """
import sys
from s2b_lab import HashEmbedder, Index, document, sentence_tree
for line in sys.stdin:
    with Index.open(sys.argv[1], HashEmbedder()) as index:
        index.add(sentence_tree(document("d", line.strip()))) if line.strip() else index.delete("d")
    print("done", flush=True)
"""
        command, pipe = [sys.executable, "-c", program, str(tmp_path)], subprocess.PIPE
        paths = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=paths) as writer:
            for text in ("Green tea. Late train.", "Green tea.", ""):
                print(text, file=writer.stdin, flush=True)
                assert writer.stdout.readline() == "done\n"
                assert "".join(chunk.text + " " for chunk in reader.tree.indexed).strip() == text
                assert len(reader.search("tea")) == reader.count() == text.count(".")
            writer.stdin.close()
        assert writer.returncode == 0


def test_a_reader_never_trusts_what_it_knows_while_a_deletion_is_under_way(server, fake):
    name = "under-way"
    with Index.open(server.address, fake, name) as writer, Index.open(server.address, fake, name) as reader:
        writer.add(tree_of("Green tea."))
        assert reader.count() == 1
        writer._store.documents.upsert = None  # the writer is stopped right after the documents' delete
        with pytest.raises(TypeError):
            writer.delete("d")
        assert reader.search("tea") == [] and list(reader.tree) == []


def test_a_reader_reads_the_documents_only_when_they_changed(tmp_path, fake, monkeypatch):
    with Index.open(tmp_path, fake) as writer, Index.open(tmp_path, fake) as reader:
        writer.add(tree_of("Green tea. Late train."))
        assert len(reader.search("tea")) == 2
        tree, refresh, reads = reader.tree, reader._store.refresh, []
        monkeypatch.setattr(reader._store, "refresh", lambda: reads.append(1) or refresh())
        writer.add(tree_of("Green tea. Late train."))  # changes nothing
        assert len(reader.search("tea")) == 2 and reader.tree is tree and reads == []
        writer.add(tree_of("Old hotel.", "e"))
        assert len(reader.search("tea")) == 3 and "e/0/p1/s1" in reader.tree and reads == [1]


# --- who may see what ---


@pytest.fixture(scope="module")
def labelled():
    """Documents of two versions and three labels: one in twenty-five is secret, some sections are for finance."""
    chance, docs = random.Random(0), []
    for number in range(50):
        text = "\n\n".join(f"## Part {n}\n\n" + " ".join(chance.choices(WORDS, k=6)) + "." for n in range(3))
        access = "secret" if number % 25 == 7 else "public"
        labels = {2: "finance"} if number % 5 == 0 else None
        docs.append(document(f"d{number}", text, version=str(number % 2), access=access, section_access=labels))
    return sentence_tree(docs)


WHERE = [
    None,
    {"access": ["public"]},
    {"access": "secret"},
    {"access": ["secret", "finance"]},
    {"access": ("public", "finance", "secret")},
    {"version": "1"},
    {"version": ["0", "1"], "access": "finance"},
    {"doc_id": ["d3", "d10", "d7"]},
    {"doc_id": "d10", "version": "0", "access": {"finance"}},
    {"access": "nobody"},
]


@pytest.fixture(scope="module")
def guarded(labelled):
    with Index.open(None, HashEmbedder()) as opened:
        opened.add(labelled)
        yield opened


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("k", [1, 10, 500])
def test_filters_equal_the_naive_filter_E5(guarded, labelled, where, k):
    def seen(chunk):
        found = {"access": "public", **(where or {})}
        doc = labelled.document(chunk)
        values = {"access": labelled.section(chunk).access, "version": doc.version, "doc_id": doc.id}
        return all(values[key] in ([want] if isinstance(want, str) else want) for key, want in found.items())

    allowed = [chunk for chunk in labelled.indexed if seen(chunk)]
    rows = guarded.embedder.passages([chunk.text for chunk in allowed]).tolist() if allowed else []
    naive = rank.top_k(guarded.embedder.query("a late train ticket").tolist(), rows, k)
    hits = guarded.search("a late train ticket", k, where)
    assert [hit.score for hit in hits] == pytest.approx([score for _, score in naive], abs=2e-6)
    assert {hit.chunk.id for hit in hits} <= {chunk.id for chunk in allowed}


def test_chroma_is_told_a_narrow_filter_and_spared_a_wide_one(guarded):
    assert guarded._store.catalogue.matching(allow(None)).clause is None
    assert guarded._store.catalogue.matching(allow({"access": ["secret", "board"]})).clause == {
        "access": {"$in": ["secret"]}
    }
    both = {"$and": [{"access": {"$in": ["secret"]}}, {"version": {"$in": ["1"]}}]}
    assert guarded._store.catalogue.matching(allow({"access": "secret", "version": "1"})).clause == both


@pytest.mark.parametrize("nobody", [[], (), None, ""])
def test_no_principal_sees_nothing_E16(guarded, nobody):
    assert guarded.search("train", 99, {"access": nobody}) == []


def test_an_unlabelled_vector_is_never_found_E5(tmp_path, fake):
    with Index.open(tmp_path, fake) as index:
        index.add(tree_of("Green tea."))
        index._store.vectors.upsert(
            ids=["stray", "liar"], embeddings=[fake.query("late train")] * 2, metadatas=[None, {"access": "public"}]
        )
        for where in (None, {"access": ["public", ""]}, ALL):
            assert texts(index.search("late train", 9, where)) == ["Green tea."]
        found = index.verify()
        assert len(found) == 2 and all("orphan vector" in problem and "put right" in problem for problem in found)
        assert index.verify() == [] and index._store.vectors.count() == 1


@pytest.mark.parametrize("where", [{"acl": "public"}, {"access": "public", "Version": "1"}, {None: 1, "x": 2}])
def test_an_unknown_key_is_refused(index, where):
    with pytest.raises(ValueError, match=r"unknown key ('acl'|'Version'|None) in where; allowed are access, version"):
        index.search("tea", where=where)


@pytest.mark.parametrize("value", [[2026], 2026, 0, {"$ne": "x"}, b"x", True])
def test_a_label_is_a_text(index, value):
    with pytest.raises(ValueError, match="where\\['version'\\] is a text or a list of texts"):
        index.search("tea", where={"version": value})


@pytest.mark.parametrize("where", ["public", ["public"], 5])
def test_a_filter_is_a_mapping(index, where):
    with pytest.raises(ValueError, match="where is a mapping such as"):
        index.search("tea", where=where)


@pytest.mark.parametrize("others", [0, 40])  # Chroma is asked without a filter, and with one
def test_a_chunk_across_sections_is_for_those_who_may_read_all_of_them(index, others):
    doc = document("d", "Green tea.\n\n## Secret\n\nLate train.", section_access={"Secret": "secret"})
    across = next(c for c in parents_and_children(doc, None, 50, 0) if c.id == "d/p1")
    index.add(ChunkTree([doc], [across]))
    for number in range(others):
        index.add(tree_of("Old hotel.", f"d{number}", access="board"))
    assert index.verify() == []
    for access in ("public", "secret", "public+secret", ["public+secret", "secret"], []):
        assert index.search("tea", where={"access": access}) == []
    assert ids(index.search("tea", where={"access": ["secret", "public"]})) == ["d/p1"]
