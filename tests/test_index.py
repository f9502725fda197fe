"""The index on a real Chroma in memory, in a folder and at a server; E5 and the like name edge cases."""

import json
import os
import random
import re
import shutil
import socket
import tempfile
import warnings
from functools import partial
from pathlib import Path

import chromadb
import numpy as np
import pytest
from chromadb.config import Settings

from s2b_lab import corpus, rank
from s2b_lab.chunk import Chunk, ChunkTree, multi_granular, parents_and_children, sentence_tree
from s2b_lab.embed import HashEmbedder
from s2b_lab.expand import sentence_window
from s2b_lab.index import Index, Report, allow
from s2b_lab.retrieve import Retriever
from s2b_lab.text import Span, document

WORDS = "tea coffee train plane hotel ticket receipt claim invoice deadline system manager budget currency".split()
ALL = {"access": ["public", "finance", "secret"]}


def tree_of(text, id="d", **options):
    return sentence_tree(document(id, text, **options))


def sentences_of(*texts):
    return " ".join(f"{text.capitalize()}." for text in texts)


def ids(hits):
    return [hit.chunk.id for hit in hits]


def texts(hits):
    return [hit.chunk.text for hit in hits]


def client(path):
    return chromadb.PersistentClient(path, Settings(anonymized_telemetry=False))


@pytest.fixture
def index(fake):
    with Index.open(None, fake) as opened:
        yield opened


@pytest.fixture(scope="module")
def policy():
    return sentence_tree(corpus.load("travel-en"))


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
    return readable, en.passages([chunk.text for chunk in readable]).tolist()


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


@pytest.mark.parametrize("query", ["", " \n", "\u3000", "\0"])
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


def test_a_reader_follows_another_process(tmp_path, fake, run_python):
    with Index.open(tmp_path, fake) as reader:
        program = """
import sys
from s2b_lab import HashEmbedder, Index, document, sentence_tree
with Index.open(sys.argv[1], HashEmbedder()) as index:
    index.add(sentence_tree(document("d", sys.argv[2]))) if sys.argv[2] else index.delete("d")
"""
        for text in ("Green tea. Late train.", "Green tea.", ""):
            run_python(program, tmp_path, text)
            assert "".join(chunk.text + " " for chunk in reader.tree.indexed).strip() == text
            assert len(reader.search("tea")) == reader.count() == text.count(".")


def test_a_reader_never_trusts_what_it_knows_while_a_deletion_is_under_way(tmp_path, fake):
    with Index.open(tmp_path, fake) as writer, Index.open(tmp_path, fake) as reader:
        writer.add(tree_of("Green tea."))
        assert reader.count() == 1
        writer._documents.upsert = None  # the writer is stopped right after the documents' delete
        with pytest.raises(TypeError):
            writer.delete("d")
        assert reader.search("tea") == [] and list(reader.tree) == []


def test_a_reader_reads_the_documents_only_when_they_changed(tmp_path, fake, monkeypatch):
    with Index.open(tmp_path, fake) as writer, Index.open(tmp_path, fake) as reader:
        writer.add(tree_of("Green tea. Late train."))
        assert len(reader.search("tea")) == 2
        tree, refresh, reads = reader.tree, reader._refresh, []
        monkeypatch.setattr(reader, "_refresh", lambda: reads.append(1) or refresh())
        writer.add(tree_of("Green tea. Late train."))  # changes nothing
        assert len(reader.search("tea")) == 2 and reader.tree is tree and reads == []
        writer.add(tree_of("Old hotel.", "e"))
        assert len(reader.search("tea")) == 3 and "e/0/p1/s1" in reader.tree and reads == [1]


# --- adding, changing, deleting ---


def test_adding_twice_changes_nothing_and_embeds_nothing_E4(opened, fake, policy):
    index = opened(fake)
    index.add(policy)
    tree, answers = index.tree, index.search("flights", 9)
    fake.embedded.clear()
    index._commit = index._vectors.upsert = None  # nothing is written
    assert index.add(policy) == Report(kept=len(policy.indexed))
    assert fake.embedded == []
    assert list(index.tree) == list(tree) and index.search("flights", 9) == answers


def test_a_changed_document_leaves_no_stale_child_B2(opened, fake):
    index = opened(fake)
    index.add(tree_of("Zebra crossing rule old."))
    assert index.add(tree_of("New text about tea.")) == Report(added=1, deleted=1, documents=1)
    assert texts(index.search("zebra crossing rule", 9)) == ["New text about tea."]
    assert index.count() == 1 and index._vectors.count() == 1 and index.verify() == []


