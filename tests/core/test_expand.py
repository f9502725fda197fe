"""Parents, windows and merging."""

import dataclasses
import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import EN7, SECRET, by_text, en7, hit_list, scenes, secret_tree, some_hits, texts_of
from strategies import sizes

from s2b_lab.core.access import readable
from s2b_lab.core.budget import within_budget
from s2b_lab.core.build import multi_granular, parents_and_children, sentence_tree
from s2b_lab.core.expand import as_found, auto_merge, parent_document, sentence_window
from s2b_lab.core.headings import document
from s2b_lab.core.sentences import sentences
from s2b_lab.core.text import Span, merge_spans
from s2b_lab.core.tree import Chunk, ChunkTree

# --- merging spans ---


def test_windows_of_the_design_merge_A2():
    assert merge_spans([Span(10, 15), Span(12, 17)]) == [Span(10, 17)]
    assert merge_spans([Span(1, 5), Span(0, 4)]) == [Span(0, 5)]


def test_a_gap_is_never_closed_A4():
    assert [s.of("AAA BBB CCC") for s in merge_spans([Span(0, 4), Span(8, 11)])] == ["AAA ", "CCC"]


spans = st.tuples(st.integers(0, 40), st.integers(1, 10)).map(lambda t: Span(t[0], t[0] + t[1]))


@given(st.lists(spans, max_size=12))
def test_merge_spans_equals_the_set_of_positions(found):
    inside = {i for span in found for i in range(span.start, span.end)}
    reference = []
    for i in sorted(inside):
        if i - 1 in inside:
            reference[-1] = Span(reference[-1].start, i + 1)
        else:
            reference.append(Span(i, i + 1))
    assert merge_spans(found) == reference


# --- sentence windows ---


@pytest.mark.parametrize("place", range(7), ids=lambda place: f"A1-{place}")
def test_a_window_holds_exactly_its_sentences(place):
    tree, hits = en7(place)
    expected = [(0, 2), (0, 3), (0, 4), (1, 5), (2, 6), (3, 6), (4, 6)][place]
    (context,) = sentence_window(hits, tree, 2)
    row = tree.indexed
    assert (context.span.start, context.span.end) == (row[expected[0]].span.start, row[expected[1]].span.end)


def test_overlapping_windows_are_one_passage_A2_A5():
    tree, hits = en7(2, 3)
    (context,) = sentence_window(hits, tree, 2)
    assert context.text == EN7[: EN7.index(" Golf")]
    assert len(sentences(context.text)) == 6
    assert context.score == hits[0].score and context.hits == tuple(hits)


def test_hits_in_document_order_or_not_give_the_same_passage_A5():
    tree, _ = en7()
    later_first = hit_list([tree.indexed[3], tree.indexed[2], tree.indexed[3]])
    (context,) = sentence_window(later_first, tree, 2)
    assert [hit.rank for hit in context.hits] == [1, 2]
    assert context.text.startswith("Alpha") and context.text.endswith("six is here.")


def test_touching_windows_merge_and_separate_ones_do_not_A4():
    tree, hits = en7(1, 4)
    assert texts_of(sentence_window(hits, tree, 1)) == [EN7[: EN7.index(" Golf")]]
    tree, hits = en7(1, 5)
    assert texts_of(sentence_window(hits, tree, 1)) == [EN7[: EN7.index(" Delta")], EN7[EN7.index("Echo") :]]


def test_delivered_text_is_a_slice_A7():
    text = EN7.replace(" Delta", "\r\n   Delta")
    tree = sentence_tree(document("d", text))
    for place in range(7):
        (context,) = sentence_window(hit_list([tree.indexed[place]]), tree, 1)
        assert context.text in text and context.text == context.span.of(text)


def test_the_switches_switch_A8():
    text = "# T\n\nOne is here. Two is here.\n\nThree is here. Four is here.\n\n## 2 Next\n\nFive is here. Six is here."
    tree = sentence_tree(document("d", text))
    hits = hit_list(by_text(tree, "Three", "Four"))
    (section,) = sentence_window(hits, tree, 1)
    assert section.text == "Two is here.\n\nThree is here. Four is here."
    assert texts_of(sentence_window(hits, tree, 1, within="paragraph")) == ["Three is here. Four is here."]
    (everywhere,) = sentence_window(hits, tree, 1, within=None)
    assert everywhere.text == "Two is here.\n\nThree is here. Four is here.\n\n## 2 Next"
    assert texts_of(sentence_window(hits, tree, 1, merge=False)) == [
        "Two is here.\n\nThree is here. Four is here.",
        "Three is here. Four is here.",
    ]
    assert texts_of(sentence_window(hits, tree, 0)) == ["Three is here. Four is here."]


