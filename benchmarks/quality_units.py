"""Chunk quality in three dimensions - coherence, sizes, fit to questions - and whether any of it predicts retrieval."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

import s2b_lab as s2b

from .quality_scores import RESAMPLES, SEED, Limit, Measured, short
from .quality_strategies import Documents

DIMENSIONS = {
    "coherence": "inside a delivered unit: mean cosine of all pairs of its sentences; mean over units of two or more",
    "contrast": "mean cosine of neighbouring sentences of one unit less that of neighbours which a cut parts",
    "whole": "share of the paragraphs of two or more sentences that lie whole in a delivered unit",
    "tokens": "sizes: mean tokens of a delivered unit",
    "variation": "sizes: standard deviation of these tokens, divided by their mean",
    "small": "sizes: share of delivered units of less than half of the mean tokens",
    "large": "sizes: share of delivered units of more than twice the mean tokens",
    "fit": "to questions: cosine of a question with the searched unit that is most like it; mean over questions",
    "margin": "to questions: cosine of the best searched unit that touches the evidence, less that of the best other",
}
OUTCOMES: tuple[tuple[str, Limit], ...] = (("dcg", ("k", 5)), ("recall", ("k", 5)), ("recall", ("budget", 400)))
_FEWEST = 5  # rows that a rank correlation is given for


class Sentences:
    """The sentences of some documents with their vectors, and the paragraphs that have two or more of them."""

    def __init__(self, docs: Documents, embedder: s2b.Embedder):
        tree = s2b.sentence_tree(docs)
        held = [chunk for chunk in s2b.readable_chunks(tree) if tree.embedded(chunk).strip()]
        vectors = embedder.passages([tree.embedded(chunk) for chunk in held])
        self.spans: dict[str, list[s2b.Span]] = {doc.id: [] for doc in docs}
        rows: dict[str, list[np.ndarray]] = {doc.id: [] for doc in docs}
        for chunk, vector in zip(held, vectors, strict=True):
            self.spans[chunk.doc_id].append(chunk.span)
            rows[chunk.doc_id].append(vector)
        self.vectors = {doc_id: np.stack(some) if some else np.zeros((0, 1)) for doc_id, some in rows.items()}
        several = (chunk for chunk in tree if chunk.level == "passage" and len(tree.children(chunk)) > 1)
        self.paragraphs = [(chunk.doc_id, chunk.span) for chunk in several]

    def inside(self, doc_id: str, span: s2b.Span) -> list[int]:
        """The places of the sentences that lie whole in a span."""
        return [n for n, one in enumerate(self.spans[doc_id]) if span.contains(one)]


def delivered_units(found: Measured) -> list[tuple[str, s2b.Span]]:
    """Every unit that could be delivered: what each searched chunk grows to, each once, in the order of the text."""
    tree = found.index.tree
    hits = [s2b.Hit(chunk, 0.0, 1) for chunk in found.index.chunks]
    contexts = [context for hit in hits for context in found.expand([hit], tree, k=1)]
    units = dict.fromkeys((context.doc_id, context.span) for context in contexts)
    order = {doc_id: place for place, doc_id in enumerate(tree.documents)}
    return sorted(units, key=lambda unit: (order[unit[0]], unit[1].start, unit[1].end))


def unit_quality(
    found: Measured, known: Sentences, questions: Sequence[s2b.Question], count: Callable[[str], int]
) -> dict[str, Any]:
    """All dimensions of one strategy on one text, None where it has none; `questions` are those for tuning."""
    units = delivered_units(found)
    documents = found.index.tree.documents
    sizes = np.array([count(span.of(documents[doc_id].text)) for doc_id, span in units], dtype=float)
    fits = [fit(found.index, question) for question in questions]
    group = {"text": found.text, "strategy": found.strategy, "size": found.size, "units": len(units)}
    numbers = dict(zip(("coherence", "contrast"), coherence(units, known), strict=True))
    numbers |= {"whole": whole(units, known.paragraphs), **distribution(sizes)}
    numbers |= {"fit": np.mean([one for one, _ in fits]), "margin": np.mean([one for _, one in fits])}
    return group | {name: short(value) for name, value in numbers.items()}


def coherence(units: Sequence[tuple[str, s2b.Span]], known: Sentences) -> tuple[float | None, float | None]:
    """The mean cosine inside units, and how much liker neighbours in a unit are than those that a cut parts.

    The second is None where units overlap, so that no place is a cut, or one of the two kinds of neighbours is missing.
    """
    inside, together = [], {doc_id: set() for doc_id in known.spans}
    for doc_id, span in units:
        places = known.inside(doc_id, span)
        together[doc_id] |= {place for place in places if place + 1 in places}
        if len(places) > 1:
            total, n = known.vectors[doc_id][places].sum(0), len(places)
            inside.append((float(total @ total) - n) / (n * (n - 1)))
    apart = any(a[0] == b[0] and a[1].overlaps(b[1]) for a, b in pairwise(units))
    near: dict[bool, list[float]] = {True: [], False: []}
    for doc_id, rows in known.vectors.items():
        for place, value in enumerate(np.einsum("ij,ij->i", rows[:-1], rows[1:]).tolist()):
            near[place in together[doc_id]].append(value)
    contrast = None if apart or not all(near.values()) else float(np.mean(near[True]) - np.mean(near[False]))
    return (float(np.mean(inside)) if inside else None), contrast


def whole(units: Sequence[tuple[str, s2b.Span]], paragraphs: Sequence[tuple[str, s2b.Span]]) -> float | None:
    """The share of paragraphs that lie whole in a unit."""
    spans: dict[str, list[s2b.Span]] = {}
    for doc_id, span in units:
        spans.setdefault(doc_id, []).append(span)
    held = [any(unit.contains(span) for unit in spans.get(doc_id, ())) for doc_id, span in paragraphs]
    return float(np.mean(held)) if held else None


def distribution(sizes: np.ndarray) -> dict[str, float]:
    """Mean, variation and the shares of small and large ones among sizes (units,)."""
    mean = sizes.mean()
    shares = {"small": (sizes < mean / 2).mean(), "large": (sizes > 2 * mean).mean()}
    return {"tokens": mean, "variation": sizes.std() / mean} | shares


def fit(index: Any, question: s2b.Question) -> tuple[float, float]:
    """The cosine of a question with its best searched unit, and by how much the best with evidence is before others."""
    scores = index.similarities(index.embedder.query(question.text))
    places = [place for item in question.gold for place in item]
    touches = np.array([any(c.doc_id == d and c.span.overlaps(s) for d, s in places) for c in index.chunks])
    if touches.all() or not touches.any():
        return float(scores.max()), 0.0
    return float(scores.max()), float(scores[touches].max() - scores[~touches].max())


# --- does it predict retrieval? --------------------------------------------------------------------------------------


def ranks(values: np.ndarray) -> np.ndarray:
    """Ranks from 1, equal values with their mean rank."""
    _, back, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[back]


def rank_correlation(a: np.ndarray, b: np.ndarray) -> float:
    """Spearman's rank correlation; NaN where one side has one value only."""
    one, other = ranks(a) - (len(a) + 1) / 2, ranks(b) - (len(b) + 1) / 2
    size = np.sqrt((one @ one) * (other @ other))
    return float(one @ other / size) if size > 0 else float("nan")


