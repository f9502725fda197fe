"""Views of a whole pipeline: the tree it searches, the buffer it needs, and every stage between question and answer."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import corpus, plot, show
from .answer import Answer, answer
from .chunk import check_whole, parents_and_children, recursive
from .embed import embedder
from .index import Index
from .interact import Figure, Note, Table
from .levers import delivered_by, language, library, place_of_evidence, public, sizes_of, stages
from .llm import ChatModel, openai_model
from .retrieve import Retriever, Trace
from .rewrite import Rewrite
from .text import Span


def tree_picture(text: str, parent: int, child: int) -> tuple[Any, ...]:
    """The views of a text cut into sections, parents and children: tokens a section, and the three levels."""
    document, model = corpus.load(text), embedder(language(text))
    tree = parents_and_children(document, parent, child, sizes_of(text)[2])
    open_sections = [section for section in document.sections if section.access == "public"]
    sizes = [model.count_tokens(section.span.of(document.text)) for section in open_sections]
    children = public(tree)
    parents = list({chunk.parent_id: tree.parent(chunk) for chunk in children}.values())
    loose = recursive(document.text, parent, 0)
    crossing = sum(sum(span.overlaps(section.span) for section in document.sections) > 1 for span in loose)
    levels = {
        "document": [Span(0, open_sections[-1].span.end)],
        "sections": [section.span for section in open_sections],
        "parents": [chunk.span for chunk in parents],
        "children": [chunk.span for chunk in children],
    }
    labels = {name: [plot.shorten(span.of(document.text), 50) for span in spans] for name, spans in levels.items()}
    opening = " and an opening" if open_sections[0].id.endswith("/0") else ""
    numbered = f"{len(open_sections) - bool(opening)} sections{opening}"
    counts = f"{numbered}, {len(parents)} parents, {len(children)} children, {sum(sizes):,} tokens"
    return (
        Note(f"{counts}. Cut by size alone, {crossing} of {len(loose)} parents would mix two sections."),
        Figure(plot.bars([section.title for section in open_sections], sizes, "tokens"), alt="Tokens of each section."),
        Figure(plot.strata({name: [(s.start, s.end) for s in spans] for name, spans in levels.items()}, labels),
               alt="Document, sections, parents and children, one strip each, along the characters of the text."),
    )  # fmt: skip


def buffer(text: str, question: str, k: int, parent: int, child: int) -> tuple[Any, ...]:
    """The views of how many distinct parents come out of k, 2k and 4k children."""
    check_whole("k", k, 1)
    index = library(text, parent, child)
    ours = [_parents(index, question, k * times) for times in (1, 2, 4)]
    asked = [q.text for q in corpus.questions(text, more=True)]
    means = [float(np.mean([_parents(index, one, k * times) for one in asked])) for times in (1, 2, 4)]
    groups = [f"{k * times} children" for times in (1, 2, 4)]
    figure = plot.grouped_bars(groups, {"this question": ours, f"mean of {len(asked)} questions": means}, "parents")
    figure.add_hline(y=k, line={"dash": "dot", "color": plot.REST}, annotation_text=f"{k} wanted")
    short = f"{ours[0]} distinct parents out of {k} children, {ours[1]} out of {2 * k}, {ours[2]} out of {4 * k}"
    return Note(f"{k} wanted: {short}."), Figure(figure, alt="Distinct parents by the number of children fetched.")


def _parents(index: Index, question: str, k: int) -> int:
    return len(set(_nearest_parents(index, question, max(32, k))[:k]))


@functools.lru_cache(maxsize=4096)
def _nearest_parents(index: Index, question: str, k: int) -> list[str | None]:
    return [hit.chunk.parent_id for hit in index.search(question, k)]


def pipeline(index: Index, question: str, made: Sequence[Rewrite], trace: Trace) -> tuple[Any, ...]:
    """The views of a whole pipeline: its evidence, plain retrieval beside it, every stage, answers, text and map."""
    (document,) = index.tree.documents.values()
    plain = Retriever(index, k=len(trace.contexts) or 1)(question)
    given = answer(question, trace.contexts, configured(), index.embedder)
    rows = [[name, _first(one), place_of_evidence(one.hits, show.evidence(document, question)),
             *delivered_by(index, document, question, one.contexts)]
            for name, one in (("plain retrieval", plain), ("this pipeline", trace))]  # fmt: skip
    columns = ["", "first child", "rank of the evidence", "evidence delivered", "tokens"]
    return (
        show.verdict(document, question, [context.span for context in trace.contexts]),
        Table(columns, rows),
        Table(["answered with", "answer", "by"], _answers(index, made, trace, given)),
        stages(index, question, made, trace, given),
        show.delivered(document, question, trace.hits, trace.contexts),
        show.meaning_map(
            index.embedder, document, question, [hit.chunk.text for hit in trace.hits[:4]],
            rewrites=[one.text for one in made],
        ),
    )  # fmt: skip


def _answers(index: Index, made: Sequence[Rewrite], trace: Trace, given: Answer) -> list[list[str]]:
    others = [(one.text, answer(one.text, trace.contexts, configured(), index.embedder)) for one in made]
    return [
        ["the question", given.text, _by(given)],
        *([f"“{plot.shorten(text, 80)}”", other.text, _by(other)] for text, other in others),
    ]


def _first(trace: Trace) -> str | None:
    return trace.hits[0].chunk.id if trace.hits else None


def _by(given: Answer) -> str:
    return given.source or given.kind


def configured() -> ChatModel | None:
    """The model that OPENAI_MODEL names, to answer with; none while the book is built, whose answers are extracts."""
    building = os.environ.get("S2B_BUILD") == "1"
    return openai_model() if os.environ.get("OPENAI_MODEL") and not building else None