def test_windows_of_two_sections_merge_only_without_a_clip():
    text = "# T\n\nOne is here.\n\n## 2 Next\n\nFive is here."
    tree = sentence_tree(document("d", text))
    hits = hit_list(by_text(tree, "One", "## 2"))
    assert len(sentence_window(hits, tree, 1)) == 2
    assert len(sentence_window(hits, tree, 1, within=None)) == 1


def test_different_documents_never_merge():
    tree = sentence_tree([document("a", EN7), document("b", EN7)])
    hits = hit_list([c for c in tree.indexed if c.text.startswith(("Golf", "Alpha"))][1:3])
    assert [c.doc_id for c in hit_contexts(hits, tree)] == [hit.chunk.doc_id for hit in hits]


def hit_contexts(hits, tree):
    return sentence_window(hits, tree, 9, within=None)


def test_k_counts_delivered_contexts_E15():
    tree, hits = en7(0, 0, 1, 6)
    assert texts_of(sentence_window(hits, tree, 0, k=2)) == [
        "Alpha one is here. Bravo two is here.",
        "Golf seven is here.",
    ]
    assert len(sentence_window(hits, tree, 0, k=1)) == 1
    assert len(sentence_window(hits, tree, 0, merge=False, k=9)) == 3


def test_hits_beyond_k_contexts_do_not_widen_those_delivered():
    tree, hits = en7(1, 6, 3)
    assert texts_of(sentence_window(hits, tree, 1, k=2)) == [
        "Alpha one is here. Bravo two is here. Charlie three is here.",
        "Foxtrot six is here. Golf seven is here.",
    ]
    assert len(sentence_window(hits, tree, 1)[0].text) > len(sentence_window(hits, tree, 1, k=2)[0].text)


def test_windows_only_around_sentences():
    tree = sentence_tree(document("d", EN7))
    with pytest.raises(ValueError, match="passage"):
        sentence_window(hit_list([tree["d/0/p1"]]), tree)


def test_a_stale_hit_is_skipped():
    tree, hits = en7(0, 3)
    rest = ChunkTree(tree.documents.values(), [c for c in tree if c != hits[0].chunk])
    assert texts_of(sentence_window(hits, rest, 0)) == ["Delta four is here."]
    assert [c.hits[0].chunk for c in parent_document(hits, rest)] == [hits[1].chunk]
    assert [c.hits[0].chunk for c in auto_merge(hits, rest, 1)] == [hits[1].chunk]


def naive_window(tree, hit, size, within, labels):
    """Walk from the hit, sentence by sentence, as long as the walk may go on."""
    row = [c for c in tree.indexed if c.doc_id == hit.chunk.doc_id]

    def same(c):
        key = {"section": c.section_id, "paragraph": c.parent_id, None: 0}[within]
        return (
            tree.section(c).access in labels
            and key == {"section": hit.chunk.section_id, "paragraph": hit.chunk.parent_id, None: 0}[within]
        )

    inside = [row.index(hit.chunk)]
    for step in (-1, 1):
        place = row.index(hit.chunk)
        for _ in range(size):
            place += step
            if not 0 <= place < len(row) or not same(row[place]):
                break
            inside.append(place)
    return {(hit.chunk.doc_id, place) for place in inside}