def predictions(
    qualities: Sequence[Mapping[str, Any]], found: Sequence[Measured], resamples: int = RESAMPLES, seed: int = SEED
) -> list[dict[str, Any]]:
    """Rank correlations of each dimension with retrieval, over all strategies and sizes: on each text, and their mean.

    An interval holds 95 % of resamples, each of which draws strategies, with all their sizes, and questions anew, the
    same strategies for all texts.
    """
    texts = [*dict.fromkeys(one["text"] for one in qualities)]
    return [
        row
        for dimension in DIMENSIONS
        for metric, limit in OUTCOMES
        for row in _prediction(dimension, metric, limit, texts, qualities, found, resamples, seed)
    ]


def _prediction(
    dimension: str,
    metric: str,
    limit: Limit,
    texts: Sequence[str],
    qualities: Sequence[Mapping[str, Any]],
    found: Sequence[Measured],
    resamples: int,
    seed: int,
) -> Iterator[dict[str, Any]]:
    usable = [(one, two) for one, two in zip(qualities, found, strict=True) if one[dimension] is not None]
    held = {}
    for text in texts:
        some = [(one, two) for one, two in usable if one["text"] == text]
        if len(some) >= _FEWEST:
            scores = np.stack([two.values(limit, metric) for _, two in some])
            held[text] = [one["strategy"] for one, _ in some], np.array([one[dimension] for one, _ in some]), scores
    plain = {text: rank_correlation(values, scores.mean(-1)) for text, (_, values, scores) in held.items()}
    drawn = _drawn(held, resamples, seed)
    group = {"dimension": dimension, "metric": metric, "at": limit[0], "limit": limit[1]}
    for text in held:
        yield group | {"text": text, "rows": len(held[text][0])} | _interval(plain[text], drawn[text])
    if held:
        every = np.mean(np.stack([*drawn.values()]), axis=0)
        numbers = _interval(float(np.mean([*plain.values()])), every)
        yield group | {"text": "mean", "rows": sum(len(names) for names, _, _ in held.values())} | numbers


def _drawn(held: Mapping[str, tuple], resamples: int, seed: int) -> dict[str, np.ndarray]:
    names = [*dict.fromkeys(name for strategies, _, _ in held.values() for name in strategies)]
    at = {text: {name: np.flatnonzero(np.array(some) == name) for name in names} for text, (some, _, _) in held.items()}
    draw = np.random.default_rng(seed)
    found: dict[str, list[float]] = {text: [] for text in held}
    for _ in range(resamples):
        chosen = [names[place] for place in draw.integers(0, len(names), len(names))]
        for text, (_, values, scores) in held.items():
            rows = np.concatenate([at[text][name] for name in chosen])
            asked = draw.integers(0, scores.shape[1], scores.shape[1])
            found[text].append(rank_correlation(values[rows], scores[rows][:, asked].mean(-1)))
    return {text: np.array(some) for text, some in found.items()}


def _interval(value: float, drawn: np.ndarray) -> dict[str, Any]:
    known = drawn[~np.isnan(drawn)]
    low, high = np.percentile(known, (2.5, 97.5)) if len(known) else (np.nan, np.nan)
    clear = bool(low > 0 or high < 0)
    return {"correlation": short(value), "low": short(low), "high": short(high), "clear": clear}
