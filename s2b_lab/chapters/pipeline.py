"""A whole pipeline: the tree that it searches, the buffer that it needs, and every stage up to the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..answers import Answer
from ..core.access import readable_chunks
from ..core.text import Span
from ..core.tree import ChunkTree
from ..figures import plot
from ..figures.views import Figure, Note, Table
from .evidence import evidence, verdict
from .retrieval import delivered, delivered_by, meaning_map, stages, tokens_of
from .step_back import rank_of_evidence

if TYPE_CHECKING:
    from ..embed import Embedder
    from ..index import Index
    from ..retrieve import Trace
    from ..rewrite import Rewrite


def tree_views(
    tree: ChunkTree, model: Embedder, loose: Sequence[Span], mixed: Sequence[Span], sizes: Sequence[int]
) -> tuple[Any, ...]:
    """The views of a text cut into sections, parents and children, beside a `loose` cut of which some are `mixed`.

    `sizes` are those of parents and children, in characters, and what else they were cut by.
    """
    (document,) = tree.documents.values()
    sections = [section for section in document.sections if document.is_public(section.span)]
    costs = [tokens_of(model, section.span.of(document.text)) for section in sections]
    children = readable_chunks(tree)
    parents = list({chunk.parent_id: tree.parent(chunk) for chunk in children}.values())
    opening = " and an opening" if sections[0].id.endswith("/0") else ""
    numbered = f"{len(sections) - bool(opening)} sections{opening}"
    counts = f"{numbered}, {len(parents)} parents, {len(children)} children, {sum(costs):,} tokens"
    strips = {
        "document": [Span(0, sections[-1].span.end)],
        "sections": [section.span for section in sections],
        "parents": [chunk.span for chunk in parents],
        "children": [chunk.span for chunk in children],
    }
    return (
        Note(f"{counts}. {_limits(sizes)} Cut by size alone, {len(mixed)} of {len(loose)} parents would mix sections."),
        plot.bars([section.title for section in sections], costs, "tokens"),
        _strata(document.text, strips),
    )


def _limits(sizes: Sequence[int]) -> str:
    parent, child, *_ = sizes
    return f"Parents have at most {parent:,} characters, children {child:,}."


def _strata(text: str, strips: Mapping[str, Sequence[Span]]) -> Figure:
    labels = {name: [plot.shorten(span.of(text), 50) for span in spans] for name, spans in strips.items()}
    parts = {name: [(span.start, span.end) for span in spans] for name, spans in strips.items()}
    return plot.strata(parts, labels)


def buffer_views(
    k: int, fetched: Sequence[int], parents: Sequence[int], means: Sequence[float], asked: int
) -> tuple[Any, ...]:
    """The views of how many distinct parents come out of the children fetched, and on average of `asked` questions."""
    others = [f"{count} out of {size}" for count, size in zip(parents[1:], fetched[1:], strict=True)]
    short = ", ".join([f"{parents[0]} distinct parents out of {fetched[0]} children", *others])
    series = {"this question": parents, f"mean of {asked} questions": means}
    figure = plot.grouped_bars([f"{n} children" for n in fetched], series, "parents", level=(k, f"{k} wanted"))
    return Note(f"{k} wanted: {short}."), figure


def stage_views(
    index: Index, made: Sequence[Rewrite], trace: Trace, plain: Trace, answers: Sequence[Answer]
) -> tuple[Any, ...]:
    """The views of a pipeline: its evidence, `plain` retrieval beside it, answers, every stage, text and map.

    The first of the `answers` is to the question, the others are to the rewrites that were `made`.
    """
    (document,) = index.tree.documents.values()
    question, texts = trace.query, [hit.chunk.text for hit in trace.hits[:4]]
    return (
        verdict(document, question, [context.span for context in trace.contexts]),
        _beside(index, {"plain retrieval": plain, "this pipeline": trace}),
        _answers(made, answers),
        stages(index, question, made, trace, answers[0]),
        delivered(document, question, trace.hits, trace.contexts, scored=not made),
        meaning_map(index.embedder, document, question, texts, rewrites=[one.text for one in made]),
    )


def _beside(index: Index, traces: Mapping[str, Trace]) -> Table:
    (document,), rows = index.tree.documents.values(), []
    for name, trace in traces.items():
        first = trace.hits[0].chunk.id if trace.hits else None
        rank = rank_of_evidence(trace.hits, evidence(document, trace.query))
        rows.append([name, first, rank, *delivered_by(index, document, trace.query, trace.contexts)])
    return Table(["", "first child", "rank of the evidence", "evidence delivered", "tokens"], rows)


def _answers(made: Sequence[Rewrite], answers: Sequence[Answer]) -> Table:
    asked = ["the question", *(f"“{plot.shorten(one.text, 80)}”" for one in made)]
    rows = [[what, one.text, one.source or one.kind] for what, one in zip(asked, answers, strict=True)]
    return Table(["answered with", "answer", "by"], rows)
