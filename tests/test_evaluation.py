"""Evidence counts only where one delivered context holds it whole."""

import math
import tracemalloc

import numpy as np
import pytest
from heard import heard
from hypothesis import given, settings
from hypothesis import strategies as st

from s2b_lab import corpus
from s2b_lab.bootstrap import Interval, paired_bootstrap
from s2b_lab.core.build import sentence_tree
from s2b_lab.core.expand import as_found, parent_document, sentence_window
from s2b_lab.core.headings import document
from s2b_lab.core.hits import Context, Hit
from s2b_lab.core.text import Span
from s2b_lab.corpus import Question
from s2b_lab.evaluation import compare, evaluate, evidence_found, first_rank
from s2b_lab.scores import METRICS, Evaluation, Score

TEXT = document("plain", "Alpha one is here. Bravo two is here. Charlie three is here.")
ONE, TWO, THREE = Span(0, 18), Span(19, 36), Span(37, 60)


def context(span, doc_id="plain"):
    return Context(doc_id, span, span.of(TEXT.text), ())


def ask(*spans, doc_id="plain"):
    return Question("?", tuple((doc_id, span) for span in spans))


def test_each_passage_is_judged_by_itself_in_the_order_of_the_question():
    assert evidence_found([context(Span(19, 60))], ask(THREE, ONE, TWO)) == [True, False, True]
    assert evidence_found([context(THREE), context(ONE)], ask(ONE, TWO, THREE)) == [True, False, True]


def test_exactly_the_passage_is_enough_and_a_character_less_is_not():
    assert evidence_found([context(TWO)], ask(TWO)) == [True]
    assert evidence_found([context(Span(20, 60))], ask(TWO)) == [False]
    assert evidence_found([context(Span(0, 35))], ask(TWO)) == [False]


def test_pieces_in_several_contexts_do_not_add_up():
    halves = [context(Span(0, 28)), context(Span(28, 60))]
    assert evidence_found(halves, ask(TWO)) == [False]


def test_the_same_place_in_another_document_does_not_count():
    assert evidence_found([context(TWO, "other")], ask(TWO)) == [False]
    assert evidence_found([context(TWO, "other")], ask(TWO, doc_id="other")) == [True]


def test_nothing_delivered_finds_nothing():
    assert evidence_found([], ask(ONE, TWO)) == [False, False]


def test_contexts_may_come_from_a_generator():
    assert evidence_found((context(span) for span in (ONE, TWO)), ask(TWO, ONE)) == [True, True]


spans = st.tuples(st.integers(0, 12), st.integers(0, 12)).map(lambda ends: Span(min(ends), max(ends)))
places = st.lists(st.tuples(st.sampled_from("ab"), spans), max_size=5)


@given(places, places)
def test_it_agrees_with_counting_characters(delivered, gold):
    contexts = [Context(doc_id, span, "x" * len(span), ()) for doc_id, span in delivered]
    gold = [(doc_id, span) for doc_id, span in gold if len(span)]
    naive = [
        any(doc == doc_id and set(range(*ends(wanted))) <= set(range(*ends(span))) for doc, span in delivered)
        for doc_id, wanted in gold
    ]
    assert evidence_found(contexts, Question("?", tuple(gold))) == naive


def ends(span):
    return span.start, span.end


# --- what can be found by growing from a perfect hit on the policy ---------------------------------------------------


def hits_on(tree, span):
    """The chunks of the search that overlap a passage, best first, as if the search had been perfect."""
    found = [chunk for chunk in tree.indexed if chunk.span.overlaps(span)]
    return [Hit(chunk, 1.0 - rank / 100, rank) for rank, chunk in enumerate(found, 1)]


def delivered(name, grow):
    """For each kind of question, what arrives when the first passage of its evidence was hit."""
    tree = sentence_tree(corpus.load(name))
    report = {}
    for question in corpus.questions(name):
        hits = hits_on(tree, question.answers[0][1])[:1]
        report.setdefault(question.kind, evidence_found(grow(hits, tree), question))
    return report


def test_a_window_brings_the_condition_next_door_but_not_the_other_chapter():
    for name in ("travel-en", "travel-zh"):
        narrow = delivered(name, lambda hits, tree: sentence_window(hits, tree, window_size=0))
        wide = delivered(name, lambda hits, tree: sentence_window(hits, tree, window_size=1))
        widest = delivered(name, lambda hits, tree: sentence_window(hits, tree, window_size=50))
        assert (narrow["neighbour"], wide["neighbour"]) == ([True, False], [True, True])
        assert (wide["rules"], widest["rules"]) == ([True, True, False], [True, True, True])
        assert (wide["section"], widest["section"]) == ([False], [True])
        assert widest["exception"] == widest["reference"] == [True, False]


