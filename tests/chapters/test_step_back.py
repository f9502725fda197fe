"""The views of a rewrite say what the retrieval did, and the chapter's own functions compute it."""

import pytest

from s2b_lab import corpus
from s2b_lab.chapters import step_back
from s2b_lab.rewrite import Rewrite


@pytest.fixture
def book(chapter, quick):
    return chapter("05")


def rows(table):
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def compared(book, text, question, rewrite, k):
    ways = {"as asked": [question], "rewritten": [rewrite.text], "both, fused": [question, rewrite.text]}
    traces, ranked = ({way: book.search(text, question, ways[way], size) for way in ways} for size in (k, 64))
    hits = {way: trace.hits for way, trace in ranked.items()}
    return step_back.rewrite_views(book.library(text), rewrite, traces, hits)


def test_a_rewrite_is_compared_with_the_question(book):
    question = corpus.questions("einstein")[0]
    (_, gold), *_ = question.answers
    rewrite = Rewrite(gold.of(corpus.load("einstein").text), "a cheat")
    note, table, stages, figure, passages = compared(book, "einstein", question.text, rewrite, 2)
    asked, rewritten, fused = rows(table)
    assert rewritten["similarity to the evidence"] == 1 and rewritten["rank of the evidence"] == 1
    assert asked["similarity to the evidence"] < 1 == fused["similarity to the evidence"]
    assert rewritten["evidence delivered"] == "1 of 1" and "a cheat" in note.text
    drawn = figure.frame()
    assert any(trace.get("name") == "rewritten" for trace in drawn["data"]) and drawn["layout"]["annotations"]
    assert {mark.kind for mark in passages.marks} >= {"context", "gold"}
    assert sum(mark.kind == "hit" for mark in passages.marks) == 2
    assert stages.stages[0].made.rows == [[rewrite.text, "a cheat"]] and stages.stages[-1].name == "prompt"


def test_a_refused_rewrite_is_told_and_is_no_stage(book):
    question = "Did Einstein own a dog?"
    refused = Rewrite(question, "the question itself", "nobody answers")
    note, table, stages, _, _ = compared(book, "einstein", question, refused, 1)
    assert note.text == step_back.told(refused) and "used as it is: nobody answers" in note.text
    assert stages.stages[0].made == "no rewriting"
    assert rows(table)[0]["similarity to the evidence"] is None and rows(table)[0]["rank of the evidence"] is None


def test_the_figure_rewrites_by_the_writer_and_the_prompt_that_are_chosen(book):
    question = corpus.questions("travel-en")[0].text
    notes = {
        (writer, prompt): book.back("travel-en", question, writer, prompt, 2)[0].text
        for writer in ("authors", "smollm2")
        for prompt in ("few-shot", "zero-shot")
    }
    assert len(set(notes.values())) == 4 and "authors" in notes["authors", "few-shot"]


def test_a_rank_can_be_further_down_than_what_is_delivered(book):
    index, deep = book.library("einstein"), {}
    for question in corpus.questions("einstein")[:12]:
        (_, gold), *_ = question.answers
        rank = step_back.rank_of_evidence(index.search(question.text, 64), [gold])
        deep |= {question.text: rank} if rank and rank > 4 else {}
    (question, rank), *_ = deep.items()
    table = book.back("einstein", question, "authors", "few-shot", 1)[1]
    assert rows(table)[0]["rank of the evidence"] == rank and rows(table)[0]["evidence delivered"] == "0 of 1"


def test_prompts_and_drift_cover_all_questions(book):
    table = book.prompts("travel-en")
    assert [row[0] for row in table.rows] == ["as asked", "few-shot", "zero-shot"]
    assert all(str(row[3]).endswith("of 29") for row in table.rows[1:])
    moves = [row["rank after"] / row["rank before"] for row in rows(book.drift("travel-en"))]
    assert len(moves) == 6 and moves == sorted(moves)


def test_nearer_counts_what_comes_nearer_and_no_draw():
    written = {"as asked": ["ab", "abcd", "a"], "few-shot": ["abc", "abc", "abc"]}
    close = {"as asked": [0.5, 0.5, 0.5], "few-shot": [0.6, 0.5, 0.4]}
    assert step_back.nearer(written, close).rows == [["as asked", 2, 0.5, "–"], ["few-shot", 3, 0.5, "1 of 3"]]


def test_drift_shows_each_move_once_and_none_without_a_rank():
    moves = [("a", "A", 4, 1), ("b", "B", 1, 4), ("c", "C", None, 2), ("d", "D", 2, 2)]
    assert [row[0] for row in step_back.drift(moves, 2).rows] == ["a", "d", "b"]
    assert [row[0] for row in step_back.drift(moves, 1).rows] == ["a", "b"]
    with pytest.raises(ValueError, match="n must be at least 1"):
        step_back.drift(moves, 0)


def test_nearer_counts_narrow_and_broad_questions_apart():
    written = {"as asked": ["a", "b", "c"], "few-shot": ["d", "e", "f"]}
    close = {"as asked": [0.5, 0.5, 0.5], "few-shot": [0.6, 0.6, 0.4]}
    table = step_back.nearer(written, close, ["rules", "general", "specific"])
    assert table.columns[4:] == ["of narrow ones", "of broad ones"]
    assert table.rows[1][3:] == ["2 of 3", "1 of 2", "1 of 1"] and table.rows[0][3:] == ["–"] * 3


def test_scores_of_a_rewrite_are_not_shown_as_similarities_to_the_question(book):
    question = corpus.questions("einstein")[0].text
    for rewrite, shown in ((Rewrite("Which patents?", "a test"), False), (Rewrite(question, "-", "no"), True)):
        passages = compared(book, "einstein", question, rewrite, 1)[-1]
        assert all(bool(mark.label) == shown for mark in passages.marks if mark.kind == "hit")