def test_only_what_changed_is_embedded(index, fake):
    index.add(tree_of(sentences_of("green tea", "late train", "old hotel")))
    fake.embedded.clear()
    assert index.add(tree_of(sentences_of("green tea", "slow and late train", "old hotel"))) == Report(1, 2, 1, 1)
    assert fake.embedded == ["Slow and late train."]
    moved = next(hit.chunk for hit in index.search("old hotel", 1))
    assert moved.span.of("Green tea. Slow and late train. Old hotel.") == moved.text == "Old hotel."


def test_a_paragraph_put_first_embeds_only_itself(index, fake):
    index.add(tree_of("Green tea.\n\nLate train.\n\nOld hotel."))
    fake.embedded.clear()
    report = index.add(tree_of("New.\n\nGreen tea.\n\nLate train.\n\nOld hotel."))
    assert fake.embedded == ["New."] and report == Report(added=4, deleted=3, documents=1)
    assert [ids(index.search(text, 1)) for text in ("green tea", "old hotel")] == [["d/0/p2/s1"], ["d/0/p4/s1"]]
    assert index.verify() == []


def test_a_new_version_or_label_of_the_same_text_embeds_nothing(index, fake):
    index.add(tree_of("Green tea."))
    fake.embedded.clear()
    index.add(tree_of("Green tea.", version="2", access="secret"))
    assert fake.embedded == [] and index.search("tea") == []
    assert len(index.search("tea", where={"access": "secret", "version": "2"})) == 1
    assert index.verify() == [] and index.count() == 1


def test_another_way_of_cutting_replaces_the_first(index):
    text = "## A\n\n" + "Green tea. Late train. " * 20
    index.add(tree_of(text))
    other = parents_and_children(document("d", text), 200, 50, 0)
    index.add(other)
    assert list(index.tree) == list(other) and index.count() == len(other.indexed) and index.verify() == []


def test_deleting_removes_vectors_and_document_B3(opened, fake):
    index = opened(fake)
    index.add(tree_of(sentences_of("green tea", "late train"), "a"))
    index.add(tree_of("Green tea too.", "b"))
    assert index.delete("a") == Report(deleted=2, documents=1)
    assert texts(index.search("tea", 9)) == ["Green tea too."] and list(index.tree.documents) == ["b"]
    assert index._vectors.get(where={"doc_id": "a"})["ids"] == [] and index.verify() == []


def test_deleting_an_unknown_document_names_it(index):
    index.add(tree_of("Green tea.", "known"))
    with pytest.raises(ValueError, match=r"no document 'other' to delete; the index holds \['known'\]"):
        index.delete("other")


def test_the_same_text_in_two_documents_survives_E8(index):
    both = sentence_tree([document("v1", "Same.", version="1"), document("v2", "Same.", version="2")])
    assert index.add(both) == Report(added=2, documents=2)
    assert ids(index.search("same")) == ["v1/0/p1/s1", "v2/0/p1/s1"]
    assert ids(index.search("same", where={"version": "2"})) == ["v2/0/p1/s1"]


def test_large_additions_go_in_batches(opened, fake):
    index = opened(fake)
    index._batch = 7
    trees = sentence_tree(
        [document(f"d{n}", sentences_of(*(f"{w} {n} {v}" for w in WORDS for v in "ab"))) for n in range(4)]
    )
    assert index.add(trees).added == index.count() == len(trees.indexed) == 4 * 2 * len(WORDS)
    assert index.verify() == []
    report = index.add(sentence_tree([document(f"d{n}", "Gone.") for n in range(4)]))
    assert report == Report(4, 0, len(trees.indexed), 4) and index._vectors.count() == 4


def test_something_else_than_a_tree_is_refused(index):
    with pytest.raises(TypeError, match="ChunkTree"):
        index.add(document("d", "Green tea."))


def test_chunks_of_two_documents_cannot_share_an_id(opened, fake):
    index = opened(fake)
    index.add(tree_of("# T\n\nIntro.\n\n# S\n\nAlpha one.", "a"))
    fake.embedded.clear()
    other = parents_and_children([document("b", "Fine."), document("a/1", "Other two.")], None)
    with pytest.raises(ValueError, match=r"'a/1' has a chunk 'a/1/p1', an id that a chunk of document 'a' has"):
        index.add(other)
    assert fake.embedded == [] and list(index.tree.documents) == ["a"] and index.verify() == []
    index.delete("a")
    assert index.add(other).documents == 2 and len(index.tree.documents) == 2