def test_a_parent_of_the_deadline_holds_the_rules_in_order_and_the_annex_stays_shut():
    for name in ("travel-en", "travel-zh"):
        report = delivered(name, lambda hits, tree: parent_document(hits, tree, k=4, level="section"))
        assert report["rules"] == [True, True, True]
        assert report["section"] == [True]
        assert report["exception"] == [True, False]
        assert report["restricted"] == [False]
        finance = ("public", "finance")
        opened = delivered(
            name, lambda hits, tree, seen=finance: parent_document(hits, tree, k=4, level="section", access=seen)
        )
        assert opened["restricted"] == [True]


def parts(question):
    """A retriever that delivers a fixed passage for each question."""
    return {"one": [context(ONE)], "two": [context(ONE), context(Span(19, 60))], "none": []}[question]


QUESTIONS = [Question(name, (("plain", ONE), ("plain", THREE))) for name in ("one", "two", "none")]


def test_evaluation_averages_over_questions_and_keeps_their_order():
    result = evaluate(parts, QUESTIONS, count=len)
    assert [s.found for s in result.scores] == [(True, False), (True, True), (False, False)]
    assert result.recall == (1 / 2 + 1 + 0) / 3
    assert result.complete == 1 / 3
    assert [s.tokens for s in result.scores] == [18, 18 + 41, 0]
    assert result.tokens == (18 + 59) / 3


def test_recall_is_a_mean_of_shares_not_a_share_of_all_passages():
    lopsided = [Question("one", (("plain", ONE),)), Question("none", tuple(("plain", s) for s in (ONE, TWO, THREE)))]
    assert evaluate(parts, lopsided, count=len).recall == 1 / 2


def test_a_passage_named_twice_counts_once_E15():
    repeated = Question("one", (("plain", ONE), ("plain", ONE), ("plain", ONE), ("plain", THREE)))
    result = evaluate(parts, [repeated], count=len)
    assert result.scores[0].found == (True, True, True, False)
    assert result.recall == result.scores[0].recall == 1 / 2


def test_the_budget_is_the_same_for_all_and_cuts_after_a_sentence():
    # 18 characters for the first context; of the second, 17 fit ("Bravo two is here.") and the third sentence does not.
    result = evaluate(parts, [QUESTIONS[1]], token_budget=40, count=len)
    assert result.scores[0].found == (True, False)
    assert result.scores[0].tokens <= 40


def test_a_retriever_counts_with_its_own_model_and_a_trace_gives_its_contexts():
    from s2b_lab import HashEmbedder, Index, Retriever

    index = Index.open(embedder=HashEmbedder())
    index.add(sentence_tree(TEXT))
    result = evaluate(Retriever(index, expand=sentence_window, k=1), [Question("Bravo two", (("plain", TWO),))])
    assert result.recall == 1.0
    assert result.tokens == index.embedder.count_tokens(TEXT.text)


def test_a_context_is_charged_for_its_own_tokens_alone():
    """What the model puts before every text, and at both its ends, would punish many small contexts."""
    from s2b_lab import HashEmbedder, Index, Retriever

    class Prefixed(HashEmbedder):
        name = "prefixed"

        def count_tokens(self, text):
            return super().count_tokens(text) + 9

    index = Index.open(embedder=Prefixed())
    index.add(sentence_tree(TEXT))
    asked = [Question("Bravo two", (("plain", TWO),))]
    ask = Retriever(index, expand=as_found, k=3)
    assert ask("Bravo two").contexts[0].span.contains(TWO)
    assert evaluate(ask, asked).tokens == sum(
        HashEmbedder().count_tokens(span.of(TEXT.text)) for span in (ONE, TWO, THREE)
    )
    assert evaluate(ask, asked, token_budget=4).recall == 1.0, "the sentence alone has four tokens"
    assert evaluate(ask, asked, token_budget=3).recall == 0.0


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda ask: evaluate(ask, QUESTIONS), ValueError, "give count="),
        (lambda ask: evaluate(5, QUESTIONS), TypeError, "retriever must be a Retriever or a function.*not 5"),
        (lambda ask: evaluate(ask, ["one"], count=len), TypeError, "Questions only, not str"),
        (lambda ask: evaluate(ask, QUESTIONS, 0, len), ValueError, "token_budget must be at least 1, not 0"),
        (lambda ask: evaluate(ask, QUESTIONS, 2.5, len), ValueError, "token_budget must be a whole number, not 2.5"),
    ],
    ids=[f"A9-{n}" for n in range(5)],
)
def test_what_cannot_be_evaluated_is_said_before_the_first_question(call, error, says):
    asked = []
    with pytest.raises(error, match=says):
        call(asked.append)
    assert not asked


