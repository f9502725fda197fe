"""The copy of a chunk that is embedded: what stands above it, and its text with words mended that a line end cut."""

import re
from collections.abc import Callable, Iterator

from .blocks import paragraphs
from .characters import is_blank
from .outline import Outline
from .split import recursive
from .tables import Heads, without_rules
from .text import PUBLIC, Document, Span

BETWEEN = " > "  # two headings of a path
_SOFT = "\u00ad"
_LETTER = r"[^\W\d_]"
# Begun at the first letter of a word only, so that a long word is not tried from each of its letters.
_CUT = re.compile(rf"(?<!{_LETTER})({_LETTER}++)([-‐{_SOFT}])[^\S\r\n]*+(?:\r\n|\r|\n)[^\S\r\n]*+(?=({_LETTER}++))")
_COMPOUND = re.compile(rf"(?<!{_LETTER}){_LETTER}++[-‐]{_LETTER}++")
# Words that stand before a hyphen of their own more often than they begin a longer word.
_FIRST = frozenset("all cross ex full half high long low mid near non one self semi short so three two well".split())
_SUSPENDED = frozenset("and or nor to und oder bis".split())  # "short- and long-term"


def unhyphenated(text: str, known: frozenset[str] = frozenset()) -> str:
    """Join the words that a hyphen at a line end cut, and take out soft hyphens.

    The hyphen stays in compounds that are `known` (lower case), after words like "well" and "self", and before a
    capital letter. Another compound loses it, since one line end does not tell whose the hyphen is.
    """
    if "\n" in text or "\r" in text:
        text = _CUT.sub(lambda cut: _joined(cut, known), text)
    return text.replace(_SOFT, "")


def _joined(cut: re.Match, known: frozenset[str]) -> str:
    left, hyphen, right = cut.groups()
    if hyphen == _SOFT:
        return left
    if right.lower() in _SUSPENDED:
        return cut[0]
    in_capitals = (left + right).isupper() and min(len(left), len(right)) > 2
    own = not (right.islower() or in_capitals) or left.lower() in _FIRST or f"{left}-{right}".lower() in known
    return f"{left}-" if own else left


def compounds(text: str) -> frozenset[str]:
    """The words with a hyphen inside a line, in lower case; none for a text where no line end cuts a word."""
    if not _CUT.search(text):
        return frozenset()
    return frozenset(word.replace("‐", "-").lower() for word in _COMPOUND.findall(text))


class Copies:
    """The embedded copies of the parts of one document, with or without the heading path of each."""

    def __init__(self, document: Document, heading_path: bool = False) -> None:
        self._document, self._text = document, document.text
        self._known = compounds(self._text)
        self._heads = Heads(self._text, paragraphs(self._text) if "|" in self._text else [])
        self._outline = Outline(document) if heading_path else None

    def whole(self, span: Span) -> str:
        """The copy of one span."""
        return "\n".join([*self._above(span), self._plain(span)])

    def parts(self, span: Span, size: int, length: Callable[[str], int]) -> list[str]:
        """The copy of a span in as many texts as are needed for each to be at most `size` by `length`.

        What stands above a part is left out where it alone would take more than a quarter of the size.
        """

        def copy(part: Span) -> str:
            above = (line for line in self._above(part) if length(line) <= size // 4)
            return "\n".join([*above, self._plain(part)])

        room = size
        while room > 0:
            spans = recursive(span.of(self._text), room, 0, "token", length)
            copies = [copy(Span(span.start + part.start, span.start + part.end)) for part in spans]
            over = max((length(text) for text in copies), default=0) - size
            if over <= 0 or room == 1:
                break
            room = max(1, room - over)
        return [text for text in copies if not is_blank(text)]

    def _plain(self, span: Span) -> str:
        text = span.of(self._text)
        if self._heads.touched(span):
            text = without_rules(text)
        return unhyphenated(text, self._known)

    def _above(self, span: Span) -> Iterator[str]:
        if self._outline and (path := self._outline.path(span)):
            yield BETWEEN.join(path)
        if (head := self._heads.above(span.start)) and self._may_read(head, span):
            yield self._plain(head)

    def _may_read(self, head: Span, span: Span) -> bool:
        # Sections that somebody else has cut may part a table.
        return self._document.labels(head) <= {*PUBLIC, *self._document.labels(span)}
