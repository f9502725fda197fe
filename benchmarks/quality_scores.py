"""Scores of one strategy on one text, at equal k and at equal token budgets, and what compares strategies by them."""

from __future__ import annotations

import functools
import statistics
import time
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import s2b_lab as s2b
from s2b_lab.metrics import without_repeats

from .quality_search import Exact, TimedEmbedder
from .quality_strategies import Documents, Models, Strategy

KS = (1, 2, 5, 10, 20)
BUDGETS = (50, 100, 200, 400, 800, 1600)
KINDS = ("all", "needle", "evidence")
METRICS = ("dcg", "recall", "complete")
SEED = 0
RESAMPLES = 2000
GROWS = 1.1
Limit = tuple[str, int]


@dataclass(frozen=True)
class Measured:
    """One strategy at one size on one text: its index, what it cost, and its evaluation at each limit."""

    text: str
    strategy: str
    size: int | None
    vectors: int
    seconds: tuple[float, float]  # of cutting and of indexing
    expand: Callable[..., list[s2b.Context]]
    index: Exact | None
    at: Mapping[Limit, s2b.Evaluation]

    def light(self) -> Measured:
        """The same without its index, which needs much memory and which results do not need."""
        return replace(self, index=None)

    def values(self, limit: Limit, metric: str, kind: str = "all") -> np.ndarray:
        """One number a question, (questions,)."""
        return values(of_kind(self.at[limit], kind), metric)


def values(evaluation: s2b.Evaluation, metric: str) -> np.ndarray:
    """A metric of each question, (questions,)."""
    return np.array([float(getattr(score, metric)) for score in evaluation.scores])


def of_kind(evaluation: s2b.Evaluation, kind: str) -> s2b.Evaluation:
    """The part of an evaluation about needle questions, or about evidence questions, or all of it."""
    if kind == "all":
        return evaluation
    return s2b.Evaluation(tuple(score for score in evaluation.scores if score.question.gold_kind == kind))


# --- measuring one strategy ------------------------------------------------------------------------------------------


def measure(
    text: str,
    docs: Documents,
    strategy: Strategy,
    size: int | None,
    models: Models,
    questions: Sequence[s2b.Question],
    limits: Sequence[Limit],
    count: Callable[[str], int],
) -> Measured:
    """Cut, embed and ask all questions at each limit."""
    asked = [models.embedder, models.ends]
    with Spent(asked) as cutting:
        tree = strategy.cut(docs, size, models)
    with Spent(asked) as indexing:
        index = Exact(tree, models.embedder)
    at = evaluations(index, strategy.expand, questions, limits, count)
    seconds = (cutting.seconds, indexing.seconds)
    return Measured(text, strategy.name, size, len(index.vectors), seconds, strategy.expand, index, at)


class Spent:
    """CPU seconds of what is done inside; for what models did, the seconds it took when they first did it."""

    def __init__(self, models: Sequence[Any]):
        self._models, self.seconds = models, 0.0

    def __enter__(self) -> Spent:
        self._before = self._now()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = self._now() - self._before

    def _now(self) -> float:
        known = [getattr(model, "cost", 0.0) - getattr(model, "spent", 0.0) for model in self._models]
        return time.process_time() + sum(known)


def evaluations(
    index: Exact,
    expand: Callable[..., list[s2b.Context]],
    questions: Sequence[s2b.Question],
    limits: Sequence[Limit],
    count: Callable[[str], int],
) -> dict[Limit, s2b.Evaluation]:
    """Compare at each limit by itself, so that no hit beyond it makes a context of it longer."""
    found = {}
    for name, limit in limits:
        if name == "k":
            given = s2b.compare({"": s2b.Retriever(index, expand, k=limit)}, questions, ks=[limit], count=count)
        else:
            fill = functools.partial(filled, index, expand, limit, count)
            given = s2b.compare({"": fill}, questions, token_budgets=[limit], count=count)
        found[name, limit] = given[""][limit]
    return found