@pytest.mark.parametrize(
    ("questions", "message"),
    [([], "0 questions.*at least 1"), ([Question("bare", ())], "'bare' has 0 passages of evidence")],
)
def test_nothing_to_score_is_said(questions, message):
    with pytest.raises(ValueError, match=message):
        evaluate(parts, questions, count=len)


@pytest.mark.parametrize(
    ("doc_id", "span", "says"),
    [
        ("plian", ONE, "'Bravo two' is in 'plian', a document that the index does not hold"),
        ("plain", Span(37, 61), "ends after the text of 'plain', which has 60 characters: Span.*61"),
        ("plain", Span(700, 710), "ends after the text of 'plain'"),
        ("plain", Span(19, 19), "in 'plain' is empty: Span"),
        ("plain", Span(60, 60), "in 'plain' is empty"),
    ],
)
def test_evidence_that_nothing_or_everything_holds_is_refused_before_the_first_question(doc_id, span, says):
    from s2b_lab import HashEmbedder, Index, Retriever

    asked = []

    class Counted(Retriever):
        def __call__(self, query):
            asked.append(query)
            return super().__call__(query)

    index = Index.open(embedder=HashEmbedder())
    index.add(sentence_tree(TEXT))
    retriever = Counted(index)
    right, wrong = Question("Alpha one", (("plain", ONE),)), Question("Bravo two", (("plain", TWO), (doc_id, span)))
    with pytest.raises(ValueError, match=says):
        evaluate(retriever, [right, wrong])
    assert not asked
    assert evaluate(retriever, [right]).recall == 1 and asked == ["Alpha one"]


def test_what_a_function_searches_is_not_known_but_empty_evidence_is():
    elsewhere = Question("one", (("other", Span(5000, 5001)),))
    assert evaluate(parts, [elsewhere], count=len).recall == 0
    with pytest.raises(ValueError, match="is empty"):
        evaluate(parts, [Question("one", (("plain", Span(3, 3)),))], count=len)


@pytest.mark.parametrize("answers", [[("plain", (0, 3))], [("plain",)], [(ONE, "plain")], [ONE], ["plain"]])
def test_an_answer_is_a_pair_of_document_and_span(answers):
    with pytest.raises(TypeError, match=r"pair of document id and Span|answers must hold tuples only"):
        Question("Where?", answers)


def test_the_evidence_may_come_as_a_list():
    question = Question("Where?", [("plain", ONE)])
    assert question.answers == (("plain", ONE),) and hash(question)


# --- other metrics, k, and comparing on equal terms ---


def fixed(*delivered):
    """A retriever that delivers the same passages whatever is asked."""
    return lambda question: [context(span) for span in delivered]


WIDE = Span(0, 60)


def test_a_score_has_every_metric_of_what_was_delivered():
    score = evaluate(fixed(TWO, ONE, THREE), [ask(ONE, THREE)], count=len).scores[0]
    assert (score.ranks, score.tokens) == ((2, 3), 58)
    assert score.dcg == pytest.approx(1 / math.log2(3))
    assert score.graded_dcg == pytest.approx((1 / math.log2(3) + 1 / 2) / 2)
    assert (score.span_recall, score.span_precision, score.iou) == (1, 41 / 58, 41 / 58)


def test_k_counts_contexts_after_those_inside_others_are_left_out():
    asked = [ask(ONE, THREE)]
    result = evaluate(fixed(WIDE, ONE, THREE, WIDE), asked, count=len)
    assert (result.scores[0].ranks, result.tokens) == ((1, 1), 60), "what is repeated costs nothing and has no rank"
    narrow = fixed(ONE, ONE, TWO, THREE)
    assert [evaluate(narrow, asked, count=len, k=k).recall for k in (1, 2, 3, 9)] == [0.5, 0.5, 1, 1]
    assert [evaluate(narrow, asked, count=len, k=k).tokens for k in (1, 2, 3)] == [18, 35, 58]
    assert evaluate(narrow, asked, count=len, k=2, token_budget=20).tokens == 18


