"""A budget of tokens: what fits of what was found, whole or trimmed around what matched."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from .checks import check_callable, check_whole, list_of
from .hits import Context
from .sentences import sentences
from .sizes import count as count_units
from .text import Span

Fits = Callable[[int, int], bool]  # whether the sentences from one to before another fit


def _tokens(text: str) -> int:
    return count_units(text, "token")


def within_budget(
    contexts: Iterable[Context],
    token_budget: int,
    count: Callable[[str], int] = _tokens,
) -> list[Context]:
    """The first contexts that fit into the budget together, the last of them trimmed around its hits.

    The first that does not fit whole ends the list. Of it those sentences are kept that its best hit lies in, then, as
    far as there is room, those of its other hits and their neighbours on both sides: one piece of its text. Of a hit
    too long for the budget its first sentences are kept; where not even one fits, or there is no hit and the first
    sentence of the text does not, the context is left out: no sentence is cut. Its hits stay, since they caused it.
    `count` gives the tokens of a text, by default words, numbers, marks and CJK characters. ValueError for a budget
    below 1, TypeError for what are no Contexts or no function.
    """
    check_whole("token_budget", token_budget, 1)
    check_callable("count", count, "from a text to the number of its tokens")
    kept: list[Context] = []
    for context in list_of(Context, "contexts", contexts):
        size = count(context.text)
        if size > token_budget:
            return kept + _trimmed(context, size, token_budget, count)
        token_budget -= size
        kept.append(context)
    return kept


def _trimmed(context: Context, size: int, token_budget: int, count: Callable[[str], int]) -> list[Context]:
    text, found = context.text, sentences(context.text)
    room = len(text) * token_budget / size  # about so many characters fit

    def fits(low: int, high: int) -> bool:
        return count(text[found[low].start : found[high - 1].end]) <= token_budget

    def seems_to_fit(low: int, high: int) -> bool:
        return low == high or found[high - 1].end - found[low].start <= room

    low, high = _around_hits(_matched(context, found), len(found), fits, seems_to_fit)
    if low == high:
        return []
    span = Span(context.span.start + found[low].start, context.span.start + found[high - 1].end)
    return [replace(context, span=span, text=text[found[low].start : found[high - 1].end])]


def _matched(context: Context, found: Sequence[Span]) -> list[tuple[int, int]]:
    """The sentences that each hit lies in, from one to before another; hits on other texts have none."""
    matched = []
    for hit in context.hits:
        span = hit.chunk.span
        if hit.chunk.doc_id == context.doc_id and span.overlaps(context.span):
            at = Span(max(0, span.start - context.span.start), span.end - context.span.start)
            matched += _sentences_in(at, found)
    return matched


def _sentences_in(span: Span, found: Sequence[Span]) -> list[tuple[int, int]]:
    shared = {n: min(s.end, span.end) - max(s.start, span.start) for n, s in enumerate(found) if s.overlaps(span)}
    # Of a sentence that a chunk only repeats the end of, little lies in it.
    most = [n for n, size in shared.items() if 2 * size >= min(len(found[n]), len(span))] or list(shared)
    return [(most[0], most[-1] + 1)] if most else []


def _around_hits(matched: Sequence[tuple[int, int]], last: int, fits: Fits, seems: Fits) -> tuple[int, int]:
    low, high = matched[0] if matched else (0, 0)
    if low < high and not fits(low, high):
        return low, low + _most(high - low, lambda more: (low, low + more), fits, seems)
    for other in matched[1:]:
        wider = min(low, other[0]), max(high, other[1])
        if wider != (low, high) and fits(*wider):
            low, high = wider
    return _grown(low, high, last, fits, seems)


def _grown(low: int, high: int, last: int, fits: Fits, seems: Fits) -> tuple[int, int]:
    """Add sentences in turn after and before, then on either side those that still fit."""

    def turns(more: int) -> tuple[int, int]:
        before = min(low, max(more // 2, more - (last - high)))
        return low - before, high + more - before

    start, end = turns(_most(low + last - high, turns, fits, seems))
    end += _most(last - end, lambda more: (start, end + more), fits, seems)
    start -= _most(start, lambda more: (start - more, end), fits, seems)
    return start, end


def _most(limit: int, piece: Callable[[int], tuple[int, int]], fits: Fits, seems: Fits) -> int:
    """The largest number up to `limit` whose piece fits, 0 where that of 1 does not.

    A guess by characters costs no count; from there on it goes in strides that double, then by halves. So few pieces
    are counted, and none that is much larger than what fits.
    """
    good, bad, step = 0, limit + 1, 1
    tried = bisect_left(range(1, bad), True, key=lambda more: not seems(*piece(more)))
    while good + 1 < bad:
        tried = min(max(tried, good + 1), bad - 1)
        good, bad = (tried, bad) if fits(*piece(tried)) else (good, tried)
        # From a good guess upwards, from a bad one downwards, until it lies between two.
        tried = tried + step if bad > limit else tried - step if good == 0 else (good + bad) // 2
        step *= 2
    return good
