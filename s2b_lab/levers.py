"""Views of the chapters on the question side: questions to choose from, rewrites compared, whole pipelines."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from . import corpus, plot, show
from .answer import Answer, answer, prompt_for
from .chunk import ChunkTree, parents_and_children, recursive
from .corpus import Question
from .embed import Embedder, embedder
from .expand import Context, Hit, parent_document
from .index import Index
from .interact import Choice, Figure, Note, Stage, Stages, Table, Text
from .llm import ChatModel, Recording, first_of, openai_model, recorded, recordings
from .project import atlas, neighbours_kept
from .retrieve import Retriever, Trace, pointed_to
from .rewrite import Rewrite, Rewriter, hyde, hypothetical_questions, question_tree, step_back
from .text import Document, Span

TEXTS = {"Einstein's patents": "einstein", "Travel policy": "travel-en", "差旅报销制度": "travel-zh"}
WRITERS = {"the authors": "authors", "SmolLM2, a model of 135 million parameters": "smollm2"}
# Characters of parent, child and overlap that the measurements use: a Chinese character says about as much as three.
SIZES = {"einstein": (2000, 500, 20), "travel-en": (2000, 500, 20), "travel-zh": (600, 150, 6)}
_MOST_BARS = 40
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
    sizes = SIZES[text]
    index = Index.open(embedder=embedder(language(text)))
    index.add(parents_and_children(corpus.load(text), parent or sizes[0], child or sizes[1], sizes[2]))
    return index


@functools.cache
def question_library(text: str, n: int = 3) -> Index:
    """The index of the first n recorded questions about each chunk of `library(text)`."""
    writer = hypothetical_questions(recorded(f"questions.authors.few-shot.{text}"), 3, language=language(text))
    index = Index.open(embedder=embedder(language(text)))
    tree = library(text).tree
    readable = [chunk for chunk in tree.indexed if tree.section(chunk).access == "public"]
    index.add(question_tree(ChunkTree(tree.documents.values(), tree, readable), lambda text: writer(text)[:n]))
    return index


def model(lever: str, writer: str, prompt: str, text: str) -> ChatModel:
    """The recording of a writer's rewrites under a prompt; for what was not recorded the model that is configured."""
    name = f"{lever}.{writer}.{prompt}.{language(text)}"
    configured = openai_model()
    return first_of(recorded(name), configured) if name in recordings() else configured


def origin(recording: Recording) -> str:
    """Who wrote a recording, when, and under which prompt."""
    return f"Recorded on {recording.date}, written by {recording.author}, under this prompt:\n\n{recording.prompt}"


# --- distances ---


def gold(text: str, question: str) -> list[Span]:
    """The evidence of one of our questions about a text; none for a question of one's own."""
    known = next((q for q in corpus.questions(text, more=True) if q.text == question), None)
    return [span for _, span in known.answers] if known else []


def place_of_evidence(hits: Sequence[Hit], spans: Sequence[Span]) -> int | None:
    """The best rank of a hit that holds some of the evidence."""
    return next((hit.rank for hit in hits if any(_share(hit.chunk.span, span) for span in spans)), None)


