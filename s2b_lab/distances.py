"""Views of how far questions are from their evidence, and of how far a map can be trusted."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from . import corpus, plot, show
from .corpus import Question
from .embed import embedder
from .interact import Figure, Note, Table
from .levers import language, library, public
from .project import atlas, neighbours_kept
from .text import Span

_MOST_BARS = 40
_HIDDEN = "The evidence of this question is for some readers alone, so it is not among what is compared here."


def distance(text: str, question: str, unit: Literal["sentences", "children", "parents"]) -> tuple[Any, ...]:
    """The views of how far a question is from its evidence, and of what stands before it."""
    document, model = corpus.load(text), embedder(language(text))
    spans = units(text, unit)
    texts = [span.of(document.text) for span in spans]
    scores = model.passages(texts) @ model.query(question)
    order = [int(i) for i in np.argsort(-scores, kind="stable")]
    proof = show.evidence(document, question)
    holding = [rank for rank, i in enumerate(order, 1) if any(spans[i].overlaps(span) for span in proof)]
    shown = order[:_MOST_BARS]
    bars = plot.similarity_bars(
        scores[shown], [rank - 1 for rank in holding if rank <= len(shown)], [texts[i] for i in shown],
        f"{unit}, most similar first", plot.EVIDENCE,
    )  # fmt: skip
    rows = [[rank, round(float(scores[order[rank - 1]]), 3), rank in holding, plot.shorten(texts[order[rank - 1]], 110)]
            for rank in sorted({1, 2, 3, *holding[:2]} & set(range(1, len(order) + 1)))]  # fmt: skip
    return (
        Note(_far(scores[order], holding, unit) if holding or not proof else _HIDDEN),
        Figure(bars, alt=f"Similarity of the {len(shown)} most similar {unit} to the question, the evidence in green."),
        Table(["rank", "similarity", "evidence", "text"], rows, caption="The first three, and the evidence"),
        show.meaning_map(model, document, question, [texts[i] for i in order[:3]], names=("the first three", "")),
    )


def _far(scores: np.ndarray, holding: Sequence[int], unit: str) -> str:
    if not holding:
        return f"This question has no evidence marked by hand: judge the {unit} for yourself."
    first, most = holding[0], f"the most similar of all {len(scores)} {unit} has {scores[0]:.2f}"
    if first == 1:
        return f"The evidence comes first, with similarity {scores[0]:.2f} among {len(scores)} {unit}."
    return f"The evidence stands at rank {first} with similarity {scores[first - 1]:.2f}; {most}."


@functools.cache
def units(text: str, unit: str) -> tuple[Span, ...]:
    """The sentences, children or parents of a text that all may read."""
    if unit not in ("sentences", "children", "parents"):
        raise ValueError(f"unit must be 'sentences', 'children' or 'parents', not {unit!r}")
    document, tree = corpus.load(text), library(text).tree
    children = public(tree)
    if unit == "sentences":
        return tuple(chunk.span for chunk in atlas(document, embedder(language(text))).sentences)
    return tuple(dict.fromkeys(c.span if unit == "children" else tree.parent(c).span for c in children))


def first_ranks(text: str) -> Any:
    """A figure of the rank that the first piece of evidence has, over all questions about a text."""
    document, model = corpus.load(text), embedder(language(text))
    steps = {"1": 1, "2 to 4": 4, "5 to 16": 16, "later": 10**9}
    series = {}
    for unit in ("sentences", "children", "parents"):
        spans = units(text, unit)
        vectors = model.passages([span.of(document.text) for span in spans])
        ranks = [first_rank(vectors @ model.query(q.text), spans, q) for q in corpus.questions(text, more=True)]
        until = [sum(rank <= step for rank in ranks if rank) for step in steps.values()]
        series[unit] = [high - low for low, high in zip([0, *until], until, strict=False)]
    return plot.grouped_bars(list(steps), series, "questions", "rank of the first piece of evidence")


def first_rank(scores: np.ndarray, spans: Sequence[Span], question: Question) -> int | None:
    """The rank of the first span that holds some of the evidence; None where none does."""
    order = np.argsort(-scores, kind="stable")
    proof = [span for _, span in question.answers]
    ranks = (rank for rank, i in enumerate(order, 1) if any(spans[i].overlaps(span) for span in proof))
    return next(ranks, None)


def lies(text: str, question: str, method: Literal["umap", "pca"], seed: int, k: int) -> tuple[Any, ...]:
    """The views of a map beside the truth: the k sentences nearest to a question by cosine, and on the plane."""
    document, model = corpus.load(text), embedder(language(text))
    chart, vector = atlas(document, model, seed, method), model.query(question)
    here = chart.place(vector)[0]
    true = [int(i) for i in np.argsort(-(chart.vectors @ vector), kind="stable")[:k]]
    seen = [int(i) for i in np.argsort(((chart.points - here) ** 2).sum(axis=1), kind="stable")[:k]]
    texts = [chunk.text for chunk in chart.sentences]
    layers = [plot.Layer("sentences", chart.points, texts, plot.REST, size=5, opacity=0.5)]
    for name, places, color, symbol, size in (
        ("nearest on this map", seen, plot.HIT, "square-open", 13),
        ("nearest in truth", true, plot.CONTEXT, "circle", 8),
    ):
        layers.append(plot.Layer(name, chart.points[places], [texts[i] for i in places], color, symbol, size))
    layers.append(plot.Layer("question", [here], [question], plot.QUESTION, "star", 15))
    kept, both = neighbours_kept(chart.points, chart.vectors, k), len(set(true) & set(seen))
    return (
        Note(
            f"{both} of the {k} sentences nearest to the question are among the {k} nearest on this map. "
            f"Among sentences the map keeps {kept:.0%} of all neighbours."
        ),
        Figure(plot.scatter_map(layers, [(here, chart.points[i]) for i in true]), alt="Map of the sentences."),
    )
