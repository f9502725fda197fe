"""A text sentence by sentence: how likely it ends there, where chunkers cut it, and where its reader would."""

from __future__ import annotations

import math
import re
import reprlib
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ..core.checks import check_number
from ..core.sizes import count
from ..core.text import Span
from .page import alone
from .shown import check_shown, keep, listed

# The shortest bar: bars are logarithmic, since ends differ by powers of ten.
LEAST = 1e-6
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")


@dataclass(frozen=True, slots=True)
class CutPoints:
    """The sentences of a text with the probability of an end behind each, None where none was asked for.

    `chunks` has the chunks of each chunker by its name; what they cut elsewhere than between two sentences is counted
    alone. `tree` has levels of spans, outer ones first, as parents, halves and quarters. The page shows both once its
    reader has compared. `lang` is the language of the text, as in HTML. ValueError for spans that are none, overlap or
    leave the text, chunks without names, another number of probabilities than of sentences, and one outside 0 to 1.
    """

    text: str
    sentences: Sequence[Span]
    probabilities: Sequence[float | None]
    chunks: Mapping[str, Sequence[Span]]
    tree: Sequence[Sequence[Span]] = ()
    title: str = ""
    lang: str = "en"

    def __post_init__(self) -> None:
        check_shown(self, "text", "title", "lang")
        keep(self, "sentences", self._spans("sentences", self.sentences))
        keep(self, "probabilities", tuple(listed("probabilities", self.probabilities, 0)))
        if len(self.probabilities) != len(self.sentences):
            raise ValueError(f"{len(self.probabilities)} probabilities for {len(self.sentences)} sentences")
        for value in self.probabilities:
            if value is not None:
                check_number("a probability", value, 0, 1)
        if not isinstance(self.chunks, Mapping):
            raise ValueError(f"chunks map names of chunkers to Spans, not {reprlib.repr(self.chunks)}")
        keep(self, "chunks", {name: self._spans(name, spans) for name, spans in self.chunks.items()})
        keep(self, "tree", tuple(self._spans("a level of the tree", spans) for spans in listed("tree", self.tree, 0)))

    def _spans(self, label: str, spans: Iterable[Span]) -> tuple[Span, ...]:
        found, at = tuple(listed(label, spans, 0)), 0
        for span in found:
            if not isinstance(span, Span) or span.start < at or span.end > len(self.text):
                place = f"in a text of {len(self.text)} characters"
                raise ValueError(f"{label} must be Spans in order, apart, {place}, not {reprlib.repr(span)}")
            at = span.end
        return found

    def frame(self) -> dict[str, Any]:
        """Plain JSON: texts of the sentences, [words to show, share of a bar] of each end, cuts and tree by number.

        A cut is the number, from 1, of the sentence that it stands behind. A piece of the tree is its first sentence,
        its last one and its words.
        """
        return {
            "kind": "cuts", "title": self.title, "lang": self.lang,
            "sentences": [span.of(self.text) for span in self.sentences],
            "breaks": [number for number, end in enumerate(self._gaps(), 1) if _BLANK_LINE.search(self.text, *end)],
            "ends": [None if value is None else [percent(value), bar_length(value)] for value in self.probabilities],
            "cuts": [{"name": name, **self._cuts(spans)} for name, spans in self.chunks.items()],
            "tree": [list(filter(None, map(self._piece, spans))) for spans in self.tree],
        }  # fmt: skip

    def _gaps(self) -> list[tuple[int, int]]:
        return [(a.end, b.start) for a, b in pairwise(self.sentences)]

    def _cuts(self, spans: Sequence[Span]) -> dict[str, Any]:
        gaps, after, elsewhere = self._gaps(), [], 0
        for span in spans[:-1]:  # where the text ends, nobody has a choice
            place = bisect_right(gaps, (span.end, len(self.text)))
            if place and span.end <= gaps[place - 1][1]:
                after.append(place)
            else:
                elsewhere += 1
        return {"after": after, "elsewhere": elsewhere}

    def _piece(self, span: Span) -> list[int]:
        inside = [number for number, sentence in enumerate(self.sentences, 1) if span.overlaps(sentence)]
        return [inside[0], inside[-1], count(span.of(self.text), "word")] if inside else []

    def _repr_html_(self) -> str:
        return alone(self.frame())


def percent(value: float) -> str:
    """A probability in percent, with two digits that count: 6.3%, 0.076%."""
    if value < LEAST:
        return f"below {100 * LEAST:.4f}%"
    digits = max(0, 1 - math.floor(math.log10(100 * value)))
    return f"{100 * value:.{digits}f}%"


def bar_length(value: float) -> float:
    """How long the bar of a probability is, from 0 at a millionth to 1: each power of ten is a sixth."""
    return round(1 - math.log10(max(value, LEAST)) / math.log10(LEAST), 3) if value else 0.0
