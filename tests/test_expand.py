import dataclasses
import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import documents, sizes

from s2b_lab.chunk import ChunkTree, count, multi_granular, parents_and_children, sentence_tree, trimmed
from s2b_lab.expand import (
    Context,
    Hit,
    auto_merge,
    merge_spans,
    parent_document,
    readable,
    sentence_window,
    within_budget,
)
from s2b_lab.text import Span, document, sentences

EN7 = (
    "Alpha one is here. Bravo two is here. Charlie three is here. Delta four is here. "
    "Echo five is here. Foxtrot six is here. Golf seven is here."
)
SECRET = (
    "# Travel\n\n## 1 Public\n\nOne is open. Two is open.\n\nThree is open.\n\n"
    "## 2 Annex\n\nFour is secret. Five is secret.\n\n## 3 After\n\nSix is open. Seven is open.\n"
)


def hit_list(chunks, scores=None):
    scores = scores or [1 - n / 100 for n in range(len(chunks))]
    return [Hit(chunk, score, rank) for rank, (chunk, score) in enumerate(zip(chunks, scores, strict=True), 1)]


def en7(*places):
    tree = sentence_tree(document("en7", EN7))
    return tree, hit_list([tree.indexed[place] for place in places])


def secret_tree():
    return sentence_tree(document("travel-en", SECRET, section_access={2: "finance"}))


def by_text(tree, *starts):
    return [next(c for c in tree.indexed if c.text.startswith(start)) for start in starts]


def texts_of(contexts):
    return [context.text for context in contexts]


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


scenes = st.tuples(
    documents(("public", "finance", "hr")),
    st.sets(st.sampled_from(["public", "finance", "hr"])),
    st.integers(0, 4),
    st.sampled_from(["section", "paragraph", None]),
    st.booleans(),
    st.randoms(use_true_random=False),
)


def some_hits(tree, random):
    chosen = [c for c in tree.indexed if random.random() < 0.4]
    random.shuffle(chosen)
    return hit_list(chosen + chosen[:2], [random.choice([0.2, 0.5, 0.9]) for _ in chosen + chosen[:2]])


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


# --- access ---


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


# --- the budget ---


def contexts_of(*texts):
    tree = sentence_tree([document(f"d{n}", text) for n, text in enumerate(texts)])
    return [
        Context(d.id, s := trimmed(d.text, Span(0, len(d.text))), s.of(d.text), ()) for d in tree.documents.values()
    ]


def words(text):
    return count(text, "word")


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        (12, ["One is here.", "Two is here. Three is here.", "Four."]),
        (9, ["One is here.", "Two is here. Three is here."]),
        (8, ["One is here.", "Two is here."]),
        (6, ["One is here.", "Two is here."]),
        (5, ["One is here."]),
        (2, []),
    ],
)
def test_budget_keeps_whole_contexts_and_cuts_one_at_a_sentence(budget, expected):
    contexts = contexts_of("One is here.", "Two is here. Three is here.", "Four.")
    assert texts_of(within_budget(contexts, budget, words)) == expected


def test_a_cut_context_keeps_its_span_exact_and_its_hits():
    tree, hits = en7(5)
    (context,) = parent_document(hits, tree)
    (cut,) = within_budget([context], 9, words)
    assert cut.text == "Alpha one is here. Bravo two is here." == cut.span.of(EN7)
    assert cut.hits == context.hits and cut.score == context.score


@given(documents(), st.integers(1, 80))
def test_the_budget_holds(docs, budget):
    contexts = contexts_of(*(d.text for d in docs if d.text.strip()))
    kept = within_budget(contexts, budget)
    assert sum(count(c.text, "token") for c in kept) <= budget
    assert all(c.text.startswith(k.text) for c, k in zip(contexts, kept, strict=False))
    assert all(k == c for c, k in zip(contexts, kept[:-1], strict=False))


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
        (lambda t, h: dataclasses.replace(h[0], score=math.nan), "not nan: 'en7/0/p1/s1'"),
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
        (lambda t, h: parent_document([h[0].chunk], t), "hits must be Hit objects"),
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


def test_access_may_be_an_iterator():
    tree, hits = en7(2)
    assert len(sentence_window(hits, tree, access=iter(["public"]))) == 1
