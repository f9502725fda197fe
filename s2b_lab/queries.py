"""A question as vectors: one, or several where it is longer than its model reads."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, Any

from .core.characters import is_blank
from .core.hits import Hit
from .core.split import recursive
from .embed import Embedder, as_rows, query_row, text_tokens
from .models.copies import normalise

if TYPE_CHECKING:
    import numpy as np

_PARTS = 4  # a piece is at most this part of what the model reads, so that one sentence has a voice in its vector
_MOST = 32  # pieces, unless the question is longer than so many times what the model reads


def query_rows(model: Embedder, query: str | Sequence[float] | np.ndarray) -> list[Any]:
    """Give a question's vectors (dimension,), best taken together by `best_of`: one, or one for each of its pieces.

    A text longer than the model reads is cut at paragraphs and sentences, each different piece is embedded once, and a
    chunk is as like the question as to the piece that it is most like. So the asked sentence finds its passage wherever
    it stands: in the mean of all pieces it would be lost among the others. ValueError for a blank question, and for a
    vector of another dimension, not finite or all zero; TypeError for what is no text or vector.
    """
    pieces = query_pieces(model, query) if isinstance(query, str) else [query]
    return [_row(model, piece) for piece in pieces]


def _row(model: Embedder, query: Any) -> Any:
    if not isinstance(query, str):
        return query_row(model, query)
    vector = model.query(query)
    if not isinstance(vector, list):
        return query_row(model, as_rows(model, [vector], 1)[0])
    if not all(map(isfinite, vector)):  # a model in a page may give a list, where there is no numpy
        raise ValueError(f"a finite vector is needed, but {model.name} gave {reprlib.repr(vector)}")
    return vector


def query_pieces(model: Embedder, text: str) -> list[str]:
    """Cut a question into what its model reads; one that it reads whole, or a model that counts nothing, leaves it."""
    most = getattr(model, "max_tokens", None)
    # A token is at least one byte: most questions are short enough without counting.
    if most is None or not hasattr(model, "count_tokens") or _bytes(model, text) + 8 <= most:
        return [text]
    around = model.count_tokens("a") - text_tokens(model, "a")
    # The side for questions may have a longer prefix than that for passages, which is counted.
    prefix = text_tokens(model, getattr(model, "query_prefix", ""))
    room, size = max(1, most - around - prefix), text_tokens(model, text)
    if size <= room:
        return [text]
    limit = max(1, min(room, max(room // _PARTS, size // _MOST)))
    spans = recursive(text, limit, 0, "token", partial(text_tokens, model))
    pieces = dict.fromkeys(normalise(span.of(text)) for span in spans)
    return [piece for piece in pieces if not is_blank(piece)] or [text]


def _bytes(model: Embedder, text: str) -> int:
    return len(getattr(model, "query_prefix", "").encode()) + len(normalise(text).encode("utf-8", "replace"))


def best_of(lists: Iterable[Sequence[Hit]], k: int) -> list[Hit]:
    """Merge what several vectors of one question found: each chunk once, at its best score, the k best."""
    lists = list(lists)
    if len(lists) == 1:
        return list(lists[0])
    best: dict[str, Hit] = {}
    for hit in sorted((hit for hits in lists for hit in hits), key=lambda hit: -hit.score):
        best.setdefault(hit.chunk.id, hit)
    return [replace(hit, rank=rank) for rank, hit in enumerate(list(best.values())[:k], 1)]
