"""Exact ranking with nothing but the standard library: cosine similarity, the best k, fused lists."""

import heapq
import math
import operator
import reprlib
from collections.abc import Hashable, Iterable, Sequence

from .checks import check_number, check_whole, list_of

Vector = Sequence[float]


def _sum_of_products(a: Vector, b: Vector) -> float:
    return float(sum(map(operator.mul, a, b)))


# math.sumprod came with Python 3.12: faster, and exact to the last digit.
_dot = getattr(math, "sumprod", _sum_of_products)


def cosine(a: Vector, b: Vector) -> float:
    """Cosine of the angle between two vectors, from -1 to 1; 0 where one of them is zero.

    ValueError for vectors of different dimensions, or with numbers that are not finite; TypeError for what is no list
    of numbers.
    """
    return _cosine(*_measured(a), b)


def _measured(vector: Vector) -> tuple[Vector, float]:
    """The vector and its length; where a float cannot hold the squares, another of the same direction."""
    try:
        square = float(_dot(vector, vector)) if len(vector) else 0.0
    except (TypeError, ValueError) as error:
        raise TypeError(f"a vector must be a list of numbers, not {reprlib.repr(vector)}") from error
    except OverflowError:  # of whole numbers beyond every float
        square = math.inf
    if 1e-200 < square < 1e200:
        return vector, math.sqrt(square)
    # Here alone can there be NaN or an infinity: no sum of their squares is an ordinary number.
    for place, x in enumerate(vector):
        if not _is_finite(x):
            raise ValueError(f"a vector must hold finite numbers, not {x} at place {place}")
    largest = max(map(abs, vector), default=0)
    return _measured([x / largest for x in vector]) if largest else (vector, 0.0)


def _is_finite(x: float) -> bool:
    try:
        return math.isfinite(x)
    except OverflowError:
        return False


def _cosine(a: Vector, norm_a: float, b: Vector) -> float:
    b, norm_b = _measured(b)
    if len(a) != len(b):
        raise ValueError(f"vectors must have the same dimension, not {len(a)} and {len(b)}")
    if not (norm_a and norm_b):
        return 0.0
    return max(-1.0, min(1.0, _dot(a, b) / (norm_a * norm_b)))


def top_k(query: Vector, vectors: Sequence[Vector], k: int) -> list[tuple[int, float]]:
    """The k most similar vectors as (index, cosine similarity), best first, ties by index; all if fewer.

    ValueError for a k below 1, vectors of different dimensions, or numbers that are not finite; TypeError for what is
    no list of numbers, or of vectors.
    """
    check_whole("k", k, 1)
    query, norm = _measured(query)
    scores = ((index, _cosine(query, norm, vector)) for index, vector in enumerate(list_of(object, "vectors", vectors)))
    return heapq.nlargest(k, scores, key=operator.itemgetter(1))


def reciprocal_rank_fusion(lists: Iterable[Iterable[Hashable]], c: float = 60) -> list[tuple[Hashable, float]]:
    """Fuse ranked lists into (item, score), best first: an item earns 1 / (c + rank) in each list, ranks from 1.

    A repeated item counts once in each list, at its best rank, and takes no rank from others; ties keep the
    order of first appearance. ValueError for a c that is negative or not finite; TypeError for what are no lists, or
    items that nothing can be looked up by.
    Source: Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion Outperforms Condorcet and Individual Rank Learning
    Methods", SIGIR 2009.
    """
    check_number("c", c, 0)
    earned: dict[Hashable, list[float]] = {}
    for ranked in list_of(Iterable, "lists", lists):
        for rank, item in enumerate(dict.fromkeys(list_of(Hashable, "a ranked list", ranked)), 1):
            earned.setdefault(item, []).append(1 / (c + rank))
    # fsum: items with the same ranks in another order of lists must tie.
    scores = [(item, math.fsum(terms)) for item, terms in earned.items()]
    return sorted(scores, key=operator.itemgetter(1), reverse=True)
