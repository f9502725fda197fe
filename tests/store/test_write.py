"""Writing an index: what is embedded, kept and deleted, and what is found wrong and repaired."""

import json
import re
import warnings

import numpy as np
import pytest
from heard import heard
from samples import WORDS, ids, sentences_of, texts, tree_of

from s2b_lab.core import rank
from s2b_lab.core.build import parents_and_children, sentence_tree
from s2b_lab.core.embedded import Copies
from s2b_lab.core.headings import document
from s2b_lab.core.text import Span
from s2b_lab.core.tree import Chunk, ChunkTree
from s2b_lab.embed import HashEmbedder
from s2b_lab.index import Index
from s2b_lab.store.plan import pieces
from s2b_lab.store.write import Report

# --- adding, changing, deleting ---


def test_adding_twice_changes_nothing_and_embeds_nothing_E4(opened, fake, policy):
    index = opened(fake)
    index.add(policy)
    tree, answers = index.tree, index.search("flights", 9)
    fake.embedded.clear()
    index._store.put = index._store.vectors.upsert = None  # nothing is written
    assert index.add(policy) == Report(kept=len(policy.indexed))
    assert fake.embedded == []
    assert list(index.tree) == list(tree) and index.search("flights", 9) == answers


def test_a_changed_document_leaves_no_stale_child_B2(opened, fake):
    index = opened(fake)
    index.add(tree_of("Zebra crossing rule old."))
    assert index.add(tree_of("New text about tea.")) == Report(added=1, deleted=1, documents=1)
    assert texts(index.search("zebra crossing rule", 9)) == ["New text about tea."]
    assert index.count() == 1 and index._store.vectors.count() == 1 and index.verify() == []


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
    assert index._store.vectors.get(where={"doc_id": "a"})["ids"] == [] and index.verify() == []


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
    index._store.batch = 7
    trees = sentence_tree(
        [document(f"d{n}", sentences_of(*(f"{w} {n} {v}" for w in WORDS for v in "ab"))) for n in range(4)]
    )
    assert index.add(trees).added == index.count() == len(trees.indexed) == 4 * 2 * len(WORDS)
    assert index.verify() == []
    report = index.add(sentence_tree([document(f"d{n}", "Gone.") for n in range(4)]))
    assert report == Report(4, 0, len(trees.indexed), 4) and index._store.vectors.count() == 4


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


def test_a_chunk_of_zero_width_from_another_cutter_is_not_embedded(index, fake):
    doc = document("d", "Tea.\u200b\ufeff")
    seen, unseen = (
        Chunk(f"d/p{n}", "d", span, span.of(doc.text), "passage", None, "d/0")
        for n, span in enumerate((Span(0, 4), Span(4, 6)))
    )
    assert index.add(ChunkTree([doc], [seen, unseen])) == Report(added=1, documents=1)
    assert fake.embedded == ["Tea."] and index.verify() == [] and ids(index.search("tea")) == ["d/p0"]


@pytest.mark.parametrize("blank", ["\0", "\0\0 \0", "\u2003\0", "\u200b"])
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
        kept = index._store.vectors.metadata
    assert (kept["query_prefix"], kept["passage_prefix"]) == ("query: ", "passage: ")
    with pytest.raises(ValueError, match=r"'passage: '.*'text: '"):
        Index.open(tmp_path, HashEmbedder(query_prefix="query: ", passage_prefix="text: "))


def test_a_chunk_that_is_too_long_is_split_with_a_warning_E12():
    model = HashEmbedder(max_tokens=60)
    long = " ".join(f"{word}{n}" for n in range(15) for word in WORDS)
    tree = parents_and_children(document("d", f"Green tea.\n\n## Long\n\n{long}"), 9000, 8000, 0)
    with Index.open(None, model) as index:
        with heard() as told:
            report = index.add(tree)
        (warning,) = told
        assert warning.category is UserWarning and warning.filename == __file__
        assert re.search(r"chunk 'd/1/p1/c1' has 2\d\d tokens, hash reads 60", str(warning.message))
        assert report.added == index.count() >= 5
        hits = index.search("currency14 budget14 manager14", 9)
        assert ids(hits) == ["d/1/p1/c1", "d/0/p1/c1"] and long in hits[0].chunk.text
        pieces = [hit for hit in hits if hit.chunk.id == "d/1/p1/c1"]
        whole = rank.cosine(model.query("currency14 budget14 manager14").tolist(), model.passages([long])[0].tolist())
        assert pieces[0].score > 1.3 * whole  # its end is seen, not averaged away
        with heard() as told:
            assert index.add(tree) == Report(kept=report.added)
        assert not told
        assert index.verify() == []
        assert index.delete("d").deleted == report.added and index._store.vectors.count() == 0


def test_the_real_limit_is_kept_E12(en, recwarn):
    child = " ".join(f"word{n % 7}" for n in range(599)) + " giraffe"
    tree = parents_and_children(document("d", child), 9000, 9000, 0)
    with Index.open(None, en) as index:
        assert index.add(tree).added >= 3
        assert all(
            en.count_tokens(text) <= 256 for text in pieces(tree.indexed[0], child, en, Copies(tree.documents["d"]))
        )
    assert any("all-MiniLM-L6-v2 reads 256" in str(warning.message) for warning in recwarn)