def test_the_id_of_the_indexs_own_record_is_refused(index):
    with pytest.raises(ValueError, match="keeps the id '#' for itself"):
        index.add(tree_of("Green tea.", "#"))


# --- what is embedded ---


@pytest.mark.parametrize("blank", ["\0", "\0\0 \0", "\u2003\0"])
def test_a_chunk_with_nothing_to_read_is_not_embedded(opened, fake, blank):
    index = opened(fake)
    assert index.add(tree_of(f"Hello.\n\n{blank}\n\nBye.")) == Report(added=2, documents=1)
    assert fake.embedded == ["Hello.", "Bye."] and index.count() == 2 and index.verify() == []
    assert index.add(tree_of(f"Hello.\n\n{blank}\n\nBye.")) == Report(kept=2)
    assert len(index.search("hello", 9)) == 2 and blank in index.tree.documents["d"].text


def test_an_empty_chunk_and_an_empty_piece_are_not_embedded(fake):
    doc = document("d", "Green tea." + "\0" * 300 + "Late train.")
    chunks = [
        Chunk("d/1", "d", Span(0, 0), "", "passage", None, "d/0"),
        Chunk("d/2", "d", Span(0, len(doc.text)), doc.text, "passage", None, "d/0"),
    ]
    fake.max_tokens = 3
    with Index.open(None, fake) as index, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        index.add(ChunkTree([doc], chunks))
        assert all(text.strip("\0 ") for text in fake.embedded) and index.verify() == []
        assert ids(index.search("late train")) == ["d/2"]


def test_exactly_the_chunks_texts_are_embedded_E14(index, fake):
    tree = sentence_tree(
        document("d", "Green tea.\n\n## Heading\n\nＬate   train.", title="Title " * 200, version="v" * 99)
    )
    index.add(tree)
    assert fake.embedded == ["Green tea.", "## Heading", "Late train."]


def test_prefixes_are_embedded_and_never_delivered_E11(tmp_path):
    model = HashEmbedder(query_prefix="query: ", passage_prefix="passage: ")
    with Index.open(tmp_path, model) as index:
        index.add(tree_of("Green tea. Late train."))
        hit = index.search("query: green", 1)[0]
        assert hit.chunk.text == "Green tea." and "passage" not in index.tree.documents["d"].text
        expected = rank.cosine(model.query("query: green").tolist(), model.passages(["Green tea."])[0].tolist())
        assert hit.score == pytest.approx(expected, abs=1e-6)
        kept = index._vectors.metadata
    assert (kept["query_prefix"], kept["passage_prefix"]) == ("query: ", "passage: ")
    with pytest.raises(ValueError, match=r"'passage: '.*'text: '"):
        Index.open(tmp_path, HashEmbedder(query_prefix="query: ", passage_prefix="text: "))


def test_a_chunk_that_is_too_long_is_split_with_a_warning_E12():
    model = HashEmbedder(max_tokens=60)
    long = " ".join(f"{word}{n}" for n in range(15) for word in WORDS)
    tree = parents_and_children(document("d", f"Green tea.\n\n## Long\n\n{long}"), 9000, 8000, 0)
    with Index.open(None, model) as index:
        with pytest.warns(UserWarning, match=r"chunk 'd/1/p1/c1' has 2\d\d tokens, hash reads 60") as caught:
            report = index.add(tree)
        assert caught[0].filename == __file__ and len(caught) == 1
        assert report.added == index.count() >= 5
        hits = index.search("currency14 budget14 manager14", 9)
        assert ids(hits) == ["d/1/p1/c1", "d/0/p1/c1"] and long in hits[0].chunk.text
        pieces = [hit for hit in hits if hit.chunk.id == "d/1/p1/c1"]
        whole = rank.cosine(model.query("currency14 budget14 manager14").tolist(), model.passages([long])[0].tolist())
        assert pieces[0].score > 1.3 * whole  # its end is seen, not averaged away
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert index.add(tree) == Report(kept=report.added)
        assert index.verify() == []
        assert index.delete("d").deleted == report.added and index._vectors.count() == 0


