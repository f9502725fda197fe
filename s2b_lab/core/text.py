"""Text with positions: spans, sections and documents."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from .cards import Card, Rows, beginning, counted
from .characters import is_blank, without_surrogates
from .checks import check_kind, check_str, check_whole, list_of, mended

PUBLIC = ("public",)  # the labels of what everybody may read


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open range of character offsets, `text[start:end]`.

    ValueError unless they are whole numbers and 0 <= start <= end.
    """

    start: int
    end: int

    def __post_init__(self) -> None:
        if type(self.start) is not int or type(self.end) is not int:  # as numpy's are, which no JSON takes
            for name in ("start", "end"):
                check_whole(f"{name} of a span", getattr(self, name), 0)
                object.__setattr__(self, name, int(getattr(self, name)))
        if not 0 <= self.start <= self.end:
            raise ValueError(f"a span needs 0 <= start <= end, got start={self.start}, end={self.end}")

    def __len__(self) -> int:
        return self.end - self.start

    def of(self, text: str) -> str:
        """Return the piece of the text that the span covers."""
        return text[self.start : self.end]

    def overlaps(self, other: Span) -> bool:
        """Tell whether at least one character lies in both spans."""
        return max(self.start, other.start) < min(self.end, other.end)

    def contains(self, other: Span) -> bool:
        """Tell whether the other span lies wholly inside this one."""
        return self.start <= other.start and other.end <= self.end


@dataclass(frozen=True, slots=True)
class Section:
    """The part of a document from one heading up to the next.

    `level` is that of the heading, from 1; 0 before the first. `access` is the label of those who may read it.
    TypeError for an id, title or label that is no text, and for what is no Span; ValueError for a level below 0.
    """

    id: str
    title: str
    level: int
    span: Span
    access: str

    def __post_init__(self) -> None:
        for name in ("id", "title", "access"):
            check_str(f"{name} of section {self.id!r}", getattr(self, name))
            # Its document, from whose text a title is, has warned.
            object.__setattr__(self, name, without_surrogates(getattr(self, name)))
        check_whole(f"level of section {self.id!r}", self.level, 0)
        check_kind(f"span of section {self.id!r}", self.span, Span)


@dataclass(frozen=True, slots=True)
class Document(Card):
    """A text with an identity, a version, an access label and its sections, one for all of it where none are given.

    Lone surrogates are replaced one by one, with a warning, so that offsets stay true. TypeError for a field that is no
    text, or no Sections; ValueError for an empty id, and for sections that do not follow each other from the first
    character to the last. `pages` are the offsets at which the pages of a file begin, rising from 0 (see `page_of`),
    and `source` is that file.
    """

    id: str
    title: str
    text: str
    version: str
    access: str
    sections: tuple[Section, ...] = ()
    pages: tuple[int, ...] = ()
    source: str = ""

    def __post_init__(self) -> None:
        for name in ("id", "title", "text", "version", "access", "source"):
            check_str(f"{name} of document {self.id!r}", getattr(self, name))
        self._mend()
        if not self.id:
            raise ValueError("a document needs an id, got an empty one")
        given = list_of(Section, f"sections of document {self.id!r}", self.sections)
        object.__setattr__(self, "sections", tuple(given))
        if not self.sections and not is_blank(self.text):
            whole = Section(f"{self.id}/0", "", 0, Span(0, len(self.text)), self.access)
            object.__setattr__(self, "sections", (whole,))
        ends = [0, *(section.span.end for section in self.sections)]
        if self.sections and [*(s.span.start for s in self.sections), len(self.text)] != ends:
            raise ValueError(f"the sections of document {self.id!r} must follow each other and cover all its text")
        object.__setattr__(self, "pages", tuple(list_of(int, f"pages of document {self.id!r}", self.pages)))
        if self.pages and ([*self.pages] != sorted(self.pages) or self.pages[0] or self.pages[-1] > len(self.text)):
            raise ValueError(f"the pages of document {self.id!r} must begin at rising offsets of its text, from 0")

    def _mend(self) -> None:
        names = ("text", "id", "title", "version", "access", "source")
        sound = {name: without_surrogates(getattr(self, name)) for name in names}
        changed = [name for name in names if sound[name] != getattr(self, name)]
        if changed:  # one warning says enough
            mended(f"{changed[0]} of document {sound['id']!r}", getattr(self, changed[0]), stacklevel=6)
        for name in changed:
            object.__setattr__(self, name, sound[name])

    def labels(self, span: Span) -> set[str]:
        """The access labels of the sections that a span lies in: who may read all of it has them all."""
        return {section.access for section in self.sections if section.span.overlaps(span)}

    def is_public(self, span: Span) -> bool:
        """Tell whether everybody may read all of a span."""
        return self.labels(span) <= {*PUBLIC}

    def public_beginning(self) -> str:
        """The text up to the first section that not everybody may read."""
        ends = (section.span.start for section in self.sections if section.access not in PUBLIC)
        return self.text[: next(ends, None)]

    def _card(self) -> tuple[str, Rows]:
        size = f"{counted(len(self.text), 'character')} in {counted(len(self.sections), 'section')}"
        rows: Rows = [("version", self.version), ("access", self.access), ("size", size)]
        # A title may be a heading of the text, and both may be for some readers alone.
        if public := self.public_beginning():
            rows = [("title", self.title), *rows, ("begins", beginning(public))]
        return f"Document {self.id}", rows


def page_of(document: Document, span: Span) -> tuple[int, int] | None:
    """The first and the last page that a span lies on, counted from 1; None for a document without pages.

    ValueError for a span beyond the text, TypeError for what is no Document or Span.
    """
    check_kind("document", document, Document)
    check_kind("span", span, Span)
    if span.end > len(document.text):
        raise ValueError(f"the span ends at {span.end}, the text of {document.id!r} at {len(document.text)}")
    if not document.pages:
        return None
    first = bisect_right(document.pages, span.start)
    return first, max(first, bisect_left(document.pages, span.end))


def as_documents(docs: Document | Iterable[Document]) -> list[Document]:
    """Get one document, or several, as a list; TypeError for what is none."""
    found = [docs] if isinstance(docs, Document) else docs
    if isinstance(found, str) or not isinstance(found, Iterable):
        raise TypeError(f"docs must be a Document or a list of them, not {type(docs).__name__}")
    found = list(found)
    for doc in found:
        if not isinstance(doc, Document):
            raise TypeError(f"docs must hold Documents only, not {type(doc).__name__}: use document(id, text)")
    return found


def trimmed(text: str, span: Span) -> Span:
    """The span without the white space at its ends."""
    inner = span.of(text)
    start = span.start + len(inner) - len(inner.lstrip())
    return Span(start, max(start, span.start + len(inner.rstrip())))


def merge_spans(spans: Iterable[Span]) -> list[Span]:
    """Join spans that overlap or touch; a gap is never closed. TypeError for what are no Spans."""
    merged: list[Span] = []
    for span in sorted(list_of(Span, "spans", spans)):
        if merged and span.start <= merged[-1].end:
            merged[-1] = Span(merged[-1].start, max(merged[-1].end, span.end))
        else:
            merged.append(span)
    return merged