@given(scenes)
def test_windows_equal_a_naive_walk(scene):
    docs, labels, size, within, merge, random = scene
    tree = sentence_tree(docs)
    hits = some_hits(tree, random)
    contexts = sentence_window(hits, tree, size, within, merge, access=labels)
    visible = [h for h in hits if tree.section(h.chunk).access in labels]
    windows = {h.chunk.id: naive_window(tree, h, size, within, labels) for h in visible}
    delivered = []
    for context in contexts:
        row = [c for c in tree.indexed if c.doc_id == context.doc_id]
        delivered.append({(context.doc_id, n) for n, c in enumerate(row) if context.span.contains(c.span)})
        assert context.text == context.span.of(tree.documents[context.doc_id].text)
        assert delivered[-1] == set().union(*(windows[h.chunk.id] for h in context.hits))
        assert context.score == context.hits[0].score
    # Every readable hit is in exactly one context.
    assert sorted(h.chunk.id for c in contexts for h in c.hits) == sorted(windows)
    if merge:
        for one, other in itertools.combinations(contexts, 2):
            if one.doc_id == other.doc_id:
                assert not one.span.overlaps(other.span)
        scopes = {"section": lambda c: c.section_id, "paragraph": lambda c: c.parent_id, None: lambda c: c.doc_id}
        assert len({scopes[within](c.hits[0].chunk) for c in contexts}) == len(
            {scopes[within](h.chunk) for h in visible}
        )
    ranked = [(-c.hits[0].score, c.hits[0].rank) for c in contexts]
    assert ranked == sorted(ranked)


# --- parents ---


def family_tree(counts):
    """One section a parent, with so many one-sentence children."""
    parts = [
        f"## {n} Part\n\n" + " ".join(f"P{n} child {m} is here." for m in range(size))
        for n, size in enumerate(counts, 1)
    ]
    return parents_and_children(document("d", "\n\n".join(parts)), 1000, 30, 0)


def children_of(tree, part):
    return [c for c in tree.indexed if c.section_id == f"d/{part}" and "child" in c.text]


def test_one_parent_with_many_near_children_B1():
    tree = family_tree([20, 1, 1])
    crowd, second, third = (children_of(tree, part) for part in (1, 2, 3))
    hits = hit_list([*crowd, *second, *third])
    assert [c.hits[0].chunk.section_id for c in parent_document(hits, tree, 3)] == ["d/1", "d/2", "d/3"]
    assert len(parent_document(hits[:12], tree, 3)) == 1
    assert len(parent_document(hits, tree, 2)) == 2
    assert len(parent_document(hits, tree, 50)) == 3


def test_max_by_default_mean_as_an_option_B11():
    tree = family_tree([3, 1])
    hits = hit_list([*children_of(tree, 1), *children_of(tree, 2)], [0.9, 0.1, 0.1, 0.5])
    assert [c.score for c in parent_document(hits, tree)] == [0.9, 0.5]
    assert [c.hits[0].chunk.section_id for c in parent_document(hits, tree, score="mean")] == ["d/2", "d/1"]


def test_each_parent_once_with_all_its_hits_B12():
    tree = family_tree([3, 1])
    one, other = children_of(tree, 1), children_of(tree, 2)
    contexts = parent_document(hit_list([*one, *one, *other]), tree)
    assert [[h.chunk.id for h in c.hits] for c in contexts] == [[c.id for c in one], [c.id for c in other]]
    assert [h.rank for h in contexts[0].hits] == [1, 2, 3]


