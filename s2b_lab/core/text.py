"""Text with positions: spans, sections and documents."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .cards import Card, Rows, beginning, counted
from .characters import is_blank
from .checks import check_str

PUBLIC = ("public",)  # the labels of what everybody may read


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open range of character offsets, `text[start:end]`; ValueError unless 0 <= start <= end."""

    start: int
    end: int

    def __post_init__(self) -> None:
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
    TypeError for an id, title or label that is no text.
    """

    id: str
    title: str
    level: int
    span: Span
    access: str

    def __post_init__(self) -> None:
        for name in ("id", "title", "access"):
            check_str(f"{name} of section {self.id!r}", getattr(self, name))


@dataclass(frozen=True, slots=True)
class Document(Card):
    """A text with an identity, a version, an access label and its sections, one for all of it where none are given.

    TypeError for a field that is no text; ValueError for an empty id, and for sections that do not follow each other
    from the first character to the last.
    """

    id: str
    title: str
    text: str
    version: str
    access: str
    sections: tuple[Section, ...] = ()

    def __post_init__(self) -> None:
        for name in ("id", "title", "text", "version", "access"):
            check_str(f"{name} of document {self.id!r}", getattr(self, name))
        if not self.id:
            raise ValueError("a document needs an id, got an empty one")
        if not self.sections and not is_blank(self.text):
            whole = Section(f"{self.id}/0", "", 0, Span(0, len(self.text)), self.access)
            object.__setattr__(self, "sections", (whole,))
        ends = [0, *(section.span.end for section in self.sections)]
        if self.sections and [*(s.span.start for s in self.sections), len(self.text)] != ends:
            raise ValueError(f"the sections of document {self.id!r} must follow each other and cover all its text")

    def labels(self, span: Span) -> set[str]:
        """The access labels of the sections that a span lies in: who may read all of it has them all."""
        return {section.access for section in self.sections if section.span.overlaps(span)}

    def is_public(self, span: Span) -> bool:
        """Tell whether everybody may read all of a span."""
        return self.labels(span) <= {*PUBLIC}

    def _card(self) -> tuple[str, Rows]:
        size = f"{counted(len(self.text), 'character')} in {counted(len(self.sections), 'section')}"
        rows: Rows = [("version", self.version), ("access", self.access), ("size", size)]
        # A title may be a heading of the text, and both may be for some readers alone.
        if self.is_public(Span(0, 1)):
            rows = [("title", self.title), *rows, ("begins", beginning(self.text))]
        return f"Document {self.id}", rows


def trimmed(text: str, span: Span) -> Span:
    """The span without the white space at its ends."""
    inner = span.of(text)
    start = span.start + len(inner) - len(inner.lstrip())
    return Span(start, max(start, span.start + len(inner.rstrip())))


def merge_spans(spans: Iterable[Span]) -> list[Span]:
    """Join spans that overlap or touch; a gap is never closed."""
    merged: list[Span] = []
    for span in sorted(spans):
        if merged and span.start <= merged[-1].end:
            merged[-1] = Span(merged[-1].start, max(merged[-1].end, span.end))
        else:
            merged.append(span)
    return merged
