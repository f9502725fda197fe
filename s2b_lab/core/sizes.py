"""How large a text is: characters, words, tokens, sentences."""

import re
from typing import Literal

from .characters import HAN_AND_KANA
from .checks import check_choice, check_str
from .graphemes import is_boundary
from .sentences import sentences
from .text import Span

Unit = Literal["char", "word", "token", "sentence"]
OPENING = "（「『《〈【〔［｛"
CLOSING = "。！？；…，、：」』）》〉】〕］｝"
_PATTERNS = {
    "word": re.compile(rf"[{HAN_AND_KANA}]|[^\s{HAN_AND_KANA}{OPENING}{CLOSING}]+"),
    "token": re.compile(
        rf"[{HAN_AND_KANA}]|\d+(?:[.,]\d+)*|[^\W\d_{HAN_AND_KANA}][^\W_{HAN_AND_KANA}]*(?:['’][^\W_{HAN_AND_KANA}]+)*|\S"
    ),
}


def count(text: str, unit: Unit = "char") -> int:
    """Size of a text in characters, words, tokens or sentences.

    A word is a run between white space or one CJK character. A token, an approximation that needs no
    model, is a word, a number, a punctuation mark or one CJK character. ValueError for another unit, TypeError for
    what is no text.
    """
    check_str("text", text)
    check_unit(unit)
    if unit == "char":
        return len(text)
    return len(units_of(text, unit))


def units_of(text: str, unit: Unit) -> list[tuple[int, int]]:
    """Start and end of each unit; one that begins inside a grapheme cluster belongs to the one before."""
    found = sentences(text) if unit == "sentence" else (Span(*m.span()) for m in _PATTERNS[unit].finditer(text))
    units: list[tuple[int, int]] = []
    for span in found:
        start, end = units[-1] if units else (0, -1)
        if end == span.start and not is_boundary(text, end, start):
            units[-1] = (start, span.end)
        else:
            units.append((span.start, span.end))
    return units


def check_unit(unit: str) -> None:
    """Refuse what is no unit of size."""
    check_choice("unit", unit, ("char", "word", "token", "sentence"))