def test_every_metric_of_an_evaluation_is_the_mean_over_its_questions():
    asked = [ask(ONE), ask(ONE, THREE), ask(TWO)]
    result = evaluate(fixed(TWO, Span(0, 20)), asked, count=len)
    for metric in METRICS:
        values = [getattr(score, metric) for score in result.scores]
        assert getattr(result, metric) == pytest.approx(sum(values) / 3), metric
        assert len({*values}) > 1 or metric == "tokens"


def test_the_words_may_stand_elsewhere():
    question = Question("?", (("plain", ONE), ("plain", TWO)), elsewhere=((("copy", Span(5, 23)),), ()))
    copy = Context("copy", Span(0, 30), "x" * 30, ())
    assert evidence_found([copy], question) == [True, False]
    score = evaluate(lambda text: [context(TWO), copy], [question], count=len).scores[0]
    assert (score.found, score.ranks, score.span_recall) == ((True, True), (2, 1), 1)
    with pytest.raises(ValueError, match="in 'copy' is empty"):
        evaluate(fixed(ONE), [Question("?", (("plain", ONE),), elsewhere=((("copy", Span(5, 5)),),))], count=len)


def test_a_passage_named_twice_may_stand_elsewhere_both_times():
    twice = Question("?", (("plain", ONE), ("plain", ONE)), elsewhere=((), (("copy", Span(5, 23)),)))
    score = evaluate(lambda text: [Context("copy", Span(0, 30), "x" * 30, ())], [twice], count=len).scores[0]
    assert (score.found, score.ranks, score.recall) == ((True, True), (1,), 1)


def test_a_score_made_by_hand_has_no_metric_that_it_lacks():
    bare = Score(ask(ONE), (True,), 3)
    for metric in ("dcg", "graded_dcg"):
        with pytest.raises(ValueError, match="0 ranks"):
            getattr(bare, metric)
    for metric in ("span_recall", "span_precision", "iou"):
        with pytest.raises(ValueError, match="without the overlap"):
            getattr(Evaluation((bare,)), metric)


def test_strategies_are_compared_at_each_k_as_one_by_one():
    asked = [ask(ONE, THREE), ask(TWO)]
    strategies = {"narrow": fixed(ONE, ONE, TWO, THREE), "wide": fixed(WIDE), "none": fixed()}
    found = compare(strategies, asked, ks=(1, 2, 5), count=len)
    assert list(found) == ["narrow", "wide", "none"] and list(found["wide"]) == [1, 2, 5]
    for name, retriever in strategies.items():
        for k, result in found[name].items():
            assert result == evaluate(retriever, asked, count=len, k=k)
    assert paired_bootstrap(found["wide"][1], found["narrow"][1], "dcg").difference > 0


def test_strategies_are_compared_within_each_budget_as_one_by_one():
    asked = [ask(ONE, THREE), ask(TWO)]
    strategies = {"narrow": fixed(ONE, TWO, THREE), "wide": fixed(WIDE)}
    found = compare(strategies, asked, token_budgets=[20, 40, 99], count=len)
    for name, retriever in strategies.items():
        for budget, result in found[name].items():
            assert result == evaluate(retriever, asked, budget, len) and result.tokens <= budget


def test_to_compare_asks_each_retriever_each_question_once():
    heard = []

    def listening(question):
        heard.append(question)
        return [context(WIDE)]

    compare({"one": listening}, QUESTIONS, ks=(1, 2, 5, 10, 20), count=len)
    assert heard == ["one", "two", "none"]


def searching(**options):
    from s2b_lab import HashEmbedder, Index, Retriever

    index = Index.open(embedder=HashEmbedder())
    index.add(sentence_tree(TEXT))
    return Retriever(index, expand=as_found, **options)


