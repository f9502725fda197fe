"""Questions reworded, and the way back to the question itself."""

import pytest
from chat_server import ChatServer, without_settings
from heard import heard
from parrot import Says

from s2b_lab.core.build import parents_and_children
from s2b_lab.core.headings import document
from s2b_lab.embed import HashEmbedder
from s2b_lab.hypothetical import hypothetical_questions
from s2b_lab.index import Index
from s2b_lab.llm import CutShort, ModelUnavailable
from s2b_lab.models.recording import Recording
from s2b_lab.models.servers import openai_model
from s2b_lab.retrieve import Retriever
from s2b_lab.rewrite import hyde, step_back

QUESTION = "When was the patent for the blouse granted?"
GENERAL = "Which patents did Einstein hold?"
LEVERS = {"step_back": step_back, "hyde": hyde, "questions": hypothetical_questions}


@pytest.fixture(autouse=True, scope="module")
def no_settings():
    with pytest.MonkeyPatch.context() as patch:
        without_settings(patch)
        yield


@pytest.mark.parametrize("lever", [step_back, hyde])
def test_the_question_is_the_prompt_and_the_rules_are_the_system_prompt(lever):
    model = Says(GENERAL)
    rewrite = lever(model, prompt="zero-shot")
    assert rewrite(QUESTION) == GENERAL
    assert model.asked == [(QUESTION, rewrite.instructions)]


# --- the question itself, where the model fails ---


def kept(rewrite, question=QUESTION):
    """The reason why the question came back as it was."""
    with heard() as all_told:
        assert rewrite(question) == question
    (told,) = all_told
    assert told.category is RuntimeWarning
    explained = rewrite.explain(question)
    assert (explained.text, explained.source) == (question, "the question itself")
    assert str(told.message) == f"the question is used as it is: {explained.reason}"
    assert told.filename == __file__, "the warning points to who asked"
    return explained.reason


@pytest.mark.parametrize("lever", [step_back, hyde])
def test_a_failing_model_leaves_the_question_as_it_is(lever):
    assert kept(lever(Says(ModelUnavailable("nobody answers at 127.0.0.1")))) == "nobody answers at 127.0.0.1"
    for empty in ("", " \n", '""', "Passage:", "The answer to this is:", "<think>hm</think>", "```\n```"):
        assert kept(lever(Says(empty))) == "parrot gave an empty answer", empty


def test_half_a_question_is_not_used_and_half_a_passage_is():
    half = CutShort("General question: What are the rules for tra", "cut by length")
    assert kept(step_back(Says(half))) == "parrot wrote half a question: cut by length"
    for whole in (f"{GENERAL}", f"{GENERAL}\n\nThis question is broader, sin", f"<think>hm</think>{GENERAL}"):
        assert step_back(Says(CutShort(whole, "cut by length")))(QUESTION) == GENERAL
    passage = "The patent was granted in 1936. It shows a blo"
    assert hyde(Says(CutShort(passage, "cut by length")))(QUESTION) == passage


def test_rambling_answers_are_not_used():
    assert "rambles: 301 characters where at most 300" in kept(step_back(Says("x" * 301)))
    assert step_back(Says("x" * 299 + "?"))(QUESTION) == "x" * 299 + "?"
    assert "rambles: 2001 characters where at most 2000" in kept(hyde(Says("x" * 2001)))
    assert hyde(Says("x" * 2000))(QUESTION) == "x" * 2000


def test_a_step_back_that_is_no_question_is_not_used():
    claim = "Einstein's patent was granted on March 18, 1905."
    assert kept(step_back(Says(claim))) == f"parrot wrote no question: {claim!r}"
    assert "wrote no question" in kept(step_back(Says("He is the man who held it, which is known.")))
    assert "wrote no question" in kept(step_back(Says("无论如何，专利于 1905 年授予。"), language="zh"), "何时授予？")
    assert hyde(Says(claim))(QUESTION) == claim, "a made-up passage is what HyDE is about"


def test_a_rewrite_says_who_wrote_it():
    done = step_back(Says(GENERAL)).explain(QUESTION)
    assert (done.text, done.source, done.reason) == (GENERAL, "parrot", "")


def test_a_model_that_repeats_the_question_has_not_failed():
    done = step_back(Says(QUESTION)).explain(QUESTION)
    assert (done.text, done.source, done.reason) == (QUESTION, "parrot", "")


