"""The views of hypothetical questions, and the indexes that the chapter builds of them."""

import pytest

from s2b_lab import corpus
from s2b_lab.chapters import hyde, texts
from s2b_lab.hypothetical import key_of


@pytest.fixture
def book(chapter, quick):
    return chapter("06")


def rows(table):
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


@pytest.mark.parametrize("text", texts.TEXTS.values())
def test_every_chunk_that_all_may_read_has_recorded_questions_and_no_other(book, text):
    tree = book.library(text).tree
    public = {key_of(chunk) for chunk in tree.indexed if tree.section(chunk).access == "public"}
    questions = book.question_library(text, 3)
    assert set(questions.tree.documents) == public
    assert questions.count() > book.question_library(text, 1).count() == len(public)


def test_hypothetical_questions_lead_to_their_chunks(book):
    ways, found, stages, chart = book.foreseen("travel-en", corpus.questions("travel-en")[0].text, 3, 2)
    assert [row["searched"] for row in rows(ways)] == [
        "the text of the chunks",
        "the questions about them",
        "both, fused",
    ]
    tree = book.library("travel-en").tree
    assert stages.stages[0].made == "no rewriting" and len(stages.data["contexts"]) == 2
    assert len(found.rows) == 2 and all(row["points to"] in tree for row in rows(found))
    names = [trace.get("name") for trace in chart.frame()["data"]]
    assert {"hits among the questions", "chunks they point to"} <= set(names)


def test_a_fused_score_is_not_called_a_similarity(book):
    ways = rows(book.foreseen("einstein", corpus.questions("einstein")[0].text, 1, 1)[0])
    assert [row["best similarity"] is None for row in ways] == [False, False, True]


def test_nothing_found_is_shown_as_nothing(book):
    index = book.library("travel-en")
    fused = book.s2b.Retriever(index, where={"access": "nobody"})("Who checks?")
    ways, found, *_ = hyde.foreseen_views(index, [], ([], []), ([], []), fused)
    assert [row["best similarity"] for row in rows(ways)] == [None] * 3 and found.rows == []


def test_a_passage_is_compared_as_a_rewrite(book):
    question = corpus.questions("einstein")[1].text
    note, table, *_ = book.made_up("einstein", question, "authors", "few-shot", 4)
    assert "authors" in note.text and [row[0] for row in table.rows] == ["as asked", "rewritten", "both, fused"]
    assert [row[0] for row in book.passages("travel-en").rows] == ["as asked", "few-shot", "zero-shot"]