def _share(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end


def closeness(model: Embedder, document: Document, spans: Sequence[Span], texts: Sequence[str]) -> float | None:
    """The mean cosine similarity of the evidence to the nearest of some texts to search with."""
    if not spans:
        return None
    proof = model.passages([span.of(document.text) for span in spans])
    asked = np.stack([model.query(text) for text in texts])
    return float((proof @ asked.T).max(axis=1).mean())


def distance(text: str, question: str, unit: Literal["sentences", "children", "parents"]) -> tuple[Any, ...]:
    """The views of how far a question is from its evidence, and of what stands before it."""
    document, model = corpus.load(text), embedder(language(text))
    spans = _units(text, unit)
    texts = [span.of(document.text) for span in spans]
    scores = model.passages(texts) @ model.query(question)
    order = [int(i) for i in np.argsort(-scores, kind="stable")]
    proof = gold(text, question)
    holding = [rank for rank, i in enumerate(order, 1) if any(_share(spans[i], span) for span in proof)]
    shown = order[:_MOST_BARS]
    bars = plot.similarity_bars(
        scores[shown], [rank - 1 for rank in holding if rank <= len(shown)], [texts[i] for i in shown],
        f"{unit}, most similar first", plot.EVIDENCE,
    )  # fmt: skip
    rows = [[rank, round(float(scores[order[rank - 1]]), 3), rank in holding, plot.shorten(texts[order[rank - 1]], 110)]
            for rank in sorted({1, 2, 3, *holding[:2]} & set(range(1, len(order) + 1)))]  # fmt: skip
    return (
        Note(_far(scores[order], holding, unit)),
        Figure(bars, alt=f"Similarity of the {len(shown)} most similar {unit} to the question, the evidence in green."),
        Table(["rank", "similarity", "evidence", "text"], rows, caption="The first three, and the evidence"),
        show.meaning_map(model, document, question, [texts[i] for i in order[:3]], names=("the first three", "")),
    )


def _far(scores: np.ndarray, holding: Sequence[int], unit: str) -> str:
    if not holding:
        return f"This question has no evidence marked by hand: judge the {unit} for yourself."
    first, most = holding[0], f"the most similar of all {len(scores)} {unit} has {scores[0]:.2f}"
    if first == 1:
        return f"The evidence comes first, with similarity {scores[0]:.2f} among {len(scores)} {unit}."
    return f"The evidence stands at rank {first} with similarity {scores[first - 1]:.2f}; {most}."


@functools.cache
def _units(text: str, unit: str) -> tuple[Span, ...]:
    document, tree = corpus.load(text), library(text).tree
    children = [chunk for chunk in tree.indexed if tree.section(chunk).access == "public"]
    if unit == "sentences":
        return tuple(chunk.span for chunk in atlas(document, embedder(language(text))).sentences)
    return tuple(dict.fromkeys(c.span if unit == "children" else tree.parent(c).span for c in children))


def first_ranks(text: str) -> Any:
    """A figure of the rank that the first piece of evidence has, over all questions about a text."""
    document, model = corpus.load(text), embedder(language(text))
    steps = {"1": 1, "2 to 4": 4, "5 to 16": 16, "later": 10**9}
    series = {}
    for unit in ("sentences", "children", "parents"):
        spans = _units(text, unit)
        vectors = model.passages([span.of(document.text) for span in spans])
        ranks = [_first_rank(vectors @ model.query(q.text), spans, q) for q in corpus.questions(text, more=True)]
        until = [sum(rank <= step for rank in ranks if rank) for step in steps.values()]
        series[unit] = [high - low for low, high in zip([0, *until], until, strict=False)]
    return plot.grouped_bars(list(steps), series, "questions")


def _first_rank(scores: np.ndarray, spans: Sequence[Span], question: Question) -> int | None:
    order = np.argsort(-scores, kind="stable")
    proof = [span for _, span in question.answers]
    ranks = (rank for rank, i in enumerate(order, 1) if any(_share(spans[i], span) for span in proof))
    return next(ranks, None)


def lies(text: str, question: str, method: Literal["umap", "pca"], seed: int, k: int) -> tuple[Any, ...]:
    """The views of a map beside the truth: the k sentences nearest to a question by cosine, and on the plane."""
    document, model = corpus.load(text), embedder(language(text))
    chart, vector = atlas(document, model, seed, method), model.query(question)
    here = chart.place(vector)[0]
    true = [int(i) for i in np.argsort(-(chart.vectors @ vector), kind="stable")[:k]]
    seen = [int(i) for i in np.argsort(((chart.points - here) ** 2).sum(axis=1), kind="stable")[:k]]
    texts = [chunk.text for chunk in chart.sentences]
    layers = [plot.Layer("sentences", chart.points, texts, plot.REST, size=5, opacity=0.5)]
    for name, places, color, symbol, size in (
        ("nearest on this map", seen, plot.HIT, "square-open", 13),
        ("nearest in truth", true, plot.CONTEXT, "circle", 8),
    ):
        layers.append(plot.Layer(name, chart.points[places], [texts[i] for i in places], color, symbol, size))
    layers.append(plot.Layer("question", [here], [question], plot.QUESTION, "star", 15))
    kept, both = neighbours_kept(chart.points, chart.vectors, k), len(set(true) & set(seen))
    return (
        Note(
            f"{both} of the {k} sentences nearest to the question are among the {k} nearest on this map. "
            f"Among sentences the map keeps {kept:.0%} of all neighbours."
        ),
        Figure(plot.scatter_map(layers, [(here, chart.points[i]) for i in true]), alt="Map of the sentences."),
    )


# --- rewrites ---


def told(rewrite: Rewrite) -> str:
    """What to search with and who wrote it, or why it is the question itself."""
    if rewrite.reason:
        return f"The question is used as it is: {rewrite.reason}"
    return f"“{rewrite.text}” ({rewrite.source})"


def compare(text: str, question: str, rewrite: Rewrite, k: int) -> tuple[Any, ...]:
    """The views of a rewrite: how near the evidence it is, and what k parents deliver, beside the question as asked."""
    index, document = library(text), corpus.load(text)
    ways = {"as asked": [question], "rewritten": [rewrite.text], "both, fused": [question, rewrite.text]}
    traces = {name: _with(index, texts, k)(question) for name, texts in ways.items()}
    rows = [
        [
            name,
            _rounded(closeness(index.embedder, document, gold(text, question), ways[name])),
            place_of_evidence(_with(index, ways[name], 64)(question).hits, gold(text, question)),
            *_delivered(index, document, question, trace.contexts),
        ]
        for name, trace in traces.items()
    ]
    columns = ["searched with", "similarity to the evidence", "rank of the evidence", "evidence delivered", "tokens"]
    found = traces["rewritten"]
    return (
        Note(told(rewrite)),
        Table(columns, rows),
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
    index, writer = library(text), rewriter("step-back", "authors", "few-shot", text)
    moves = []
    for question in corpus.questions(text, more=True):
        new, spans = writer.explain(question.text).text, [span for _, span in question.answers]
        ranks = [place_of_evidence(index.search(one, index.count()), spans) for one in (question.text, new)]
        if None not in ranks:  # evidence that only some may read has no rank
            moves.append((ranks[1] / ranks[0], [question.text, new, *ranks]))
    rows = [row for _, row in sorted(moves, key=lambda move: move[0])]
    return Table(["question", "rewrite", "rank before", "rank after"], [*rows[:n], *rows[-n:]])


def _with(index: Index, texts: Sequence[str], k: int, **options: Any) -> Retriever:
    return Retriever(index, rewrite=lambda _: texts, k=k, **options)


def _delivered(index: Index, document: Document, question: str, contexts: Sequence[Context]) -> list[Any]:
    cost = sum(index.embedder.count_tokens(context.text) for context in contexts)
    return [show.share(document, question, [context.span for context in contexts]), cost]


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def asked(text: str, question: str, n: int, k: int) -> tuple[Any, ...]:
    """The views of hypothetical questions: those found, what they point to, and what k parents deliver."""
    index, questions, document = library(text), question_library(text, n), corpus.load(text)
    found = questions.search(question, 4 * k)
    hits = {
        "the text of the chunks": index.search(question, 4 * k),
        "the questions about them": pointed_to(found, index.tree),
        "both, fused": Retriever(index, k=k, questions=questions)(question).hits,
    }
    rows = [
        [
            name, place_of_evidence(some, gold(text, question)),
            *_delivered(index, document, question, parent_document(some, index.tree, k=k)),
        ]
        for name, some in hits.items()
    ]  # fmt: skip
    nearest = [[hit.rank, round(hit.score, 3), hit.chunk.text, hit.chunk.doc_id] for hit in found[:k]]
    pointed = [index.tree[hit.chunk.doc_id].text for hit in found[:k]]
    return (
        Table(["searched", "rank of the evidence", "evidence delivered", "tokens"], rows),
        Table(["rank", "similarity", "recorded question", "points to"], nearest, caption="The most similar questions"),
        show.meaning_map(
            index.embedder, document, question, [hit.chunk.text for hit in found[:k]], pointed,
            names=("questions found", "chunks they point to"),
        ),
    )  # fmt: skip


# --- the pipeline ---


def tree_picture(text: str, parent: int, child: int) -> tuple[Any, ...]:
    """The views of a text cut into sections, parents and children: tokens a section, and the three levels."""
    document, model = corpus.load(text), embedder(language(text))
    tree = parents_and_children(document, parent, child, SIZES[text][2])
    public = [section for section in document.sections if section.access == "public"]
    sizes = [model.count_tokens(section.span.of(document.text)) for section in public]
    children = [chunk for chunk in tree.indexed if tree.section(chunk).access == "public"]
    parents = list({chunk.parent_id: tree.parent(chunk) for chunk in children}.values())
    loose = recursive(document.text, parent, 0)
    crossing = sum(sum(_share(span, section.span) for section in document.sections) > 1 for span in loose)
    levels = {
        "document": [Span(0, public[-1].span.end)],
        "sections": [section.span for section in public],
        "parents": [chunk.span for chunk in parents],
        "children": [chunk.span for chunk in children],
    }
    labels = {name: [plot.shorten(span.of(document.text), 50) for span in spans] for name, spans in levels.items()}
    opening = " and an opening" if public[0].id.endswith("/0") else ""
    numbered = f"{len(public) - bool(opening)} sections{opening}"
    counts = f"{numbered}, {len(parents)} parents, {len(children)} children, {sum(sizes):,} tokens"
    return (
        Note(f"{counts}. Cut by size alone, {crossing} of {len(loose)} parents would mix two sections."),
        Figure(plot.bars([section.title for section in public], sizes, "tokens"), alt="Tokens of each section."),
        Figure(plot.strata({name: [(s.start, s.end) for s in spans] for name, spans in levels.items()}, labels),
               alt="Document, sections, parents and children, one strip each, along the characters of the text."),
    )  # fmt: skip


def buffer(text: str, question: str, k: int, parent: int, child: int) -> tuple[Any, ...]:
    """The views of how many distinct parents come out of k, 2k and 4k children."""
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


def rewrites(levers: Sequence[str], prompt: str, text: str, question: str) -> list[Rewrite]:
    """The recorded rewrites of a question by the authors, one for each lever; none where there is no lever."""
    made = []
    for lever in levers:
        writer = rewriter(lever, "authors", prompt, text)
        made.append(writer.explain(question))
    return made


def rewriter(lever: str, writer: str, prompt: str, text: str) -> Rewriter:
    """The step-back or HyDE rewriter that asks the recordings of a writer, then the model that is configured."""
    make = {"step-back": step_back, "hyde": hyde}[lever]
    return make(model(lever, writer, prompt, text), prompt, language(text))


def pipeline(index: Index, question: str, made: Sequence[Rewrite], trace: Trace) -> tuple[Any, ...]:
    """The views of a whole pipeline: its evidence, plain retrieval beside it, every stage, answers, text and map."""
    (document,) = index.tree.documents.values()
    plain = Retriever(index, k=len(trace.contexts) or 1)(question)
    given = answer(question, trace.contexts, embedder=index.embedder)
    rows = [[name, one.hits[0].chunk.id, place_of_evidence(one.hits, gold(document.id, question)),
             *_delivered(index, document, question, one.contexts)]
            for name, one in (("plain retrieval", plain), ("this pipeline", trace))]  # fmt: skip
    columns = ["", "first child", "rank of the evidence", "evidence delivered", "tokens"]
    return (
        show.verdict(document, question, [context.span for context in trace.contexts]),
        Table(columns, rows),
        Table(["answered with", "answer", "kind"], _answers(index, question, made, trace, given)),
        stages(index, question, made, trace, given),
        show.delivered(document, question, trace.hits, trace.contexts),
        show.meaning_map(
            index.embedder, document, question, [hit.chunk.text for hit in trace.hits[:4]],
            rewrites=[one.text for one in made],
        ),
    )  # fmt: skip


def _answers(index: Index, question: str, made: Sequence[Rewrite], trace: Trace, given: Answer) -> list[list[str]]:
    rows = [["the question", given.text, given.kind]]
    for one in made:
        other = answer(one.text, trace.contexts, embedder=index.embedder)
        rows.append([f"“{plot.shorten(one.text, 80)}”", other.text, other.kind])
    return rows


def stages(index: Index, question: str, made: Sequence[Rewrite], trace: Trace, given: Answer) -> Stages:
    """Every stage of a pipeline with what went in and what came out."""
    spent = {stage: round(ms, 1) for stage, ms in trace.timings.items()}
    searched = trace.rewrites or (question,)
    hits = [[hit.rank, round(hit.score, 4), hit.chunk.id, _place(hit.chunk.span)] for hit in trace.hits]
    contexts = [
        [number, round(c.score, 4), _place(c.span), ", ".join(hit.chunk.id for hit in c.hits)]
        for number, c in enumerate(trace.contexts, 1)
    ]
    short = [Context(c.doc_id, c.span, _outline(c.text), c.hits) for c in trace.contexts]
    cited = ", ".join(f"[{c.number}] {c.doc_id} {_place(c.span)}" for c in given.citations)
    rewritten = Table(["text", "by"], [[one.text, one.source] for one in made]) if made else "no rewriting"
    vectors, size = f"{len(searched)} vectors", index.embedder.dimension
    children = Table(["rank", "score", "child", "span"], hits)
    parents = Table(["number", "score", "span", "because of"], contexts)
    return Stages(
        [
            Stage("rewrite", question, rewritten, spent["rewrite"]),
            Stage("embed", "\n".join(searched), f"{vectors} of {size} numbers", spent["embed"]),
            Stage("search", vectors, children, spent["search"]),
            Stage("expand", f"{len(hits)} children", parents, spent["expand"]),
            Stage("prompt", f"the question and {len(contexts)} contexts", prompt_for(question, short)),
            Stage("answer", "the prompt", f"{given.text} {cited} ({given.kind}: {given.reason})"),
        ],
        title="Stage by stage",
    )


def _place(span: Span) -> str:
    return f"{span.start}-{span.end}"


def _outline(text: str) -> str:
    return f"{plot.shorten(text, 60)} ({len(text):,} characters)"
