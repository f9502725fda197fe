"""Any chunker of texts on a document, part by part, so that no chunk is for two kinds of readers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby

from ..core.checks import check_callable, check_kind, list_of
from ..core.outline import Outline
from ..core.text import Document, Span


def by_label(doc: Document, cut: Callable[[str], Iterable[Span]]) -> list[Span]:
    """Cut each stretch of a document that the same readers may read by itself, as with `lambda text: lumber(text, m)`.

    `cut` is given each stretch as a text of its own, without front matter, and the spans are of the document: no chunk
    lies in two labels, no reader misses public words, and no chat model reads both in one question. TypeError for what
    is no Document, and for a `cut` that is no function or gives no Spans; ValueError for a span outside its stretch.
    """
    check_kind("doc", doc, Document)
    check_callable("cut", cut, "from a text to Spans")
    return [span for stretch in stretches(doc) for span in _moved(doc, stretch, cut)]


def stretches(doc: Document) -> Iterator[Span]:
    """The parts of a document in which the label of who may read it stays the same, without front matter."""
    outline = Outline(doc)
    for _, alike in groupby(range(len(doc.sections)), key=lambda place: doc.sections[place].access):
        places = list(alike)
        yield outline.span(range(places[0], places[-1] + 1))


def _moved(doc: Document, stretch: Span, cut: Callable[[str], Iterable[Span]]) -> Iterator[Span]:
    for span in list_of(Span, "what cut gives", cut(stretch.of(doc.text))):
        if span.end > len(stretch):
            raise ValueError(f"span {span} ends after the text that cut was given, which has {len(stretch)} characters")
        yield Span(stretch.start + span.start, stretch.start + span.end)
