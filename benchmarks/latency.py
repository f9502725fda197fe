"""What a query costs beyond the embedding of its text, in milliseconds at the median."""

import time
from collections.abc import Callable, Sequence
from statistics import median

from s2b_lab import Document, embedder

from .indexing import SIZE, some_docs
from .report import Result, Row, Target
from .stores import OURS, PACKAGES, STORES, Ours, encode

FULL = "search, windows and parents"


def run(queries: int = 100) -> Result:
    """Index 200 KB with every store and ask each the same questions in turn."""
    documents = some_docs(SIZE)
    stores = {name: store() for name, store in STORES.items()}
    for store in stores.values():
        store.add(documents)
    found = measure(stores, questions(documents, queries), embedder("en").query, lambda text: encode([text]))
    for store in stores.values():
        store.close()
    beyond = {row.name: row.value for row in found}
    return Result(
        "latency",
        "A query beyond its embedding",
        "ms",
        "lower",
        f"median of {queries} questions minus the median of embedding them alone, asked in turn; k = 16",
        tuple(found),
        (Target("ms beyond the embedding", "<= 5", beyond[OURS]),),
        PACKAGES,
    )


def questions(documents: Sequence[Document], count: int) -> list[str]:
    """Ask about section titles, spread over the documents."""
    titles = list(dict.fromkeys(part.title for doc in documents for part in doc.sections if part.title.strip()))
    chosen = titles[:: max(1, len(titles) // count)][:count]
    forms = ("What does Python say about {}?", "How do I use {}?", "Explain {} with an example.")
    places = (divmod(turn, len(chosen)) for turn in range(count))
    return [forms[(lap + at) % len(forms)].format(chosen[at]) for lap, at in places]


def measure(stores: dict, asked: Sequence[str], own: Callable, shared: Callable) -> list[Row]:
    """Time every store's search, and its small-to-big query where it has one, against its own embedding."""
    jobs: dict[str, tuple[Callable, Callable]] = {}
    for name, store in stores.items():
        embed = own if isinstance(store, Ours) else shared
        jobs[name] = (store.search, embed)
        if hasattr(store, "small_to_big"):
            jobs[f"{name}, {FULL if isinstance(store, Ours) else 'search and windows'}"] = (store.small_to_big, embed)
    for query, embed in jobs.values():  # what is loaded or built once
        embed(asked[0]), query(asked[0])
    spent = {name: ([], []) for name in jobs}
    for text in asked:
        for name, pair in jobs.items():
            for job, times in zip(pair, spent[name], strict=True):
                times.append(_milliseconds(job, text))
    return [_row(name, *times, spent[OURS]) for name, times in spent.items()]


def _milliseconds(job: Callable, text: str) -> float:
    start = time.perf_counter()
    job(text)
    return 1000 * (time.perf_counter() - start)


def _row(name: str, whole: list[float], embedding: list[float], ours: tuple[list[float], list[float]]) -> Row:
    beyond, reference = median(whole) - median(embedding), median(ours[0]) - median(ours[1])
    ratio = None if name == OURS or beyond <= 0 else round(reference / beyond, 3)
    remark = f"with the embedding {median(whole):.2f} ms"
    return Row("200 KB as sentences", name, round(beyond, 3), (), ratio, remark)