def filled(
    index: Exact, expand: Callable[..., list[s2b.Context]], budget: int, count: Callable[[str], int], question: str
) -> list[s2b.Context]:
    """What the fewest hits that fill a budget lead to, or all hits where there are too few."""

    def delivered(number: int) -> list[s2b.Context]:
        # Parents alone are a few unless it is said how many.
        options = {"k": number} if expand is s2b.parent_document else {}
        return expand(index.search(question, number), index.tree, **options)

    def fills(number: int) -> bool:
        return sum(count(context.text) for context in without_repeats(delivered(number))) >= budget

    most, every = 1, len(index.chunks)
    while most < every and not fills(most):
        most *= 2
    return delivered(bisect_left(range(min(most, every)), True, lo=max(1, most // 2), key=fills))


def row(found: Measured) -> dict[str, Any]:
    """A measured strategy as one row of the results."""
    scores: dict[str, Any] = {"k": {}, "budget": {}}
    for kind in KINDS:
        for name in scores:
            at = [of_kind(evaluation, kind) for (limit, _), evaluation in found.at.items() if limit == name]
            scores[name][kind] = {metric: [_mean(one, metric) for one in at] for metric in (*METRICS, "tokens")}
    cutting, indexing = (round(seconds, 2) for seconds in found.seconds)
    head = {"text": found.text, "strategy": found.strategy, "size": found.size}
    cost = {"vectors": found.vectors, "cut_seconds": cutting, "index_seconds": indexing}
    return head | cost | scores


def _mean(evaluation: s2b.Evaluation, metric: str) -> float | None:
    if not evaluation.scores:
        return None
    return round(evaluation.tokens) if metric == "tokens" else short(getattr(evaluation, metric))


def short(value: float | None) -> float | None:
    """A number of four decimals."""
    return None if value is None or np.isnan(value) else round(float(value), 4) + 0.0


# --- comparing -------------------------------------------------------------------------------------------------------


def spreads(rows: Sequence[Mapping[str, Any]], limits: Sequence[tuple[str, str, int]]) -> list[dict[str, Any]]:
    """How much each strategy of several sizes moves with the size, on each text, from the rows of the results.

    `limits` are triples of metric, "k" or "budget", and limit. "deviation" is the standard deviation over the sizes (of
    all of them, not of a sample), "range" the best less the worst.
    """
    found: dict[tuple[str, str, str, str, int], list[float]] = {}
    for one in rows:
        for metric, name, limit in limits if one["size"] is not None else ():
            place = (KS if name == "k" else BUDGETS).index(limit)
            key = one["text"], one["strategy"], metric, name, limit
            found.setdefault(key, []).append(one[name]["all"][metric][place])
    names = ("text", "strategy", "metric", "at", "limit")
    return [
        dict(zip(names, key, strict=True))
        | {"deviation": short(statistics.pstdev(some)), "range": short(max(some) - min(some))}
        for key, some in found.items()
    ]


def least_sensitive(
    found: Sequence[Measured],
    limits: Sequence[tuple[str, str, int]],
    growth: Mapping[str, float],
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> list[dict[str, Any]]:
    """How often each strategy has the smallest mean deviation over sizes when questions are drawn anew, on all texts.

    "mean" is the mean over texts of the deviation with all questions, "low" and "high" hold 95 % of the resamples.
    "least" is the share of resamples in which no other strategy had a smaller one, "least_growing" that among those
    whose delivered units grow with the size: by GROWS or more, as `growth` has it.
    """
    sized = [one for one in found if one.size is not None]
    strategies, texts = ([*dict.fromkeys(getattr(one, name) for one in sized)] for name in ("strategy", "text"))
    whole = [s for s in strategies if {one.text for one in sized if one.strategy == s} == set(texts)]
    grows = np.array([growth[strategy] >= GROWS for strategy in whole])
    rows = []
    for metric, name, limit in limits if whole else ():
        held = {t: np.stack([_by_size(sized, t, s, (name, limit), metric) for s in whole]) for t in texts}
        every = np.mean([some.mean(-1).std(-1) for some in held.values()], axis=0)
        drawn = np.stack([*_drawn_deviations(held, resamples, seed)])  # (resamples, strategies)
        low, high = np.percentile(drawn, (2.5, 97.5), axis=0)
        growing = np.where(grows, _least(np.where(grows, drawn, np.inf)), np.nan)
        numbers = {"mean": every, "low": low, "high": high, "least": _least(drawn), "least_growing": growing}
        for place, strategy in enumerate(whole):
            group = {
                "strategy": strategy,
                "metric": metric,
                "at": name,
                "limit": limit,
                "growth": short(growth[strategy]),
            }
            rows.append(group | {key: short(some[place]) for key, some in numbers.items()})
    return rows


def _least(drawn: np.ndarray) -> np.ndarray:
    return (drawn == drawn.min(-1, keepdims=True)).mean(0)


def growths(units: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """How many times as large the delivered units of a strategy are at the largest size as at the smallest.

    In tokens, a mean over texts.
    """
    sizes: dict[tuple[str, str], dict[int, float]] = {}
    for one in units:
        if one["size"] is not None:
            sizes.setdefault((one["strategy"], one["text"]), {})[one["size"]] = one["tokens"]
    found: dict[str, list[float]] = {}
    for (strategy, _), tokens in sizes.items():
        found.setdefault(strategy, []).append(tokens[max(tokens)] / tokens[min(tokens)])
    return {strategy: statistics.fmean(some) for strategy, some in found.items()}


def _by_size(found: Sequence[Measured], text: str, strategy: str, limit: Limit, metric: str) -> np.ndarray:
    """The values (sizes, questions) of one strategy on one text."""
    return np.stack([one.values(limit, metric) for one in found if (one.text, one.strategy) == (text, strategy)])


def _drawn_deviations(held: Mapping[str, np.ndarray], resamples: int, seed: int) -> Iterator[np.ndarray]:
    draw = np.random.default_rng(seed)
    for _ in range(resamples):
        texts = (some[..., draw.integers(0, some.shape[-1], some.shape[-1])] for some in held.values())
        yield np.mean([some.mean(-1).std(-1) for some in texts], axis=0)


def counter(embedder: TimedEmbedder) -> Callable[[str], int]:
    """Count the text's own tokens with a model, each text once."""
    return functools.cache(functools.partial(s2b.text_tokens, embedder))
