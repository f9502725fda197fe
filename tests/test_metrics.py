"""Each metric agrees with a naive reference, and counts each piece of evidence once."""

import re
import string
from collections import Counter
from math import log2

import pytest
import strategies  # noqa: F401 - no deadlines
from hypothesis import given
from hypothesis import strategies as st
from test_layout import PACKAGE, modules, outside, own, part

from s2b_lab.core.hits import Context
from s2b_lab.core.text import Span
from s2b_lab.metrics import Overlap, answer_f1, dcg_at_k, gold_ranks, recall_at_k, span_overlap, without_repeats

spans = st.tuples(st.integers(0, 12), st.integers(0, 12)).map(lambda ends: Span(min(ends), max(ends)))
places = st.tuples(st.sampled_from("ab"), spans)
filled = places.filter(lambda place: len(place[1]))
golds = st.lists(st.lists(filled, min_size=1, max_size=3).map(tuple), min_size=1, max_size=4)
deliveries = st.lists(places, max_size=6)
ranks_found = st.lists(st.none() | st.integers(1, 9), min_size=1, max_size=5)


def contexts(*delivered):
    return [Context(doc_id, span, "x" * len(span), ()) for doc_id, span in delivered]


def characters(place):
    doc_id, span = place
    return {(doc_id, at) for at in range(span.start, span.end)}


def new_ones(delivered):
    """What is delivered, without what lies whole in something before."""
    kept = []
    for doc_id, span in delivered:
        inside = [one for one in kept if one[0] == doc_id and one[1].start <= span.start and span.end <= one[1].end]
        kept += [] if inside else [(doc_id, span)]
    return kept


def held(place, gold_places):
    return any(characters(one) <= characters(place) for one in gold_places)


def a(start, end):
    return "a", Span(start, end)


# --- ranks ---


@given(deliveries, golds)
def test_ranks_agree_with_looking_at_every_context(delivered, gold):
    kept = new_ones(delivered)
    assert [(c.doc_id, c.span) for c in without_repeats(contexts(*delivered))] == kept
    naive = []
    for one in gold:
        found = [number for number, place in enumerate(kept, 1) if held(place, one)]
        naive.append(found[0] if found else None)
    assert gold_ranks(iter(contexts(*delivered)), gold) == naive


@given(deliveries, golds, st.none() | st.integers(1, 8))
def test_recall_at_k_agrees_with_counting_what_the_first_k_hold(delivered, gold, k):
    first = new_ones(delivered)[:k]
    naive = sum(any(held(place, one) for place in first) for one in gold) / len(gold)
    assert recall_at_k(gold_ranks(contexts(*delivered), gold), k) == pytest.approx(naive)


@given(deliveries, golds, st.none() | st.integers(1, 8))
def test_binary_dcg_agrees_with_the_protocol_of_gutenqa(delivered, gold, k):
    """A list of zeros with a single one, at the first context that is relevant, each discounted by its place."""
    first = new_ones(delivered)[:k]
    relevance = [int(any(held(place, one) for one in gold)) for place in first]
    if 1 in relevance:
        relevance = [int(number == relevance.index(1)) for number in range(len(relevance))]
    naive = sum((2**gain - 1) / log2(number + 1) for number, gain in enumerate(relevance, 1))
    assert dcg_at_k(gold_ranks(contexts(*delivered), gold), k) == pytest.approx(naive)


@given(deliveries, golds, st.none() | st.integers(1, 8))
def test_graded_dcg_agrees_with_going_down_the_list(delivered, gold, k):
    left, naive = list(gold), 0.0
    for number, place in enumerate(new_ones(delivered)[:k], 1):
        brought = [one for one in left if held(place, one)]
        left = [one for one in left if not held(place, one)]
        naive += len(brought) / len(gold) / log2(number + 1)
    assert dcg_at_k(gold_ranks(contexts(*delivered), gold), k, "graded") == pytest.approx(naive)


@given(ranks_found, st.integers(1, 10))
def test_more_contexts_never_make_it_worse_and_a_needle_has_one_dcg(ranks, k):
    for metric in (recall_at_k, dcg_at_k, lambda r, k=None: dcg_at_k(r, k, "graded")):
        assert 0 <= metric(ranks, k) <= metric(ranks, k + 1) <= metric(ranks) <= 1
    assert dcg_at_k(ranks, k, "graded") <= dcg_at_k(ranks, k) + 1e-12
    assert dcg_at_k(ranks[:1], k, "graded") == dcg_at_k(ranks[:1], k)


