"""What retrieval looks like: the passages, maps, tables and meters of the chapters' figures."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from . import corpus, plot
from .chunk import Chunk, ChunkTree, sentence_tree
from .evaluate import Evaluation, Question, evidence_found
from .expand import Context, Hit, readable, sentence_window
from .interact import Choice, Figure, Mark, Meter, Note, Passages, Table, Text
from .project import atlas
from .text import Document, Span, sentences

if TYPE_CHECKING:
    from .embed import Embedder
    from .index import Index

LANGUAGES = {"English": "en", "中文": "zh"}


def ask(questions: int = 8) -> dict[str, Any]:
    """The two controls that every figure on the policy has: its language, and one of our first questions in it."""
    examples = {
        label: [q.text for q in corpus.questions(f"travel-{code}")][:questions] for label, code in LANGUAGES.items()
    }
    return {"language": Choice("Policy", LANGUAGES), "question": Text("Question", examples, by="language")}


# --- The map ---


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

    Thin lines lead to what was found, from the rewrites where there are any; arrows from the question to them.
    """
    chart = atlas(document, embedder)
    here = chart.place(embedder.query(question))
    there = [chart.place(embedder.query(text))[0] for text in rewrites]
    hits = chart.place(embedder.passages(found)) if found else ()
    proof = [span.of(document.text) for span in public_evidence(document, question)]
    layers = [plot.Layer("sentences", chart.points, [c.text for c in chart.sentences], plot.REST, size=5, opacity=0.5)]
    for name, texts, color, symbol, size in (
        (names[1], chunks, plot.CONTEXT, "circle", 8),
        ("evidence", proof, plot.EVIDENCE, "diamond-open", 15),
    ):
        layers.append(
            plot.Layer(name, chart.place(embedder.passages(texts)) if texts else (), texts, color, symbol, size)
        )
    layers += [
        plot.Layer(names[0], hits, found, plot.HIT),
        plot.Layer("rewritten", there, rewrites, plot.QUESTION, "triangle-up", 14),
        plot.Layer("question", here, [question], plot.QUESTION, "star", 15),
    ]
    lines = [(start, point) for start in there or here for point in hits]
    drawn = plot.scatter_map([layer for layer in layers if layer.texts], lines, [(here[0], point) for point in there])
    alt = f"Map of {len(chart.sentences)} sentences with the question, its {names[0]} and the evidence."
    return Figure(drawn, alt=alt)


# --- The text ---


@functools.lru_cache(maxsize=16)
def redacted(document: Document) -> str:
    """The text at the same length, each character of a section that is not public covered."""
    text = document.text
    for section in document.sections:
        if section.access != "public":
            covered = "".join(c if c.isspace() else "▒" for c in section.span.of(text))
            text = text[: section.span.start] + covered + text[section.span.end :]
    return text


def evidence(document: Document, question: str) -> tuple[Span, ...]:
    """The gold evidence of one of our questions in this document; none for a question of one's own."""
    known = next((q for q in _questions(document.id) if q.text == question), None)
    return tuple(span for doc_id, span in known.answers if doc_id == document.id) if known else ()


def public_evidence(document: Document, question: str) -> tuple[Span, ...]:
    """The evidence that everyone may read: no other may be quoted."""
    return tuple(span for span in evidence(document, question) if span in readable(span, document))


@functools.cache
def _questions(doc_id: str) -> tuple[Question, ...]:
    try:
        return tuple(corpus.questions(doc_id, more=True))
    except ValueError:  # a text without questions of ours
        return ()


def delivered(
    document: Document, question: str, hits: Sequence[Hit], contexts: Sequence[Context], title: str = ""
) -> Passages:
    """The whole text with what is delivered, the hits inside it, and evidence found or lost."""
    marks = [Mark(c.span, "context", str(n)) for n, c in enumerate(contexts, 1)]
    marks += [Mark(h.chunk.span, "hit", f"{h.score:.2f}") for h in hits]
    marks += _evidence_marks(document, question, [c.span for c in contexts])
    return Passages(redacted(document), marks, title=title or document.title, lang=_language(document))


def _evidence_marks(document: Document, question: str, spans: Sequence[Span]) -> list[Mark]:
    gold = evidence(document, question)
    return [Mark(g, "gold" if any(s.contains(g) for s in spans) else "lost") for g in gold]


def verdict(document: Document, question: str, spans: Sequence[Span], what: str = "what is delivered") -> Note:
    """One sentence: how many pieces of evidence lie whole within the spans."""
    if not evidence(document, question):
        return Note("This question has no evidence marked by hand: judge for yourself what is delivered.")
    return Note(f"{share(document, question, spans)} pieces of evidence are in {what}.")


def tokens(document: Document, embedder: Embedder, contexts: Sequence[Context]) -> Meter:
    """Tokens that the contexts cost, out of all the public text of the document."""
    whole = sum(
        _count(embedder, section.span.of(document.text)) for section in document.sections if section.access == "public"
    )
    return Meter("Delivered", sum(_count(embedder, c.text) for c in contexts), whole, "tokens")


