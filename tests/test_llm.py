"""Models answer or say why not, and stand in a row."""

import pytest

from s2b_lab.llm import ModelUnavailable, chat_messages, first_of, reply, spoken
from s2b_lab.models.recording import Recording


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("<think>a</think>b<think>c</think>d", "bd"),
        ("thoughts without a beginning</think> b", "b"),
        ("b <think>without an end", "b"),
        ("what is a <b> tag", "what is a <b> tag"),
        ("a <think>b</think> c", "a  c"),
    ],
)
def test_thoughts(answer, said):
    assert spoken(answer) == said


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
    assert chat_messages("Why?", "Be brief.") == [{"role": "system", "content": "Be brief."}, asked]
