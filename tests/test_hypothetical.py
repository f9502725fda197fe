"""Questions that a passage answers, and their tree."""

import pytest
from parrot import Says

from s2b_lab.core.build import parents_and_children
from s2b_lab.core.headings import document
from s2b_lab.core.text import Span
from s2b_lab.core.tree import Chunk, ChunkTree
from s2b_lab.hypothetical import chunk_id_of, hypothetical_questions, key_of, question_tree
from s2b_lab.llm import CutShort, ModelUnavailable

PASSAGE = "The patent for the blouse was granted in 1936."


@pytest.mark.parametrize(
    "answer",
    [
        "When was it granted?\nWhat does it show?",
        "1. When was it granted?\n2. What does it show?",
        "1) When was it granted?\n\n2) What does it show?",
        "- When was it granted?\n* What does it show?",
        "Q1: When was it granted?\nQ2: What does it show?",
        "**Question 1:** When was it granted?\n**Question 2:** What does it show?",
        'Here are two questions:\n\n1. "When was it granted?"\n2. "What does it show?"',
        f"Passage: {PASSAGE}\nQuestions:\nWhen was it granted?\nWhat does it show?",
        "When was it granted?\nWhen was it granted?\nWhat does it show?",
        "When was it granted?\n" + "x" * 301 + "\nWhat does it show?",
    ],
)
def test_questions_come_one_a_line(answer):
    model = Says(answer)
    ask = hypothetical_questions(model, 3)
    assert ask(PASSAGE) == ["When was it granted?", "What does it show?"]
    assert model.asked == [(PASSAGE, ask.instructions)]


def test_no_more_than_n_questions():
    assert hypothetical_questions(Says("a?\nb?\nc?\nd?"), 2)(PASSAGE) == ["a?", "b?"]
    assert hypothetical_questions(Says("问题：\n1、甲？\n2、乙？"), language="zh")("段落") == ["甲？", "乙？"]


def test_half_a_question_is_none():
    said = CutShort("When was it granted?\nWhat does it sh", "cut by length")
    assert hypothetical_questions(Says(said))(PASSAGE) == ["When was it granted?"]
    assert len(hypothetical_questions(Says(str(said)))(PASSAGE)) == 2, "a whole answer may lack its mark"


def test_no_question_is_made_up_where_the_model_fails():
    with pytest.warns(RuntimeWarning, match="no questions for 'The patent.*nobody answers"):
        assert hypothetical_questions(Says(ModelUnavailable("nobody answers")))(PASSAGE) == []


def test_a_statement_is_no_question():
    assert hypothetical_questions(Says(f"{PASSAGE}\nWhen was it granted?"))(PASSAGE) == ["When was it granted?"]
    with pytest.warns(RuntimeWarning, match="parrot wrote none: 'The patent"):
        assert hypothetical_questions(Says(PASSAGE))(PASSAGE) == []


@pytest.mark.parametrize("n", [0, -1, 1.5, True, None])
def test_n_is_a_whole_number(n):
    with pytest.raises(ValueError, match=f"n must be .*{n!r}"):
        hypothetical_questions(Says(""), n)


@pytest.mark.parametrize("passage", ["", " \n", "\u200b\u2060", None])
def test_a_blank_passage_is_not_sent(passage):
    model = Says("x")
    with pytest.raises(ValueError, match="the passage is blank"):
        hypothetical_questions(model)(passage)
    assert not model.asked


# --- questions in a tree of their own ---

MANUAL = "## Loans\n\nLoans run for 28 days.\n\n## Staff\n\nThe safe opens at nine."


def manual():
    return parents_and_children(document("m", MANUAL, version="2", section_access={"Staff": "staff"}), 60, 30, 0)


def test_each_question_is_a_chunk_of_a_document_named_after_its_passage():
    tree = manual()
    questions = question_tree(tree, lambda text: [f"What about {text[:5]}?", " When\nis it? "])
    passage = next(chunk for chunk in tree.indexed if "28" in chunk.text)
    written = questions.documents[key_of(passage)]
    assert written.version == "2" and written.access == "public"
    mine = [chunk for chunk in questions.indexed if chunk.doc_id == key_of(passage)]
    assert [chunk.text for chunk in mine] == [f"What about {passage.text[:5]}?", "When is it?"]
    assert all(chunk.span.of(written.text) == chunk.text for chunk in mine)


def test_a_key_leads_back_to_its_chunk_and_changes_with_its_text():
    chunk = Chunk("a#b/1", "a#b", Span(0, 3), "one", "passage", None, "a#b/0")
    other = Chunk("a#b/1", "a#b", Span(0, 3), "two", "passage", None, "a#b/0")
    assert chunk_id_of(key_of(chunk)) == chunk_id_of(key_of(other)) == "a#b/1"
    assert key_of(chunk) != key_of(other)


def test_questions_are_as_secret_as_their_passage():
    tree = manual()
    questions = question_tree(tree, lambda text: ["What opens at nine?"])
    labels = {key_of(chunk): tree.section(chunk).access for chunk in tree.indexed}
    assert {doc.access for doc in questions.documents.values()} == {"public", "staff"}
    assert all(questions.section(q).access == labels[q.doc_id] for q in questions.indexed)


def test_a_passage_without_questions_has_no_document():
    questions = question_tree(manual(), lambda text: ["How long?"] if "28" in text else [" "])
    assert len(questions.documents) == 1


def test_a_passage_for_different_readers_has_no_questions():
    text = document("m", MANUAL, section_access={"Staff": "staff"})
    both = Chunk("m/all", "m", Span(0, len(MANUAL)), MANUAL, "passage", None, "m/1")
    assert not question_tree(ChunkTree([text], [both]), lambda passage: ["Why?"]).documents


@pytest.mark.parametrize("given", [None, [], ["", " ", "\u200b"], iter(())])
def test_asking_nothing_is_no_question(given):
    assert not question_tree(manual(), lambda text: given).documents


@pytest.mark.parametrize(("given", "fault"), [("Why", "a list of questions, not 'Why'"), ([1], "texts, not 1")])
def test_what_is_no_list_of_questions_is_refused(given, fault):
    with pytest.raises(TypeError, match=fault):
        question_tree(manual(), lambda text: given)


def test_a_question_counts_once():
    questions = question_tree(manual(), lambda text: ["Why?", "Why? ", "How?"])
    assert {question.text for question in questions.indexed} == {"Why?", "How?"}
    assert len(questions.indexed) == 2 * len(questions.documents)
