"""The prompts are in their language, with examples or without."""

import pytest
from parrot import Says

from s2b_lab.hypothetical import hypothetical_questions
from s2b_lab.rewrite import hyde, step_back

LEVERS = {"step_back": step_back, "hyde": hyde, "questions": hypothetical_questions}
LABELS = {
    ("step_back", "en"): "General question: ",
    ("hyde", "en"): "Passage: ",
    ("questions", "en"): "Questions:\n",
    ("step_back", "zh"): "退一步的问题：",
    ("hyde", "zh"): "段落：",
    ("questions", "zh"): "问题：\n",
}


@pytest.mark.parametrize(("lever", "language"), LABELS)
def test_few_shot_is_zero_shot_with_two_to_five_examples(lever, language):
    zero = LEVERS[lever](Says(""), prompt="zero-shot", language=language).instructions
    few = LEVERS[lever](Says(""), prompt="few-shot", language=language).instructions
    label = LABELS[lever, language]
    assert few.startswith(zero) and 2 <= few.count(label) <= 5 and label not in zero
    assert LEVERS[lever](Says(""), language=language).instructions == few, "few-shot is the default"


@pytest.mark.parametrize(("lever", "language"), LABELS)
@pytest.mark.parametrize("prompt", ["few-shot", "zero-shot"])
def test_prompts_are_written_in_their_language(lever, language, prompt):
    instructions = LEVERS[lever](Says(""), prompt=prompt, language=language).instructions
    chinese = sum("\u4e00" <= char <= "\u9fff" for char in instructions)
    assert chinese == 0 if language == "en" else chinese > 40
    assert "{" not in instructions


def test_the_example_of_the_paper_is_quoted():
    assert (
        "Question: Which team did Thierry Audel play for from 2007 to 2008?\n"
        "General question: Which teams did Thierry Audel play for in his career?"
    ) in step_back(Says("")).instructions


def test_n_questions_are_asked_for():
    assert "Write 5 different questions" in hypothetical_questions(Says(""), 5).instructions
    assert "能够回答的 4 个不同的问题" in hypothetical_questions(Says(""), 4, language="zh").instructions


@pytest.mark.parametrize("lever", LEVERS.values())
def test_unknown_choices_are_named(lever):
    with pytest.raises(ValueError, match=r"prompt must be .*'few-shot', 'zero-shot'.*'many-shot'"):
        lever(Says(""), prompt="many-shot")
    with pytest.raises(ValueError, match=r"language must be .*'en', 'zh'.*'fr'"):
        lever(Says(""), language="fr")
    for model in (None, "gpt", lambda prompt, system="": "nobody in particular"):
        with pytest.raises(TypeError, match="ChatModel"):
            lever(model)
