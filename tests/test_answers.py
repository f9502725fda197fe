"""Answers: the prompt, citations that are checked, extracts that are quoted."""

import pytest
from chat_server import ChatServer, without_settings
from hypothesis import given
from hypothesis import strategies as st

from s2b_lab.answers import Answer, Citation, answer, prompt_for
from s2b_lab.core.build import parents_and_children, sentence_tree
from s2b_lab.core.headings import document
from s2b_lab.core.hits import Context
from s2b_lab.core.text import Span
from s2b_lab.embed import HashEmbedder
from s2b_lab.index import Index
from s2b_lab.llm import CutShort, ModelUnavailable
from s2b_lab.models.servers import openai_model
from s2b_lab.retrieve import Retriever
from s2b_lab.rewrite import step_back

QUESTION = "When was the patent for the blouse granted?"
ARTICLE = (
    "1 The blouse\n\nEinstein designed a blouse. The patent was granted on October 27, 1936.\n\n"
    "2 The refrigerator\n\nWith Szilard he built a refrigerator. It has no moving parts."
)
DOC = document("einstein", ARTICLE)


def part(start, end):
    """The context from one phrase of the article to another."""
    span = Span(ARTICLE.index(start), ARTICLE.index(end) + len(end))
    return Context(DOC.id, span, span.of(ARTICLE), ())


BLOUSE, FRIDGE = part("1 The", "1936."), part("With", "parts.")


@pytest.fixture(autouse=True)
def no_settings(monkeypatch):
    without_settings(monkeypatch)


def says(text):
    def model(prompt, system=""):
        model.asked.append((prompt, system))
        if isinstance(text, Exception):
            raise text
        return text

    model.name, model.asked = "parrot", []
    return model


# --- the prompt ---


def test_the_prompt_holds_the_question_and_the_numbered_contexts_in_order():
    prompt = prompt_for(QUESTION, [FRIDGE, BLOUSE])
    first, second = prompt.index(f"[1] einstein\n{FRIDGE.text}"), prompt.index(f"[2] einstein\n{BLOUSE.text}")
    assert prompt.startswith("Answer the question from the numbered contexts alone.")
    assert 0 < first < second < prompt.index(f"Question: {QUESTION}") and prompt.endswith(QUESTION)
    assert "as in [1]" in prompt and "do not hold the answer, say so" in prompt


def test_the_prompt_is_in_the_language_of_the_question_or_as_asked():
    chinese = prompt_for("专利是什么时候授予的？", [BLOUSE])
    assert "没有答案" in chinese and "[1] einstein" in chinese and chinese.endswith("问题：专利是什么时候授予的？")
    assert prompt_for(QUESTION, [BLOUSE], "zh").startswith("请只根据")
    assert prompt_for("专利？", [BLOUSE], "en").startswith("Answer")
    with pytest.raises(ValueError, match=r"language .*'fr'"):
        prompt_for(QUESTION, [BLOUSE], "fr")


@pytest.mark.parametrize("question", ["", " ", "\u200b", None])
def test_a_blank_question_has_no_answer(question):
    for call in (prompt_for, answer):
        with pytest.raises(ValueError, match="blank"):
            call(question, [BLOUSE])


# --- a model's answer ---


def test_a_models_answer_cites_its_contexts():
    model = says(" It was granted on October 27, 1936 [2]. ")
    done = answer(QUESTION, [FRIDGE, BLOUSE], model)
    citation = Citation(2, "einstein", BLOUSE.span)
    assert done == Answer("It was granted on October 27, 1936 [2].", (citation,), "model", "parrot")
    assert model.asked == [(prompt_for(QUESTION, [FRIDGE, BLOUSE]), "")]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("a [1] b [3]", [1, 3]),
        ("a [3][1]", [3, 1]),
        ("a [1, 3]", [1, 3]),
        ("a [1-3]", [1, 2, 3]),
        ("a [1–2, 4]", [1, 2, 4]),
        ("a [2] b [2]", [2]),
        ("依据【2】和［３］。", [2, 3]),
        ("依据 [1、2]。", [1, 2]),
        ("no source, in 1936, see (1) and [note]", []),
    ],
)
def test_citations_are_read(text, numbers):
    done = answer(QUESTION, [BLOUSE, FRIDGE, BLOUSE, FRIDGE], says(text))
    assert [citation.number for citation in done.citations] == numbers
    assert done.text == text and done.reason == ("" if numbers else "it cites no context")


