"""Score what retrieval delivered against the passages that a good answer rests on."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np

from .core.budget import within_budget
from .core.cards import Card, Rows, counted
from .core.checks import check_choice, check_whole
from .core.hits import Context
from .core.text import Span
from .corpus import Question
from .embed import text_tokens

if TYPE_CHECKING:
    from .retrieve import Trace

_MOST_DRAWS = 100_000_000
_DRAWS_AT_ONCE = 2_000_000  # 32 MB of them are in memory


@dataclass(frozen=True, slots=True)
class Score(Card):
    """What one question got: for each passage of its evidence whether it arrived, and the tokens delivered."""

    question: Question
    found: tuple[bool, ...]
    tokens: int

    @property
    def recall(self) -> float:
        """Share of the evidence delivered, 0 to 1; a passage named twice counts once."""
        found = {(doc_id, span): f for (doc_id, span), f in zip(self.question.answers, self.found, strict=True)}
        return sum(found.values()) / len(found)

    @property
    def complete(self) -> bool:
        """Whether all of the evidence was delivered."""
        return all(self.found)

    def _card(self) -> tuple[str, Rows]:
        found = f"{sum(self.found)} of {len(self.found)}"
        return self.question.text, [("evidence", found), ("tokens", f"{self.tokens:,}")]


@dataclass(frozen=True, slots=True)
class Evaluation(Card):
    """The scores of all questions, in their order."""

    scores: tuple[Score, ...]

    @property
    def recall(self) -> float:
        """Mean over questions of the share of evidence delivered, 0 to 1."""
        return sum(s.recall for s in self.scores) / len(self.scores)

    @property
    def complete(self) -> float:
        """Share of questions whose evidence was delivered without a gap, 0 to 1."""
        return sum(s.complete for s in self.scores) / len(self.scores)

    @property
    def tokens(self) -> float:
        """Mean number of tokens delivered for a question."""
        return sum(s.tokens for s in self.scores) / len(self.scores)

    def _card(self) -> tuple[str, Rows]:
        title = f"Evaluation over {counted(len(self.scores), 'question')}"
        if not self.scores:
            return title, []
        tokens = f"{self.tokens:,.0f} for a question"
        return title, [("recall", f"{self.recall:.3f}"), ("complete", f"{self.complete:.3f}"), ("tokens", tokens)]


@dataclass(frozen=True, slots=True)
class Interval(Card):
    """A mean difference between two evaluations, and the bounds it has in `level` of all resamples."""

    difference: float
    low: float
    high: float
    level: float

    @property
    def clear(self) -> bool:
        """Whether zero, no difference at all, lies outside the bounds."""
        return self.low > 0 or self.high < 0

    def _card(self) -> tuple[str, Rows]:
        bounds = f"{100 * self.level:.10g} % interval {self.low:+.3f} to {self.high:+.3f}"
        return f"{self.difference:+.3f} ({bounds}), zero lies {'outside' if self.clear else 'inside'}", []


def paired_bootstrap(
    ours: Evaluation,
    theirs: Evaluation,
    metric: Literal["recall", "complete", "tokens"] = "recall",
    resamples: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
) -> Interval:
    """Tell how sure the mean difference `ours - theirs` is: the percentile interval over resampled questions.

    Both must have answered the same questions in the same order, since each resample draws questions, with what both
    got for them, n out of n with replacement. ValueError otherwise, where there are no questions, for another metric,
    for resamples below 1 or more than 100 million draws in all, and for a level outside 0 to 1.
    Source: Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13.
    """
    if [score.question for score in ours.scores] != [score.question for score in theirs.scores]:
        raise ValueError("the two evaluations are of different questions, so they make no pairs")
    if not ours.scores:
        raise ValueError("the evaluations have 0 questions: give at least 1")
    check_choice("metric", metric, ("recall", "complete", "tokens"))
    check_whole("resamples", resamples, 1)
    if resamples * len(ours.scores) > _MOST_DRAWS:
        raise ValueError(f"{resamples} resamples of {len(ours.scores)} questions: at most {_MOST_DRAWS:,} draws in all")
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, not {level!r}")
    pairs = zip(ours.scores, theirs.scores, strict=True)
    differences = np.array([float(getattr(one, metric)) - float(getattr(other, metric)) for one, other in pairs])
    return Interval(float(differences.mean()), *_bounds(differences, int(resamples), level, seed), level)


def _bounds(differences: np.ndarray, resamples: int, level: float, seed: int) -> tuple[float, float]:
    # One question, or the same difference everywhere, can be drawn in one way only, and scipy takes two or more.
    if (differences == differences[0]).all():
        return (float(differences.mean()),) * 2
    from scipy.stats import bootstrap

    how = {"confidence_level": level, "method": "percentile", "rng": np.random.default_rng(seed)}
    batch = max(1, _DRAWS_AT_ONCE // len(differences))
    with warnings.catch_warnings(action="ignore", category=RuntimeWarning):  # a single resample has no spread
        found = bootstrap((differences,), np.mean, n_resamples=resamples, batch=batch, **how)
    return tuple(map(float, found.confidence_interval))


def evaluate(
    retriever: Callable[[str], Trace | list[Context]],
    questions: Iterable[Question],
    token_budget: int | None = None,
    count: Callable[[str], int] | None = None,
) -> Evaluation:
    """Ask every question and score what arrives within the same token budget for all.

    `retriever` is a Retriever, or any function from a question to contexts. Tokens are the text's own, counted by the
    Retriever's embedding model, or those of `count`, which any other function needs. ValueError when there are no
    questions, or one has no evidence to be found, and for a budget below 1; TypeError for what is no retriever or no
    Question.
    """
    if not callable(retriever):
        raise TypeError(f"retriever must be a Retriever or a function from a question to contexts, not {retriever!r}")
    if token_budget is not None:
        check_whole("token_budget", token_budget, 1)
    count = count or _counter(retriever)
    return Evaluation(tuple(_scored(retriever, question, token_budget, count) for question in _checked(questions)))


def _counter(retriever: Callable) -> Callable[[str], int]:
    if (index := getattr(retriever, "index", None)) is None:
        raise ValueError("a function that is no Retriever has no model to count tokens with: give count=")
    return partial(text_tokens, index.embedder)


def _checked(questions: Iterable[Question]) -> list[Question]:
    checked = list(questions)
    if not checked:
        raise ValueError("there are 0 questions to evaluate: give at least 1")
    if other := next((q for q in checked if not isinstance(q, Question)), None):
        raise TypeError(f"questions must hold Questions only, not {type(other).__name__}: use Question(text, answers)")
    if bare := next((q for q in checked if not q.answers), None):
        raise ValueError(f"the question {bare.text!r} has 0 passages of evidence: give at least 1")
    return checked


def _scored(retriever: Callable, question: Question, budget: int | None, count: Callable) -> Score:
    delivered = retriever(question.text)
    contexts = list(getattr(delivered, "contexts", delivered))
    if budget is not None:
        contexts = within_budget(contexts, budget, count)
    return Score(question, tuple(evidence_found(contexts, question)), sum(count(c.text) for c in contexts))


def evidence_found(contexts: Iterable[Context], question: Question) -> list[bool]:
    """Tell for each passage of the evidence whether one context of its document holds it whole."""
    delivered = [(context.doc_id, context.span) for context in contexts]
    return [
        any(doc_id == gold_id and span.contains(gold) for doc_id, span in delivered)
        for gold_id, gold in question.answers
    ]


def first_rank(found: Iterable[Span], evidence: Sequence[Span]) -> int | None:
    """Get the rank, from 1, of the first span found that overlaps some of the evidence; None where none does.

    All spans are of one document; `found` comes best first.
    """
    overlapping = (rank for rank, span in enumerate(found, 1) if any(span.overlaps(one) for one in evidence))
    return next(overlapping, None)
