"""What chunkers cut between: whole sentences, a heading together with what follows it."""

from __future__ import annotations

from bisect import bisect_right

from ..core.characters import is_blank
from ..core.front_matter import body_start
from ..core.split import Cuts
from ..core.text import Span

LEVEL = "titled sentence"


def headed_sentences(cuts: Cuts, start: int, stop: int, level: str = LEVEL) -> list[Span]:
    """Cut text[start:stop] at each end of this level: spans that cover all of it but white space and front matter."""
    start = max(start, min(stop, body_start(cuts.text)))
    stop = start + len(cuts.text[start:stop].rstrip())
    ends = cuts.ends(level)
    ends = ends[bisect_right(ends, start) : bisect_right(ends, stop - 1)]
    spans, at = [], start
    for end in (*ends, stop):
        # An end never follows white space, so that it is shed at the front alone.
        first = end - len(cuts.text[at:end].lstrip())
        if not is_blank(cuts.text, first, end):
            spans.append(Span(first, end))
        at = end
    return spans


def after_block(cuts: Cuts, sentences: list[Span], first: int, size: int) -> int:
    """The place of the first sentence that does not fit into the block of the one at `first`, which is always in."""
    begin = sentences[first].start
    last = bisect_right(sentences, cuts.reach(begin, size), first, key=lambda sentence: sentence.end)
    while last > first + 1 and not cuts.fits(begin, sentences[last - 1].end, size):
        last -= 1
    return max(last, first + 1)


def in_size(cuts: Cuts, span: Span, size: int) -> list[Span]:
    """Give a span as it is where it fits, else its parts, each of them at most `size`."""
    return [span] if cuts.fits(span.start, span.end, size) else cuts.fill(span.start, span.end, size, 0)
