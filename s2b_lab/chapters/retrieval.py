"""The views of one retrieval: what is delivered in the text, its tokens, its stages, and the map of meaning."""

from __future__ import annotations

import bisect
import functools
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..answers import Answer, prompt_for
from ..core.access import covered_text, readable
from ..core.characters import language_of
from ..core.hits import Context, Hit
from ..core.text import Document, Span
from ..embed import text_tokens
from ..figures import plot
from ..figures.maps import Layer, scatter_map
from ..figures.passages import Mark, Passages
from ..figures.views import Figure, Meter, Rows, Stage, Stages, Table
from ..project import Atlas, atlas
from .evidence import evidence_marks, public_evidence, share, verdict

if TYPE_CHECKING:
    from ..embed import Embedder
    from ..index import Index
    from ..retrieve import Trace
    from ..rewrite import Rewrite

# A reader of a map's table looks for the hits and the evidence, not through all chunks of a text.
_MOST_TOLD = 12
# Letters of each sentence of a text under its point on the map: a page holds all of them.
_SENTENCE = 60
# What the stages show of a trace's frame.
_HITS = {"rank": "rank", "score": "score", "child": "chunk", "span": "span"}
_CONTEXTS = {"number": "#", "score": "score", "span": "span", "because of": "hits"}


def retrieval_views(index: Index, question: str, hits: Sequence[Hit], contexts: Sequence[Context]) -> tuple[Any, ...]:
    """All views of one retrieval over an index of one document: verdict, text, tokens and map."""
    (document,) = index.tree.documents.values()
    return (
        verdict(document, question, [c.span for c in contexts]),
        delivered(document, question, hits, contexts),
        tokens_meter(document, index.embedder, contexts),
        meaning_map(index.embedder, document, question, [h.chunk.text for h in hits]),
    )


# --- the text and its price ---


def delivered(
    document: Document,
    question: str,
    hits: Sequence[Hit],
    contexts: Sequence[Context],
    title: str = "",
    scored: bool = True,
) -> Passages:
    """The whole text with what is delivered, the hits inside it, and evidence found or lost.

    Hits have their scores beside them unless those are no similarities to the question: not `scored`.
    """
    marks = [Mark(c.span, "context", str(n)) for n, c in enumerate(contexts, 1)]
    marks += [Mark(h.chunk.span, "hit", f"{h.score:.2f}" if scored else "") for h in hits]
    marks += evidence_marks(document, question, [c.span for c in contexts])
    return marked(document, marks, title)


def marked(document: Document, marks: Sequence[Mark], title: str = "", show: str = "all") -> Passages:
    """The text of a document under marks, what only some may read covered."""
    language = language_of(document.text[:200])
    return Passages(covered_text(document), marks, title=title or document.title, show=show, lang=language)


def unread(embedder: Embedder, document: Document, spans: Sequence[Span]) -> list[Mark]:
    """The ends of spans that are longer than the model reads, marked."""
    read = [span.start + read_of(embedder, span.of(document.text)) for span in spans]
    return [Mark(Span(end, span.end), "unread") for end, span in zip(read, spans, strict=True) if end < span.end]


@functools.lru_cache(maxsize=4096)
def read_of(embedder: Embedder, text: str) -> int:
    """How many characters of a text the model reads before it has as many tokens as it takes, in whole words."""
    # A word that is cut has other tokens than when it is whole.
    inside = {end for word in re.finditer(r"[A-Za-z0-9]+", text) for end in range(word.start() + 1, word.end())}
    ends = [end for end in range(len(text) + 1) if end not in inside]
    over = bisect.bisect_left(ends, True, key=lambda end: embedder.count_tokens(text[:end]) > embedder.max_tokens)
    return ends[over - 1]


def tokens_meter(document: Document, embedder: Embedder, contexts: Sequence[Context]) -> Meter:
    """Tokens that the contexts cost, out of all the public text of the document."""
    public = readable(Span(0, len(document.text)), document)
    whole = sum(tokens_of(embedder, span.of(document.text)) for span in public)
    return Meter("Delivered", sum(tokens_of(embedder, c.text) for c in contexts), whole, "tokens")


@functools.lru_cache(maxsize=4096)
def tokens_of(embedder: Embedder, text: str) -> int:
    """The text's own tokens, counted once: figures ask at every position."""
    return text_tokens(embedder, text)


