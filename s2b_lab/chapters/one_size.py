"""The figures of chapter 1: a text cut into chunks of one size, and one chunk growing around its evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.text import Document, Span
from ..figures import plot
from ..figures.passages import Mark
from ..figures.views import Note
from .evidence import evidence_marks, no_evidence, public_evidence, verdict
from .retrieval import marked, meaning_map, tokens_of, unread

if TYPE_CHECKING:
    from ..embed import Embedder

_AXES = ("characters in the chunk", "cosine similarity")


def chunks_views(
    model: Embedder, document: Document, question: str, spans: Sequence[Span], scores: Sequence[float]
) -> tuple[Any, ...]:
    """The views of a text cut at these spans: the cuts, the similarity of each chunk to a question, the map."""
    texts, best = [span.of(document.text) for span in spans], int(np.argmax(scores))
    tails = unread(model, document, spans)
    marks = [Mark(span, "chunk", str(number)) for number, span in enumerate(spans, 1)]
    marks += [Mark(spans[best], "hit", f"{scores[best]:.2f}"), *tails]
    marks += evidence_marks(document, question, [spans[best]])
    judged = verdict(document, question, [spans[best]], f"the best of {len(spans)} chunks (number {best + 1})")
    ends = f" The model does not read the end of {len(tails)} of {len(spans)} chunks." if tails else ""
    return (
        Note(judged.text + ends),
        marked(document, marks),
        plot.similarity_bars(scores, [best], texts),
        meaning_map(model, document, question, [texts[best]], texts, names=("best chunk", "chunks")),
    )


def grown(
    model: Embedder,
    document: Document,
    question: str,
    core: Span,
    spans: Mapping[int, Span],
    scores: Sequence[Sequence[float]],
    added: int,
) -> tuple[Any, ...]:
    """The views of a chunk that grows around `core`, at one number of characters `added` to each side; `spans` has all.

    `scores` has the similarity of the chunk at each step, and of its text without the core where any is left.
    """
    at, span, texts = list(spans).index(added), spans[added], [one.of(document.text) for one in spans.values()]
    whole, company = ([float(pair[i]) if i < len(pair) else None for pair in scores] for i in (0, 1))
    tails = unread(model, document, [span])
    kind = "gold" if core in public_evidence(document, question) else "hit"
    marks = [Mark(span, "chunk", f"{whole[at]:.2f}"), *tails, Mark(core, kind)]
    lengths, beside = [len(one) for one in spans.values()], {"its company alone": company}
    return (
        Note(_growth(model, document, question, texts[at], whole[at], company[at]) + _beyond(tails, core, kind)),
        marked(document, marks),
        plot.curve(lengths, whole, at, *_AXES, beside=beside),
        meaning_map(model, document, question, [texts[at]], texts, names=("this chunk", "all sizes")),
    )


def _growth(model: Embedder, document: Document, question: str, text: str, score: float, rest: float | None) -> str:
    alone = "" if rest is None else f", and {rest:.3f} for its company alone"
    why = no_evidence(document, question)
    around = (
        f"{why.split(':')[0]}, so the chunk grows around the sentence most similar to the question. " if why else ""
    )
    return f"{around}Similarity {score:.3f} at {tokens_of(model, text)} tokens{alone}."


def _beyond(tails: Sequence[Mark], core: Span, kind: str) -> str:
    if not tails:
        return ""
    what = "evidence" if kind == "gold" else "sentence"
    (tail,) = tails
    lost = f", and not the {what}" if tail.span.start <= core.start else ""
    cut = f", and not the whole {what}" if core.start < tail.span.start < core.end else ""
    return f" The model does not read the end of it{lost}{cut}."
