"""Hypothetical questions: those found, the chunks that they point to, and what arrives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..core.hits import Context, Hit
from ..figures.views import Table
from ..hypothetical import chunk_id_of
from .evidence import evidence
from .retrieval import delivered_by, meaning_map, stages
from .step_back import rank_of_evidence

if TYPE_CHECKING:
    from ..index import Index
    from ..retrieve import Trace

_WAYS = ("the text of the chunks", "the questions about them", "both, fused")


def foreseen_views(
    index: Index,
    found: Sequence[Hit],
    hits: Sequence[Sequence[Hit]],
    contexts: Sequence[Sequence[Context]],
    fused: Trace,
) -> tuple[Any, ...]:
    """The views of hypothetical questions: what each search delivers, the questions found, stages and map.

    `found` are hits among the questions; `hits` and `contexts` are those of the text of the chunks, then those of the
    chunks that the questions point to. Beside both stands the trace in which they are `fused`.
    """
    (document,) = index.tree.documents.values()
    texts, pointed = [hit.chunk.text for hit in found], [index.tree[_chunk_id(hit)].text for hit in found]
    names = ("hits among the questions", "chunks they point to")
    return (
        _searches(index, [*hits, fused.hits], [*contexts, fused.contexts], fused.query),
        _nearest(found),
        stages(index, fused.query, [], fused),
        meaning_map(index.embedder, document, fused.query, texts, pointed, names),
    )


def _searches(index: Index, hits: Sequence[Sequence[Hit]], contexts: Sequence[Sequence[Context]], query: str) -> Table:
    (document,) = index.tree.documents.values()
    gold, rows = evidence(document, query), []
    for name, some, delivered in zip(_WAYS, hits, contexts, strict=True):
        # A fused score is no similarity.
        best = round(some[0].score, 3) if some and name != _WAYS[-1] else None
        rows.append([name, best, rank_of_evidence(some, gold), *delivered_by(index, document, query, delivered)])
    return Table(["searched", "best similarity", "rank of the evidence", "evidence delivered", "tokens"], rows)


def _nearest(found: Sequence[Hit]) -> Table:
    rows = [[hit.rank, round(hit.score, 3), hit.chunk.text, _chunk_id(hit)] for hit in found]
    columns = ["rank", "similarity", "recorded question", "points to"]
    if not rows:
        return Table(columns, rows, caption="No question was found")
    return Table(columns, rows, caption="The most similar questions", folded=True)


def _chunk_id(hit: Hit) -> str:
    return chunk_id_of(hit.chunk.doc_id)
