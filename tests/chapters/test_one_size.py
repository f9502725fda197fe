"""Chapter 1: a text cut into chunks of one size, and one chunk growing around its evidence."""

import numpy as np
import pytest

from s2b_lab import HashEmbedder, corpus
from s2b_lab.chapters import evidence, one_size
from s2b_lab.core.headings import document
from s2b_lab.core.split import recursive
from s2b_lab.core.text import Span
from s2b_lab.corpus import Question
from s2b_lab.figures.passages import Mark

POLICY = corpus.load("travel-en")
RULES = corpus.questions("travel-en")[0]
MODEL = HashEmbedder()


@pytest.fixture
def lesson(chapter):
    return chapter("01-one-size")


def test_the_best_chunk_is_marked_and_judged_by_its_evidence():
    (_, first), *_ = RULES.answers
    spans = [Span(0, 40), Span(first.start - 5, first.end + 5), Span(40, 90)]
    note, passages, bars, _ = one_size.chunks_views(MODEL, POLICY, RULES.text, spans, [0.2, 0.75, 0.4])
    assert note.text == "1 of 3 pieces of evidence are in the best of 3 chunks (number 2)."
    assert [(m.span, m.label) for m in passages.marks if m.kind == "hit"] == [(spans[1], "0.75")]
    assert [m.span for m in passages.marks if m.kind == "chunk"] == spans
    (bar,) = bars.frame()["data"]
    assert bar["y"] == [0.2, 0.75, 0.4] and len({*bar["marker"]["color"]}) == 2


def test_a_growing_chunk_is_measured_in_tokens_of_its_own_and_says_what_is_not_read():
    model = HashEmbedder(name="short", max_tokens=10, passage_prefix="three of its own ")
    text = document("d", "one two three four five six seven eight nine ten")
    spans = {0: Span(0, 7), 41: Span(0, 48)}
    asked, scores = text.text[:7], [[0.5], [0.25, 0.125]]
    views = [one_size.grown(model, text, asked, Span(0, 7), spans, scores, added) for added in spans]
    why = "This question has no evidence marked by hand"
    around = f"{why}, so the chunk grows around the sentence most similar to the question."
    assert views[0][0].text == f"{around} Similarity 0.500 at 2 tokens."
    read = "Similarity 0.250 at 10 tokens, and 0.125 for its company alone. The model does not read the end of it."
    assert views[1][0].text == f"{around} {read}"
    whole, unread, core = views[1][1].marks
    assert (whole.span, core.span, core.kind) == (spans[41], Span(0, 7), "hit")
    assert (unread.kind, unread.span.of(text.text).split()) == ("unread", ["seven", "eight", "nine", "ten"])
    line, company, here = views[1][2].frame()["data"]
    assert line["x"] == [7, 48] and (here["x"], here["y"]) == ([48], [0.25])
    assert company["y"] == [None, 0.125]


@pytest.mark.parametrize(
    ("core", "said"),
    [
        (Span(0, 7), "of it."),
        (Span(24, 48), "of it, and not the whole evidence."),
        (Span(40, 48), "of it, and not the evidence."),
    ],
)
def test_evidence_that_is_not_read_is_said_to_be_so(core, said, monkeypatch):
    text = document("d", "one two three four five six seven eight nine ten")
    monkeypatch.setattr(evidence, "_questions", lambda doc_id: (Question("?", (("d", core),)),))
    model = HashEmbedder(name="short", max_tokens=6)
    note, passages, *_ = one_size.grown(model, text, "?", core, {9: Span(0, 48)}, [[0.5, 0.2]], 9)
    assert note.text.endswith(f"The model does not read the end {said}")
    assert passages.marks[-1] == Mark(core, "gold")


def test_a_cut_says_how_many_chunks_are_longer_than_the_model_reads():
    text = document("d", "one two three four five six seven eight nine ten")
    spans = [Span(0, 18), Span(19, 48)]
    for most, count in ((3, 2), (4, 1), (9, 0)):
        note, passages, *_ = one_size.chunks_views(HashEmbedder(max_tokens=most), text, "?", spans, [0.2, 0.1])
        assert [m.kind for m in passages.marks].count("unread") == count
        assert note.text.endswith(f" {count} of 2 chunks.") == (count > 0)


def test_a_growing_chunk_stops_where_not_everyone_may_read_on(lesson):
    annex = POLICY.sections[-1].span.start
    last = Span(annex - 200, annex - 100)
    assert lesson.around(POLICY, last, 800) == Span(annex - 1000, annex)
    assert lesson.around(POLICY, last, 10**6) == Span(0, annex)


@pytest.mark.parametrize(("added", "expected"), [(0, (40, 50)), (10, (30, 60)), (45, (0, 95)), (10_000, (0, 100))])
def test_around_grows_to_both_sides_within_the_text(added, expected, lesson):
    assert lesson.around(document("d", "x" * 100), Span(40, 50), added) == Span(*expected)


def test_company_is_the_chunk_without_the_evidence_and_none_where_there_is_no_more(lesson):
    text = document("d", "before CORE after")
    assert lesson.with_and_without(text, Span(7, 11), Span(0, 17)) == ["before CORE after", "before   after"]
    assert lesson.with_and_without(text, Span(7, 11), Span(7, 11)) == ["CORE"]


def test_plain_retrieval_ranks_by_similarity_and_delivers_chunks_as_cut(lesson, monkeypatch):
    monkeypatch.setattr(lesson.s2b, "embedder", lambda name: MODEL)
    question = "When do I have to hand in my receipts?"
    got = lesson.nearest("en", 250, 4, question)
    spans = recursive(POLICY.text[: POLICY.sections[-1].span.start], 250, 0)
    scores = MODEL.passages([span.of(POLICY.text) for span in spans]) @ MODEL.query(question)
    assert [c.span for c in got] == [spans[i] for i in np.argsort(-scores, kind="stable")[:4]]
    assert [c.score for c in got] == sorted((c.score for c in got), reverse=True)