def test_a_context_delivered_twice_takes_one_place_E15():
    twice = contexts(a(0, 9), a(0, 9), a(2, 5), a(20, 30))
    assert gold_ranks(twice, [(a(1, 4),)]) == [1]
    assert recall_at_k([1], 2) == dcg_at_k([1], 2) == 1
    assert gold_ranks(twice, [(a(21, 22),)]) == [2], "what lies in one before has no rank"
    assert gold_ranks(contexts(a(2, 5), a(0, 9)), [(a(6, 8),)]) == [2], "one that is wider brings something new"
    assert gold_ranks(contexts(("b", Span(0, 9)), a(0, 9)), [(a(1, 4),)]) == [2], "of another document"


def test_the_discount_is_that_of_the_rank():
    assert dcg_at_k([3]) == 1 / 2 and dcg_at_k([1]) == 1 and dcg_at_k([None]) == 0
    assert dcg_at_k([3], k=2) == 0 and dcg_at_k([3], k=3) == 1 / 2
    assert dcg_at_k([7, 3, None]) == 1 / 2, "the first relevant one counts, once"
    assert dcg_at_k([3, 3, None, None], gain="graded") == 1 / 4
    assert recall_at_k([7, 3, None, 1], 3) == 1 / 2


def test_words_that_stand_in_several_places_are_found_in_each():
    anywhere = (a(0, 4), ("b", Span(6, 9)))
    assert gold_ranks(contexts(a(20, 30), ("b", Span(5, 10))), [anywhere]) == [2]
    assert gold_ranks(contexts(a(2, 10), ("b", Span(7, 10))), [anywhere]) == [None], "pieces of two make no whole"


# --- characters ---


@given(deliveries, golds)
def test_the_overlap_agrees_with_sets_of_characters(delivered, gold):
    every = set().union(*map(characters, delivered))
    wanted = set()
    for one in gold:
        shares = [len(characters(place) & every) / len(characters(place)) for place in one]
        wanted |= characters(one[shares.index(max(shares))])
    overlap = span_overlap(iter(contexts(*delivered)), gold)
    assert overlap == Overlap(len(wanted & every), sum(len(span) for _, span in delivered), len(wanted))
    assert overlap.iou <= min(overlap.recall, overlap.precision) and max(overlap.recall, overlap.precision) <= 1


def test_pieces_of_evidence_count_and_what_comes_twice_is_paid_twice():
    gold = [(a(10, 20),), (a(15, 30),)]
    overlap = span_overlap(contexts(a(0, 12), a(25, 40)), gold)
    assert (overlap.shared, overlap.delivered, overlap.gold) == (7, 27, 20)
    assert (overlap.recall, overlap.precision, overlap.iou) == (7 / 20, 7 / 27, 7 / 40)
    twice = span_overlap(contexts(a(10, 20), a(10, 20)), gold[:1])
    assert (twice.recall, twice.precision, twice.iou) == (1, 1 / 2, 1 / 2)


def test_nothing_delivered_has_no_precision_and_exactly_the_evidence_has_all():
    nothing, exactly = span_overlap([], [(a(1, 3),)]), span_overlap(contexts(a(1, 3)), [(a(1, 3),)])
    assert (nothing.recall, nothing.precision, nothing.iou) == (0, 0, 0)
    assert (exactly.recall, exactly.precision, exactly.iou) == (1, 1, 1)
    assert str(exactly).split("\n")[0] == "Overlap of 2 characters with 2 of evidence"


def test_a_second_place_of_the_same_words_is_no_evidence_any_more():
    both = span_overlap(contexts(a(0, 4), a(20, 24)), [(a(20, 24), a(0, 4))])
    assert (both.recall, both.precision) == (1, 1 / 2)


# --- answers ---


def naive_f1(answer, reference):
    """For English in ASCII: lower case, no marks, no articles, words between white space."""

    def words(text):
        text = "".join(character for character in text.lower() if character not in string.punctuation)
        return re.sub(r"\b(a|an|the)\b", " ", text).split()

    got, want = words(answer), words(reference)
    if not got or not want:
        return float(got == want)
    left, shared = list(want), 0
    for word in got:
        if word in left:
            left.remove(word)
            shared += 1
    if not shared:
        return 0.0
    precision, recall = shared / len(got), shared / len(want)
    return 2 * precision * recall / (precision + recall)