def test_citations_out_of_range_are_dropped_and_told():
    done = answer(QUESTION, [BLOUSE, FRIDGE], says("a [0] b [2] c [3] d [7-9]"))
    assert [citation.number for citation in done.citations] == [2]
    assert done.reason == "it cites [0], [3], [7], [8], [9], but the contexts are numbered 1 to 2"


def test_an_answer_that_cites_wrongly_or_was_cut_short_says_so():
    done = answer(
        QUESTION, [BLOUSE, FRIDGE], says(CutShort("Trips need approval [1], except those that", "cut (length)"))
    )
    assert done.reason == "cut (length)" and done.text == "Trips need approval [1], except those that"
    assert type(done.text) is str and [citation.number for citation in done.citations] == [1]
    done = answer(QUESTION, [BLOUSE], says(CutShort("Trips need", "cut (length)")))
    assert done.reason == "cut (length); it cites no context"
    assert answer(QUESTION, [BLOUSE], says("In [1934] he moved [1].")).reason == ""
    assert answer(QUESTION, [BLOUSE], says("Use `items[7]` to get it [1].")).reason == ""


def test_thoughts_of_any_model_are_no_part_of_its_answer(fake):
    assert answer(QUESTION, [BLOUSE], says("<think>In [3]?</think>It is Monday [1].")).text == "It is Monday [1]."
    assert (
        answer(QUESTION, [BLOUSE], says("R1 opens with a <think> tag [1].")).text == "R1 opens with a <think> tag [1]."
    )
    done = answer(QUESTION, [BLOUSE], says("<think>hm"), fake)
    assert done.kind == "extract" and done.reason == "parrot gave an empty answer"


def test_a_cut_or_refused_answer_of_a_server_tells_why(fake):
    with ChatServer(lambda prompt, system: "Trips need approval [1], except those that") as server:
        server.mode = "cut_by_length"
        done = answer(QUESTION, [BLOUSE], openai_model("small", server.address))
        assert done.kind == "model" and "'length'" in done.reason and "max_tokens=" in done.reason
        server.mode = "refusal"
        done = answer(QUESTION, [BLOUSE], openai_model("small", server.address), fake)
        assert done.kind == "extract" and "refuses to answer (I cannot help with that.)" in done.reason


def test_a_question_longer_than_the_model_reads_is_compared_in_pieces():
    model = HashEmbedder(max_tokens=24)
    long = "I hope that this finds you well. " * 36 + "Has the refrigerator moving parts?"
    assert answer(long, [BLOUSE, FRIDGE], embedder=model).text == "It has no moving parts."


@given(st.text(alphabet="[]0123456789,- ab【】", max_size=40), st.integers(1, 5))
def test_every_citation_is_a_context(text, k):
    contexts = [BLOUSE, FRIDGE, BLOUSE, FRIDGE, BLOUSE][:k]
    done = answer(QUESTION, contexts, says(f"x{text}"))
    for citation in done.citations:
        assert 1 <= citation.number <= k and citation.span == contexts[citation.number - 1].span


# --- an extract ---


def test_without_a_model_the_best_supported_sentence_is_quoted(fake):
    done = answer(QUESTION, [FRIDGE, BLOUSE], embedder=fake)
    (citation,) = done.citations
    assert done.kind == "extract" and done.text == "The patent was granted on October 27, 1936."
    assert (citation.number, citation.doc_id) == (2, "einstein") and citation.span.of(ARTICLE) == done.text
    assert done.source == "" and done.reason == "there is no model"