def delivered_by(index: Index, document: Document, question: str, contexts: Sequence[Context]) -> list[Any]:
    """Two cells of a table: how much of the evidence the contexts hold, and their tokens."""
    cost = sum(tokens_of(index.embedder, context.text) for context in contexts)
    return [share(document, question, [context.span for context in contexts]), cost]


# --- the map ---


def meaning_map(
    embedder: Embedder,
    document: Document,
    question: str,
    found: Sequence[str],
    chunks: Sequence[str] = (),
    names: tuple[str, str] = ("hits", "chunks"),
    rewrites: Sequence[str] = (),
) -> Figure:
    """The map of meaning: sentences, `chunks`, what was `found`, the evidence, and the question with its `rewrites`.

    Thin lines lead to what was found, from the rewrites where there are any; arrows from the question to them. Its
    table tells how similar to the question all of them are, but for many chunks.
    """
    chart, asked = atlas(document, embedder), embedder.query(question)
    here = chart.place(asked)
    there = [chart.place(embedder.query(text))[0] for text in rewrites]
    hits = chart.place(embedder.passages(found)) if found else ()
    proof = [span.of(document.text) for span in public_evidence(document, question)]
    layers = [_sentences(chart)]
    for name, texts, color, symbol, size in (
        (names[1], chunks, plot.CONTEXT, "circle", 8),
        ("evidence", proof, plot.EVIDENCE, "diamond-open", 15),
    ):
        vectors = embedder.passages(texts) if texts else ()
        near = [float(vector @ asked) for vector in vectors] if len(texts) <= _MOST_TOLD else None
        points = chart.place(vectors) if texts else ()
        layers.append(Layer(name, points, texts, color, symbol, size, similarities=near))
    near = [float(vector @ asked) for vector in embedder.passages(found)] if found else []
    rewritten = [float(embedder.query(text) @ asked) for text in rewrites]
    layers += [
        Layer(names[0], hits, found, plot.HIT, similarities=near),
        Layer("rewritten", there, rewrites, plot.QUESTION, "triangle-up", 14, similarities=rewritten),
        Layer("question", here, [question], plot.QUESTION, "star", 15),
    ]
    lines = [(start, point) for start in there or here for point in hits]
    arrows = [(here[0], point) for point in there]
    return scatter_map([layer for layer in layers if layer.texts], lines, arrows)


def _sentences(chart: Atlas) -> Layer:
    texts = [plot.shorten(chunk.text, _SENTENCE) for chunk in chart.sentences]
    return Layer("sentences", chart.points, texts, plot.REST, size=5, opacity=0.5)


# --- stage by stage ---


def stages(index: Index, question: str, made: Sequence[Rewrite], trace: Trace, given: Answer | None = None) -> Stages:
    """Every stage of a query with what went in and what came out, up to the prompt, or to the answer that was given.

    Shown, and copied as JSON, is the trace's own frame; only digits are fewer in the tables.
    """
    frame = trace.to_frame()
    searched = frame["rewrites"] or [question]
    rewritten = Table(["text", "by"], [[one.text, one.source] for one in made]) if made else "no rewriting"
    vectors, size = f"{len(searched)} vector{'s' * (len(searched) > 1)}", index.embedder.dimension
    prompt = prompt_for(question, _outlines(trace.contexts))
    steps = [
        Stage("rewrite", question, rewritten, "rewrite"),
        Stage("embed", "\n".join(searched), f"{vectors} of {size} numbers", "embed"),
        Stage("search", vectors, Rows("hits", _HITS), "search"),
        Stage("expand", f"{len(trace.hits)} children", Rows("contexts", _CONTEXTS), "expand"),
        Stage("prompt", f"the question and {len(trace.contexts)} contexts", prompt),
    ]
    if given is not None:
        steps.append(Stage("answer", "the prompt", _answered(given)))
    return Stages(steps, title="Stage by stage", data=frame)


def _answered(given: Answer) -> str:
    cited = ", ".join(f"[{c.number}] {c.doc_id} {c.span.start}-{c.span.end}" for c in given.citations)
    return f"{given.text} {cited} ({given.kind}: {given.source or given.reason})"


def _outlines(contexts: Sequence[Context]) -> list[Context]:
    texts = [f"{plot.shorten(c.text, 60)} ({len(c.text):,} characters)" for c in contexts]
    return [Context(c.doc_id, c.span, text, c.hits) for c, text in zip(contexts, texts, strict=True)]