@pytest.mark.parametrize("wrong", [np.full((1, 256), np.nan), np.ones((1, 8)), np.ones((0, 256)), np.ones((2, 256))])
def test_vectors_that_cannot_be_compared_are_not_written_E7(index, fake, wrong, monkeypatch):
    index.add(tree_of("Green tea."))
    monkeypatch.setattr(type(fake), "passages", lambda self, texts: wrong.astype(np.float32))
    with pytest.raises(ValueError, match="1 finite vectors of 256 dimensions are needed, but hash gave"):
        index.add(tree_of("Late train."))
    assert index.verify() == [] and texts(index.search("tea")) == ["Green tea."]


# --- finding and repairing what is wrong ---


@pytest.mark.parametrize("damage", ["{", "null", "[]", '{"format": 1}', '{"document": {"sections": 5}}'])
@pytest.mark.parametrize("repair", ["add", "delete"])
def test_a_damaged_document_is_named_and_repaired(tmp_path, fake, damage, repair):
    with Index.open(tmp_path, fake) as index:
        index.add(tree_of("Green tea.", "hurt"))
        index.add(tree_of("Late train.", "well"))
        index._store.archive.put("hurt", damage, index._store.present("hurt"))
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
    index._store.vectors.delete(
        ids=[record for record in index._store.catalogue.owners if record.startswith("d/0/p1/s1#")]
    )
    found = index.verify()
    assert len(found) == 1 and "missing vector 'd/0/p1/s1#" in found[0]
    if index._store.repairs:
        assert "put right, Chroma's copy was made anew from 2 kept vectors" in found[0]
        assert index.verify() == [] and index.add(tree) == Report(kept=2)
    else:
        assert index.verify() == found and index.add(tree) == Report(added=1, kept=1)
    assert index.verify() == [] and texts(index.search("green tea", 1)) == ["Green tea."]


def test_a_vector_that_the_folder_lost_is_named_and_embedded_again(tmp_path, fake):
    with Index.open(tmp_path, fake) as index:
        tree = tree_of(sentences_of("green tea", "late train"))
        index.add(tree)
        with index._store.archive._change() as table:
            table.execute("DELETE FROM vectors WHERE record LIKE 'd/0/p1/s1#%'")
        assert [problem.split("#")[0] for problem in index.verify()] == ["missing vector 'd/0/p1/s1"]
        assert index.verify()[0].endswith("add the document 'd' again")
    fake.embedded.clear()
    with Index.open(tmp_path, fake) as index:
        assert index.add(tree) == Report(added=1, kept=1) and fake.embedded == ["Green tea."]
        assert index.verify() == [] and texts(index.search("green tea", 1)) == ["Green tea."]


def test_a_lost_document_is_found_and_swept(server, fake):
    with Index.open(server.address, fake, "lost") as index:
        index.add(tree_of("Green tea.", "lost"))
        index.add(tree_of("Late train.", "kept"))
        index._store.documents.delete(ids=["lost"])
    with Index.open(server.address, fake, "lost") as index:
        assert ["orphan" in problem for problem in index.verify()] == [True]
        assert texts(index.search("tea", 9)) == ["Late train."]
        assert index.add(tree_of("Late train.", "kept")) == Report(kept=1, deleted=1)
        assert index.verify() == [] and index._store.vectors.count() == 1


def test_a_lost_parent_is_found(index):
    index.add(tree_of("Green tea."))
    record = json.loads(index._store.documents.get(ids=["d"])["documents"][0])
    record["chunks"] = [chunk for chunk in record["chunks"] if chunk[0] != "d/0/p1"]
    index._store.documents.upsert(ids=["d"], embeddings=[[1.0]], documents=[json.dumps(record)])
    assert index.verify() == ["missing parent 'd/0/p1' of chunk 'd/0/p1/s1'"]
    assert index.add(tree_of("Green tea.")) == Report(kept=1, documents=1) and index.verify() == []


def test_a_wrong_label_is_found(opened, fake):
    index = opened(fake)
    index.add(tree_of("Green tea.", access="secret"))
    index._store.vectors.update(ids=list(index._store.catalogue.owners), metadatas=[{"access": "public"}])
    assert index.search("tea") == []
    assert "labelled" in index.verify()[0] and bool(index.verify()) != index._store.repairs


def test_other_numbers_in_chroma_are_found_and_put_right(tmp_path, fake):
    with Index.open(tmp_path, fake) as index:
        index.add(tree_of(sentences_of("green tea", "late train")))
        record = next(iter(index._store.catalogue.owners))
        index._store.vectors.update(ids=[record], embeddings=[fake.query("old hotel")])
        assert [problem.split("#")[0] for problem in index.verify()] == ["vector 'd/0/p1/s1"]
        assert index.verify() == [] and texts(index.search("green tea", 1)) == ["Green tea."]


def test_reports_add_up():
    assert Report(1, 2, 3, 4) + Report(10, 20, 30, 40) == Report(11, 22, 33, 44)
