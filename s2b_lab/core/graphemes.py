"""Grapheme clusters: what a reader sees as one character is never cut."""

import unicodedata
from collections.abc import Iterator

from .text import Span

# Characters that stay with the one after them (Unicode: Grapheme_Cluster_Break=Prepend).
_PREPEND = frozenset(
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\u0d4e\U000110bd\U000110cd\U000111c2\U000111c3"
    "\U0001193f\U00011941\U00011a3a\U00011a84\U00011a85\U00011a86\U00011a87\U00011a88\U00011a89\U00011d46\U00011f02"
)
# Marks that tie two consonants of a script together (Indic_Conjunct_Break=Linker).
_VIRAMAS = frozenset(
    "\u094d\u09cd\u0a4d\u0acd\u0b4d\u0c4d\u0d4d\u1039\u17d2\u1a60\u1b44\u1bab\ua9c0\uaaf6"
    "\U00010a3f\U00011133\U000113d0\U0001193e\U00011a47\U00011a99\U00011f42"
)
_FLAGS = "".join(map(chr, range(0x1F1E6, 0x1F200)))


def _extends(char: str) -> bool:
    """Tell whether a character always stays with the one before it."""
    return (
        unicodedata.category(char)[0] == "M"
        or char in "\u200c\u200d\u0e33\u0eb3\uff9e\uff9f"
        or "\U0001f3fb" <= char <= "\U0001f3ff"
        or "\U000e0020" <= char <= "\U000e007f"
    )


def _is_control(char: str) -> bool:
    return unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") and not (
        char in "\u200c\u200d" or char in _PREPEND or "\U000e0020" <= char <= "\U000e007f"
    )


def _jamo(char: str) -> str:
    code = ord(char)
    if 0xAC00 <= code <= 0xD7A3:
        return "LVT" if (code - 0xAC00) % 28 else "LV"
    if 0x1100 <= code <= 0x115F or 0xA960 <= code <= 0xA97C:
        return "L"
    if 0x1160 <= code <= 0x11A7 or 0xD7B0 <= code <= 0xD7C6:
        return "V"
    return "T" if 0x11A8 <= code <= 0x11FF or 0xD7CB <= code <= 0xD7FB else ""


_JAMO_PAIRS = {"L": ("L", "V", "LV", "LVT"), "V": ("V", "T"), "LV": ("V", "T"), "T": ("T",), "LVT": ("T",)}


def is_boundary(text: str, at: int, start: int = 0) -> bool:
    """Tell whether a cluster may end at `at`; the search looks back to `start`, which must be such a place itself."""
    if not start < at < len(text):
        return True
    left, right = text[at - 1], text[at]
    if right < "\u0300" or "\u3400" <= right <= "\u9fff":
        return not (left in _PREPEND and not _is_control(right)) and not (left == "\r" and right == "\n")
    if _is_control(left) or _is_control(right):
        return True
    if _extends(right) or left in _PREPEND:
        return False
    if left == "\u200d":
        return not _is_picture(right)
    if right in _FLAGS and left in _FLAGS:
        return _flags_before(text, at, start) % 2 == 0
    if left in _VIRAMAS:
        return not (unicodedata.category(right) == "Lo" and ord(left) >> 7 == ord(right) >> 7)
    return _jamo(right) not in _JAMO_PAIRS.get(_jamo(left), ())


def _is_picture(char: str) -> bool:
    return unicodedata.category(char) in ("So", "Sm", "Sk") or "\U0001f000" <= char <= "\U0001fffd" or char in "‼⁉〰"


def _flags_before(text: str, at: int, start: int) -> int:
    width = 64
    while True:
        run = text[max(start, at - width) : at]
        count = len(run) - len(run.rstrip(_FLAGS))
        if count < len(run) or at - width <= start:
            return count
        width *= 4


def next_cut(text: str, position: int, start: int = 0) -> int:
    """Return the first place at or after `position` that is inside no grapheme cluster."""
    while not is_boundary(text, position, start):
        position += 1
    return position


def graphemes(text: str, start: int = 0, end: int | None = None) -> Iterator[Span]:
    """Give the grapheme clusters of `text[start:end]` in order."""
    end = len(text) if end is None else end
    while start < end:
        stop = min(next_cut(text, start + 1, start), end)
        yield Span(start, stop)
        start = stop
