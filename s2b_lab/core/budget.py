"""A budget of tokens: what fits of what was found."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from .checks import check_whole
from .hits import Context
from .sentences import sentences
from .sizes import count as count_units
from .text import Span


def _tokens(text: str) -> int:
    return count_units(text, "token")


def within_budget(
    contexts: Iterable[Context],
    token_budget: int,
    count: Callable[[str], int] = _tokens,
) -> list[Context]:
    """The first contexts that fit into the budget together.

    The first that does not fit is cut after its last sentence that does, or left out; it ends the list. Its
    hits stay, since they caused it. `count` gives the tokens of a text, by default words, numbers, marks and CJK
    characters. ValueError for a budget below 1.
    """
    check_whole("token_budget", token_budget, 1)
    kept: list[Context] = []
    for context in contexts:
        size = count(context.text)
        if size > token_budget:
            return kept + _beginning(context, token_budget, count)
        token_budget -= size
        kept.append(context)
    return kept


def _beginning(context: Context, token_budget: int, count: Callable[[str], int]) -> list[Context]:
    ends = [s.end for s in sentences(context.text) if count(context.text[: s.end]) <= token_budget]
    if not ends:
        return []
    span = Span(context.span.start, context.span.start + ends[-1])
    return [replace(context, span=span, text=context.text[: ends[-1]])]