def test_a_retriever_that_stops_before_the_limit_is_not_compared():
    asked = [Question("Bravo two", (("plain", TWO),))]
    assert compare({"all": searching(k=3)}, asked, ks=(1, 3))["all"][1].recall == 1
    assert compare({"all": searching(k=9)}, asked, token_budgets=(4, 999))["all"][999].tokens == 12, "it has no more"
    with pytest.raises(ValueError, match="'few' has k 2: to compare at k 3 give it 3 or more"):
        compare({"all": searching(k=3), "few": searching(k=2)}, asked, ks=(1, 3))
    with pytest.raises(ValueError, match="'few' with k 2 has only 8 of 10 tokens: give it a larger k"):
        compare({"few": searching(k=2)}, asked, token_budgets=(4, 10))
    assert compare({"few": searching(k=2)}, asked, token_budgets=(4, 8))["few"][8].tokens == 8
    with pytest.raises(ValueError, match="'few' has token_budget 5: to compare at token_budget 10 give it 10 or more"):
        compare({"few": searching(k=9, token_budget=5)}, asked, token_budgets=(4, 10))
    with pytest.raises(ValueError, match="'lost', a document that the index does not hold"):
        compare({"all": searching(k=3)}, [Question("Bravo two", (("lost", TWO),))], ks=(1,))


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({}, ValueError, "either ks or token_budgets"),
        ({"ks": (1,), "token_budgets": (9,)}, ValueError, "either ks or token_budgets"),
        ({"ks": ()}, ValueError, "0 ks to compare at"),
        ({"ks": (0, 1)}, ValueError, "k must be at least 1, not 0"),
        ({"ks": 3}, TypeError, "ks must be a list of .*not int 3"),
        ({"token_budgets": (9, 2.5)}, ValueError, "token_budget must be a whole number, not 2.5"),
        ({"ks": (1,), "retrievers": {}}, ValueError, "0 retrievers"),
        ({"ks": (1,), "retrievers": [parts]}, TypeError, "retrievers must be a Mapping, not list"),
        ({"ks": (1,), "retrievers": {"one": parts, "five": 5}}, TypeError, "'five' must be a Retriever.*not 5"),
        ({"ks": (1,), "retrievers": {1: parts}}, TypeError, "names of retrievers must hold texts only"),
        ({"ks": (1,), "count": None}, ValueError, "give count="),
        ({"ks": (1,), "questions": []}, ValueError, "0 questions"),
    ],
    ids=[f"A9-{n}" for n in range(12)],
)
def test_what_cannot_be_compared_is_said(options, error, says):
    given = {"retrievers": {"one": parts}, "questions": QUESTIONS, "count": len} | options
    with pytest.raises(error, match=says):
        compare(**given)


# --- the paired bootstrap ---


def scored(*founds):
    questions = [Question(f"question {n}", (("plain", ONE), ("plain", TWO))) for n in range(len(founds))]
    return Evaluation(
        tuple(Score(q, found, 10 * n) for n, (q, found) in enumerate(zip(questions, founds, strict=True)))
    )


def naive_bootstrap(ours, theirs, metric, resamples, level, seed):
    """Resample one question after the other, sort the means, and read the bounds off between two of them."""
    gains = [
        float(getattr(a, metric)) - float(getattr(b, metric)) for a, b in zip(ours.scores, theirs.scores, strict=True)
    ]
    draws = np.random.default_rng(seed).integers(0, len(gains), (resamples, len(gains)))
    means = sorted(sum(gains[i] for i in draw) / len(gains) for draw in draws)

    def at(share):
        place = share * (resamples - 1)
        low = int(place)
        high = min(low + 1, resamples - 1)
        return means[low] + (place - low) * (means[high] - means[low])

    return sum(gains) / len(gains), at((1 - level) / 2), at((1 + level) / 2)


founds = st.lists(
    st.tuples(st.tuples(st.booleans(), st.booleans()), st.tuples(st.booleans(), st.booleans())), min_size=1
)


@settings(deadline=None)  # the first call loads scipy
@given(founds, st.sampled_from(["recall", "complete", "tokens"]), st.integers(1, 60), st.integers(0, 5))
def test_the_bootstrap_agrees_with_resampling_by_hand(pairs, metric, resamples, seed):
    ours, theirs = scored(*(a for a, _ in pairs)), scored(*(b for _, b in pairs))
    found = paired_bootstrap(ours, theirs, metric, resamples, 0.9, seed)
    expected = naive_bootstrap(ours, theirs, metric, resamples, 0.9, seed)
    assert (found.difference, found.low, found.high) == pytest.approx(expected)
    assert found.low <= found.high and found.level == 0.9


def test_questions_are_resampled_in_pairs():
    """Strategies that differ by the same on every question differ for sure, however much the questions do."""
    good, bad = (True, True), (False, False)
    ours = scored(*[(True, True), (True, False)] * 10)
    theirs = scored(*[(True, False), (False, False)] * 10)
    found = paired_bootstrap(ours, theirs)
    assert (found.difference, found.low, found.high) == (0.5, 0.5, 0.5) and found.clear
    shifted = paired_bootstrap(scored(*[good, bad] * 10), scored(*[bad, good] * 10))
    assert shifted.difference == 0 and shifted.low < 0 < shifted.high and not shifted.clear


