"""The figures of chapter 4: how far questions are from their evidence, and how far a map can be trusted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.hits import Hit
from ..figures import plot
from ..figures.maps import Layer, scatter_map
from ..figures.views import Figure, Note, Table
from ..project import Atlas, neighbours_kept
from .evidence import evidence
from .retrieval import meaning_map, tokens_of

if TYPE_CHECKING:
    from ..core.text import Document
    from ..embed import Embedder

_MOST_BARS = 40
_STEPS = {"1": 1, "2 to 4": 4, "5 to 16": 16, "later": 10**9}
_BUDGETS = (300, 600)
_HIDDEN = "The evidence of this question is for some readers alone, so it is not among what is compared here."


def distance_views(
    model: Embedder, document: Document, question: str, hits: Sequence[Hit], unit: str
) -> tuple[Any, ...]:
    """The views of how far a question is from its evidence: `hits` are all sentences, or other units, best first."""
    proof = evidence(document, question)
    holding = [hit.rank for hit in hits if any(hit.chunk.span.overlaps(span) for span in proof)]
    shown, texts = hits[:_MOST_BARS], [hit.chunk.text for hit in hits[:_MOST_BARS]]
    costs = [*accumulate(tokens_of(model, hit.chunk.text) for hit in hits)]
    columns = ["rank", "tokens so far", "similarity", "evidence", "text"]
    rows = [
        [hit.rank, cost, round(float(hit.score), 3), hit.rank in holding, plot.shorten(hit.chunk.text, 110)]
        for hit, cost in zip(hits, costs, strict=True)
        if hit.rank in {1, 2, 3, *holding[:2]}
    ]
    said = _far(hits, costs, holding, unit) if holding or not proof else _HIDDEN
    return (
        Note(said + _unread(model, hits, unit)),
        plot.similarity_bars(
            [hit.score for hit in shown], [rank - 1 for rank in holding if rank <= len(shown)], texts,
            f"{unit}, most similar first", plot.EVIDENCE,
            alt=_falls([hit.score for hit in shown], holding, unit),
        ),
        Table(columns, rows, caption="The first three, and the evidence"),
        meaning_map(model, document, question, texts[:3], names=("first three hits", "")),
    )  # fmt: skip


def _far(hits: Sequence[Hit], costs: Sequence[int], holding: Sequence[int], unit: str) -> str:
    if not holding:
        return f"This question has no evidence marked by hand: judge the {unit} for yourself."
    first, best = holding[0], hits[0].score
    if first == 1:
        return f"The evidence comes first of {len(hits)} {unit}, with similarity {best:.2f}, for {costs[0]:,} tokens."
    stands = f"The evidence stands at rank {first} of {len(hits)} {unit}, with similarity {hits[first - 1].score:.2f}"
    return f"{stands}; the first has {best:.2f}. The list down to it has {costs[first - 1]:,} tokens."


def _falls(scores: Sequence[float], holding: Sequence[int], unit: str) -> str:
    ranks = [str(rank) for rank in holding if rank <= len(scores)]
    stands = f"the evidence is number {', '.join(ranks)}" if ranks else "none of them is marked as evidence"
    first, last = scores[0], scores[-1]
    return f"Of the {len(scores)} most similar {unit} the first has {first:.2f}, the last {last:.2f}; {stands}."


def _unread(model: Embedder, hits: Sequence[Hit], unit: str) -> str:
    # Every text is read with the model's own prefix and marks, which leave less room for it.
    room = model.max_tokens - (model.count_tokens("a") - tokens_of(model, "a"))
    long = sum(tokens_of(model, hit.chunk.text) > room for hit in hits)
    return f" {long} of these {unit} are longer than the {room} tokens that the model reads." if long else ""


def rank_bars(ranks: Mapping[str, Sequence[int | None]]) -> Figure:
    """How many questions have their first piece of evidence how far up; None, which has no rank, is not counted."""
    series = {}
    for unit, found in ranks.items():
        until = [sum(rank <= step for rank in found if rank) for step in _STEPS.values()]
        series[unit] = [high - low for low, high in zip([0, *until], until, strict=False)]
    counted = max((sum(heights) for heights in series.values()), default=0)
    return plot.grouped_bars(list(_STEPS), series, f"of {counted} questions", "rank of the first piece of evidence")


def price_table(prices: Mapping[tuple[str, str], Sequence[int]]) -> Table:
    """What it costs to read down to the first piece of evidence, a row a text and unit; one count a question."""
    columns = ["text", "unit", "questions", "median tokens", *(f"within {limit}" for limit in _BUDGETS)]
    rows = [
        [*of, len(costs), round(median(costs)), *(sum(cost <= limit for cost in costs) for limit in _BUDGETS)]
        for of, costs in prices.items()
    ]
    return Table(columns, rows)


def map_views(
    chart: Atlas, question: str, vector: np.ndarray, true: Sequence[int], seen: Sequence[int]
) -> tuple[Any, ...]:
    """The views of a map beside the truth: the places of the sentences nearest to a question in truth, and as seen."""
    texts, (here,) = [chunk.text for chunk in chart.sentences], chart.place(vector)
    layers = [Layer("sentences", chart.points, texts, plot.REST, size=5, opacity=0.5)]
    for name, places, color, symbol, size in (
        ("nearest on this map", seen, plot.HIT, "square-open", 13),
        ("nearest in truth", true, plot.CONTEXT, "circle", 8),
    ):
        near = [float(value) for value in chart.vectors[places] @ vector]
        found = [texts[i] for i in places]
        layers.append(Layer(name, chart.points[places], found, color, symbol, size, similarities=near))
    layers.append(Layer("question", [here], [question], plot.QUESTION, "star", 15))
    k, both = len(true), len({*map(int, true)} & {*map(int, seen)})
    kept = neighbours_kept(chart.points, chart.vectors, k)
    return (
        Note(
            f"{both} of the {k} sentences nearest to the question are among the {k} nearest on this map. "
            f"Among sentences the map keeps {kept:.0%} of all neighbours."
        ),
        scatter_map(layers, [(here, chart.points[i]) for i in true]),
    )
