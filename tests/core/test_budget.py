"""A budget of tokens."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import EN7, en7, hit_list, texts_of
from strategies import documents, texts

from s2b_lab.core.access import is_readable
from s2b_lab.core.budget import within_budget
from s2b_lab.core.build import sentence_tree
from s2b_lab.core.expand import parent_document, sentence_window
from s2b_lab.core.headings import document
from s2b_lab.core.hits import Context, Hit
from s2b_lab.core.sentences import sentences
from s2b_lab.core.sizes import count
from s2b_lab.core.text import Span, trimmed
from s2b_lab.core.tree import Chunk


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
    assert cut.text == "Foxtrot six is here. Golf seven is here." == cut.span.of(EN7)
    assert cut.hits == context.hits and cut.score == context.score


# --- around what matched ---


def part(text, *matched, doc_id="d"):
    """A context of all of a text, with hits on some of its phrases, best first."""
    hits = []
    for rank, phrase in enumerate(matched, 1):
        start = text.index(phrase)
        chunk = Chunk(f"{doc_id}/{rank}", doc_id, Span(start, start + len(phrase)), phrase, "passage", None, "d/0")
        hits.append(Hit(chunk, 1 / rank, rank))
    return Context("d", Span(0, len(text)), text, tuple(hits))


@pytest.mark.parametrize(
    ("matched", "budget", "expected"),
    [
        (["Charlie three."], 3, ["Charlie three."]),
        (["Charlie three."], 5, ["Charlie three."]),
        (["Charlie three."], 6, ["Bravo two. Charlie three."]),
        (["Charlie three."], 2, []),
        (["Bravo two."], 6, ["Bravo two. Charlie three."]),
        (["Alpha one."], 6, ["Alpha one. Bravo two."]),
        (["three"], 3, ["Charlie three."]),  # a hit smaller than its sentence
        (["Bravo two. Charlie three."], 6, ["Bravo two. Charlie three."]),
        (["Bravo two. Charlie three."], 5, ["Bravo two."]),  # its first sentence, since which matched is not known
        (["ne. Bravo two."], 3, ["Bravo two."]),  # the end of a sentence that a chunk repeats is not what matched
        (["Charlie three.", "Bravo two."], 6, ["Bravo two. Charlie three."]),
        (["Charlie three.", "Alpha one."], 8, ["Bravo two. Charlie three."]),
        (["Alpha one.", "Charlie three."], 3, ["Alpha one."]),
        ([], 4, ["Alpha one."]),
    ],
)
def test_a_context_is_trimmed_around_its_hits_H25(matched, budget, expected):
    context = part("Alpha one. Bravo two. Charlie three.", *matched)
    assert texts_of(within_budget([context], budget)) == expected


def test_hits_are_joined_before_neighbours_are_added():
    text = "A b. C d. E f. G h. I j."
    assert texts_of(within_budget([part(text, "C d.", "G h.")], 9)) == ["C d. E f. G h."]
    assert texts_of(within_budget([part(text, "C d.")], 9)) == ["A b. C d. E f."]
    assert texts_of(within_budget([part(text, "G h.", "A b.")], 9)) == ["E f. G h. I j."]


def test_a_hit_on_another_text_moves_nothing():
    context = part("Alpha one. Bravo two. Charlie three.", "Charlie three.", doc_id="other")
    assert texts_of(within_budget([context], 3)) == ["Alpha one."]


def test_a_cut_context_within_its_document_has_its_own_span():
    text = "# T\n\nZulu. " + "Alpha one. Bravo two. Charlie three." + " Yankee."
    chunk = Chunk("d/1", "d", Span(text.index("Bravo"), text.index(" Charlie")), "Bravo two.", "sentence", None, "d/0")
    span = Span(text.index("Alpha"), text.index(" Yankee"))
    (cut,) = within_budget([Context("d", span, span.of(text), (Hit(chunk, 0.5, 1),))], 3)
    assert cut.text == "Bravo two." == cut.span.of(text) and span.contains(cut.span)


def naive(context, budget, count):
    """One sentence more at a time: after the hits, then before, and what still fits on either side."""
    found, text = sentences(context.text), context.text
    hits = [hit.chunk.span for hit in context.hits]
    (low, high), *others = [(found.index(span), found.index(span) + 1) for span in hits] or [(0, 0)]

    def fits(a, b):
        return count(text[found[a].start : found[b - 1].end]) <= budget

    if low < high and not fits(low, high):
        return []
    for a, b in others:
        if fits(min(low, a), max(high, b)):
            low, high = min(low, a), max(high, b)
    after = True
    while low > 0 or high < len(found):
        after = (after and high < len(found)) or low == 0
        wider = (low, high + 1) if after else (low - 1, high)
        if not fits(*wider):
            break
        (low, high), after = wider, not after
    while high < len(found) and fits(low, high + 1):
        high += 1
    while low > 0 and fits(low - 1, high):
        low -= 1
    return [text[found[low].start : found[high - 1].end]] if low < high else []


@given(
    texts.filter(str.strip), st.randoms(use_true_random=False), st.integers(1, 40), st.sampled_from(["token", "char"])
)
def test_trimming_is_what_one_sentence_at_a_time_gives(text, random, budget, unit):
    text = text.strip() or "x"
    found = sentences(text)
    matched = random.sample(found, min(len(found), random.randint(0, 3)))
    hits = tuple(
        Hit(Chunk(f"d/{n}", "d", span, span.of(text), "sentence", None, "d/0"), 0.5, n)
        for n, span in enumerate(matched, 1)
    )
    context = Context("d", Span(0, len(text)), text, hits)

    def size(part):
        return count(part, unit)

    kept = within_budget([context], budget, size)
    assert texts_of(kept) == ([text] if size(text) <= budget else naive(context, budget, size))
    for cut in kept:
        assert size(cut.text) <= budget and cut.text == cut.span.of(text) and cut.hits == hits
        assert not hits or cut.span.contains(hits[0].chunk.span), "the sentence that matched is kept"


@settings(max_examples=40)
@given(documents(("public", "finance", "hr")), st.integers(1, 60), st.integers(0, 3), st.data())
def test_a_trimmed_context_lies_within_what_was_readable(docs, budget, window, data):
    tree = sentence_tree([d for d in docs if d.text.strip()])
    hits = hit_list(data.draw(st.permutations(tree.indexed)))[:4]
    for contexts in (parent_document(hits, tree), sentence_window(hits, tree, window, within=None)):
        kept = within_budget(contexts, budget)
        for whole, cut in zip(contexts, kept, strict=False):
            assert whole.span.contains(cut.span) and cut.text == cut.span.of(tree.documents[cut.doc_id].text)
            assert is_readable(cut.span, tree.documents[cut.doc_id])


@pytest.mark.parametrize("hit", [None, 0, 4_000, 7_999])
@pytest.mark.parametrize("budget", [3, 300, 20_000])
def test_a_long_context_is_counted_few_times_and_little(hit, budget):
    text = " ".join(f"Sentence {n} is here." for n in range(8_000))
    matched = [] if hit is None else [f"Sentence {hit} is here."]
    counted = []

    def size(part):
        counted.append(len(part))
        return len(part) // 4

    (cut,) = within_budget([part(text, *matched)], budget, size) or [None]
    assert (cut is None) == (budget == 3)
    assert len(counted) <= 20, "each count of a prefix more makes it quadratic"
    assert counted[0] == len(text) and sum(counted[1:]) <= 20 * 4 * 2 * (budget + 10)


@pytest.mark.parametrize("wrong", [[None], ["text"], None, 5, "text"])
def test_what_are_no_contexts_is_said(wrong):
    with pytest.raises(TypeError, match=r"contexts must (be a list of|hold) Context"):
        within_budget(wrong, 5)


@given(documents(), st.integers(1, 80))
def test_the_budget_holds(docs, budget):
    contexts = contexts_of(*(d.text for d in docs if d.text.strip()))
    kept = within_budget(contexts, budget)
    assert sum(count(c.text, "token") for c in kept) <= budget
    assert all(c.text.startswith(k.text) for c, k in zip(contexts, kept, strict=False))
    assert all(k == c for c, k in zip(contexts, kept[:-1], strict=False))
