"""What a rewrite changes: its nearness to the evidence, its hits and contexts, and how questions drift."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

from ..core.checks import check_whole
from ..core.hits import Hit
from ..core.text import Document, Span
from ..evaluation import first_rank
from ..figures.views import Note, Table
from .evidence import closeness, public_evidence
from .retrieval import delivered, delivered_by, meaning_map, stages

if TYPE_CHECKING:
    from ..index import Index
    from ..retrieve import Trace
    from ..rewrite import Rewrite


def rewrite_views(
    index: Index, rewrite: Rewrite, traces: Mapping[str, Trace], ranked: Mapping[str, Sequence[Hit]]
) -> tuple[Any, ...]:
    """The views of a rewrite beside the question as asked: one row of the table a trace, the rest of "rewritten".

    `ranked` has longer lists of hits for the same searches, to tell the rank of the evidence from.
    """
    (document,) = index.tree.documents.values()
    found = traces["rewritten"]
    best, made = found.hits[: len(found.contexts)], [] if rewrite.reason else [rewrite]
    texts = [hit.chunk.text for hit in best]
    return (
        Note(told(rewrite)),
        _table(index, document, traces, ranked),
        stages(index, found.query, made, found),
        meaning_map(index.embedder, document, found.query, texts, rewrites=[rewrite.text]),
        delivered(document, found.query, best, found.contexts, "Delivered for the rewrite", scored=not made),
    )


def told(rewrite: Rewrite) -> str:
    """What to search with and who wrote it, or why it is the question itself."""
    if rewrite.reason:
        return f"The question is used as it is: {rewrite.reason}"
    return f"“{rewrite.text}” ({rewrite.source})"


def rank_of_evidence(hits: Sequence[Hit], spans: Sequence[Span]) -> int | None:
    """The rank of the first hit that holds some of the evidence."""
    return first_rank([hit.chunk.span for hit in hits], spans)


def _table(index: Index, document: Document, traces: Mapping[str, Trace], ranked: Mapping[str, Sequence[Hit]]) -> Table:
    columns = ["searched with", "similarity to the evidence", "rank of the evidence", "evidence delivered", "tokens"]
    rows = []
    for name, trace in traces.items():
        gold = public_evidence(document, trace.query)
        near = closeness(index.embedder, document, gold, trace.rewrites)
        costs = delivered_by(index, document, trace.query, trace.contexts)
        rows.append([name, None if near is None else round(near, 3), rank_of_evidence(ranked[name], gold), *costs])
    return Table(columns, rows)


# --- over all questions ---


def nearer(
    written: Mapping[str, Sequence[str]], close: Mapping[str, Sequence[float]], kinds: Sequence[str] = ()
) -> Table:
    """How near the evidence the texts of several writers are, the first of which are the questions as asked.

    Where the `kinds` of the questions are given, narrow and broad ("general") ones are counted apart as well.
    """
    (asked, *_), rows = written, []
    broad = [kind == "general" for kind in kinds]
    parts = [[True] * len(written[asked]), *([[not b for b in broad], broad] if broad else [])]
    for name, texts in written.items():
        came = [after > before for after, before in zip(close[name], close[asked], strict=True)]
        length, mean = round(fmean(map(len, texts))), round(fmean(close[name]), 3)
        rows.append([name, length, mean, *("–" if name == asked else _counted(came, part) for part in parts)])
    columns = [
        "",
        "characters",
        "similarity to the evidence",
        "nearer than the question",
        "of narrow ones",
        "of broad ones",
    ]
    return Table(columns[: 3 + len(parts)], rows)


def _counted(came: Sequence[bool], part: Sequence[bool]) -> str:
    inside = [one for one, counts in zip(came, part, strict=True) if counts]
    return f"{sum(inside)} of {len(inside)}"


def drift(moves: Sequence[tuple[str, str, int | None, int | None]], n: int = 3) -> Table:
    """The n questions whose evidence rises most and the n whose evidence falls most.

    A move is a question, its rewrite, and the rank of the evidence before and after; evidence that only some may read
    has no rank, and its question is left out.
    """
    check_whole("n", n, 1)
    ranked = sorted((move for move in moves if None not in move), key=lambda move: move[3] / move[2])
    return Table(["question", "rewrite", "rank before", "rank after"], [*ranked[:n], *ranked[n:][-n:]])