def test_a_heading_is_no_answer(fake):
    assert answer("The blouse", [BLOUSE], embedder=fake).text == "Einstein designed a blouse."
    text = "\n\n## 期限\n\n三十天内提交。"
    context = Context("d", Span(0, len(text)), text, ())
    assert answer("期限", [context], embedder=fake).text == "三十天内提交。"


def test_a_list_item_is_an_answer(fake):
    text = "If the system fails:\n\n1. Log a ticket.\n2. Wait for the answer."
    context = Context("d", Span(0, len(text)), text, ())
    assert answer("Should I log a ticket?", [context], embedder=fake).text == "1. Log a ticket."


def test_a_sentence_of_two_contexts_is_quoted_from_the_first(fake):
    sentence = part("The patent", "1936.")
    assert answer(QUESTION, [FRIDGE, sentence, BLOUSE], embedder=fake).citations[0].number == 2
    assert answer(QUESTION, [BLOUSE, sentence], embedder=fake).citations[0].number == 1


@pytest.mark.parametrize("text", [ModelUnavailable("nobody answers"), " \n", "\u200b"])
def test_a_failing_model_leaves_an_extract_that_says_so(fake, text):
    done = answer(QUESTION, [BLOUSE], says(text), fake)
    assert done.kind == "extract" and done.source == ""
    assert done.reason == ("nobody answers" if isinstance(text, Exception) else "parrot gave an empty answer")


def test_without_contexts_nobody_is_asked(fake):
    model = says("I know it by heart: 1936.")
    assert answer(QUESTION, [], model, fake) == Answer("", (), "none", reason="no context was delivered")
    assert not model.asked
    blank = Context("d", Span(0, 2), " \n", ())
    done = answer(QUESTION, [blank], None, fake)
    assert (done.kind, done.text, done.citations) == ("none", "", ())


def test_only_headings_hold_no_answer(fake):
    assert answer("The blouse", [part("1 The", "blouse")], None, fake).kind == "none"


def test_the_real_models_find_the_sentence_in_their_language(en, zh):
    assert answer(QUESTION, [FRIDGE, BLOUSE]).text == "The patent was granted on October 27, 1936."
    text = "# 制度\n\n行程结束后 30 日内提交报销单。系统发生故障的，先登记工单。午餐不予报销。"
    context = Context("travel-zh", Span(0, len(text)), text, ())
    assert answer("系统坏了怎么办？", [context]).text == "系统发生故障的，先登记工单。"
    assert answer("系统坏了怎么办？", [context], embedder=zh).text == "系统发生故障的，先登记工单。"


# --- the whole way ---


def test_the_rewrite_retrieves_and_the_original_question_is_answered():
    def chat(prompt, system):
        return "General question: What did Einstein build?" if system else "With Szilard he built one [1]."

    question = "Who helped Einstein with cooling food?"
    with ChatServer(chat) as server, Index.open(None, HashEmbedder()) as index:
        index.add(parents_and_children(DOC, 200, 100, 0))
        model = openai_model("small", server.address)
        trace = Retriever(index, rewrite=step_back(model), k=2)(question)
        done = answer(trace.query, trace.contexts, model)
        asked = server.requests[-1][2]["messages"]
    assert trace.rewrites == ("What did Einstein build?",)
    assert asked == [{"role": "user", "content": prompt_for(question, trace.contexts)}]
    assert done.kind == "model" and done.citations[0].span == trace.contexts[0].span


def test_an_extract_is_a_slice_of_its_document(fake):
    with Index.open(None, fake) as index:
        index.add(sentence_tree(DOC))
        trace = Retriever(index, k=3)(QUESTION)
    (citation,) = answer(QUESTION, trace.contexts, None, fake).citations
    assert citation.span.of(ARTICLE) == "The patent was granted on October 27, 1936."
    assert trace.contexts[citation.number - 1].span.contains(citation.span)
