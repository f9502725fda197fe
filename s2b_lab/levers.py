"""Views of the chapters on the question side: questions to choose from, rewrites compared, whole pipelines."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from . import corpus, plot, show
from .answer import Answer, prompt_for
from .chunk import Chunk, ChunkTree, check_whole, parents_and_children
from .corpus import Question
from .embed import Embedder, embedder
from .expand import Context, Hit, parent_document
from .index import Index
from .interact import Choice, Note, Stage, Stages, Table, Text
from .llm import ChatModel, Recording, first_of, openai_model, recorded, recordings
from .retrieve import Retriever, Trace, pointed_to
from .rewrite import Rewrite, Rewriter, chunk_id_of, hyde, hypothetical_questions, question_tree, step_back
from .text import Document, Span

TEXTS = {"Einstein's patents": "einstein", "Travel policy": "travel-en", "差旅报销制度": "travel-zh"}
WRITERS = {"the authors": "authors", "SmolLM2, a model of 135 million parameters": "smollm2"}
# Characters of parent, child and overlap that the measurements use: a Chinese character says about as much as three.
SIZES = {"einstein": (2000, 500, 20), "travel-en": (2000, 500, 20), "travel-zh": (600, 150, 6)}
# The first examples of a figure, by their place among all questions about the text: narrow ones and broad ones.
_FIRST = {"einstein": (0, 48, 43, 14, 23, 45), "travel-en": (0, 6, 4, 28, 21, 18), "travel-zh": (0, 6, 4, 28, 21, 18)}


# --- what a figure is about ---


def ask(questions: int = 6, texts: Sequence[str] = tuple(TEXTS.values()), first: int = 0) -> dict[str, Any]:
    """The two controls that every figure has here: a text, and one of our questions about it, from the `first` on."""
    shown = {label: name for label, name in TEXTS.items() if name in texts}
    turned = {label: [*examples_of(name)[first:], *examples_of(name)[:first]] for label, name in shown.items()}
    examples = {label: [question.text for question in some[:questions]] for label, some in turned.items()}
    return {"text": Choice("Text", shown), "question": Text("Question", examples, by="text")}


def examples_of(text: str) -> list[Question]:
    """Six questions about a text for its figures."""
    known = corpus.questions(text, more=True)
    return [known[place] for place in _FIRST[text]]


def language(text: str) -> Literal["en", "zh"]:
    """The language of one of our texts, which is also the name of the model that embeds it."""
    return "zh" if text.endswith("zh") else "en"


@functools.cache
def library(text: str, parent: int | None = None, child: int | None = None) -> Index:
    """The index of a text cut into parents and children, by default of the sizes of all measurements."""
    usual = sizes_of(text)
    sizes = [mine if given is None else given for given, mine in zip((parent, child), usual, strict=False)]
    index = Index.open(embedder=embedder(language(text)))
    index.add(parents_and_children(corpus.load(text), *sizes, usual[2]))
    return index


def sizes_of(text: str) -> tuple[int, int, int]:
    """Characters of parent, child and overlap; ValueError for a text that is not one of TEXTS."""
    if text not in SIZES:
        raise ValueError(f"there are figures about {', '.join(SIZES)}, not about {text!r}")
    return SIZES[text]


@functools.cache
def question_library(text: str, n: int = 3) -> Index:
    """The index of the first n recorded questions, at most 3, about each chunk of `library(text)`."""
    check_whole("n", n, 1)
    writer = hypothetical_questions(recorded(f"questions.authors.few-shot.{text}"), 3, language=language(text))
    index = Index.open(embedder=embedder(language(text)))
    tree = library(text).tree
    index.add(question_tree(ChunkTree(tree.documents.values(), tree, public(tree)), lambda text: writer(text)[:n]))
    return index


def public(tree: ChunkTree) -> list[Chunk]:
    """The indexed chunks that all may read."""
    return [chunk for chunk in tree.indexed if tree.section(chunk).access == "public"]


def model(lever: str, writer: str, prompt: str, text: str) -> ChatModel:
    """The recording of a writer's rewrites under a prompt; for what was not recorded the model that is configured."""
    name = f"{lever}.{writer}.{prompt}.{language(text)}"
    configured = openai_model()
    return first_of(recorded(name), configured) if name in recordings() else configured


def rewrites(levers: Sequence[str], prompt: str, text: str, question: str) -> list[Rewrite]:
    """The recorded rewrites of a question by the authors, one for each lever; none where there is no lever."""
    return [rewriter(lever, "authors", prompt, text).explain(question) for lever in levers]


