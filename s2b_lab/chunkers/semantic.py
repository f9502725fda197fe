"""Semantic chunking: a cut where neighbouring sentences are far apart in meaning."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Literal

from ..core.checks import check_choice, check_number, check_whole
from ..core.sizes import Unit
from ..core.split import Cuts, check_size
from ..core.text import Span
from ..embed import Embedder, as_embedder, as_rows
from .whole import headed_sentences, in_size

if TYPE_CHECKING:
    import numpy as np

_ROUNDING = 1e-6  # vectors of the same text differ by that much: it is no turn


def semantic(
    text: str,
    embedder: Embedder | str,
    size: int = 200,
    threshold: Literal["percentile", "gradient"] = "percentile",
    amount: float = 95,
    buffer: int = 1,
    unit: Unit = "word",
    length: Callable[[str], int] | None = None,
) -> list[Span]:
    """Cut where the distance between neighbouring sentence groups is beyond a threshold.

    `semantic_distances` says what the distances are. The threshold is their percentile `amount`; with "gradient" it is
    that of their rise over the one before, for the first one over their mean, which finds a turn among distances that
    are large all over. A chunk still larger than `size` is cut at its largest distance (of equals, in the middle)
    until none is, and a sentence larger than it as `recursive` does. A heading goes with what follows. ValueError for a
    size below 1, an amount outside 0 to 100, a negative buffer, another threshold or unit, and vectors that are not
    finite; TypeError for what is no text or model.
    Source: G. Kamradt, "5 Levels of Text Splitting", 2024; gradient after LangChain's SemanticChunker, which takes the
    mean of the rises on both sides.
    """
    check_size(size, 0)
    check_choice("threshold", threshold, ("percentile", "gradient"))
    check_number("amount", amount, 0)
    if amount > 100:
        raise ValueError(f"amount must be at most 100, a percentile, not {amount}")
    cuts, model = Cuts(text, unit, length), as_embedder(embedder)
    sentences = headed_sentences(cuts, 0, len(text))
    distances = _distances(text, sentences, model, buffer)
    turns = [place + 1 for place in _beyond(distances, threshold, amount)]
    starts = [0, *turns] if sentences else []
    return [
        part
        for start, stop in zip(starts, [*turns, len(sentences)], strict=False)
        for span in _small(cuts, sentences, distances, start, stop, size)
        for part in in_size(cuts, span, size)
    ]


def semantic_distances(text: str, embedder: Embedder | str, buffer: int = 1) -> list[tuple[int, float]]:
    """Pairs of a sentence's end and the cosine distance between the groups on its two sides.

    A group is a sentence with `buffer` neighbours before and after it, so that one odd sentence makes no turn. The
    last sentence has no pair. ValueError for a negative buffer, and for vectors that are not finite; TypeError for
    what is no text or model.
    """
    sentences = headed_sentences(Cuts(text, "char"), 0, len(text))
    distances = _distances(text, sentences, as_embedder(embedder), buffer)
    return [(sentence.end, float(found)) for sentence, found in zip(sentences, distances, strict=False)]


def _distances(text: str, sentences: list[Span], model: Embedder, buffer: int) -> np.ndarray:
    """Cosine distances (sentences - 1,) between each group and the next."""
    import numpy as np

    check_whole("buffer", buffer, 0)
    if len(sentences) < 2:
        return np.zeros(0)
    last = len(sentences) - 1
    groups = [
        text[sentences[max(0, place - buffer)].start : sentences[min(last, place + buffer)].end]
        for place in range(last + 1)
    ]
    rows = as_rows(model, model.passages(groups), len(groups)).astype(float)
    lengths = np.linalg.norm(rows, axis=1)
    products = np.einsum("ij,ij->i", rows[:-1], rows[1:])
    return 1 - products / np.maximum(lengths[:-1] * lengths[1:], 1e-12)


def _beyond(distances: np.ndarray, threshold: str, amount: float) -> list[int]:
    """The places whose distance, or whose rise, is larger than the percentile of all."""
    import numpy as np

    if not len(distances):
        return []
    # Central differences would have the steepest place beside the turn.
    values = np.diff(distances, prepend=distances.mean()) if threshold == "gradient" else distances
    return np.flatnonzero(values > np.percentile(values, amount) + _ROUNDING).tolist()


def _small(
    cuts: Cuts, sentences: list[Span], distances: np.ndarray, start: int, stop: int, size: int
) -> Iterator[Span]:
    """Sentences from `start` to `stop` as one span, or cut at the largest distances, as often as its size needs."""
    left = [(start, stop)]
    while left:
        start, stop = left.pop()
        span = Span(sentences[start].start, sentences[stop - 1].end)
        if stop - start == 1 or cuts.fits(span.start, span.end, size):
            yield span
            continue
        turn = start + 1 + _largest(distances[start : stop - 1])
        left += [(turn, stop), (start, turn)]


def _largest(distances: np.ndarray) -> int:
    """The place of the largest distance; of equals the most central, else a row of them would be peeled one by one."""
    equals = (distances >= distances.max() - _ROUNDING).nonzero()[0]
    return int(min(equals, key=lambda place: abs(2 * place + 1 - len(distances))))
