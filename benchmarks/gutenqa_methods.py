"""What is searched and delivered on GutenQA: the chunks that its authors give, and the text cut in our ways."""

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import s2b_lab as s2b

from .gutenqa_data import BETWEEN, Book

SIZES = (200, 300, 500)  # words
SHARE = 0.5  # of word matching, beside vectors: both count alike, so that nothing is tuned
# DCG@k x100 over the whole of GutenQA, as its authors give them, for k 1, 2, 5, 10, 20.
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

Cut = Callable[[s2b.Document, Sequence[s2b.Span]], s2b.ChunkTree]


@dataclass(frozen=True)
class Method:
    """A way to cut a book and to deliver it.

    `table` names the chunks of others that it starts from; without one it is the text. With `one_vector` each unit has
    one, as in the protocol: what the model does not read of a long one is lost. Otherwise it is embedded in pieces.
    `words` is the share of word matching in the score of what is delivered: 0 for vectors alone, 1 for words alone.
    """

    name: str
    whose: str
    cut: Cut
    expand: Callable[..., list[s2b.Context]] = s2b.as_found
    table: str | None = None
    one_vector: bool = False
    words: float = 0


# --- chunks of others ------------------------------------------------------------------------------------------------


def as_they_are(doc: s2b.Document, spans: Sequence[s2b.Span]) -> s2b.ChunkTree:
    """The chunks of a table, searched whole."""
    return s2b.flat_tree(doc, spans)


def with_smaller(doc: s2b.Document, spans: Sequence[s2b.Span]) -> s2b.ChunkTree:
    """The chunks of a table, searched by themselves, their halves and quarters of whole sentences."""
    parents = list(s2b.flat_tree(doc, spans))
    smaller = [piece for parent in parents for piece in _smaller(parent)]
    return s2b.ChunkTree([doc], [*parents, *smaller], [*parents, *smaller])


def _smaller(parent: s2b.Chunk) -> Iterable[s2b.Chunk]:
    """Two halves of about as many words, and two halves of each: greedy ones leave rests of a sentence or two."""
    seen = {parent.span}
    halves = halved(parent.text, s2b.Span(0, len(parent.text)))
    quarters = [quarter for half in halves for quarter in halved(parent.text, half)]
    for mark, parts in (("h", halves), ("q", quarters)):
        for n, part in enumerate(parts, 1):
            span = s2b.Span(parent.span.start + part.start, parent.span.start + part.end)
            if span not in seen:
                seen.add(span)
                place = (f"{parent.id}/{mark}{n}", parent.doc_id, span, part.of(parent.text))
                yield s2b.Chunk(*place, "passage", parent.id, parent.section_id)


def halved(text: str, span: s2b.Span) -> list[s2b.Span]:
    """Cut a span after the sentence that parts its words most evenly; one of a single sentence stays whole."""
    found = [s2b.Span(span.start + one.start, span.start + one.end) for one in s2b.sentences(span.of(text))]
    if len(found) < 2:
        return [span]
    words = [s2b.count(one.of(text), "word") for one in found]
    after = min(range(1, len(found)), key=lambda n: abs(sum(words[:n]) - sum(words[n:])))
    return [s2b.Span(found[0].start, found[after - 1].end), s2b.Span(found[after].start, found[-1].end)]


# --- the text cut by us ----------------------------------------------------------------------------------------------


def _recursive(size: int) -> Cut:
    return lambda doc, _: s2b.flat_tree(doc, s2b.recursive(doc.text, size, 0, "word"))


def _logits(size: int) -> Cut:
    return lambda doc, _: s2b.flat_tree(doc, s2b.logits(doc.text, end_model(), size))


def _lgmgc(size: int) -> Cut:
    return lambda doc, _: s2b.lgmgc(doc, end_model(), size)


def _of_text(build: Callable[..., s2b.ChunkTree], *sizes: int) -> Cut:
    return lambda doc, _: build(doc, *sizes)


@functools.cache
def end_model() -> s2b.CausalModel:
    """The model that says where a text may end; what it says of a block is kept where vectors are."""
    return s2b.causal_model()


def _sized(name: str, cut: Callable[[int], Cut], *more: object) -> list[Method]:
    return [Method(f"{name}, {size} words", OURS, cut(size), *more) for size in SIZES]


_HALVES = Method(
    "LumberChunker, halves, quarters", THEIR_CHUNKS, with_smaller, s2b.parent_document, "LumberChunker", True
)
_GRANULAR = _sized("multi-granular", lambda size: _of_text(s2b.multi_granular, size), s2b.parent_document)
_LGMGC = _sized("LGMGC", _lgmgc, s2b.parent_document)


def _with_words(methods: Iterable[Method]) -> list[Method]:
    return [replace(method, name=f"{method.name} + word matching", words=SHARE) for method in methods]


METHODS = (
    *(Method(name, THEIR_CHUNKS, as_they_are, table=name, one_vector=True) for name in PUBLISHED),
    _HALVES,
    *_with_words([_HALVES]),
    *(replace(method, one_vector=True) for method in _sized("recursive", _recursive)),
    Method("sentences", OURS, _of_text(s2b.sentence_tree)),
    Method("sentence windows of 1", OURS, _of_text(s2b.sentence_tree), s2b.sentence_window),
    Method("parents and children", OURS, _of_text(s2b.parents_and_children), s2b.parent_document),
    *_GRANULAR,
    *(replace(method, name=f"{method.name}, word matching alone", words=1) for method in _GRANULAR),
    *_with_words(_GRANULAR),
    *(replace(method, one_vector=True) for method in _sized("logits", _logits)),
    *_LGMGC,
    *_with_words(_LGMGC),
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