def rewriter(lever: str, writer: str, prompt: str, text: str) -> Rewriter:
    """The step-back or HyDE rewriter that asks the recordings of a writer, then the model that is configured."""
    makers = {"step-back": step_back, "hyde": hyde}
    if lever not in makers or writer not in WRITERS.values():
        known = f"{', '.join(makers)} by {', '.join(WRITERS.values())}"
        raise ValueError(f"there are rewrites {known}, not {lever!r} by {writer!r}")
    return makers[lever](model(lever, writer, prompt, text), prompt, language(text))


def origin(recording: Recording) -> str:
    """Who wrote a recording, when, and under which prompt."""
    return f"Recorded on {recording.date}, written by {recording.author}, under this prompt:\n\n{recording.prompt}"


# --- the evidence ---


def place_of_evidence(hits: Sequence[Hit], spans: Sequence[Span]) -> int | None:
    """The best rank of a hit that holds some of the evidence."""
    return next((hit.rank for hit in hits if any(hit.chunk.span.overlaps(span) for span in spans)), None)


def closeness(model: Embedder, document: Document, spans: Sequence[Span], texts: Sequence[str]) -> float | None:
    """The mean cosine similarity of the evidence to the nearest of some texts to search with."""
    if not spans:
        return None
    proof = model.passages([span.of(document.text) for span in spans])
    asked = np.stack([model.query(text) for text in texts])
    return float((proof @ asked.T).max(axis=1).mean())


# --- rewrites ---


def told(rewrite: Rewrite) -> str:
    """What to search with and who wrote it, or why it is the question itself."""
    if rewrite.reason:
        return f"The question is used as it is: {rewrite.reason}"
    return f"“{rewrite.text}” ({rewrite.source})"


def compare(text: str, question: str, rewrite: Rewrite, k: int) -> tuple[Any, ...]:
    """The views of a rewrite: how near the evidence it is, and what k parents deliver, beside the question as asked."""
    index, document = library(text), corpus.load(text)
    gold = show.evidence(document, question)
    ways = {"as asked": [question], "rewritten": [rewrite.text], "both, fused": [question, rewrite.text]}
    traces = {name: searching(index, texts, k)(question) for name, texts in ways.items()}
    rows = [
        [
            name,
            _rounded(closeness(index.embedder, document, gold, ways[name])),
            place_of_evidence(searching(index, ways[name], 64)(question).hits, gold),
            *delivered_by(index, document, question, trace.contexts),
        ]
        for name, trace in traces.items()
    ]
    columns = ["searched with", "similarity to the evidence", "rank of the evidence", "evidence delivered", "tokens"]
    found, made = traces["rewritten"], [] if rewrite.reason else [rewrite]
    return (
        Note(told(rewrite)),
        Table(columns, rows),
        stages(index, question, made, found),
        show.meaning_map(
            index.embedder, document, question, [hit.chunk.text for hit in found.hits[:k]], rewrites=[rewrite.text]
        ),
        show.delivered(document, question, found.hits[:k], found.contexts, title="Delivered for the rewrite"),
    )


def prompts(text: str, lever: str = "step-back") -> Table:
    """How near the evidence the authors' rewrites under each prompt are, over all questions about a text."""
    document, model, known = corpus.load(text), embedder(language(text)), corpus.questions(text, more=True)
    proof = [[span for _, span in question.answers] for question in known]
    asked = [closeness(model, document, spans, [q.text]) for q, spans in zip(known, proof, strict=True)]
    rows = [["as asked", round(float(np.mean([len(q.text) for q in known]))), round(float(np.mean(asked)), 3), "–"]]
    for prompt in ("few-shot", "zero-shot"):
        writer = rewriter(lever, "authors", prompt, text)
        texts = [writer.explain(question.text).text for question in known]
        near = [closeness(model, document, spans, [one]) for one, spans in zip(texts, proof, strict=True)]
        nearer = sum(after > before for after, before in zip(near, asked, strict=True))
        mean = round(float(np.mean([len(one) for one in texts])))
        rows.append([prompt, mean, round(float(np.mean(near)), 3), f"{nearer} of {len(known)}"])
    return Table(["", "characters", "similarity to the evidence", "nearer than the question"], rows)


