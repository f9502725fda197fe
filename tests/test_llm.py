"""Models answer or say why not, and stand in a row."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2b_lab.llm import CutShort, ModelUnavailable, chat_messages, first_of, refuses_system, reply, spoken, why_cut
from s2b_lab.models.recording import Recording


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("<think>a</think>b<think>c</think>d", "b<think>c</think>d"),
        ("thoughts without a beginning</think> b", "b"),
        ("b <think>without an end", "b <think>without an end"),
        ("what is a <b> tag", "what is a <b> tag"),
        ("a <think>b</think> c", "a <think>b</think> c"),
        ("<think>Let me see.</think>It is Monday [1].", "It is Monday [1]."),
        (" \n<THINK>\nLet me see.\n</THINK>\n\nIt is Monday.", "It is Monday."),
        ("<think>a</think>\n<think>b</think>\nc", "c"),
        ("<think>a\n</think>\n</think>\nb", "b"),
        ("<think>it opens with <think> I think</think>b", "b"),
        ("<think>without an end", ""),
        ("<think></think>", ""),
        ("Let me see.\n</think>\n\nIt is Monday.", "It is Monday."),
        ("Let me see. </think> It is Monday.", "It is Monday."),
        ("我想想。</think>三十天。", "三十天。"),
        ("let me see </think>\nIt is Monday.", "It is Monday."),
        ("<thinking>a</thinking>b", "b"),
        ("<reasoning>a</reasoning>b", "b"),
        ("[THINK]a[/THINK]b", "b"),
        ("◁think▷a◁/think▷b", "b"),
        ("<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b", "b"),
        *(
            (whole, whole)
            for whole in (
                "R1 opens with a <think> tag [1]. Then it answers [2].",
                "R1 closes with a </think> tag [1].",
                "R1 opens with <think> and closes with </think>\nbefore it answers [1].",
                "R1 closes with `</think>` [1].",
                "It ends with </think>. Then it answers [2].",
                "用 </think> 结束思考 [1]。",
                "用</think>结束思考 [1]。",
                "`<think>` opens, `</think>` closes.",
            )
        ),
    ],
)
def test_thoughts(answer, said):
    assert spoken(answer) == said


@given(
    st.lists(st.sampled_from(["<think>", "</think>", "[/THINK]", "a", " ", ".", "\n", "`", "天"]), max_size=9).map(
        "".join
    )
)
def test_thoughts_are_a_beginning_and_are_taken_off_once(answer):
    said = spoken(answer)
    assert answer.strip().endswith(said) and spoken(said) == said


# --- answers that are not whole ---


def test_what_cut_an_answer_passes_through_a_row_and_without_its_thoughts():
    cut = CutShort("<think>a</think>One half \ud83d", "the limit")
    text, name = reply(first_of(Named("A"), Named("B", cut)), "?")
    assert (text, name, why_cut(text)) == ("One half ?", "B", "the limit")
    assert why_cut(reply(Named("A", "whole"), "?")[0]) == "" == why_cut("whole")


@pytest.mark.parametrize(
    ("words", "about"),
    [
        ("System role not supported", True),
        ("Conversation roles must alternate user/assistant/user/assistant/...", True),
        ("Developer instruction is not enabled for models/gemma-3-27b-it", True),
        ("Only user and assistant roles are supported, not 'system'", True),
        ("Unsupported value: temperature", False),
        ("", False),
    ],
)
def test_a_refusal_of_the_system_role_is_known_by_its_words(words, about):
    assert refuses_system(words) == about


# --- models in a row ---


class Named:
    def __init__(self, name, answer=None):
        self.name, self.answer = name, answer

    def __call__(self, prompt, system=""):
        if self.answer is None:
            raise ModelUnavailable(f"{self.name} is away")
        return self.answer


def test_the_first_model_that_answers_is_named():
    away, here, late = Named("A"), Named("B", "yes"), Named("C", "no")
    row = first_of(away, here, late)
    assert row("?") == "yes" and reply(row, "?") == ("yes", "B")
    assert reply(first_of(away, first_of(away, late)), "?") == ("no", "C")
    assert row.name == "A, else B, else C"


def test_where_no_model_answers_each_says_why():
    with pytest.raises(ModelUnavailable, match="A is away; B is away"):
        first_of(Named("A"), Named("B"))("?")
    with pytest.raises(ValueError, match="at least 1 model, got 0"):
        first_of()


@pytest.mark.parametrize("other", ["abc", None, lambda prompt, system="": "x"])
def test_a_row_holds_models_only(other):
    with pytest.raises(TypeError, match="must be a ChatModel"):
        first_of(Named("A", "yes"), other)


def test_a_blank_answer_is_none_and_the_next_model_is_asked():
    assert first_of(Recording("me", "2026-11-30", "", {"hi": " "}), Named("B", "yes"))("hi") == "yes"


# --- blanks ---


@pytest.mark.parametrize("said", ["", " \n", "\u200b", "\ufeff \u200d"])
def test_what_cannot_be_seen_is_no_answer(said):
    with pytest.raises(ModelUnavailable, match="A gave an empty answer"):
        reply(Named("A", said), "?")
    assert first_of(Named("A", said), Named("B", "yes"))("?") == "yes"


def test_blank_rules_are_not_sent():
    asked = {"role": "user", "content": "Why?"}
    assert chat_messages("Why?", "\u200b ") == chat_messages("Why?", "") == [asked]
    assert chat_messages("Why?", " ", folded=True) == [asked]
    assert chat_messages("Why?", "Be brief.", folded=True) == [{"role": "user", "content": "Be brief.\n\nWhy?"}]
    assert chat_messages("Why?", "Be brief.") == [{"role": "system", "content": "Be brief."}, asked]
