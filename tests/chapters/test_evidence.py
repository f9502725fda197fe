"""What is said about evidence: where it stands, how much of it is delivered, and nothing that a reader may not see."""

import pytest

from s2b_lab import HashEmbedder, corpus
from s2b_lab.chapters import evidence, texts
from s2b_lab.core.access import covered_text, public_text
from s2b_lab.core.hits import Context
from s2b_lab.core.sentences import sentences
from s2b_lab.core.text import Span
from s2b_lab.corpus import Question
from s2b_lab.evaluation import evaluate

POLICY = corpus.load("travel-en")
RULES = corpus.questions("travel-en")[0]
RESTRICTED = next(q for q in corpus.questions("travel-en") if q.kind == "restricted")


def test_the_verdict_counts_evidence():
    rules = [span for _, span in RULES.answers]
    assert evidence.verdict(POLICY, RULES.text, [rules[0]]).text.startswith("1 of 3 ")
    assert evidence.verdict(POLICY, RULES.text, [Span(rules[0].start, rules[2].end)]).text.startswith("3 of 3 ")
    assert "judge for yourself" in evidence.verdict(POLICY, "a question of my own", []).text


def test_the_first_piece_is_evidence_that_all_may_read_or_the_sentence_most_like_the_question():
    model, public = HashEmbedder(), sentences(public_text(POLICY))
    assert evidence.first_piece(model, POLICY, RULES.text) == RULES.answers[0][1]
    assert evidence.evidence(POLICY, RESTRICTED.text) and not evidence.public_evidence(POLICY, RESTRICTED.text)
    assert evidence.first_piece(model, POLICY, RESTRICTED.text) in public
    assert evidence.first_piece(model, POLICY, public[40].of(POLICY.text)) == public[40]


def test_evidence_that_not_everyone_may_read_is_neither_marked_nor_counted():
    whole = [Span(0, len(POLICY.text))]
    assert evidence.evidence_marks(POLICY, RESTRICTED.text, whole) == []
    assert evidence.share(POLICY, RESTRICTED.text, whole) == "not for this reader"
    assert evidence.share(POLICY, "a question of my own", whole) == "–"
    assert evidence.verdict(POLICY, RESTRICTED.text, whole).text.startswith("Not for this reader")
    assert evidence.verdict(POLICY, RULES.text, whole).text.startswith("3 of 3 ")


@pytest.mark.parametrize("text", ["einstein", "travel-en", "travel-zh"])
def test_the_evidence_of_a_question_is_for_all_readers_or_for_some(text):
    document = corpus.load(text)
    for question in corpus.questions(text, more=True):
        known = evidence.evidence(document, question.text)
        assert len(evidence.public_evidence(document, question.text)) in (0, len(known))


def test_covering_keeps_offsets_and_white_space():
    covered = covered_text(POLICY)
    assert len(covered) == len(POLICY.text)
    start = POLICY.sections[-1].span.start
    assert covered[:start] == POLICY.text[:start] and "▒" in covered[start:]
    assert [c.isspace() for c in covered] == [c.isspace() for c in POLICY.text]


def test_a_question_is_as_near_as_the_nearest_of_its_wordings():
    model, spans = HashEmbedder(), [span for _, span in RULES.answers]
    exact = [span.of(POLICY.text) for span in spans]
    assert evidence.closeness(model, POLICY, spans, exact) > 0.999
    assert evidence.closeness(model, POLICY, spans, exact[:1]) < 0.999
    assert evidence.closeness(model, POLICY, [], exact) is None


def test_the_scoreboard_has_a_row_for_each_question():
    question = Question("q", (("travel-en", Span(0, 3)), ("travel-en", Span(5, 9))))
    with_one = evaluate(lambda _: [Context("travel-en", Span(0, 4), "abcd", ())], [question], count=len)
    assert evidence.scoreboard({"a": with_one}).rows == [["q", "1 of 2"]]


def test_the_checklist_names_the_section_only_of_what_all_may_read():
    whole = [Context(POLICY.id, Span(0, len(POLICY.text)), POLICY.text, ())]
    known = evidence.checklist(POLICY, RULES, whole).rows
    assert all(found and title != "–" for _, title, found in known)
    hidden = evidence.checklist(POLICY, RESTRICTED, []).rows
    assert all(title == "–" and found == "not for this reader" and "▒" in quoted for quoted, title, found in hidden)


@pytest.mark.parametrize("name", ["travel-en", "travel-zh", "einstein"])
def test_a_question_is_hidden_where_not_all_may_read_its_evidence(name):
    hidden = [question for question in corpus.questions(name, more=True) if evidence.is_hidden(question)]
    assert [question.kind for question in hidden] == ([] if name == "einstein" else ["restricted"])
    asked = texts.asked_of_all(name)
    assert len(asked) + len(hidden) == len(corpus.questions(name, more=True)) and not {*hidden} & {*asked}
    assert not evidence.is_hidden(Question("Mine?", (("my-own-text", Span(0, 4)),)))


def asked_with(*questions):
    """Evaluations of questions of which the whole policy is delivered, which cannot be counted where it is hidden."""
    whole = Context(POLICY.id, Span(0, len(POLICY.text)), POLICY.text, ())
    return evaluate(lambda asked: [whole] if asked == RULES.text else [], questions, count=len)


def test_a_scoreboard_says_what_is_not_for_this_reader():
    rows = evidence.scoreboard({"a": asked_with(RULES, RESTRICTED), "b": asked_with(RULES, RESTRICTED)}).rows
    assert [row[1:] for row in rows] == [["3 of 3"] * 2, ["not for this reader"] * 2]


def test_what_evidence_costs_is_a_mean_over_what_this_reader_may_read():
    both, alone = ({"a": [asked_with(*asked)]} for asked in ((RULES, RESTRICTED), (RULES,)))
    told, plain = evidence.price_chart(both).frame(), evidence.price_chart(alone).frame()
    assert told["data"] == plain["data"] and told["data"][0]["y"] == [1.0]
    title = told["layout"]["xaxis"]["title"]["text"]
    assert title == "tokens delivered, mean over 1 question<br>(1 more is not for this reader)"
    assert told["alt"].endswith(" 1 more is not for this reader.")
    assert "not for" not in plain["layout"]["xaxis"]["title"]["text"] + plain["alt"]
