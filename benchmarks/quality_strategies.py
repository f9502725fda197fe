"""What `make bench-quality` compares: ways to cut, what of each is searched, and what is delivered for it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import s2b_lab as s2b
from s2b_lab.core.embedded import Copies
from s2b_lab.core.tables import table_rows
from s2b_lab.question_sets import documents_of

SIZES = (200, 300, 500)  # words; a Chinese character is one
TEXTS = ("python", "travel-en", "travel-zh", "einstein")
Documents = Sequence[s2b.Document]
Flat = Callable[[str], Iterable[s2b.Span]]


@dataclass(frozen=True)
class Models:
    """What a cut may ask: an embedding model and a causal language model."""

    embedder: s2b.Embedder
    ends: s2b.CausalModel


@dataclass(frozen=True)
class Strategy:
    """A way to cut and to deliver; one that is not `sized` is the same at every size."""

    name: str
    cut: Callable[[Documents, int, Models], s2b.ChunkTree]
    expand: Callable[..., list[s2b.Context]] = s2b.as_found
    sized: bool = True

    @property
    def sizes(self) -> tuple[int | None, ...]:
        """The sizes that it is measured at."""
        return SIZES if self.sized else (None,)


@functools.cache
def documents(name: str) -> tuple[s2b.Document, ...]:
    """The documents of a text by its name."""
    return tuple(documents_of(name))


# --- cuts ------------------------------------------------------------------------------------------------------------


def flat(docs: Documents, cut: Flat) -> s2b.ChunkTree:
    """Chunks just as a splitter cuts them, all searched and delivered as they are; none for two kinds of readers."""
    return s2b.ChunkTree(docs, [chunk for doc in docs for chunk in s2b.flat_tree(doc, s2b.by_label(doc, cut))])


def sentences(docs: Documents, size: int | None, models: Models, heading_path: bool = False) -> s2b.ChunkTree:
    """Each sentence, and each row of a table."""
    return s2b.sentence_tree(docs, heading_path)


def recursive(docs: Documents, size: int, models: Models) -> s2b.ChunkTree:
    """As much as fits, ended at the coarsest boundary."""
    return flat(docs, lambda text: s2b.recursive(text, size, 0, "word"))


def paragraph(docs: Documents, size: int, models: Models) -> s2b.ChunkTree:
    """Each paragraph, cut where it is larger."""
    return flat(docs, lambda text: s2b.by_paragraph(text, size, "word"))


def semantic(
    docs: Documents, size: int, models: Models, threshold: str = "percentile", amount: float = 80
) -> s2b.ChunkTree:
    """Cuts where neighbouring sentence groups are far apart in meaning."""
    return flat(docs, lambda text: s2b.semantic(text, models.embedder, size, threshold, amount, unit="word"))


def parents(docs: Documents, size: int, models: Models, part: int = 2, heading_path: bool = False) -> s2b.ChunkTree:
    """Parents, and children of a part of their size, which are searched."""
    return s2b.parents_and_children(docs, size, size // part, 0, "word", heading_path=heading_path)


def multi_granular(docs: Documents, size: int, models: Models) -> s2b.ChunkTree:
    """Parents, their halves and quarters, all searched."""
    return s2b.multi_granular(docs, size, "word")


def logits(docs: Documents, size: int, models: Models) -> s2b.ChunkTree:
    """Blocks, each cut where a language model would most likely end."""
    return flat(docs, lambda text: s2b.logits(text, models.ends, size, "word"))


def lgmgc(docs: Documents, size: int, models: Models, heading_path: bool = False) -> s2b.ChunkTree:
    """The chunks of a language model as parents, their halves and quarters, all searched."""
    return s2b.lgmgc(docs, models.ends, size, "word", heading_path=heading_path)


def window(size: int) -> Callable[..., list[s2b.Context]]:
    """Delivery of each sentence with so many on both sides."""
    return functools.partial(s2b.sentence_window, window_size=size)


STRATEGIES = (
    Strategy("sentences", sentences, sized=False),
    Strategy("window 1", sentences, window(1), sized=False),
    Strategy("window 2", sentences, window(2), sized=False),
    Strategy("recursive", recursive),
    Strategy("paragraph", paragraph),
    Strategy("semantic", semantic),
    Strategy("parents", parents, s2b.parent_document),
    Strategy("multi-granular", multi_granular, s2b.parent_document),
    Strategy("logits", logits),
    Strategy("lgmgc", lgmgc, s2b.parent_document),
)
# The same with the headings above each unit in the copy of it that is embedded.
HEADED = tuple(
    replace(one, cut=functools.partial(one.cut, heading_path=True))
    for one in STRATEGIES
    if one.name in ("sentences", "parents", "lgmgc")
)
# What could be chosen, to be compared on the questions for tuning: the first is what the strategies above do.
CANDIDATES = {
    "parents": {
        f"children of 1/{part}": functools.partial(parents, part=part) for part in (2, 4, 8)
    },
    "semantic": {
        f"{threshold} {amount}": functools.partial(semantic, threshold=threshold, amount=amount)
        for threshold, amount in (("percentile", 80), ("percentile", 95), ("gradient", 95))
    },
}  # fmt: skip


# --- tables ----------------------------------------------------------------------------------------------------------


class HeadlessCopies(Copies):
    """Embedded copies without the head of the table that a row stands in."""

    def _above(self, span: s2b.Span) -> Iterator[str]:
        return iter(())


def whole_tables(docs: Documents) -> s2b.ChunkTree:
    """Sentences, but each table is one unit: a naive cut to compare with."""
    tree = s2b.sentence_tree(docs)
    rows: dict[str, list[s2b.Chunk]] = {}
    for chunk in tree.indexed:
        paragraph, text = tree.parent(chunk), tree.document(chunk).text
        if len(table_rows(text, paragraph.span.start, paragraph.span.end)) > 1:
            rows.setdefault(paragraph.id, []).append(chunk)
    gone = {chunk.id for row in rows.values() for chunk in row}
    joined = [_joined(row, tree.document(row[0])) for row in rows.values()]
    kept = [chunk for chunk in tree if chunk.id not in gone]
    indexed = [chunk for chunk in tree.indexed if chunk.id not in gone]
    return s2b.ChunkTree(docs, [*kept, *joined], [*indexed, *joined])


def _joined(rows: Sequence[s2b.Chunk], doc: s2b.Document) -> s2b.Chunk:
    span = s2b.Span(rows[0].span.start, rows[-1].span.end)
    return replace(rows[0], span=span, text=span.of(doc.text))
