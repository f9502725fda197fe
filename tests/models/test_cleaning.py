"""What models wrap around an answer is taken off, and what belongs to it stays."""

import time
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st
from parrot import Says

from s2b_lab.hypothetical import hypothetical_questions
from s2b_lab.models.recording import Recording
from s2b_lab.rewrite import hyde, step_back

QUESTION = "When was the patent for the blouse granted?"
GENERAL = "Which patents did Einstein hold?"


@pytest.mark.parametrize(
    "answer",
    [
        GENERAL,
        f"  {GENERAL}\n",
        f'"{GENERAL}"',
        f"“{GENERAL}”",
        f"'{GENERAL}'",
        f"`{GENERAL}`",
        f"**{GENERAL}**",
        f"Rewritten question: {GENERAL}",
        f"REWRITTEN QUESTION: {GENERAL}",
        f"Step-back question: {GENERAL}",
        f"General question: {GENERAL}",
        f"**Step-back Question:** {GENERAL}",
        f"Question: {GENERAL}",
        f'A: "{GENERAL}"'.removeprefix("A: "),
        f'Rewritten question: "{GENERAL}"',
        f'"Rewritten question: {GENERAL}"',
        f"Question: {QUESTION}\nGeneral question: {GENERAL}",
        f"Question: {QUESTION}\n\n**General question:** {GENERAL}\n\nQuestion: Why?\nGeneral question: What?",
        f"Sure! Here is a more general question:\n\n{GENERAL}",
        f"Sure, here's a broader question: {GENERAL}",
        f"Certainly!\n{GENERAL}",
        f"{GENERAL}\n\nThis question is broader, since it asks about all patents.",
        f"1. {GENERAL}\n2. What did Einstein invent?",
        f"- {GENERAL}",
        f"```\n{GENERAL}\n```",
        f"```text\n{GENERAL}\n```",
        f"<think>Let me widen it.</think>\n{GENERAL}",
    ],
)
def test_what_models_wrap_around_a_question_is_taken_off(answer):
    assert step_back(Says(answer))(QUESTION) == GENERAL


@pytest.mark.parametrize(
    "answer",
    [
        "退货有哪些规定？",
        "“退货有哪些规定？”",
        "「退货有哪些规定？」",
        "退一步的问题：退货有哪些规定？",
        "改写后的问题：退货有哪些规定？",
        "问题：退货有哪些规定？",
        "更概括的问题: 退货有哪些规定？",
        "好的，以下是概括后的问题：\n退货有哪些规定？",
        "问题：20 天后还能退吗？\n退一步的问题：退货有哪些规定？",
        "1、退货有哪些规定？",
        "1.退货有哪些规定？",
        "（1）退货有哪些规定？",
    ],
)
def test_wrappings_in_chinese(answer):
    assert step_back(Says(answer), language="zh")("20 天后还能退吗？") == "退货有哪些规定？"


@pytest.mark.parametrize(
    "answer",
    [
        'What is "RAG" and "HyDE"',
        '"RAG" and "HyDE"?',
        '"RAG", 什么, "HyDE"',
        'What does "step back" mean?',
        "3.5 per cent of what?",
        "2007 年的规定是什么？",
        "Question time: when does it begin?",
        "Here and there: where is that?",
        "Surely this is allowed?",
        "What's 'small to big'",
        "**RAG** 还是什么 **HyDE**",
        "“小块”还是什么“大块”",
        "《报销制度》？",
        "出差报销有哪些规定",
        "How claims are paid",
    ],
)
def test_what_belongs_to_a_question_stays(answer):
    assert step_back(Says(answer))(QUESTION) == answer


@given(st.text(max_size=80).map(lambda text: f"{text}?"))
def test_cleaning_takes_away_and_is_done_once(answer):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        once = step_back(Says(answer))(QUESTION)
        assert once == QUESTION or (once in answer and once == once.strip() and len(once.splitlines()) == 1)
        assert step_back(Says(once))(QUESTION) == once


def test_a_passage_keeps_its_lines_and_loses_its_wrapping():
    text = "The patent was granted in 1936.\nIt shows a blouse."
    for answer in (
        text,
        f"Passage: {text}",
        f"Question: {QUESTION}\nPassage: {text}",
        f'Here is a passage that answers the question:\n\n"{text}"',
        f"**Passage:**\n\n{text}",
        text.replace("\n", "\n\n"),
    ):
        assert hyde(Says(answer))(QUESTION) == text
    assert hyde(Says("The answer lies in two rules: be early."))(QUESTION) == "The answer lies in two rules: be early."
    assert hyde(Says("段落：专利于 1936 年授予。"), language="zh")("何时授予？") == "专利于 1936 年授予。"
    assert hyde(Says("1. Log a ticket.\n2. Wait."))(QUESTION) == "1. Log a ticket.\n2. Wait."


@pytest.mark.parametrize("make", [step_back, hyde, hypothetical_questions])
def test_a_weak_answer_is_cleaned_in_no_time(make):
    for said in ("Sure" + "\n" * 100_000 + "x", "a\n" + "# " * 50_000 + "\nb", "**" * 50_000):
        writer = make(Recording("A", "2026-11-30", "", {"Why?": said}))
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            writer("Why?")
        assert time.process_time() - start < 20, "a quadratic cleaning takes minutes"
