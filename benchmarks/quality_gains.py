"""When does Small-to-Big win? And what are headings, and heads of tables, worth in the copies that are embedded?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import s2b_lab as s2b

from .quality_scores import BUDGETS, RESAMPLES, SEED, Limit, Measured, evaluations, of_kind, short
from .quality_search import Exact
from .quality_strategies import HEADED, Documents, HeadlessCopies, Models, documents, whole_tables
from .quality_tables import questions_on_tables

BARE = "sentences"
DELIVERIES = ("window 1", "window 2", "parents", "multi-granular", "lgmgc")
POOLED = ("python", "travel-en", "einstein")  # travel-zh asks the same as travel-en
GAIN_METRICS = ("recall", "complete")
HEADED_SIZE = 300
EXTRA_LIMITS: tuple[Limit, ...] = (("k", 1), ("k", 5), ("k", 20), ("budget", 100), ("budget", 400), ("budget", 1600))
EXTRA_METRICS = {"k": ("dcg", "recall"), "budget": ("recall", "complete")}


# --- bare sentences against big contexts -----------------------------------------------------------------------------


def gains(found: Sequence[Measured]) -> list[dict[str, Any]]:
    """What each delivery wins over bare sentences within each budget, by kind of question, on each text and on all."""
    bare = {one.text: one for one in found if one.strategy == BARE}
    rivals: dict[tuple[str, int | None], dict[str, Measured]] = {}
    for one in found:
        if one.strategy in DELIVERIES:
            rivals.setdefault((one.strategy, one.size), {})[one.text] = one
    return [
        row
        for (name, size), by_text in rivals.items()
        for text, members in _groups(by_text)
        for row in _gain_rows(text, name, size, [(by_text[one], bare[one]) for one in members])
    ]


def _groups(by_text: Mapping[str, Measured]) -> Iterator[tuple[str, Sequence[str]]]:
    yield from ((text, [text]) for text in by_text)
    if by_text.keys() >= set(POOLED):
        yield "pooled", POOLED


def _gain_rows(
    text: str, name: str, size: int | None, pairs: Sequence[tuple[Measured, Measured]]
) -> Iterator[dict[str, Any]]:
    for kind in ("needle", "evidence"):
        for budget in BUDGETS:
            at = [[of_kind(one.at["budget", budget], kind) for one in pair] for pair in pairs]
            ours, theirs = (_joined(side) for side in zip(*at, strict=True))
            # A needle has one piece of evidence, so that recall and completeness are one.
            for metric in GAIN_METRICS if kind == "evidence" else GAIN_METRICS[:1]:
                group = {"text": text, "delivery": name, "size": size, "kind": kind, "budget": budget, "metric": metric}
                yield group | interval(ours, theirs, metric)


def _joined(some: Iterable[s2b.Evaluation]) -> s2b.Evaluation:
    return s2b.Evaluation(tuple(score for one in some for score in one.scores))


def interval(ours: s2b.Evaluation, theirs: s2b.Evaluation, metric: str) -> dict[str, Any]:
    """A mean difference with its bounds, whether zero lies outside, and on how many questions it rests."""
    found = s2b.paired_bootstrap(ours, theirs, metric, RESAMPLES, seed=SEED)
    low, high = short(found.low), short(found.high)
    # A bound that is zero but for rounding is zero.
    return {
        "n": len(ours.scores),
        "gain": short(found.difference),
        "low": low,
        "high": high,
        "clear": low > 0 or high < 0,
    }


# --- headings and tables ---------------------------------------------------------------------------------------------


def heading_gains(
    text: str,
    found: Sequence[Measured],
    models: Models,
    questions: Sequence[s2b.Question],
    count: Callable[[str], int],
) -> list[dict[str, Any]]:
    """What the heading path in the embedded copy wins, for sentences, parents and LGMGC."""
    rows = []
    for strategy in HEADED:
        size = HEADED_SIZE if strategy.sized else None
        plain = [one for one in found if (one.text, one.strategy, one.size) == (text, strategy.name, size)]
        if plain:
            index = Exact(strategy.cut(documents(text), size, models), models.embedder)
            ours = evaluations(index, strategy.expand, questions, EXTRA_LIMITS, count)
            group = {"text": text, "strategy": strategy.name, "size": size, "vectors": len(index.vectors)}
            rows += [group | row for row in _differences(ours, plain[0].at)]
    return rows


def table_gains(
    docs: Documents, models: Models, questions: Sequence[s2b.Question], count: Callable[[str], int]
) -> list[dict[str, Any]]:
    """What rows with the head of their table win over rows alone, and over tables as they stand.

    On questions about rows of tables ("tables"), and on those about everything ("report").
    """
    tree = s2b.sentence_tree(docs)
    ours = Exact(tree, models.embedder)
    others = {
        "rows without the head": Exact(tree, models.embedder, HeadlessCopies),
        "tables whole": Exact(whole_tables(docs), models.embedder),
    }
    rows = []
    for name, asked in (("tables", questions_on_tables(docs)), ("report", questions)):
        best = evaluations(ours, s2b.as_found, asked, EXTRA_LIMITS, count) if asked else {}
        for other, index in others.items() if asked else ():
            theirs = evaluations(index, s2b.as_found, asked, EXTRA_LIMITS, count)
            group = {"questions": name, "other": other, "vectors": [len(ours.vectors), len(index.vectors)]}
            rows += [group | row for row in _differences(best, theirs)]
    return rows


def _differences(
    ours: Mapping[Limit, s2b.Evaluation], theirs: Mapping[Limit, s2b.Evaluation]
) -> Iterator[dict[str, Any]]:
    for limit, one in ours.items():
        for metric in EXTRA_METRICS[limit[0]]:
            values = {"with": short(getattr(one, metric)), "without": short(getattr(theirs[limit], metric))}
            group = {"at": limit[0], "limit": limit[1], "metric": metric}
            yield group | values | interval(one, theirs[limit], metric)
