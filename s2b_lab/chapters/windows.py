"""The figure of chapter 3: a window around a sentence beside a chunk of as many sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..core.access import readable_chunks
from ..core.hits import Context
from ..figures.passages import Mark, Passages
from ..figures.views import Table
from .evidence import evidence_marks
from .retrieval import delivered_by, marked, meaning_map, tokens_of

if TYPE_CHECKING:
    from ..core.text import Document
    from ..index import Index


def beside_views(
    question: str, small: Index, windows: Sequence[Context], large: Index, chunks: Sequence[Context]
) -> tuple[Any, ...]:
    """The windows from an index of sentences on one side, the chunks from one of overlapping chunks on the other."""
    (document,) = small.tree.documents.values()
    columns = ["way", "vectors", "tokens embedded", "best similarity", "tokens delivered", "evidence delivered"]
    rows = [
        ["sentence window", *_costs(small, document, question, windows)],
        ["overlapping chunks", *_costs(large, document, question, chunks)],
    ]
    found = [context.hits[0].chunk.text for context in (*windows, *chunks)]
    return (
        _side(document, question, windows, "Window: find a sentence, then widen"),
        _side(document, question, chunks, "Overlap: find the chunk itself"),
        Table(columns, rows),
        meaning_map(small.embedder, document, question, found, names=("best hits", "")),
    )


def _side(document: Document, question: str, contexts: Sequence[Context], title: str) -> Passages:
    marks = [Mark(context.span, "context") for context in contexts]
    marks += [Mark(hit.chunk.span, "hit", f"{hit.score:.2f}") for context in contexts for hit in context.hits]
    marks += evidence_marks(document, question, [context.span for context in contexts])
    return marked(document, marks, title, show="marked")


def _costs(index: Index, document: Document, question: str, contexts: Sequence[Context]) -> list[Any]:
    """Cells of the table: what is embedded, how near the best hit is, what is delivered."""
    chunks = readable_chunks(index.tree)
    embedded = sum(tokens_of(index.embedder, chunk.text) for chunk in chunks)
    share, cost = delivered_by(index, document, question, contexts)
    best = round(max(context.score for context in contexts), 3) if contexts else None
    return [len(chunks), embedded, best, cost, share]
