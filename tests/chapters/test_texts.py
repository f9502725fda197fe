"""What figures are about: the texts, their first questions, and who rewrites them."""

import pytest
from chat_server import ChatServer, without_settings

from s2b_lab import corpus
from s2b_lab.answers import answer
from s2b_lab.chapters import texts
from s2b_lab.core.hits import Context
from s2b_lab.core.text import Span
from s2b_lab.embed import HashEmbedder
from s2b_lab.llm import first_of
from s2b_lab.models.recording import recorded, recordings

BLOUSE = "When did Einstein receive the patent for his blouse?"


@pytest.fixture(autouse=True)
def no_settings(monkeypatch):
    without_settings(monkeypatch)


def test_every_text_has_six_questions_narrow_and_broad_and_the_blouse_comes_first():
    controls = texts.text_controls()
    for label, name in controls["text"].options.items():
        asked = controls["question"].under(label)
        kinds = [q.kind for q in corpus.questions(name, more=True) if q.text in asked]
        assert len(asked) == 6 and 2 <= kinds.count("general") <= 4
    assert controls["question"].under("Einstein's patents")[0] == BLOUSE
    assert texts.text_controls(2, ("einstein",))["text"].options == {"Einstein's patents": "einstein"}


def test_the_language_switch_offers_the_same_questions_in_both_languages():
    controls = texts.policy_controls()
    assert list(controls["language"].options.values()) == ["en", "zh"]
    english, chinese = (controls["question"].under(label) for label in ("English", "中文"))
    assert len(english) == len(chinese) >= 6
    assert "系统坏了,出差回来超过 30 天还能提交吗?" in chinese
    assert english == [q.text for q in corpus.questions("travel-en")][: len(english)]


def test_the_questions_of_a_figure_can_start_further_on():
    first, *others = texts.text_controls()["question"].under("Travel policy")
    assert texts.text_controls(first=1)["question"].under("Travel policy") == [*others, first]


@pytest.mark.parametrize("text", texts.TEXTS.values())
def test_every_question_of_the_ablation_has_both_rewrites_under_both_prompts(text):
    for lever in ("step-back", "hyde"):
        for prompt in ("few-shot", "zero-shot"):
            writer = texts.rewriter(lever, "authors", prompt, text)
            made = [writer.explain(question.text) for question in corpus.questions(text, more=True)]
            assert all(not one.reason and "authors" in one.source for one in made)


@pytest.mark.parametrize("text", texts.TEXTS.values())
def test_the_small_model_was_recorded_for_the_questions_of_the_figures(text):
    for lever in ("step-back", "hyde"):
        for prompt in ("few-shot", "zero-shot"):
            writer = texts.rewriter(lever, "smollm2", prompt, text)
            for question in texts.examples_of(text):
                made = writer.explain(question.text)
                assert "SmolLM2" in made.source + made.reason and "holds no answer" not in made.reason


def test_what_was_not_recorded_goes_to_the_configured_model_and_without_one_says_so():
    made = texts.rewriter("step-back", "authors", "few-shot", "einstein").explain("Did Einstein own a dog?")
    assert made.text == "Did Einstein own a dog?" and "holds no answer" in made.reason and "OPENAI" in made.reason


def test_a_writer_without_recordings_is_the_configured_model():
    model = texts.writer_model("questions", "nobody", "few-shot", "einstein")
    assert "questions.nobody.few-shot.en" not in recordings() and not isinstance(model, type(first_of(model)))


def test_a_rewrite_that_is_not_there_is_named():
    with pytest.raises(ValueError, match="not 'magic' by 'authors'"):
        texts.rewriter("magic", "authors", "few-shot", "einstein")
    with pytest.raises(ValueError, match="not 'hyde' by 'nobody'"):
        texts.rewriter("hyde", "nobody", "few-shot", "einstein")


def test_a_recording_can_be_read_as_it_was_written():
    recording = recorded("step-back.authors.few-shot.en")
    assert recording.date in texts.origin(recording) and recording.prompt in texts.origin(recording)


def test_only_a_model_that_is_named_answers(monkeypatch):
    context = Context("travel-en", Span(0, 16), "The clerk files.", ())
    with ChatServer(lambda prompt, system: "Yes [1].") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.address)
        assert texts.configured() is None
        assert answer("Who files?", [context], texts.configured(), HashEmbedder()).kind == "extract"
        monkeypatch.setenv("OPENAI_MODEL", "stand-in")
        assert answer("Who files?", [context], texts.configured(), HashEmbedder()).source == "stand-in"
    assert len(server.requests) == 1
