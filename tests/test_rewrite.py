"""Questions reworded: prompts, cleaning, and the way back to the question itself."""

import time
import warnings

import pytest
from chat_server import ChatServer, without_settings
from hypothesis import given
from hypothesis import strategies as st

from s2b_lab.chunk import Chunk, ChunkTree, parents_and_children
from s2b_lab.embed import HashEmbedder
from s2b_lab.index import Index
from s2b_lab.llm import ModelUnavailable, Recording, openai_model
from s2b_lab.retrieve import Retriever
from s2b_lab.rewrite import hyde, hypothetical_questions, key_of, question_tree, step_back
from s2b_lab.text import Span, document

QUESTION = "When was the patent for the blouse granted?"
GENERAL = "Which patents did Einstein hold?"


@pytest.fixture(autouse=True, scope="module")
def no_settings():
    with pytest.MonkeyPatch.context() as patch:
        without_settings(patch)
        yield


class Says:
    """A model that always says the same, and keeps what it was asked."""

    name = "parrot"

    def __init__(self, answer):
        self.answer, self.asked = answer, []

    def __call__(self, prompt, system=""):
        self.asked.append((prompt, system))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


# --- prompts ---

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


@pytest.mark.parametrize("lever", [step_back, hyde])
def test_the_question_is_the_prompt_and_the_rules_are_the_system_prompt(lever):
    model = Says(GENERAL)
    rewrite = lever(model, prompt="zero-shot")
    assert rewrite(QUESTION) == GENERAL
    assert model.asked == [(QUESTION, rewrite.instructions)]


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


# --- cleaning ---


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


# --- the question itself, where the model fails ---


def kept(rewrite, question=QUESTION):
    """The reason why the question came back as it was."""
    with pytest.warns(RuntimeWarning) as caught:
        assert rewrite(question) == question
    explained = rewrite.explain(question)
    assert (explained.text, explained.source) == (question, "the question itself")
    assert str(caught[0].message) == f"the question is used as it is: {explained.reason}"
    assert caught[0].filename == __file__, "the warning points to who asked"
    return explained.reason


@pytest.mark.parametrize("lever", [step_back, hyde])
def test_a_failing_model_leaves_the_question_as_it_is(lever):
    assert kept(lever(Says(ModelUnavailable("nobody answers at 127.0.0.1")))) == "nobody answers at 127.0.0.1"
    for empty in ("", " \n", '""', "Passage:", "The answer to this is:", "<think>hm</think>", "```\n```"):
        assert kept(lever(Says(empty))) == "parrot gave an empty answer", empty


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
        reason = kept(step_back(openai_model("small", server.address, timeout=0.5)))
    assert server.address in reason


@pytest.mark.parametrize("question", ["", " \n", None])
@pytest.mark.parametrize("lever", LEVERS.values())
def test_a_blank_question_is_not_sent(lever, question):
    model = Says("x")
    with pytest.raises(ValueError, match="is blank"):
        lever(model)(question)
    assert not model.asked


# --- questions that a passage answers ---

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


@pytest.mark.parametrize("make", [step_back, hyde, hypothetical_questions])
def test_a_weak_answer_is_cleaned_in_no_time(make):
    for said in ("Sure" + "\n" * 100_000 + "x", "a\n" + "# " * 50_000 + "\nb", "**" * 50_000):
        writer = make(Recording("A", "2026-11-30", "", {"Why?": said}))
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            writer("Why?")
        assert time.process_time() - start < 20, "a quadratic cleaning takes minutes"


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
