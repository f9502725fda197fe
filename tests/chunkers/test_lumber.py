"""A model names where the topic turns; what it says is checked, and what cannot be used is counted."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from parrot import Says
from rules import check_cover, check_sizes
from strategies import texts, units

from s2b_lab.chunkers.lumber import LumberCuts, lumber, named_paragraph
from s2b_lab.llm import ModelUnavailable

TEXT = "\n\n".join(f"Paragraph about thing {word}." for word in "one two three four five six".split())


class Answers(Says):
    """Says one answer after the other, the last one again and again."""

    def __init__(self, *answers):
        super().__init__("")
        self.answers = list(answers)

    def __call__(self, prompt, system=""):
        self.answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return super().__call__(prompt, system)


def pieces(chunks):
    return [span.of(TEXT).count("about") for span in chunks]


def test_the_chunk_ends_before_the_named_paragraph_and_the_next_group_begins_there():
    model = Answers("ID 3", "ID 2", "ID 3")
    chunks = lumber(TEXT, model, 15, "word")
    assert pieces(chunks) == [2, 1, 2, 1] and chunks.asked == 3 and chunks.fallbacks == 0
    prompts = [prompt for prompt, _ in model.asked]
    # At most 15 words: three paragraphs of four words and no more, numbered from 1 in each group.
    assert prompts[0] == "\n\n".join(
        f"ID {n}: Paragraph about thing {w}." for n, w in enumerate(["one", "two", "three"], 1)
    )
    assert [prompt.count("ID ") for prompt in prompts] == [3, 3, 3]
    assert "ID 1: Paragraph about thing three." in prompts[1] and "ID 1: Paragraph about thing four." in prompts[2]


@pytest.mark.parametrize(
    "answer",
    [
        "ID 1",
        "ID 0",
        "ID 4",
        "ID 99",
        "I do not know.",
        "ID 2 or ID 3",
        "between 2 and 3",
        "ID 2.5",
        "ID -2",
        "There are 2 paragraphs, and none of them turns.",
        "I found 3 topics.",
        "I cannot help with that.",
    ],
)
def test_an_answer_that_names_no_paragraph_of_the_group_falls_back_to_the_whole_group(answer):
    chunks = lumber(TEXT, Says(answer), 12, "word")
    assert pieces(chunks) == [3, 3]
    assert chunks.asked == chunks.fallbacks == 2 and chunks.unused == [answer, answer]


@pytest.mark.parametrize(
    ("answer", "number"),
    [
        ("ID 3", 3), ("Answer: ID 0003.", 3), ("id: 3", 3), ("3", 3), ("**ID 3**", 3), ("ID [3]", 3), ("ID 12", 12),
        ("ID 3, since paragraphs 1 and 2 speak of fees.", 3), ("The turn is at paragraph 3, ID 3.", 3),
        ("段落 3", 3), ("编号：3", 3), ("第3段", 3), ("第 ３ 段", 3), ("答案是ID 3。", 3), ("ID 3\n", 3),
        ("ID 3\n\nID 1 and ID 2 speak of fees.", 3), ("Answer: ID 3\nReason: 1 and 2 belong together.", 3),
        ("ID 3\n1. It speaks of hotels.", 3), ("- ID 3", 3), ("> `ID 3`", 3), ("<answer>ID 3</answer>", 3),
        ('{"id": 3}', 3), ("ID=3", 3), ("#3", 3), ("3)", 3), ("The answer is 3.", 3), ("paragraph no. 3", 3),
        ("第3个段落", 3), ("3号", 3), ("答案：3", 3), ("前2段讲费用，ID 3 转折", 3),
        ("", None), ("none", None), ("ID", None), ("ID 2 and 3", None), ("ID 2-4", None), ("2, 3", None),
        ("ID 2、3", None), ("3.5", None), ("1.2.3", None), ("9" * 5000, None), ("ID 3 ID 4", None),
        ("ID 2/3", None), ("ID 2 & 3", None), ("ID 2~3", None), ("ID 2 3", None), ("ID 2\nID 3", None),
        ("1.\n2.", None), ("As of 2024 I cannot tell.", None), ("There are 3 paragraphs.", None), ("VALID 3", None),
        ("COVID-19", None), ("-3", None), ("第2、3段", None), ("第 2 个话题", None), ("第2章", None), ("ID 2或3", None),
        ("3 out of 4", None), ("the third", None),
    ],
)  # fmt: skip
def test_an_answer_names_one_number_or_none(answer, number):
    assert named_paragraph(answer) == number


def test_thoughts_before_an_answer_are_no_answer():
    assert pieces(lumber(TEXT, Says("<think>ID 2? Or ID 3?</think>ID 3"), 12, "word"))[0] == 2


def test_a_long_answer_is_read_at_once():
    """Nested repetitions would take hours."""
    began = time.process_time()
    for part in ("1, ", "ID ", "* ", "第1、", "paragraph ", " ", "<", "9"):
        named_paragraph("ID " + part * 30_000 + "x")
    assert time.process_time() - began < 5


def test_a_model_that_is_not_there_is_an_error_after_three_questions_and_one_that_fails_later_is_counted():
    gone = Says(ModelUnavailable("no server"))
    with pytest.raises(ModelUnavailable, match="no server"):
        lumber(TEXT * 9, gone, 12, "word")
    assert len(gone.asked) == 3
    gone = Says(ModelUnavailable("no server"))
    with pytest.raises(ModelUnavailable, match="no server"):
        lumber(TEXT[:60], gone, 12, "word")
    assert len(gone.asked) == 1

    class Tired(Answers):
        def __call__(self, prompt, system=""):
            if self.asked:
                raise ModelUnavailable("out of breath")
            return super().__call__(prompt, system)

    chunks = lumber(TEXT, Tired("ID 3"), 12, "word")
    assert pieces(chunks) == [2, 3, 1] and chunks.unused == ["out of breath"] and chunks.asked == 2


@pytest.mark.parametrize("nothing", ["", " \n", "<think>ID 2 or 3?", ModelUnavailable("refuses to answer")])
def test_a_first_question_without_an_answer_is_a_chunk_as_it_is_where_others_have_one(nothing):
    class First(Says):
        def __call__(self, prompt, system=""):
            self.answer = "ID 2" if self.asked else nothing
            return super().__call__(prompt, system)

    chunks = lumber(TEXT, First(""), 12, "word")
    assert pieces(chunks) == [3, 1, 1, 1] and chunks.fallbacks == 1 and chunks.asked == 3


def test_an_error_of_the_program_is_no_answer_of_the_model():
    with pytest.raises(ZeroDivisionError):
        lumber(TEXT, Says(ZeroDivisionError()), 12, "word")


@given(texts, st.integers(1, 40), units, st.integers(0, 5))
def test_chunks_cover_the_text_and_none_is_larger_whatever_the_model_says(text, size, unit, number):
    chunks = lumber(text, Says(f"ID {number}"), size, unit)
    check_cover(text, chunks)
    check_sizes(text, chunks, size, unit)


def test_a_paragraph_that_is_too_large_and_a_heading():
    text = "# Head\n\nOne two.\n\n" + "word " * 12 + "end."
    chunks = lumber(text, Says("ID 2"), 6, "word")
    assert chunks[0].of(text) == "# Head\n\nOne two." and all(len(c.of(text).split()) <= 6 for c in chunks)


def test_one_paragraph_or_none_needs_no_model():
    model = Says("ID 2")
    for text, count in (("", 0), (" \n\n ", 0), ("One.", 1)):
        assert len(lumber(text, model)) == count
    assert not model.asked


def test_the_question_is_in_the_language_of_the_text_or_the_one_that_is_asked_for():
    for text, language, word in (
        ("一。\n\n二。", None, "段落"),
        ("A.\n\nB.", None, "paragraph"),
        ("A.\n\nB.", "zh", "段落"),
    ):
        model = Says("ID 2")
        lumber(text, model, language=language)
        assert word in model.asked[0][1]
    with pytest.raises(ValueError, match="language must be one of 'en', 'zh', not 'fr'"):
        lumber(TEXT, Says("ID 2"), language="fr")


def test_what_is_no_text_model_or_size_is_refused():
    for text, model in ((3, Says("ID 2")), (TEXT, "gpt"), (TEXT, None)):
        with pytest.raises(TypeError):
            lumber(text, model)
    with pytest.raises(ValueError, match="size must be at least 1, not 0"):
        lumber(TEXT, Says("ID 2"), 0)


def test_the_cuts_are_a_list_of_spans():
    chunks = lumber(TEXT, Says("ID 3"), 12, "word")
    assert isinstance(chunks, list) and chunks == list(chunks) and LumberCuts().fallbacks == 0
