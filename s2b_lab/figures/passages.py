"""A text with highlighted spans, offsets counted as JavaScript counts them."""

from __future__ import annotations

import functools
import itertools
import re
import reprlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..core.characters import is_blank
from ..core.text import Span
from .page import alone, pieces_between
from .shown import badges, check_shown, keep, listed
from .words import PASSAGES, passage_words

# Outer kinds first.
KINDS = tuple(PASSAGES["en"]["legend"])


@dataclass(frozen=True, slots=True)
class Mark:
    """A highlighted span: a "chunk", delivered "context", "hit", "unread" by the model, "gold" or "lost" evidence.

    ValueError for others.
    """

    span: Span
    kind: str
    label: str = ""

    def __post_init__(self) -> None:
        check_shown(self, "label")
        if not isinstance(self.span, Span):
            raise ValueError(f"a mark needs a Span, not {reprlib.repr(self.span)}")
        if self.kind not in KINDS:
            raise ValueError(f"a mark cannot be {self.kind!r}; it is one of {', '.join(KINDS)}")


@dataclass(frozen=True, slots=True)
class Passages:
    """One text with highlighted spans, which may nest and overlap; show="marked" leaves the rest out, visibly.

    `lang` is the language of the text, as in HTML. ValueError for what is no text or no Mark, a mark that ends after
    the text, and another `show`.
    """

    text: str
    marks: Sequence[Mark] = ()
    title: str = ""
    show: str = "all"
    lang: str = "en"
    note: str = ""

    def __post_init__(self) -> None:
        check_shown(self, "text", "title", "lang", "note")
        if self.show not in ("all", "marked"):
            raise ValueError(f'show is "all" or "marked", not {self.show!r}')
        keep(self, "marks", tuple(listed("marks", self.marks, 0)))
        for mark in self.marks:
            if not isinstance(mark, Mark):
                raise ValueError(f"marks must hold Marks only, not {reprlib.repr(mark)}")
            if mark.span.end > len(self.text):
                raise ValueError(f"{mark} ends after the text, which has {len(self.text)} characters")

    def frame(self) -> dict[str, Any]:
        """Plain JSON: marks as [start, end] or [start, end, label] in UTF-16 units, grouped by kind.

        Beside them the words of its language, and in the same units where paragraphs of a whole text begin; of one that
        shows what is marked alone, where it leaves something out that can be seen.
        """
        at = _utf16(self.text)
        marks: dict[str, list[list[Any]]] = {}
        for mark in self.marks:
            ends = [at[mark.span.start], at[mark.span.end]]
            marks.setdefault(mark.kind, []).append([*ends, mark.label] if mark.label else ends)
        fields = {"title": self.title, "show": self.show, "lang": self.lang, "note": self.note}
        breaks = [at[i] for i in _breaks(self.text)] if self.show == "all" else []
        words = passage_words(self.lang, badges((mark.kind, mark.label) for mark in self.marks))
        frame = {"kind": "passages", "text": self.text, "marks": marks, **fields, "words": words, "breaks": breaks}
        return frame if self.show == "all" else frame | {"gaps": [at[i] for i in _gaps(self.text, self.marks)]}

    def _repr_html_(self) -> str:
        return alone(self.frame())


@functools.lru_cache(maxsize=16)
def _utf16(text: str) -> Sequence[int]:
    # JavaScript counts a character beyond U+FFFF (an emoji, say) as two.
    if text.isascii() or max(text) <= "\uffff":
        return range(len(text) + 1)
    return [0, *itertools.accumulate(1 + (character > "\uffff") for character in text)]


def _gaps(text: str, marks: Sequence[Mark]) -> list[int]:
    pieces = pieces_between(len(text), [(m.kind, 0, m.span.start, m.span.end, "") for m in marks])
    return [start for start, end, inside in pieces if not inside and not is_blank(text, start, end)]


@functools.lru_cache(maxsize=16)
def _breaks(text: str) -> tuple[int, ...]:
    # Paragraphs begin after each run of blank lines.
    return (0, *(blank.end() for blank in re.finditer(r"\n[^\S\n]*\n\s*", text)))
