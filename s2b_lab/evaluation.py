"""Ask a retriever questions and score what it delivers; compare several on equal terms."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING

from .core.budget import within_budget
from .core.checks import check_callable, check_kind, check_number, check_whole, list_of
from .core.hits import Context
from .core.text import Document, Span
from .corpus import Question
from .embed import text_tokens
from .metrics import gold_ranks, span_overlap, without_repeats
from .scores import Evaluation, Score

if TYPE_CHECKING:
    from .retrieve import Trace


def evaluate(
    retriever: Callable[[str], Trace | list[Context]],
    questions: Iterable[Question],
    token_budget: int | None = None,
    count: Callable[[str], int] | None = None,
    k: int | None = None,
) -> Evaluation:
    """Ask every question and score what arrives: the first k contexts, or what fits into a token budget.

    `retriever` is a Retriever, or any function from a question to contexts. A context that lies whole in one before it
    is left out first. Tokens are the text's own, counted by the Retriever's embedding model, or those of `count`, which
    any other function needs. ValueError when there are no questions, for a budget or a k below 1, and for a question
    whose evidence cannot be found: it has none, a span is empty, or the index of the Retriever has no such document or
    text (what any other function searches is not known). TypeError for what is no retriever, no Question or no function
    to count, and where they give no contexts or no number.
    """
    for name, limit in (("token_budget", token_budget), ("k", k)):
        check_whole(name, 1 if limit is None else limit, 1)
    count, asked = _counter("retriever", retriever, count), _asked(questions)
    _check_found_at_all(retriever, asked)
    return Evaluation(tuple(_scored(q, _delivered(retriever, q), count, token_budget, k) for q in asked))


def compare(
    retrievers: Mapping[str, Callable[[str], Trace | list[Context]]],
    questions: Iterable[Question],
    *,
    ks: Iterable[int] | None = None,
    token_budgets: Iterable[int] | None = None,
    count: Callable[[str], int] | None = None,
) -> dict[str, dict[int, Evaluation]]:
    """Evaluate several retrievers on the same questions on equal terms: at each k, or within each token budget.

    Each retriever is asked each question once, and its contexts are scored at every limit, as by `evaluate`: so give it
    a k as large as the largest of `ks`, or one that more than fills the largest budget. ValueError unless either `ks`
    or `token_budgets` is given, for a limit below 1, for a Retriever that its own k or token_budget stops before the
    largest limit, and as with `evaluate`; TypeError for what is no mapping from names to retrievers, and as with
    `evaluate`.
    """
    name, limits = _limits(ks, token_budgets)
    check_kind("retrievers", retrievers, Mapping)
    list_of(str, "names of retrievers", list(retrievers))
    if not retrievers:
        raise ValueError("there are 0 retrievers to compare: give at least 1")
    asked = _asked(questions)
    counts = {who: cache(_counter(repr(who), retriever, count)) for who, retriever in retrievers.items()}
    for who, retriever in retrievers.items():
        _check_found_at_all(retriever, asked)
        _check_delivers(who, retriever, name, max(limits))
    return {who: _at_limits(who, retriever, asked, counts[who], name, limits) for who, retriever in retrievers.items()}


def _limits(ks: Iterable[int] | None, token_budgets: Iterable[int] | None) -> tuple[str, list[int]]:
    given = {name: some for name, some in (("k", ks), ("token_budget", token_budgets)) if some is not None}
    if len(given) != 1:
        raise ValueError("give either ks or token_budgets: strategies are compared at one or at the other")
    [(name, some)] = given.items()
    limits = list_of(object, f"{name}s", some)
    if not limits:
        raise ValueError(f"there are 0 {name}s to compare at: give at least 1")
    for limit in limits:
        check_whole(name, limit, 1)
    return name, [int(limit) for limit in limits]


def _at_limits(
    who: str, retriever: Callable, asked: Iterable[Question], count: Callable, name: str, limits: Sequence[int]
) -> dict[int, Evaluation]:
    found = [(question, _delivered(retriever, question)) for question in asked]
    if name == "token_budget":
        for _, contexts in found:
            _check_fills(who, retriever, contexts, count, max(limits))
    return {
        limit: Evaluation(tuple(_scored(question, contexts, count, **{name: limit}) for question, contexts in found))
        for limit in limits
    }


def _counter(name: str, retriever: Callable, count: Callable | None) -> Callable[[str], int]:
    if not callable(retriever):
        raise TypeError(f"{name} must be a Retriever or a function from a question to contexts, not {retriever!r}")
    if count is not None:
        check_callable("count", count, "from a text to the number of its tokens")
        return count
    if (index := getattr(retriever, "index", None)) is None:
        raise ValueError("a function that is no Retriever has no model to count tokens with: give count=")
    return partial(text_tokens, index.embedder)


def _asked(questions: Iterable[Question]) -> list[Question]:
    checked = list_of(Question, "questions", questions)
    if not checked:
        raise ValueError("there are 0 questions to evaluate: give at least 1")
    if bare := next((q for q in checked if not q.answers), None):
        raise ValueError(f"the question {bare.text!r} has 0 passages of evidence: give at least 1")
    return checked


def _check_delivers(who: str, retriever: Callable, name: str, most: int) -> None:
    """Refuse a Retriever that stops before the largest limit: what it did not deliver would count against it."""
    own = getattr(retriever, name, None) if hasattr(retriever, "index") else None
    if own is not None and own < most:
        raise ValueError(f"the Retriever {who!r} has {name} {own}: to compare at {name} {most} give it {most} or more")


def _check_fills(who: str, retriever: Callable, contexts: list[Context], count: Callable, budget: int) -> None:
    """Refuse a Retriever that has no more contexts only since its k is reached."""
    k = getattr(retriever, "k", None) if getattr(retriever, "token_budget", 1) is None else None
    if k is None or len(contexts) < k:
        return
    if (tokens := sum(count(context.text) for context in contexts)) < budget:
        raise ValueError(f"the Retriever {who!r} with k {k} has only {tokens} of {budget} tokens: give it a larger k")


def _check_found_at_all(retriever: Callable, asked: Iterable[Question]) -> None:
    tree = getattr(getattr(retriever, "index", None), "tree", None)
    for question in asked:
        _check_evidence(question, None if tree is None else tree.documents)


def _check_evidence(question: Question, documents: Mapping[str, Document] | None) -> None:
    """Refuse evidence that everything holds, or nothing can: the score would say nothing of the retriever."""
    for doc_id, span in (place for places in question.gold for place in places):
        evidence = f"the evidence of the question {question.text!r}"
        if not len(span):
            raise ValueError(f"{evidence} in {doc_id!r} is empty: {span}")
        if documents is None:
            continue
        if doc_id not in documents:
            raise ValueError(f"{evidence} is in {doc_id!r}, a document that the index does not hold")
        if span.end > (size := len(documents[doc_id].text)):
            raise ValueError(f"{evidence} ends after the text of {doc_id!r}, which has {size} characters: {span}")


def _delivered(retriever: Callable, question: Question) -> list[Context]:
    given = retriever(question.text)
    return without_repeats(list_of(Context, "what the retriever delivers", getattr(given, "contexts", given)))


def _scored(
    question: Question,
    contexts: list[Context],
    count: Callable[[str], int],
    token_budget: int | None = None,
    k: int | None = None,
) -> Score:
    contexts = contexts[:k]
    if token_budget is not None:
        contexts = within_budget(contexts, token_budget, count)
    tokens = [count(context.text) for context in contexts]
    for number in tokens:
        check_number("what count gives", number, 0)
    ranks = gold_ranks(contexts, question.gold)
    found = _found(question, ranks)
    return Score(question, tuple(found), sum(tokens), tuple(ranks), span_overlap(contexts, question.gold))


def evidence_found(contexts: Iterable[Context], question: Question) -> list[bool]:
    """Tell for each passage of the evidence whether one context of its document holds it whole.

    Where its words stand elsewhere, too, one of the places is enough. ValueError for an empty span of the evidence,
    TypeError for what are no Contexts, or is no Question.
    """
    check_kind("question", question, Question)
    contexts = list_of(Context, "contexts", contexts)
    return _found(question, gold_ranks(contexts, question.gold)) if question.answers else []


def _found(question: Question, ranks: Sequence[int | None]) -> list[bool]:
    held = {places[0]: rank is not None for places, rank in zip(question.gold, ranks, strict=True)}
    return [held[answer] for answer in question.answers]


def first_rank(found: Iterable[Span], evidence: Sequence[Span]) -> int | None:
    """Get the rank, from 1, of the first span found that overlaps some of the evidence; None where none does.

    All spans are of one document; `found` comes best first. TypeError for what are no Spans.
    """
    found, evidence = list_of(Span, "found", found), list_of(Span, "evidence", evidence)
    overlapping = (rank for rank, span in enumerate(found, 1) if any(span.overlaps(one) for one in evidence))
    return next(overlapping, None)
