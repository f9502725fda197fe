"""Evidence counts only where one delivered context holds it whole."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2b_lab import corpus
from s2b_lab.chunk import sentence_tree
from s2b_lab.evaluate import Question, evaluate, evidence_found
from s2b_lab.expand import Context, Hit, parent_document, sentence_window
from s2b_lab.text import Span, document

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
