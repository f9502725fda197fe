"""Trees of chunks, and how they are built."""

import dataclasses
import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import EN7, POLICY, solid
from strategies import documents, sizes, units

from s2b_lab.core.build import flat_tree, multi_granular, parents_and_children, sentence_tree
from s2b_lab.core.graphemes import graphemes
from s2b_lab.core.headings import document
from s2b_lab.core.sentences import sentences
from s2b_lab.core.sizes import count
from s2b_lab.core.split import by_paragraph, by_sentence, recursive
from s2b_lab.core.text import Document, Section, Span
from s2b_lab.core.tree import Chunk, ChunkTree


def pieces(text, spans):
    return [span.of(text) for span in spans]


def build(docs, bounds, unit="char"):
    size, overlap = bounds
    return [
        parents_and_children(docs, 3 * size, size, overlap, unit),
        parents_and_children(docs, None, size, overlap, unit),
        sentence_tree(docs),
        multi_granular(docs, size, unit),
    ]


@given(documents(), sizes(), units)
def test_trees_are_nested_and_exact(docs, bounds, unit):
    for tree in build(docs, bounds, unit):
        for chunk in tree:
            text = tree.document(chunk).text
            assert text[chunk.span.start : chunk.span.end] == chunk.text and chunk.text.strip()
            assert tree.parent(chunk).span.contains(chunk.span)
            whole_document = chunk.parent_id is None and chunk.id == f"{chunk.doc_id}/p1"
            assert whole_document or tree.section(chunk).span.contains(chunk.span)
        for doc in docs:
            leaves = [c.span for c in tree.indexed if c.doc_id == doc.id]
            assert {i for s in leaves for i in range(s.start, s.end)} >= set(solid(doc.text))


@given(documents(), sizes(), units)
def test_limits_hold_in_trees(docs, bounds, unit):
    size, overlap = bounds
    tree = parents_and_children(docs, 2 * size, size, overlap, unit)
    for chunk in tree:
        limit = {"passage": size if chunk in tree.indexed else 2 * size}.get(chunk.level)
        if limit:
            assert count(chunk.text, unit) <= limit or len(list(graphemes(chunk.text))) == 1


@given(documents(), sizes())
def test_the_same_chunks_in_any_order_make_the_same_tree(docs, bounds):
    for tree in build(docs, bounds):
        again = ChunkTree(docs, reversed(list(tree)), [c.id for c in tree.indexed])
        assert list(again) == list(tree) and again.indexed == tree.indexed
        assert list(ChunkTree(docs, tree, tree.indexed).indexed) == tree.indexed


def test_ids_and_roles_of_parents_and_children_B6():
    tree = parents_and_children(document("travel-en", POLICY), 80, 40, 0)
    assert [c.id for c in tree] == [
        "travel-en/0",
        "travel-en/0/p1",
        "travel-en/0/p1/c1",
        "travel-en/1",
        "travel-en/1/p1",
        "travel-en/1/p1/c1",
        "travel-en/1/p1/c2",
        "travel-en/1/p2",
        "travel-en/1/p2/c1",
        "travel-en/2",
        "travel-en/2/p1",
        "travel-en/2/p1/c1",
        "travel-en/2/p1/c2",
        "travel-en/2/p2",
        "travel-en/2/p2/c1",
    ]
    assert [c.id for c in tree.indexed] == [c.id for c in tree if "/c" in c.id]
    child = tree["travel-en/1/p1/c2"]
    assert (child.level, child.section_id, tree.parent(child).id) == ("passage", "travel-en/1", "travel-en/1/p1")
    assert tree.parent(tree.parent(child)).level == "section"
    assert [c.id for c in tree.children(tree.parent(child))] == ["travel-en/1/p1/c1", "travel-en/1/p1/c2"]
    assert tree.siblings(child) == tree.children(tree.parent(child))


def test_the_heading_opens_the_first_parent():
    tree = parents_and_children(document("travel-en", POLICY), 60, 60, 0)
    assert tree["travel-en/1/p1"].text.startswith("## 1 Invoices\n\nKeep")
    assert sentence_tree(document("travel-en", POLICY))["travel-en/1/p1"].text == "## 1 Invoices"


def test_the_whole_document_as_one_parent():
    tree = parents_and_children(document("travel-en", POLICY), None, 60, 0)
    whole = tree["travel-en/p1"]
    assert whole.text == POLICY.strip() and tree.parent(whole) == whole
    assert [c.id for c in tree.children(whole)] == [c.id for c in tree.indexed]
    assert tree["travel-en/2/c1"].text.startswith("## 2 Deadline")
    assert all(tree[c.section_id].level == "section" for c in tree.indexed)


def test_sentence_tree_levels():
    tree = sentence_tree(document("travel-en", POLICY))
    sentence = tree["travel-en/2/p2/s2"]
    assert sentence.text == "If the system fails, log a ticket."
    assert tree.parent(sentence).id == "travel-en/2/p2" and tree.parent(tree.parent(sentence)).id == "travel-en/2"
    assert {c.level for c in tree.indexed} == {"sentence"}