def test_the_real_limit_is_kept_E12(en, recwarn):
    child = " ".join(f"word{n % 7}" for n in range(599)) + " giraffe"
    tree = parents_and_children(document("d", child), 9000, 9000, 0)
    with Index.open(None, en) as index:
        assert index.add(tree).added >= 3
        assert all(en.count_tokens(piece.text) <= 256 for piece in index._pieces(tree.indexed[0], child, "r"))
    assert any("all-MiniLM-L6-v2 reads 256" in str(warning.message) for warning in recwarn)


@pytest.mark.parametrize("wrong", [np.full((1, 256), np.nan), np.ones((1, 8)), np.ones((0, 256)), np.ones((2, 256))])
def test_vectors_that_cannot_be_compared_are_not_written_E7(index, fake, wrong, monkeypatch):
    index.add(tree_of("Green tea."))
    monkeypatch.setattr(type(fake), "passages", lambda self, texts: wrong.astype(np.float32))
    with pytest.raises(ValueError, match="1 finite vectors of 256 dimensions are needed, but hash gave"):
        index.add(tree_of("Late train."))
    assert index.verify() == [] and texts(index.search("tea")) == ["Green tea."]


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
    assert guarded._matching(allow(None)).clause is None
    assert guarded._matching(allow({"access": ["secret", "board"]})).clause == {"access": {"$in": ["secret"]}}
    both = {"$and": [{"access": {"$in": ["secret"]}}, {"version": {"$in": ["1"]}}]}
    assert guarded._matching(allow({"access": "secret", "version": "1"})).clause == both


@pytest.mark.parametrize("nobody", [[], (), None, ""])
def test_no_principal_sees_nothing_E16(guarded, nobody):
    assert guarded.search("train", 99, {"access": nobody}) == []


def test_an_unlabelled_vector_is_never_found_E5(tmp_path, fake):
    with Index.open(tmp_path, fake) as index:
        index.add(tree_of("Green tea."))
        index._vectors.upsert(
            ids=["stray", "liar"], embeddings=[fake.query("late train")] * 2, metadatas=[None, {"access": "public"}]
        )
        for where in (None, {"access": ["public", ""]}, ALL):
            assert texts(index.search("late train", 9, where)) == ["Green tea."]
        assert len(index.verify()) == 2 and all("orphan vector" in problem for problem in index.verify())


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


def test_a_foreign_collection_is_refused(tmp_path, fake):
    client(tmp_path).create_collection("s2b", configuration={"hnsw": {"space": "cosine"}})
    with pytest.raises(ValueError, match="was not written by s2b_lab"):
        Index.open(tmp_path, fake)


def test_a_new_collection_measures_cosine_E2(opened, fake):
    assert opened(fake)._vectors.configuration["hnsw"]["space"] == "cosine"


def test_a_file_is_not_a_folder(tmp_path, fake):
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(ValueError, match=r"notes\.txt' is a file"):
        Index.open(tmp_path / "notes.txt", fake)


def test_a_folder_deleted_underneath_is_named(tmp_path, fake):
    index = Index.open(tmp_path / "index", fake)
    index.add(tree_of("Green tea."))
    shutil.rmtree(tmp_path / "index")
    for use in (
        lambda: index.search("tea"),
        lambda: index.add(tree_of("x")),
        lambda: Index.open(tmp_path / "index", fake),
    ):
        with pytest.raises(FileNotFoundError, match=r"index folder '.*index' was deleted"):
            use()
    index.close()
    with Index.open(tmp_path / "index", fake) as fresh:
        assert fresh.search("tea") == [] and fresh.add(tree_of("Green tea.")).added == 1


def test_a_collection_deleted_underneath_is_named(tmp_path, fake):
    with Index.open(tmp_path, fake) as index:
        index.add(tree_of("Green tea."))
        client(tmp_path).delete_collection("s2b")
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
    with Index.open(tmp_path / "index", fake) as index:
        index.add(tree_of("Green tea."))
    shutil.copytree(tmp_path / "index", tmp_path / "copy")  # Chroma still holds the first one's file
    file = tmp_path / "copy" / "chroma.sqlite3"
    file.write_bytes(file.read_bytes()[: int(file.stat().st_size * part)] if part else b"no database" * 999)
    with pytest.raises(OSError, match=r"cannot use the index in '.*copy' \(.*(malformed|not a database).*add the doc"):
        Index.open(tmp_path / "copy", fake)


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
        shutil.copy(good / "chroma.sqlite3", half)  # the folder may be written, its file not
        printed = run_python(READ_ONLY, good, empty, empty / "missing", half, HOME=root).stdout.splitlines()
        for path in (good, empty):
            path.chmod(0o755)
    named = (good, empty, empty / "missing", half)
    assert [line.split(" cannot")[0] for line in printed] == [f"PermissionError the index folder '{p}'" for p in named]
    assert all("is read-only: make it writable, or open a copy" in line for line in printed)


