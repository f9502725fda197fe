"""How an object shows itself: a title and rows, as HTML in a notebook and as lines of text elsewhere."""

from collections.abc import Iterator
from html import escape
from typing import Any

from .characters import language_of

# What a row says: a text, or several lines.
Rows = list[tuple[str, str | list[str]]]
_LONGEST = 400  # characters; a longer text is shortened in the middle
_FIRST = 60


class Card:
    """Shows an object by its `_card`, rounded and shortened for the eye alone: `repr` stays exact."""

    __slots__ = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # IPython looks class by class, and would find a dataclass's own __repr__ first.
        cls._repr_pretty_ = Card._pretty

    def _card(self) -> tuple[str, Rows]:
        raise NotImplementedError(f"{type(self).__name__} has no card")

    def __str__(self) -> str:
        title, rows = self._card()
        wide = max((len(label) for label, _ in rows), default=0)
        lines = (_labelled(label, _lines(value), wide) for label, value in rows)
        return "\n".join([title, *(line for row in lines for line in row)])

    def _pretty(self, printer: Any, cycle: bool) -> None:
        for number, line in enumerate("…" if cycle else str(self).split("\n")):
            if number:
                printer.break_()  # a new line, as far to the right as the list around it
            printer.text(line)

    def _repr_html_(self) -> str:
        title, rows = self._card()
        if not rows:
            return f'<div class="s2b-alone s2b-surface"><p>{escape(title)}</p></div>'
        body = "".join(f'<tr><th scope="row">{escape(label)}</th>{_cell(_lines(value))}</tr>' for label, value in rows)
        table = f'<table class="s2b-table"><caption>{escape(title)}</caption><tbody>{body}</tbody></table>'
        return f'<div class="s2b-alone s2b-surface">{table}</div>'


def _lines(value: str | list[str]) -> list[str]:
    return (value if isinstance(value, list) else value.splitlines()) or [""]


def _labelled(label: str, lines: list[str], wide: int) -> Iterator[str]:
    for number, line in enumerate(lines):
        yield f"  {'' if number else label:{wide}}  {line}".rstrip()


def _cell(lines: list[str]) -> str:
    # A page in English says where it speaks another language, for screen readers and fonts.
    language = ' lang="zh"' if language_of("".join(lines)) == "zh" else ""
    return f"<td{language}>{'<br>'.join(map(escape, lines))}</td>"


def shown_score(score: float) -> str:
    """A score as it is shown: three decimals, or three digits where it is small, as in fused lists."""
    return f"{score:.3f}" if abs(score) >= 0.1 or not score else f"{score:.3g}"


def counted(number: int, unit: str) -> str:
    """A number with its unit, "1 chunk" or "1,200 chunks"."""
    return f"{number:,} {unit if number == 1 else unit + 's'}"


def beginning(text: str, most: int = _FIRST) -> str:
    """The first words of a text in one line."""
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most and len(text) <= 4 * most else f"{_until(line, most)} …"


def abridged(text: str, most: int = _LONGEST) -> str:
    """A text, shortened in the middle where it is longer than `most` characters, which says how many are left out."""
    if len(text) <= most:
        return text
    head, tail = _until(text, most // 3), _until(text[::-1], most // 3)[::-1]
    return f"{head} … {counted(len(text) - len(head) - len(tail), 'character')} left out … {tail}"


def _until(text: str, most: int) -> str:
    # Between words, unless that loses more than a long word.
    cut = text[: most + 1].rfind(" ")
    return text[: cut if most - cut < most // 3 else most]


def first_few(lines: list[str], most: int = 5) -> list[str]:
    """The first lines of a list, and how many there are beyond them."""
    more = len(lines) - most
    return lines if more <= 0 else [*lines[:most], f"… and {more:,} more"]