def test_multi_granular_halves_and_quarters():
    doc = document("d", EN7)
    tree = multi_granular(doc, 16)
    assert [c.id for c in tree.indexed] == [c.id for c in tree if c.level == "passage"]
    parent = tree["d/0/p1"]
    assert parent.text == " ".join(EN7.split(". ")[:4]).replace("here ", "here. ") + "."
    assert tree.parent(parent) == parent
    assert tree["d/0/p1/h1"].text == "Alpha one is here. Bravo two is here."
    assert tree["d/0/p1/q1"].text == "Alpha one is here."
    assert {c.parent_id for c in tree.children(parent)} == {"d/0/p1"}


@given(documents(), st.integers(1, 60), units)
def test_multi_granular_never_cuts_a_sentence(docs, size, unit):
    tree = multi_granular(docs, size, unit)
    for doc in docs:
        edges = sentences(doc.text)
        starts, ends = {s.start for s in edges}, {s.end for s in edges}
        for chunk in tree.indexed:
            if chunk.doc_id == doc.id:
                assert chunk.span.start in starts and chunk.span.end in ends


def test_a_leaf_without_a_parent_is_its_own_parent_B9():
    doc = document("d", "two words")
    assert [c.text for c in parents_and_children(doc, 10, 3, 0, "word").indexed] == ["two words"]
    (only,) = multi_granular(doc, 10).indexed
    assert multi_granular(doc, 10).parent(only) == only


def test_sentences_stay_in_one_row_when_their_paragraph_is_lost():
    full = sentence_tree(document("d", POLICY))
    tree = ChunkTree(full.documents.values(), [c for c in full if c.id not in ("d/1/p2", "d/2")])
    assert tree.indexed == full.indexed
    assert tree.neighbours(tree.indexed[0], 0, 99) == full.indexed


def test_missing_stays_missing_B8():
    full = sentence_tree(document("d", EN7))
    sentence = full.indexed[0]
    tree = ChunkTree(full.documents.values(), [c for c in full if c.id != sentence.parent_id])
    with pytest.raises(KeyError, match=sentence.parent_id):
        tree.parent(sentence)
    assert sentence.parent_id not in tree and tree.indexed == full.indexed
    assert tree.neighbours(sentence, 0, 2) == full.indexed[:3]
    with pytest.raises(KeyError):
        tree["no such chunk"]


def test_neighbours_go_by_position_across_paragraphs_and_sections():
    tree = sentence_tree([document("a", POLICY), document("b", EN7)])
    row = [c for c in tree.indexed if c.doc_id == "a"]
    for place, chunk in enumerate(row):
        assert tree.neighbours(chunk, 2, 3) == row[max(0, place - 2) : place + 4]
    with pytest.raises(ValueError, match="-1"):
        tree.neighbours(row[0], -1)


def test_neighbours_of_a_child_are_children():
    tree = parents_and_children(document("a", POLICY), 80, 40, 0)
    children = tree.indexed
    assert tree.neighbours(children[1], 1, 2) == children[:4]
    parents = [tree["a/0/p1"], tree["a/1/p1"], tree["a/1/p2"]]
    assert tree.neighbours(parents[1]) == parents


def test_documents_keep_their_order_and_blank_ones_give_no_chunks():
    docs = [document("z", "Last. Word."), document("m", " \n"), document("a", "First.")]
    for make in (sentence_tree, parents_and_children, multi_granular):
        tree = make(docs)
        assert list(tree.documents) == ["z", "m", "a"]
        assert list(dict.fromkeys(c.doc_id for c in tree)) == ["z", "a"]
    assert len(sentence_tree([])) == 0


@pytest.mark.parametrize("make", [sentence_tree, parents_and_children, multi_granular])
def test_duplicate_document_ids_are_refused(make):
    with pytest.raises(ValueError, match="'d'"):
        make([document("d", "One."), document("d", "Two.")])


@pytest.mark.parametrize(
    ("sizes_given", "said"),
    [((0, 1, 0), "parent_size"), ((100, 0, 0), "child_size"), ((100, 20, 20), "child_size 20"), ((100, 101, 0), "101")],
)
def test_bad_sizes_of_trees_are_refused(sizes_given, said):
    with pytest.raises(ValueError, match=said):
        parents_and_children(document("d", EN7), *sizes_given)


def test_a_tree_refuses_chunks_that_do_not_fit_its_documents():
    doc = document("d", EN7)
    good = sentence_tree(doc).indexed[0]
    for bad, said in (
        (dataclasses.replace(good, doc_id="other"), "'other'"),
        (dataclasses.replace(good, text="Alpha"), good.id),
        (dataclasses.replace(good, span=Span(0, 5)), "span"),
    ):
        with pytest.raises(ValueError, match=said):
            ChunkTree([doc], [bad])
    with pytest.raises(ValueError, match="twice"):
        ChunkTree([doc], [good, good])