english = st.lists(st.sampled_from(["the", "An", "a", "cat", "Cat's", "3.5", "U.S.", "-", "!", "x", "Ann"]), max_size=7)


@given(english.map(" ".join), english.map("  ".join))
def test_the_f1_of_english_agrees_with_counting_words(answer, reference):
    assert answer_f1(answer, reference) == pytest.approx(naive_f1(answer, reference))
    assert answer_f1(answer, reference) == answer_f1(reference, answer)


@given(st.text("天地人 30a，。", max_size=9), st.text("天地人 30a，。", max_size=9))
def test_the_f1_of_chinese_counts_characters_and_keeps_numbers_whole(answer, reference):
    def words(text):
        return Counter(one for one in re.findall("[天地人]|[30a]+", text) if one != "a")

    got, want = words(answer), words(reference)
    shared = sum(min(number, want[word]) for word, number in got.items())
    total = sum(got.values()) + sum(want.values())
    naive = 2 * shared / total if got and want else float(got == want)
    assert answer_f1(answer, reference) == pytest.approx(naive)


@pytest.mark.parametrize(
    ("answer", "reference", "f1"),
    [
        ("Within 30 days.", "30 days", 4 / 5),
        ("30天之内", "30 天内", 2 * 3 / 7),
        ("三十天", "三十日", 2 / 3),
        ("它由Alice，Bob 批准。", "它由 Alice 和 Bob 批准", 2 * 6 / 13),
        ("ＡＢＣ１２", "abc12", 1),
        ("“Don’t”", "don't", 1),
        ("1914–1918", "1914-1918", 1),
        ("yes—no", "no yes", 1),
        ("e\u0301t\u00e9", "\u00e9te\u0301", 1),
        ("thirty\u00adfold", "thirtyfold", 1),
        ("が", "か\u3099", 1),
        ("", "", 1),
        ("The", "a !", 1),
        ("", "30", 0),
        ("30", "。", 0),
        ("cat cat cat", "cat", 1 / 2),
    ],
)
def test_what_answers_have_in_common(answer, reference, f1):
    assert answer_f1(answer, reference) == pytest.approx(f1)


def test_the_best_of_several_right_answers_counts():
    assert answer_f1("30 days", ["a month", "30 days", "30"]) == 1
    assert answer_f1("30 days", iter(["a month", "30"])) == pytest.approx(2 / 3)


# --- errors ---


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: gold_ranks([], []), ValueError, r"at least 1 piece of evidence.*not \[\]"),
        (lambda: gold_ranks([], [(a(1, 2),), ()]), ValueError, "each with at least 1 place"),
        (lambda: gold_ranks([], [(a(2, 2),)]), ValueError, "evidence in 'a' is empty: Span"),
        (lambda: span_overlap([], [(a(2, 2),)]), ValueError, "evidence in 'a' is empty: Span"),
        (lambda: gold_ranks([], [a(1, 2)]), TypeError, "pair of document id and Span, not 'a'"),
        (lambda: gold_ranks([], [(("a", (1, 2)),)]), TypeError, r"not \('a', \(1, 2\)\)"),
        (lambda: recall_at_k([], 3), ValueError, "0 ranks"),
        (lambda: recall_at_k([0]), ValueError, "a rank must be at least 1, not 0"),
        (lambda: dcg_at_k([1], 0), ValueError, "k must be at least 1, not 0"),
        (lambda: dcg_at_k([1], 1, "log"), ValueError, "gain must be one of 'binary', 'graded', not 'log'"),
        (lambda: answer_f1("x", []), ValueError, "0 references"),
        (lambda: Overlap(3, 2, 9), ValueError, "delivered characters of an overlap must be at least 3, not 2"),
        (lambda: Overlap(0, 2, 0), ValueError, "gold characters of an overlap must be at least 1, not 0"),
    ],
    ids=[f"A9-{n}" for n in range(13)],
)
def test_what_has_no_value_is_said(call, error, says):
    with pytest.raises(error, match=says):
        call()


def test_the_metrics_need_the_core_alone():
    path = modules(PACKAGE)["metrics"]
    assert outside(path, PACKAGE) == set() and {part(name) for name in own(path, PACKAGE)} == {"core"}