def drift(text: str, n: int = 3) -> Table:
    """The n questions whose evidence rises most, and the n whose evidence falls most, where a rewrite takes over."""
    check_whole("n", n, 1)
    index, writer = library(text), rewriter("step-back", "authors", "few-shot", text)
    moves = []
    for question in corpus.questions(text, more=True):
        new, spans = writer.explain(question.text).text, [span for _, span in question.answers]
        ranks = [place_of_evidence(index.search(one, index.count()), spans) for one in (question.text, new)]
        if None not in ranks:  # evidence that only some may read has no rank
            moves.append((ranks[1] / ranks[0], [question.text, new, *ranks]))
    rows = [row for _, row in sorted(moves, key=lambda move: move[0])]
    return Table(["question", "rewrite", "rank before", "rank after"], [*rows[:n], *rows[n:][-n:]])


def searching(index: Index, texts: Sequence[str], k: int) -> Retriever:
    """The Retriever that searches with these texts, whatever it is asked."""
    return Retriever(index, rewrite=lambda _: texts, k=k)


def delivered_by(index: Index, document: Document, question: str, contexts: Sequence[Context]) -> list[Any]:
    """Two cells of a table: how much of the evidence the contexts hold, and their tokens."""
    cost = sum(index.embedder.count_tokens(context.text) for context in contexts)
    return [show.share(document, question, [context.span for context in contexts]), cost]


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def asked(text: str, question: str, n: int, k: int) -> tuple[Any, ...]:
    """The views of hypothetical questions: those found, what they point to, and what k parents deliver."""
    index, questions, document = library(text), question_library(text, n), corpus.load(text)
    found, gold = questions.search(question, 4 * k), show.evidence(document, question)
    hits = {
        "the text of the chunks": index.search(question, 4 * k),
        "the questions about them": pointed_to(found, index.tree),
        "both, fused": (fused := Retriever(index, k=k, questions=questions)(question)).hits,
    }
    rows = [
        [
            name, None if "fused" in name else round(some[0].score, 3), place_of_evidence(some, gold),
            *delivered_by(index, document, question, parent_document(some, index.tree, k=k)),
        ]
        for name, some in hits.items()
    ]  # fmt: skip
    about = [chunk_id_of(hit.chunk.doc_id) for hit in found[:k]]
    nearest = [[h.rank, round(h.score, 3), h.chunk.text, of] for h, of in zip(found, about, strict=False)]
    pointed = [index.tree[chunk_id].text for chunk_id in about]
    return (
        Table(["searched", "best similarity", "rank of the evidence", "evidence delivered", "tokens"], rows),
        Table(["rank", "similarity", "recorded question", "points to"], nearest, caption="The most similar questions"),
        stages(index, question, [], fused),
        show.meaning_map(
            index.embedder, document, question, [hit.chunk.text for hit in found[:k]], pointed,
            names=("questions found", "chunks they point to"),
        ),
    )  # fmt: skip


def stages(index: Index, question: str, made: Sequence[Rewrite], trace: Trace, given: Answer | None = None) -> Stages:
    """Every stage of a query with what went in and what came out, up to the prompt, or to the answer that was given."""
    spent = {stage: round(ms, 1) for stage, ms in trace.timings.items()}
    searched = trace.rewrites or (question,)
    hits = [[hit.rank, round(hit.score, 4), hit.chunk.id, _place(hit.chunk.span)] for hit in trace.hits]
    contexts = [
        [number, round(c.score, 4), _place(c.span), ", ".join(hit.chunk.id for hit in c.hits)]
        for number, c in enumerate(trace.contexts, 1)
    ]
    short = [Context(c.doc_id, c.span, _outline(c.text), c.hits) for c in trace.contexts]
    rewritten = Table(["text", "by"], [[one.text, one.source] for one in made]) if made else "no rewriting"
    vectors, size = f"{len(searched)} vector{'s' * (len(searched) > 1)}", index.embedder.dimension
    children = Table(["rank", "score", "child", "span"], hits)
    parents = Table(["number", "score", "span", "because of"], contexts)
    steps = [
        Stage("rewrite", question, rewritten, spent["rewrite"]),
        Stage("embed", "\n".join(searched), f"{vectors} of {size} numbers", spent["embed"]),
        Stage("search", vectors, children, spent["search"]),
        Stage("expand", f"{len(hits)} children", parents, spent["expand"]),
        Stage("prompt", f"the question and {len(contexts)} contexts", prompt_for(question, short)),
    ]
    if given is not None:
        cited = ", ".join(f"[{c.number}] {c.doc_id} {_place(c.span)}" for c in given.citations)
        by = given.source or given.reason
        steps.append(Stage("answer", "the prompt", f"{given.text} {cited} ({given.kind}: {by})"))
    return Stages(steps, title="Stage by stage")


def _place(span: Span) -> str:
    return f"{span.start}-{span.end}"


def _outline(text: str) -> str:
    return f"{plot.shorten(text, 60)} ({len(text):,} characters)"
