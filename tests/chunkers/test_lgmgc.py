"""Parents where the model would end, halves and quarters inside, no sentence cut, no label crossed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import documents
from wishes import Wishes

from s2b_lab import HashEmbedder, Index, Retriever, parent_document
from s2b_lab.chunkers.lgmgc import lgmgc
from s2b_lab.chunkers.logits import logits_blocks
from s2b_lab.core.build import multi_granular
from s2b_lab.core.headings import document
from s2b_lab.core.sentences import sentences
from s2b_lab.core.text import Span

TEXT = " ".join(f"Sentence {n} has just these words." for n in range(24))


def parents_of(tree):
    return [chunk for chunk in tree if chunk.level == "passage" and chunk.parent_id is None]


def test_the_parents_are_the_cuts_of_logits_and_their_parts_are_halves_and_quarters():
    doc = document("d", TEXT)
    tree = lgmgc(doc, Wishes(), 48)
    parents = parents_of(tree)
    assert [p.span for p in parents] == [Span(b.span.start, b.cut) for b in logits_blocks(TEXT, Wishes(), 48)]
    assert len(parents) > 3 and {p.id for p in parents} == {f"d/0/p{n}" for n in range(1, len(parents) + 1)}
    large = max(parents, key=lambda p: len(p.span))
    sizes = [len(c.text.split()) for c in tree.children(large)]
    assert sizes and max(sizes) <= 24 and {*tree.indexed} == {c for c in tree if c.level == "passage"}
    assert all(large.span.contains(c.span) for c in tree.children(large))


@given(documents(("public", "staff")), st.integers(4, 30))
def test_no_sentence_is_cut_no_label_crossed_and_nothing_is_lost(docs, theta):
    tree = lgmgc(docs, Wishes(), theta)
    for doc in docs:
        whole = sentences(doc.text)
        parents = [p for p in parents_of(tree) if p.doc_id == doc.id]
        for chunk in (c for c in tree.indexed if c.doc_id == doc.id):
            assert len(doc.labels(chunk.span)) == 1
            for sentence in whole:
                inside = chunk.span.contains(sentence)
                # A sentence may be shared by two sections where a label stands inside a paragraph.
                assert inside or not chunk.span.overlaps(sentence) or len(doc.labels(sentence)) > 1
        assert all(any(p.span.overlaps(s) for p in parents) for s in whole)


def test_a_sentence_larger_than_theta_stands_alone():
    text = "One. Two. " + "Word " * 30 + "end. Three. Four."
    tree = lgmgc(document("d", text), Wishes(), 8)
    assert [p.text for p in parents_of(tree) if "Word" in p.text] == ["Word " * 30 + "end."]


def test_front_matter_is_no_part_of_a_parent():
    text = "---\ntitle: Mine\n---\n\n# Head\n\nOne two three. Four five six."
    assert [p.text for p in parents_of(lgmgc(document("d", text), Wishes(), 50))] == [
        "# Head\n\nOne two three. Four five six."
    ]


def test_an_empty_document_has_no_parent():
    assert len(lgmgc([document("d", ""), document("e", " \n")], Wishes())) == 0


def test_wrong_input_is_named():
    doc = document("d", TEXT)
    with pytest.raises(ValueError, match="theta must be at least 1, not 0"):
        lgmgc(doc, Wishes(), 0)
    for docs, model in (("text", Wishes()), (doc, None), ([doc, "x"], Wishes())):
        with pytest.raises(TypeError):
            lgmgc(docs, model)


# --- parents of one's own in `multi_granular` ---


def test_any_cut_gives_parents_to_halves_and_quarters():
    doc = document("d", "# A\n\nOne two. Three four. Five six.\n\n# B\n\nSeven eight. Nine ten.")
    ends = [doc.text.index("Three") - 1, doc.text.index("\n\n# B"), doc.text.index("# B")]
    spans = [Span(0, ends[0]), Span(ends[0] + 1, ends[1]), Span(9, 9), Span(*ends[1:]), Span(ends[2], len(doc.text))]
    tree = multi_granular(doc, 6, parents=lambda given: spans if given is doc else [])
    assert [(p.id, p.span) for p in parents_of(tree)] == [
        ("d/1/p1", spans[0]), ("d/1/p2", spans[1]), ("d/2/p1", spans[4]),
    ]  # fmt: skip
    assert all(tree.parent(c).span.contains(c.span) for c in tree.indexed)


def test_parents_outside_the_text_or_of_another_kind_are_refused():
    doc = document("d", "One two.")
    with pytest.raises(ValueError, match="ends after the text of 'd', which has 8"):
        multi_granular(doc, parents=lambda _: [Span(0, 9)])
    for wrong in (3, lambda _: [(0, 3)], lambda _: None):
        with pytest.raises(TypeError, match="parents"):
            multi_granular(doc, parents=wrong)


# --- what is retrieved ---


class Counts(HashEmbedder):
    """Puts a text by the share of the word "tea" in it: the fewer other words, the nearer to the question."""

    def __init__(self):
        super().__init__(dimension=2)

    def passages(self, texts):
        shares = [sum(word.startswith("tea") for word in text.split()) / len(text.split()) for text in texts]
        return np.array([[np.cos(1 - share), np.sin(1 - share)] for share in shares], dtype=np.float32)

    def query(self, text):
        return np.array([1, 0], dtype=np.float32)


def test_a_parent_is_as_good_as_the_best_of_itself_and_all_below_it_also_when_the_index_is_opened_again(tmp_path):
    # One quarter is best of all, though its parent, and the mean of the family, is worse than the other one.
    good = "Tea tea tea tea is here. " + "Nothing of it is in this one. " * 4
    fair = "Some tea is here now. " * 6
    doc = document("d", f"# A\n\n{good}\n\n# B\n\n{fair}")
    tree = lgmgc(doc, Wishes(by=lambda prefix: prefix.rstrip().endswith("this one.") / 2), 40)
    index = Index.open(tmp_path, embedder=Counts())
    index.add(tree)
    index.close()
    opened = Index.open(tmp_path, embedder=Counts())
    hits = opened.search("tea", k=len(tree.indexed))
    assert len(hits) == len(tree.indexed)
    family = {}
    for hit in hits:
        chunk = opened.tree[hit.chunk.id]
        family.setdefault(chunk.parent_id or chunk.id, []).append(hit.score)
    naive = sorted(family, key=lambda key: -max(family[key]))
    for k in (1, 2, 9):
        found = Retriever(opened, expand=parent_document, k=k)("tea").contexts
        assert [(c.span, c.score) for c in found] == [
            (opened.tree[key].span, pytest.approx(max(family[key]))) for key in naive[:k]
        ]
    assert naive == ["d/1/p1", "d/2/p1"]
    assert sorted(family, key=lambda key: -np.mean(family[key])) == ["d/2/p1", "d/1/p1"], "the mean would not do"
    whole = {hit.chunk.id: hit.score for hit in hits if hit.chunk.id in family}
    assert sorted(whole, key=whole.get) == naive, "nor would the parent by itself"
    opened.close()