@pytest.mark.parametrize("above", [["x"], ["y", "x"], ["y", "z", "y"]], ids=["itself", "each other", "above"])
@pytest.mark.parametrize("level", ["section", "passage", "sentence"])
def test_a_tree_refuses_parents_in_a_circle(above, level):
    doc = document("d", "One.")
    names = dict(zip(["x", *above], above, strict=False))
    ring = [Chunk(name, "d", Span(0, 4), "One.", level, parent, "d/0") for name, parent in names.items()]
    with pytest.raises(ValueError, match="'x' is its own parent, or"):
        ChunkTree([doc], ring)


def test_a_tree_refuses_unknown_levels_and_names():
    doc, other = document("d", EN7), document("e", EN7)
    good = sentence_tree(doc).indexed[0]
    with pytest.raises(ValueError, match="must be one of section, passage, sentence, not 'chapter'"):
        ChunkTree([doc], [dataclasses.replace(good, level="chapter")])
    with pytest.raises(ValueError, match="'d/9', which is no chunk"):
        ChunkTree([doc], [good], [good.id, "d/9"])
    with pytest.raises(ValueError, match="'d/0/p1/s1' and its parent 'e/0' are in two documents"):
        ChunkTree([doc, other], [*sentence_tree(other), dataclasses.replace(good, parent_id="e/0")])


@pytest.mark.parametrize("make", [sentence_tree, parents_and_children, multi_granular])
def test_a_document_made_by_hand_has_all_its_text_chunked(make):
    tree = make(Document("d", "T", "One is. Two is.", "1", "public"))
    assert "One is. Two is." in [chunk.text for chunk in tree]
    assert [tree.section(c).id for c in tree.indexed] == ["d/0"] * len(tree.indexed)
    assert len(make(Document("d", "T", " \ufeff\n", "1", "public"))) == 0


@pytest.mark.parametrize("unseen", ["\ufeff", "\u200b", "\0", "\u200e\u2060 \u200d"], ids=ascii)
def test_what_cannot_be_seen_is_no_chunk(unseen):
    for split in (recursive, by_sentence, by_paragraph):
        assert split(f"\n{unseen}\n", 500) == []
    text = f"Hello.\n\n{unseen}\n\nBye."
    assert pieces(text, recursive(text, 6, 0)) == pieces(text, by_paragraph(text)) == ["Hello.", "Bye."]
    edges = [0, 8, 8 + len(unseen), len(text)]
    parts = tuple(Section(f"d/{n}", "", 1, Span(*ends), "public") for n, ends in enumerate(itertools.pairwise(edges)))
    docs = [document("c", text), Document("d", "T", text, "1", "public", parts), document("e", unseen)]
    for make in (sentence_tree, parents_and_children, multi_granular):
        assert all(set(chunk.text) & {"H", "B"} for chunk in make(docs))
    assert {c.doc_id for c in parents_and_children(docs, None, 500, 0)} == {"c", "d"}


@pytest.mark.parametrize(
    ("cluster", "unit"),
    [("\u0301", "token"), ("🇩🇪", "char"), ("🇩🇪", "token"), ("क्", "token")],
    ids=["marks", "flags", "flags-token", "conjuncts"],
)
def test_time_grows_in_proportion_to_a_run_of_one_kind(cluster, unit):
    def seconds(length):
        begin, text = time.process_time(), "a" + cluster * length
        count(text, unit)
        recursive(text, 500, 20, unit)
        return time.process_time() - begin

    # 8 times the text: 8 times the time if linear, 64 times if quadratic; a busy machine gets several tries.
    assert any(seconds(16_000) < 24 * seconds(2_000) + 0.02 for _ in range(6))


def test_chunks_are_values():
    chunk = sentence_tree(document("d", EN7)).indexed[0]
    assert chunk == Chunk(*(getattr(chunk, f.name) for f in dataclasses.fields(chunk)))
    with pytest.raises(dataclasses.FrozenInstanceError):
        chunk.text = "other"


def test_a_flat_tree_is_cut_just_as_it_was_given():
    doc = document("d", POLICY)
    spans = [Span(0, 20), Span(10, 40), Span(40, 41)]
    assert POLICY[40:41].strip()
    tree = flat_tree(doc, spans)
    assert [(c.id, c.span) for c in tree.indexed] == [("d/c1", spans[0]), ("d/c2", spans[1]), ("d/c3", spans[2])]
    assert all(c.parent_id is None and tree.parent(c) is c and c.text == c.span.of(POLICY) for c in tree)
    sections = {s.id: s.span for s in doc.sections}
    assert all(sections[c.section_id].start <= c.span.start < sections[c.section_id].end for c in tree)


def test_a_flat_tree_leaves_out_what_is_blank_and_refuses_what_is_outside():
    doc = document("d", "One.\n\nTwo.")
    assert [c.id for c in flat_tree(doc, [Span(0, 4), Span(4, 6), Span(6, 10)])] == ["d/c1", "d/c3"]
    with pytest.raises(ValueError, match=r"ends after the text of 'd', which has 10 characters"):
        flat_tree(doc, [Span(0, 11)])