@pytest.mark.parametrize("count", [1, 2, 7])
def test_the_same_difference_everywhere_has_no_width(count):
    """Thirds, whose mean is rounded, and a single question, which no library resamples."""
    questions = [Question(str(n), tuple(("plain", span) for span in (ONE, TWO, THREE))) for n in range(count)]
    ours, theirs = (
        Evaluation(tuple(Score(question, (found, False, False), 0) for question in questions))
        for found in (True, False)
    )
    with heard() as told:
        found = paired_bootstrap(ours, theirs)
    assert found.low == found.difference == found.high == pytest.approx(1 / 3) and found.clear
    assert not told


def test_a_single_resample_is_no_reason_to_warn():
    ours, theirs = scored((True, True), (False, False)), scored((False, False), (False, False))
    with heard() as told:
        found = paired_bootstrap(ours, theirs, resamples=1)
    assert found.low == found.high in (0, 0.5, 1) and not told


def test_many_draws_are_made_in_parts_and_are_the_same_draws():
    """4.2 million draws at once take 70 MB and more; the parts join to the same row."""
    gains = np.random.default_rng(1).integers(0, 100, 700)
    questions = [Question(str(n), (("plain", ONE),)) for n in range(700)]
    ours = Evaluation(tuple(Score(q, (True,), int(gain)) for q, gain in zip(questions, gains, strict=True)))
    theirs = Evaluation(tuple(Score(q, (True,), 0) for q in questions))
    tracemalloc.start()
    found = paired_bootstrap(ours, theirs, "tokens", 6000)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    means = gains[np.random.default_rng(0).integers(0, 700, (6000, 700))].mean(axis=1)
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(means, [0.025, 0.975])))
    assert most < 60e6


def test_no_difference_at_all_is_not_clear():
    assert not paired_bootstrap(scored((True, True)), scored((True, True))).clear


def test_the_bootstrap_refuses_what_makes_no_pairs():
    one, two = scored((True, True)), scored((True, True), (True, True))
    with pytest.raises(ValueError, match="different questions"):
        paired_bootstrap(one, two)
    with pytest.raises(ValueError, match="'precision'"):
        paired_bootstrap(one, one, "precision")
    with pytest.raises(ValueError, match="resamples"):
        paired_bootstrap(one, one, resamples=0)
    for level in (0, 1, 95):
        with pytest.raises(ValueError, match=f"not {level}"):
            paired_bootstrap(one, one, level=level)


def test_complete_means_all_of_the_evidence():
    assert [score.complete for score in scored((True, True), (True, False)).scores] == [True, False]


@pytest.mark.parametrize(
    ("found", "evidence", "rank"),
    [
        ([ONE, TWO, THREE], [TWO], 2),
        ([THREE, ONE], [ONE, THREE], 1),
        ([ONE, Span(36, 38)], [TWO, THREE], 2),
        ([Span(0, 19)], [TWO], None),  # ends where the evidence begins
        ([ONE, TWO], [THREE], None),
        ([ONE], [], None),
        ([], [ONE], None),
    ],
)
def test_the_first_rank_is_that_of_the_first_span_that_touches_some_evidence(found, evidence, rank):
    assert first_rank(iter(found), evidence) == rank


def test_nothing_measured_is_no_difference():
    nothing = Evaluation(())
    with pytest.raises(ValueError, match="0 questions"):
        paired_bootstrap(nothing, nothing)
    with pytest.raises(ValueError, match="100,000,000 draws"):
        paired_bootstrap(scored((True, True)), scored((True, True)), resamples=10**9)
    assert not Interval(0.1, float("nan"), float("nan"), 0.95).clear


def test_a_bound_that_is_zero_but_for_rounding_is_not_clear():
    assert sum([0.1] * 3) - 0.3 > 0
    assert not Interval(0.1, sum([0.1] * 3) - 0.3, 0.2, 0.95).clear
    assert not Interval(-0.1, -0.2, 0.3 - sum([0.1] * 3), 0.95).clear
    assert Interval(0.1, 0.001, 0.2, 0.95).clear and Interval(-0.1, -0.2, -0.001, 0.95).clear


def test_the_same_questions_in_another_order_make_no_pairs():
    one = scored((True, True), (False, False))
    turned = Evaluation(one.scores[::-1])
    with pytest.raises(ValueError, match="different questions"):
        paired_bootstrap(one, turned)
    assert paired_bootstrap(turned, turned).difference == 0