def test_other_errors_are_not_swallowed():
    with pytest.raises(ZeroDivisionError):
        step_back(Says(ZeroDivisionError()))(QUESTION)


def test_a_recording_answers_what_it_holds_and_nothing_else():
    rules = step_back(Says("")).instructions
    rewrite = step_back(Recording("the authors", "2026-11-30", rules, {QUESTION: GENERAL}))
    done = rewrite.explain(QUESTION)
    assert (done.text, done.source) == (GENERAL, "the authors, recorded 2026-11-30")
    assert "holds no answer to 'Who?'" in kept(rewrite, "Who?")
    other = step_back(rewrite.model, prompt="zero-shot")
    assert "another prompt" in kept(other)


@pytest.mark.parametrize("mode", ["unauthorised", "limited", "slow", "dropped", "malformed", "empty_choice"])
def test_with_a_failing_server_the_question_is_used(mode):
    with ChatServer() as server:
        server.mode = mode
        reason = kept(step_back(openai_model("small", server.address, timeout=0.5 if mode == "slow" else 60)))
    assert server.address in reason


@pytest.mark.parametrize("question", ["", " \n", "\u200b", None])
@pytest.mark.parametrize("lever", LEVERS.values())
def test_a_blank_question_is_not_sent(lever, question):
    model = Says("x")
    with pytest.raises(ValueError, match="is blank"):
        lever(model)(question)
    assert not model.asked


# --- within retrieval ---

TEXT = "# Einstein\n\n## Patents\n\nEinstein did hold many patents.\n\n## Blouse\n\nA blouse is granted to everyone."


@pytest.fixture
def index():
    with Index.open(None, HashEmbedder()) as opened:
        opened.add(parents_and_children(document("d", TEXT), 200, 100, 0))
        yield opened


def test_the_rewrite_retrieves_and_the_trace_keeps_the_question(index):
    plain = Retriever(index, k=1)("When was the blouse granted?")
    trace = Retriever(index, rewrite=step_back(Says(f'"{GENERAL}"')), k=1)("When was the blouse granted?")
    assert "blouse" in plain.contexts[0].text and "many patents" in trace.contexts[0].text
    assert trace.query == "When was the blouse granted?" and trace.rewrites == (GENERAL,)


def test_question_and_rewrite_can_be_fused(index):
    back = step_back(Says(GENERAL))
    trace = Retriever(index, rewrite=lambda question: [question, back(question)], k=2)(QUESTION)
    assert trace.rewrites == (QUESTION, GENERAL) and len(trace.contexts) == 2


def test_retrieval_goes_on_without_a_model(index):
    plain = Retriever(index, k=1)(QUESTION)
    with pytest.warns(RuntimeWarning, match="no model"):
        trace = Retriever(index, rewrite=step_back(openai_model()), k=1)(QUESTION)
    assert trace.contexts == plain.contexts and trace.rewrites == (QUESTION,)


def test_a_chinese_question_goes_through_the_same_lever():
    text = "# 制度\n\n## 期限\n\n提交期限为三十天，故障期间停止计时。\n\n## 系统\n\n系统坏了请联系同事。"
    with Index.open(None, HashEmbedder()) as index:
        index.add(parents_and_children(document("d", text), 200, 100, 0))
        rewrite = step_back(Says("退一步的问题：提交期限怎么计算，故障期间呢？"), language="zh")
        trace = Retriever(index, rewrite=rewrite, k=1)("系统坏了怎么办？")
    assert trace.rewrites == ("提交期限怎么计算，故障期间呢？",) and "三十天" in trace.contexts[0].text


@pytest.mark.parametrize("said", ["\0\0", "\u200b", "\ud83d"])
def test_what_cannot_be_searched_with_is_no_rewrite(said):
    made = hyde(Recording("A", "2026-11-30", "", {"Why?": said})).explain("Why?")
    assert (made.text == "Why?" and made.reason) or made.text.encode()


def test_a_model_that_gives_no_text_leaves_the_question_as_it_is():
    class Silent:
        name = "silent"

        def __call__(self, prompt, system=""):
            return None

    assert "silent gave no text but None" in step_back(Silent()).explain("Why?").reason
