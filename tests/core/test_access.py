"""Who may read what, after every expansion."""

import dataclasses
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import SECRET, by_text, en7, hit_list, scenes, secret_tree, some_hits, texts_of
from strategies import documents, sizes

from s2b_lab.core.access import covered_text, public_text, readable, readable_chunks
from s2b_lab.core.build import multi_granular, parents_and_children, sentence_tree
from s2b_lab.core.expand import auto_merge, parent_document, sentence_window
from s2b_lab.core.headings import document
from s2b_lab.core.text import Span
from s2b_lab.core.tree import ChunkTree


@pytest.mark.parametrize(
    ("access", "expected"),
    [
        (("public",), "Two is open.\n\nThree is open."),
        (("public", "finance"), "Two is open.\n\nThree is open.\n\n## 2 Annex\n\nFour is secret. Five is secret."),
        ((), None),
        (("finance",), None),
    ],
    ids=["E16-public", "E16-finance", "E16-nobody", "E16-other"],
)
def test_a_window_stops_where_reading_must_stop(access, expected):
    tree = secret_tree()
    hits = hit_list(by_text(tree, "Three"))
    contexts = sentence_window(hits, tree, 3, within=None, access=access)
    # Without the annex a window of three on the left is two sentences and the heading.
    wanted = [] if expected is None else ["## 1 Public\n\nOne is open. " + expected]
    assert texts_of(contexts) == wanted


def test_hits_in_unreadable_sections_are_dropped_E16():
    tree = secret_tree()
    hits = hit_list(by_text(tree, "Four", "Six"))
    for expand in (sentence_window, parent_document, auto_merge):
        (context,) = expand(hits, tree)
        assert "secret" not in context.text and [h.chunk for h in context.hits] == [hits[1].chunk]
        assert expand(hits, tree, access=()) == []
        assert len(expand(hits, tree, access=["public", "finance"])) == 2


def test_a_window_never_jumps_over_a_secret_that_the_tree_lacks_E16():
    full = secret_tree()
    tree = ChunkTree(full.documents.values(), [c for c in full if full.section(c).access == "public"])
    hits = hit_list(by_text(tree, "Three", "## 3"))
    contexts = sentence_window(hits, tree, 1, within=None)
    assert texts_of(contexts) == ["Two is open.\n\nThree is open.", "## 3 After\n\nSix is open."]


def test_a_window_beyond_a_secret_does_not_widen_another_one_E16():
    text = "## 1 A\n\nOne. Two. Three.\n\n## 2 B\n\nSecret.\n\n## 3 C\n\nFour. Five. Six. Seven."
    tree = sentence_tree(document("d", text, section_access={2: "finance"}))
    contexts = sentence_window(hit_list(by_text(tree, "Three", "Seven")), tree, 3, within=None)
    assert texts_of(contexts) == ["## 1 A\n\nOne. Two. Three.", "Four. Five. Six. Seven."]


def test_a_hit_carries_the_chunk_of_the_tree():
    tree, (hit,) = en7(1)
    old = dataclasses.replace(hit, chunk=dataclasses.replace(hit.chunk, text="Bravo", span=Span(0, 5)))
    (context,) = sentence_window([old], tree, 0)
    assert (context.text, context.hits) == ("Bravo two is here.", (hit,))


def test_a_whole_document_is_cut_to_what_may_be_read_E16():
    tree = parents_and_children(document("d", SECRET, section_access={2: "finance"}), None, 60, 0)
    contexts = parent_document(hit_list(tree.indexed), tree)
    assert sorted(texts_of(contexts)) == sorted(
        [SECRET[: SECRET.index("## 2")].strip(), SECRET[SECRET.index("## 3") :].strip()]
    )
    assert all(c.span.contains(hit.chunk.span) for c in contexts for hit in c.hits)
    # A hit on the whole text says something about the secret too.
    assert parent_document(hit_list([tree["d/p1"]]), tree) == []


@given(scenes, sizes())
def test_nothing_unreadable_is_ever_delivered_E16(scene, bounds):
    docs, labels, window_size, within, merge, random = scene
    size, overlap = bounds
    trees = [
        sentence_tree(docs),
        parents_and_children(docs, 3 * size, size, overlap),
        parents_and_children(docs, None, size, overlap),
        multi_granular(docs, size),
    ]
    for tree in trees:
        hits = some_hits(tree, random)
        results = [parent_document(hits, tree, 9, level=level, access=labels) for level in (None, "section")]
        results.append(auto_merge(hits, tree, access=labels))
        if tree is trees[0]:
            results.append(sentence_window(hits, tree, window_size, within, merge, access=labels))
        for context in itertools.chain(*results):
            doc = tree.documents[context.doc_id]
            assert context.text == doc.text[context.span.start : context.span.end] == context.text.strip()
            for section in doc.sections:
                assert section.access in labels or not section.span.overlaps(context.span)
            assert context.hits and all(context.span.contains(h.chunk.span) for h in context.hits)


@given(documents(("public", "finance")), st.integers(0, 200), st.integers(0, 200))
def test_readable_equals_the_set_of_positions(docs, start, length):
    for doc in docs:
        span = Span(min(start, len(doc.text)), min(start + length, len(doc.text)))
        seen = {i for s in doc.sections if s.access == "public" for i in range(s.span.start, s.span.end)}
        parts = readable(span, doc, ("public",))
        assert [i for p in parts for i in range(p.start, p.end)] == sorted(seen & set(range(span.start, span.end)))
        assert all(a.end < b.start for a, b in itertools.pairwise(parts))
        assert readable(span, doc, ()) == []


def test_access_may_be_an_iterator():
    tree, hits = en7(2)
    assert len(sentence_window(hits, tree, access=iter(["public"]))) == 1


def test_public_text_ends_where_the_first_closed_section_begins():
    open_one, closed = document("d", SECRET), document("d", SECRET, section_access={2: "finance"})
    assert public_text(open_one) == SECRET
    assert public_text(closed) == SECRET[: SECRET.index("## 2 Annex")]
    assert public_text(document("d", SECRET, access="finance")) == ""


def test_covered_text_hides_closed_sections_wherever_they_stand_and_moves_nothing():
    covered = covered_text(document("d", SECRET, section_access={2: "finance"}))
    assert len(covered) == len(SECRET)
    assert "secret" not in covered and "Annex" not in covered and "Seven is open." in covered
    assert [i for i, c in enumerate(covered) if c.isspace()] == [i for i, c in enumerate(SECRET) if c.isspace()]


@given(documents(("public", "finance", "hr")))
def test_readable_chunks_are_those_whose_every_character_may_be_read(docs):
    tree = parents_and_children(docs, None, 30, 5)
    found = readable_chunks(tree, ("public", "hr"))
    for chunk in tree.indexed:
        labels = {s.access for s in tree.document(chunk).sections if s.span.overlaps(chunk.span)}
        assert (chunk in found) == (labels <= {"public", "hr"})


def test_a_span_is_public_where_every_section_that_it_touches_is():
    doc = document("d", SECRET, section_access={2: "finance"})
    annex = next(section.span for section in doc.sections if section.title.endswith("Annex"))
    assert doc.is_public(Span(0, annex.start)) and doc.is_public(Span(annex.end, len(SECRET)))
    assert not doc.is_public(Span(annex.start - 1, annex.start + 1)) and not doc.is_public(annex)
