"""The pieces of a text: its paragraphs, the items of its lists, and what is never cut."""

import re
from functools import cached_property

from .characters import is_blank
from .lines import PIPED, TABLE, has_page
from .numbering import Label, Numbering, coming_again, labels, next_label

_PARAGRAPH_STOPS = tuple("。！？；：…”」』）》.!?:")


class Pieces:
    """The state of one pass over the lines of a text, and what it does with all that is no heading.

    A method named as a group of the line pattern handles such a line and returns where to search on.
    """

    def __init__(self, text: str, start: int) -> None:
        self.text = text
        # start, end, is it opaque, does it open a paragraph
        self.pieces: list[tuple[int, int, bool, bool]] = []
        self.begin = self.paragraph = start  # start of the open piece, of the open paragraph
        self.listed: Label | None = None  # the last numbering in the open paragraph
        self.before: Label | None = None  # the last numbering in the paragraph before
        self.items = False  # has the open paragraph a list item
        self.numbering = Numbering()
        self.entries: set[str] | None = None  # lines of the table of contents that is open
        self.entry = (-1, -1)  # start and end of its last line

    def _close(self, end: int) -> bool:
        """End the open piece before `end`, white space trimmed; tell whether there is anything to see in it."""
        piece = self.text[self.begin : end]
        stripped = piece.strip()
        # The last character settles most cases, and quickly: what is printable can be seen.
        if not stripped or (not stripped[-1].isprintable() and is_blank(stripped)):
            return False
        start = self.begin + len(piece) - len(piece.lstrip())
        # A line of a table of contents is not cut at its dots.
        opaque = self.begin == self.entry[0] and has_page(stripped)
        self.pieces.append((start, start + len(stripped), opaque, self.begin == self.paragraph))
        return True

    def _open(self, at: int, before: Label | None = None) -> None:
        """Start a new paragraph."""
        self.begin = self.paragraph = at
        self.before, self.listed, self.items = before, None, False

    def _whole(self, start: int, end: int) -> int:
        """Add an opaque paragraph and go on at the line after it."""
        self._close(start)
        self._open(start)
        self._close(end)
        start, end, _, _ = self.pieces[-1]
        self.pieces[-1] = (start, end, True, True)
        line_end = self.text.find("\n", end)
        line_end = len(self.text) if line_end < 0 else line_end
        self._open(min(line_end + 1, len(self.text)))
        return line_end

    def _blank(self, line: re.Match, at: int) -> int:
        self._close(line.start("blank"))
        self._open(line.end(), self.before if self.paragraph == at else self.listed)
        return line.end() - bool(line["blank"])  # the last newline begins the next line's match

    def _indent(self, line: re.Match, at: int) -> int:
        """Begin a paragraph as Chinese ones are, unless every line is indented so."""
        words = self.text[self.paragraph : at].rstrip()
        if words and (words[-1] in _PARAGRAPH_STOPS or "\u3000\u3000" not in self.text[self.begin : self.begin + 8]):
            self._close(at)
            self._open(at)
        return line.end()

    def _html(self, line: re.Match, at: int) -> int:
        """Take a comment, or an element that holds no Markdown, whole."""
        closing = rf"(?i:</{line['element']}>)" if line["element"] else "-->"
        found = re.compile(rf"{closing}[^\n]*+").search(self.text, line.end())
        return self._whole(at, found.end() if found else len(self.text))

    def _table(self, line: re.Match, at: int) -> int:
        return self._whole(at, TABLE.match(self.text, line.start("table")).end())

    def _divider(self, line: re.Match, at: int) -> int:
        """Take the line under the head of a table whose rows need not start with a bar."""
        head = max(self.text.rfind("\n", self.paragraph, max(at - 1, 0)) + 1, self.paragraph)
        if not {*"|+"} & {*line["divider"]} or "|" not in self.text[head:at]:
            return line.end()
        rows = PIPED.match(self.text, min(line.end() + 1, len(self.text)))
        return self._whole(head, max(line.end(), rows.end()))

    @cached_property
    def _later(self) -> dict[Label, int]:
        """Where each numbering begins a line for the last time."""
        return dict(self._labels)

    @cached_property
    def _again(self) -> set[int]:
        return coming_again(self._labels)

    @cached_property
    def _labels(self) -> list[tuple[Label, int]]:
        return labels(self.text)

    # --- lists, and tables of contents ---

    def _is_entry(self, label: Label, words: str, end: int) -> bool:
        """Tell whether a line belongs to a table of contents: it ends with a page, or comes again further down."""
        if has_page(words):
            return True
        if self.entries is None:
            named = label.scheme not in ("number", "han", "bracket")
            return named and words[-1].isdecimal() and " " in words[-5:] and self._later.get(label, 0) > end
        if words in self.entries or self._later.get(label, 0) <= end:
            self.entries = None
            return False
        self.entries.add(words)
        return True

    def _contents(self, line: re.Match, at: int) -> int:
        if at == self.paragraph:
            self.entries = set()
        return line.end()

    def _entry(self, line: re.Match, at: int) -> int:
        """Take a line of a table of contents."""
        end = self._piece(line, at)  # which closes the entry before
        self.entry = (at, line.end())
        return end

    def _piece(self, line: re.Match, at: int) -> int:
        """Begin a piece, but no paragraph."""
        if not self._close(at):  # nothing seen of the paragraph so far
            self.paragraph = at
        self.begin = at
        self.items = True
        return line.end()

    def _item(self, line: re.Match | None, at: int) -> int:
        if not line:
            return 0
        digits = line.groupdict().get("digits")
        # a wrapped line may start with a number by chance; a list starts with 1 or starts its paragraph
        if not digits or at == self.paragraph or self.items or int(digits) <= 1:
            self._piece(line, at)
            label = next_label(self.text, at)
            self.numbering.item(label)
            self.listed = label or self.listed
        return line.end()