@functools.lru_cache(maxsize=4096)
def _count(embedder: Embedder, text: str) -> int:
    return embedder.count_tokens(text)


def _language(document: Document) -> str:
    return "zh" if any("\u4e00" <= character <= "\u9fff" for character in document.text[:200]) else "en"


# --- Whole figures ---


def retrieval(index: Index, question: str, hits: Sequence[Hit], contexts: Sequence[Context]) -> tuple[Any, ...]:
    """All views of one retrieval over an index of one document: verdict, text, tokens and map."""
    (document,) = index.tree.documents.values()
    return (
        verdict(document, question, [c.span for c in contexts]),
        delivered(document, question, hits, contexts),
        tokens(document, index.embedder, contexts),
        meaning_map(index.embedder, document, question, [h.chunk.text for h in hits]),
    )


def family(index: Index, question: str, hits: Sequence[Hit], contexts: Sequence[Context], k: int) -> tuple[Any, ...]:
    """The views of a retrieval by children, with a table of which child brings which parent."""
    seen: set[str] = set()
    rows = []
    for hit in hits:
        parent = index.tree.parent(hit.chunk).id
        fate = "already there" if parent in seen else "new" if len(seen) < k else "not needed"
        seen |= {parent} if fate == "new" else set()
        rows.append([hit.rank, round(hit.score, 3), hit.chunk.id, parent, fate])
    caption = f"{len(hits)} children, {len(contexts)} of {k} parents wanted"
    return (
        *retrieval(index, question, hits, contexts),
        Table(["rank", "similarity", "child", "parent", "its parent is"], rows, caption=caption),
    )


def cut(document: Document, embedder: Embedder, question: str, spans: Sequence[Span]) -> tuple[Any, ...]:
    """The views of a text cut into chunks: the cuts, the similarity of each, the map."""
    texts = [span.of(document.text) for span in spans]
    scores = embedder.passages(texts) @ embedder.query(question)
    best = int(np.argmax(scores))
    marks = [Mark(span, "chunk", str(number)) for number, span in enumerate(spans, 1)]
    marks += [Mark(spans[best], "hit", f"{scores[best]:.2f}"), *_evidence_marks(document, question, [spans[best]])]
    return (
        verdict(document, question, [spans[best]], f"the best of {len(spans)} chunks (number {best + 1})"),
        Passages(redacted(document), marks, title=document.title, lang=_language(document)),
        Figure(plot.similarity_bars(scores, [best], texts), alt="Similarity of each chunk to the question."),
        meaning_map(embedder, document, question, [texts[best]], texts, names=("best chunk", "chunks")),
    )


def by_similarity(document: Document, embedder: Embedder, spans: Sequence[Span]) -> Callable[[str], list[Context]]:
    """Plain retrieval, for comparison: what it returns gives a question's chunks, most similar first, just as cut."""
    chunks = [
        Chunk(f"{document.id}/c{number}", document.id, span, span.of(document.text), "passage", None, "")
        for number, span in enumerate(spans, 1)
    ]
    vectors = embedder.passages([chunk.text for chunk in chunks])

    def ranked(question: str) -> list[Context]:
        scores = vectors @ embedder.query(question)
        hits = [Hit(chunks[i], float(scores[i]), rank) for rank, i in enumerate(np.argsort(-scores, kind="stable"), 1)]
        return [Context(document.id, hit.chunk.span, hit.chunk.text, (hit,)) for hit in hits]

    return ranked