def test_ties_go_by_document_order_and_position():
    tree = parents_and_children([document("z", EN7), document("a", EN7)], 40, 20, 0)
    hits = hit_list(tree.indexed[::-1], [0.5] * len(tree.indexed))
    order = [(c.doc_id, c.span.start) for c in parent_document(hits, tree, 99)]
    assert [doc_id for doc_id, _ in order] == ["z"] * (len(order) // 2) + ["a"] * (len(order) // 2)
    assert [start for _, start in order[: len(order) // 2]] == sorted(start for _, start in order[: len(order) // 2])


def test_a_missing_parent_is_skipped_and_refilled_B5():
    tree = family_tree([1, 1, 1])
    hits = hit_list([children_of(tree, part)[0] for part in (1, 2, 3)])
    rest = ChunkTree(tree.documents.values(), [c for c in tree if c.id != "d/1/p1"])
    assert [c.hits[0].chunk.section_id for c in parent_document(hits, rest, 2)] == ["d/2", "d/3"]
    assert [c.hits[0].chunk.section_id for c in parent_document(hits, rest, 3, level="section")] == [
        "d/1",
        "d/2",
        "d/3",
    ]


def test_hit_a_sentence_deliver_its_paragraph_or_its_section():
    tree = secret_tree()
    hits = hit_list(by_text(tree, "Two"))
    assert texts_of(parent_document(hits, tree)) == ["One is open. Two is open."]
    (section,) = parent_document(hits, tree, level="section")
    assert section.text == "## 1 Public\n\nOne is open. Two is open.\n\nThree is open."


def test_a_child_without_a_parent_is_delivered_itself_B9():
    tree = multi_granular(document("d", "two words"), 10)
    assert texts_of(parent_document(hit_list(tree.indexed), tree)) == ["two words"]


def test_a_granular_parent_scores_as_the_best_of_its_pieces_and_itself():
    tree = multi_granular(document("d", EN7), 16)
    parent, half, quarter = tree["d/0/p1"], tree["d/0/p1/h2"], tree["d/0/p1/q1"]
    for best in (parent, half, quarter):
        hits = hit_list([best, *{parent, half, quarter} - {best}], [0.9, 0.2, 0.1])
        (context,) = parent_document(hits, tree)
        assert (context.text, context.score, len(context.hits)) == (parent.text, 0.9, 3)


def test_a_whole_document_as_parent():
    doc = document("d", SECRET)
    tree = parents_and_children(doc, None, 40, 0)
    (context,) = parent_document(hit_list(tree.indexed), tree)
    assert context.text == SECRET.strip()
    (itself,) = parent_document(hit_list([tree["d/p1"]]), tree, level="section")
    assert itself.text == SECRET.strip()


def test_of_two_parents_that_begin_alike_and_tie_the_larger_comes_first():
    doc = document("d", "Tea.\n\n# Pots\n\nBlue pots.")
    whole, inner = Span(0, len(doc.text)), doc.sections[0].id
    around = Chunk("d/p", "d", whole, whole.of(doc.text), "passage", None, inner)
    chunks = [around, Chunk(inner, "d", Span(0, 4), "Tea.", "section", None, inner)]
    hits = [
        Chunk(f"d/c{n}", "d", s, s.of(doc.text), "passage", "d/p", inner) for n, s in enumerate((Span(0, 4), whole))
    ]
    tree = ChunkTree([doc], [*chunks, *hits])
    for order in (hits, hits[::-1]):
        assert texts_of(parent_document(hit_list(order, [0.5, 0.5]), tree, 2, level="section")) == [doc.text, "Tea."]


@given(scenes, sizes(), st.integers(1, 6), st.sampled_from([None, "section"]))
def test_parents_equal_a_naive_loop(scene, bounds, k, level):
    docs, labels, _, _, _, random = scene
    size, overlap = bounds
    for tree in (sentence_tree(docs), parents_and_children(docs, 3 * size, size, overlap)):
        hits = some_hits(tree, random)
        best = {}
        for hit in hits:
            if tree.section(hit.chunk).access in labels:
                target = tree[hit.chunk.section_id] if level else tree.parent(hit.chunk)
                if not target.span.contains(hit.chunk.span):  # it begins with a heading alone
                    target = tree.parent(hit.chunk)
                best[target.id] = max(best.get(target.id, -1), hit.score)
        place = {c.id: n for n, c in enumerate(tree)}
        reference = sorted(best, key=lambda i: (-best[i], place[i]))[:k]
        contexts = parent_document(hits, tree, k, level=level, access=labels)
        assert [c.text for c in contexts] == [tree[i].text for i in reference]
        assert [c.score for c in contexts] == [best[i] for i in reference]


# --- auto merge ---


def test_enough_children_bring_their_parent():
    tree = family_tree([4, 4])
    one, two = children_of(tree, 1), children_of(tree, 2)
    contexts = auto_merge(hit_list([*one[:2], two[0]]), tree, 0.5)
    # Part 1 has four children, its heading being in the first: half of them is enough, a quarter is not.
    assert [len(c.hits) for c in contexts] == [2, 1]
    assert contexts[0].text == tree["d/1"].text and contexts[1].text == two[0].text
    assert len(auto_merge(hit_list([*one[:2], two[0]]), tree, 0.75)) == 3


def test_merging_climbs_as_long_as_it_is_earned():
    tree = secret_tree()
    hits = hit_list(by_text(tree, "One", "Three"))
    assert texts_of(auto_merge(hits, tree, 0.5)) == ["## 1 Public\n\nOne is open. Two is open.\n\nThree is open."]
    assert texts_of(auto_merge(hits[1:], tree, 0.5)) == ["Three is open."]
    assert texts_of(auto_merge(hits, tree, 0.5, k=1)) == texts_of(auto_merge(hits, tree, 0.5))


def test_a_parent_that_is_hit_itself_takes_its_children_in():
    tree = multi_granular(document("d", EN7), 16)
    hits = hit_list([tree["d/0/p1/q1"], tree["d/0/p1"]])
    (context,) = auto_merge(hits, tree, 1)
    assert context.text == tree["d/0/p1"].text and len(context.hits) == 2


@given(scenes, st.floats(0.01, 1))
def test_auto_merge_delivers_every_readable_hit_once(scene, ratio):
    docs, labels, *_, random = scene
    tree = sentence_tree(docs)
    hits = some_hits(tree, random)
    contexts = auto_merge(hits, tree, ratio, access=labels)
    visible = {h.chunk.id for h in hits if tree.section(h.chunk).access in labels}
    assert sorted(h.chunk.id for c in contexts for h in c.hits) == sorted(visible)
    for context in contexts:
        assert all(context.span.contains(h.chunk.span) for h in context.hits)
        assert context.text == context.span.of(tree.documents[context.doc_id].text)


@pytest.mark.parametrize("ratio", [0, -1, 1.1])
def test_bad_ratio(ratio):
    tree, hits = en7(0)
    with pytest.raises(ValueError, match=str(ratio)):
        auto_merge(hits, tree, ratio)


# --- bad input ---


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda t, h: parent_document(h, t, 0), "k must be at least 1, not 0"),
        (lambda t, h: sentence_window(h, t, k=0), "k must be at least 1, not 0"),
        (lambda t, h: auto_merge(h, t, k=-1), "k must be at least 1, not -1"),
        (lambda t, h: sentence_window(h, t, -1), "window_size must be at least 0, not -1"),
        (lambda t, h: sentence_window(h, t, within="chapter"), "'chapter'"),
        (lambda t, h: parent_document(h, t, score="sum"), "'sum'"),
        (lambda t, h: parent_document(h, t, level="chapter"), "'chapter'"),
        (lambda t, h: within_budget([], 0), "token_budget must be at least 1, not 0"),
        (lambda t, h: sentence_window(h, t, "2"), "window_size must be a whole number, not '2'"),
        (lambda t, h: sentence_window(h, t, 1.5), "window_size must be a whole number"),
        (lambda t, h: parent_document(h, t, True), "k must be a whole number, not True"),
        (lambda t, h: dataclasses.replace(h[0], score=math.nan), "'en7/0/p1/s1' must be a finite number, not nan"),
    ],
    ids=[
        *("k-parent", "k-window", "k-merge", "window", "within", "score", "level", "budget"),
        *("window-text", "window-fraction", "k-bool", "score-nan"),
    ],
)
def test_bad_values_name_the_value_and_the_limit(call, said):
    tree, hits = en7(0)
    with pytest.raises(ValueError, match=said):
        call(tree, hits)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda t, h: parent_document(h, list(t)), "tree must be a ChunkTree, not list"),
        (lambda t, h: parent_document([h[0].chunk], t), "hits must hold Hits only, not Chunk"),
        (lambda t, h: sentence_window(h, t, access="public"), "access must be a collection of labels"),
        (lambda t, h: readable(Span(0, 1), t.documents["en7"], None), "access must be a collection of labels"),
    ],
    ids=[f"A9-{n}" for n in range(4)],
)
def test_arguments_of_the_wrong_kind_say_what_is_wanted(call, said):
    tree, hits = en7(0)
    with pytest.raises(TypeError, match=said):
        call(tree, hits)


def test_no_hits_no_contexts():
    tree, _ = en7()
    assert parent_document([], tree) == sentence_window([], tree) == auto_merge([], tree) == within_budget([], 5) == []


def test_as_found_delivers_the_hits_themselves_best_first():
    tree, hits = en7(5, 2, 4)
    contexts = as_found(reversed(hits), tree, k=2)
    assert [c.text for c in contexts] == ["Foxtrot six is here.", "Charlie three is here."]
    assert [c.hits for c in contexts] == [(hits[0],), (hits[1],)]
    assert len(as_found(hits, tree)) == 3
    secret = secret_tree()
    found = as_found(hit_list(secret.indexed), secret)
    assert found and not any("secret" in context.text for context in found)
    with pytest.raises(ValueError, match=r"k must be at least 1, not 0"):
        as_found(hits, tree, k=0)