def test_a_collection_in_the_place_of_the_documents_is_refused(tmp_path, fake):
    client(tmp_path).create_collection("s2b-documents")
    with pytest.raises(ValueError, match=r"'s2b-documents' in .* is no document store .* another name than 's2b'"):
        Index.open(tmp_path, fake)


def test_an_index_in_the_place_of_the_documents_is_refused(tmp_path, fake):
    Index.open(tmp_path, fake, "s2b").close()
    chroma = client(tmp_path)
    chroma.delete_collection("s2b-documents")
    chroma.get_collection("s2b").modify(name="s2b-documents")
    with pytest.raises(ValueError, match="is no document store"):
        Index.open(tmp_path, fake)


# --- finding and repairing what is wrong ---


@pytest.mark.parametrize("damage", ["{", "null", "[]", '{"format": 1}', '{"document": {"sections": 5}}'])
@pytest.mark.parametrize("repair", ["add", "delete"])
def test_a_damaged_document_is_named_and_repaired(tmp_path, fake, damage, repair):
    with Index.open(tmp_path, fake) as index:
        index.add(tree_of("Green tea.", "hurt"))
        index.add(tree_of("Late train.", "well"))
        index._documents.upsert(ids=["hurt"], embeddings=[[1.0]], documents=[damage])
    with pytest.warns(UserWarning, match="record of document 'hurt' is damaged .* add the document again, or delete"):
        index = Index.open(tmp_path, fake)
    with index, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert texts(index.search("tea", 9)) == ["Late train."] and list(index.tree.documents) == ["well"]
        assert any("document 'hurt' is damaged" in problem for problem in index.verify())
        fake.embedded.clear()
        index.add(tree_of("Later train.", "well"))
        report = index.add(tree_of("Green tea.", "hurt")) if repair == "add" else index.delete("hurt")
        assert report == (Report(kept=1, documents=1) if repair == "add" else Report(deleted=1, documents=1))
        assert fake.embedded == ["Later train."] and index.verify() == []
        assert len(index.search("tea", 9)) == (2 if repair == "add" else 1)


def test_a_lost_vector_is_found_and_put_back(opened, fake):
    index = opened(fake)
    tree = tree_of(sentences_of("green tea", "late train"))
    index.add(tree)
    index._vectors.delete(ids=[record for record in index._owners if record.startswith("d/0/p1/s1#")])
    assert len(index.verify()) == 1 and "missing vector 'd/0/p1/s1#" in index.verify()[0]
    assert index.add(tree) == Report(added=1, kept=1) and index.verify() == []
    assert texts(index.search("green tea", 1)) == ["Green tea."]


def test_a_lost_document_is_found_and_swept(tmp_path, fake):
    with Index.open(tmp_path, fake) as index:
        index.add(tree_of("Green tea.", "lost"))
        index.add(tree_of("Late train.", "kept"))
        index._documents.delete(ids=["lost"])
    with Index.open(tmp_path, fake) as index:
        assert ["orphan" in problem for problem in index.verify()] == [True]
        assert texts(index.search("tea", 9)) == ["Late train."]
        assert index.add(tree_of("Late train.", "kept")) == Report(kept=1, deleted=1)
        assert index.verify() == [] and index._vectors.count() == 1


def test_a_lost_parent_is_found(index):
    index.add(tree_of("Green tea."))
    record = json.loads(index._documents.get(ids=["d"])["documents"][0])
    record["chunks"] = [chunk for chunk in record["chunks"] if chunk[0] != "d/0/p1"]
    index._documents.upsert(ids=["d"], embeddings=[[1.0]], documents=[json.dumps(record)])
    assert index.verify() == ["missing parent 'd/0/p1' of chunk 'd/0/p1/s1'"]
    assert index.add(tree_of("Green tea.")) == Report(kept=1, documents=1) and index.verify() == []


def test_a_wrong_label_is_found(index):
    index.add(tree_of("Green tea.", access="secret"))
    index._vectors.update(ids=list(index._owners), metadatas=[{"access": "public"}])
    assert "labelled" in index.verify()[0] and index.search("tea") == []


def test_reports_add_up():
    assert Report(1, 2, 3, 4) + Report(10, 20, 30, 40) == Report(11, 22, 33, 44)