def around(document: Document, span: Span, size: int) -> Span:
    """A span of `size` characters centred on another, kept within what all may read; never smaller than it."""
    parts = readable(Span(0, len(document.text)), document)
    bounds = next((part for part in parts if part.contains(span)), span)
    wanted = max(size, len(span))
    start = min(max(bounds.start, span.start - (wanted - len(span)) // 2), max(bounds.start, bounds.end - wanted))
    return Span(start, min(bounds.end, start + wanted))


def grow(document: Document, embedder: Embedder, question: str, sizes: Sequence[int], size: int) -> tuple[Any, ...]:
    """The views of one chunk growing around the first piece of evidence of a question."""
    core = (public_evidence(document, question) or (sentences(document.text)[0],))[0]
    spans = [around(document, core, n) for n in sizes]
    texts = [span.of(document.text) for span in spans]
    scores = embedder.passages(texts) @ embedder.query(question)
    at = list(sizes).index(size)
    length = _count(embedder, texts[at])
    unread = f" The model reads only the first {embedder.max_tokens}." if length > embedder.max_tokens else ""
    marks = [Mark(spans[at], "context", f"{scores[at]:.2f}"), Mark(core, "gold")]
    line = plot.curve(sizes, scores, at, "characters in the chunk", "cosine similarity")
    return (
        Note(f"Similarity {scores[at]:.3f} at {length} tokens.{unread}"),
        Passages(redacted(document), marks, title=document.title, lang=_language(document)),
        Figure(line, alt="Similarity of the chunk to the question at each size."),
        meaning_map(embedder, document, question, [texts[at]], texts, names=("this chunk", "all sizes")),
    )


@dataclass(frozen=True, slots=True)
class _Match:
    """The best match of one way to cut: what was compared, what is delivered, and everything that was embedded."""

    name: str
    matched: Span
    delivered: Span
    score: float
    embedded: tuple[Span, ...]


def _window_match(document: Document, embedder: Embedder, question: str, width: int) -> _Match:
    chart, tree = atlas(document, embedder), _sentence_tree(document)
    scores = chart.vectors @ embedder.query(question)
    best = int(np.argmax(scores))
    hit = Hit(chart.sentences[best], float(scores[best]), 1)
    window = sentence_window([hit], tree, window_size=width)[0].span
    return _Match("sentence window", hit.chunk.span, window, hit.score, tuple(c.span for c in chart.sentences))


@functools.lru_cache(maxsize=16)
def _sentence_tree(document: Document) -> ChunkTree:
    return sentence_tree(document)


def _overlap_match(document: Document, embedder: Embedder, question: str, width: int, shared: float) -> _Match:
    units = [c.span for c in atlas(document, embedder).sentences]
    spans = overlapping(units, 2 * width + 1, round(2 * width * shared))
    scores = embedder.passages([s.of(document.text) for s in spans]) @ embedder.query(question)
    best = int(np.argmax(scores))
    return _Match("overlapping chunks", spans[best], spans[best], float(scores[best]), tuple(spans))


def beside(document: Document, embedder: Embedder, question: str, width: int, shared: float) -> tuple[Any, ...]:
    """Sentence windows on one side, overlapping chunks of equally many sentences on the other."""
    window = _window_match(document, embedder, question, width)
    chunk = _overlap_match(document, embedder, question, width, shared)
    found = [match.matched.of(document.text) for match in (window, chunk)]
    columns = ["", "vectors", "tokens embedded", "best similarity", "tokens delivered", "evidence delivered"]
    return (
        _side(document, question, window, "Window: match a sentence, then widen"),
        _side(document, question, chunk, "Overlap: match the chunk itself"),
        Table(columns, [_beside_row(document, embedder, question, match) for match in (window, chunk)]),
        meaning_map(embedder, document, question, found, names=("best matches", "")),
    )


def duel(document: Document, embedder: Embedder, width: int, shared: float = 1.0) -> Table:
    """For every question, the evidence that one window and one overlapping chunk of the same size deliver."""
    rows = []
    for question in corpus.questions(document.id):
        window = _window_match(document, embedder, question.text, width)
        chunk = _overlap_match(document, embedder, question.text, width, shared)
        rows.append([question.text, *(share(document, question.text, [m.delivered]) for m in (window, chunk))])
    return Table(
        ["question", "window", "overlapping chunk"], rows, caption="Evidence delivered by the best match alone"
    )


def overlapping(spans: Sequence[Span], size: int, overlap: int) -> list[Span]:
    """Chunks of `size` consecutive spans, each sharing `overlap` of them with the one before."""
    if not 0 <= overlap < size:
        raise ValueError(f"overlap is {overlap}; it must be at least 0 and below the size, {size}")
    last = max(1, len(spans) - overlap)
    return [
        Span(spans[start].start, spans[min(start + size, len(spans)) - 1].end)
        for start in range(0, last, size - overlap)
    ]


def _side(document: Document, question: str, match: _Match, title: str) -> Passages:
    marks = [Mark(match.delivered, "context"), Mark(match.matched, "hit", f"{match.score:.2f}")]
    marks += _evidence_marks(document, question, [match.delivered])
    return Passages(redacted(document), marks, title=title, show="marked", lang=_language(document))


def _beside_row(document: Document, embedder: Embedder, question: str, match: _Match) -> list[Any]:
    embedded = sum(_count(embedder, span.of(document.text)) for span in match.embedded)
    cost = _count(embedder, match.delivered.of(document.text))
    found = share(document, question, [match.delivered])
    return [match.name, len(match.embedded), embedded, round(match.score, 3), cost, found]


def share(document: Document, question: str, spans: Sequence[Span]) -> str:
    """How many pieces of evidence lie whole within the spans, in words."""
    kinds = [mark.kind for mark in _evidence_marks(document, question, spans)]
    return f"{kinds.count('gold')} of {len(kinds)}" if kinds else "–"


# --- Tables for the end of a chapter ---


def scoreboard(evaluations: Mapping[str, Evaluation]) -> Table:
    """One row a question: how much of its evidence each strategy delivered."""
    rows = [
        [scores[0].question.text, *(f"{sum(s.found)} of {len(s.found)}" for s in scores)]
        for scores in zip(*(e.scores for e in evaluations.values()), strict=True)
    ]
    return Table(["question", *evaluations], rows, caption="Evidence delivered")


def checklist(document: Document, question: Question, contexts: Sequence[Context]) -> Table:
    """Each piece of a question's evidence, where it stands, and whether it was delivered."""
    rows = []
    for (_, span), found in zip(question.answers, evidence_found(contexts, question), strict=True):
        section = next(s for s in document.sections if s.span.contains(span))
        quoted = plot.shorten(span.of(redacted(document)), 80)
        rows.append([quoted, section.title if section.access == "public" else "–", found])
    return Table(["evidence", "section", "delivered"], rows, caption=question.text)
