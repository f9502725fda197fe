"""The blocks of a text in one pass: headings, code fences, tables, list items, blank lines."""

import re
from itertools import starmap

from .characters import CJK, is_blank
from .checks import check_str
from .text import Span

_GAP = r"[^\S\n]*+"  # white space inside a line; possessive, so that hostile input cannot make it backtrack
_EOL = rf"{_GAP}(?=\n|\Z)"
_HAN = "[一二三四五六七八九十百]{1,4}"
_COUNTED = rf"(?P<digits>\d{{1,3}})(?:[.．](?=[\s{CJK}])|[)）、])"
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sep|Oct|Nov|Dec)[a-z]*\b"
_LINE = rf"""(?P<at>)\ufeff?{_GAP}(?:
  (?P<blank>\n(?:{_GAP}\n)*+|\Z)
| (?P<fence>(?P<ticks>`{{3,}}+)[^`\n]*+(?=\n|\Z)|(?P<tildes>~{{3,}}+)[^\n]*+)
| (?P<table>\||\+[-=])
| (?P<hash>(?P<depth>\#{{1,6}}+)[^\S\n]++(?P<title>[^\n]++))
| (?P<number>(?P<figure>\d{{1,2}}(?:\.\d{{1,2}}){{0,4}}+)
    (?:[.．]?[^\S\n]++(?![个個天年月日名份位元次万千]|{_MONTH})|[.．、](?=[{CJK}]))
    (?=[^\Wa-z\d_])[^\n]{{1,80}}+{_GAP}(?=\n{_GAP}(?:\n|\Z)|\Z))
| (?P<han>(?:{_HAN}、|[(（]{_HAN}[)）])[^\n]{{1,40}}+{_EOL})
| (?P<chapter>(?P<label>第[〇零一二三四五六七八九十百千两\d]{{1,6}}(?P<rank>[编篇部卷章节節条條]))
    (?P<apart>(?=[\s：:、]|\Z))?[^\n]*+)
| (?P<rule>(?P<stroke>[=\-~^*"])(?P=stroke){{2,}}+{_EOL})
| (?P<divider>[:\-][\-:|+\ \t]*+{_EOL})
| (?P<item>[-*+](?=\s|\Z)|[•‣◦▪●○①-⑳❶-❿]|[(（](?:\d{{1,3}}|[a-zA-Z]|{_HAN})[)）]|[a-zA-Z][)）](?=\s)
    |{_HAN}、|{_COUNTED})
)"""
_FIRST_LINE = re.compile(_LINE, re.VERBOSE)
_NEXT_LINE = re.compile(r"\n" + _LINE, re.VERBOSE)
_TABLE = re.compile(rf"(?:{_GAP}(?:\||\+[-=])[^\n]*+(?:\n|\Z))++")
_PIPED = re.compile(r"(?:[^\n|]*+\|[^\n]*+(?:\n|\Z))*+")
_NUMBERED = re.compile(_COUNTED)
_MARKER = re.compile(
    rf"\s*+(?:(\d{{1,2}}(?:\.\d{{1,2}})*+)(?:[.．)）、]|[^\S\n]++(?=[^\Wa-z\d_]))|({_HAN}、)|[(（]{_HAN}[)）])"
)
_SENTENCE_LIKE = re.compile(r"[.!?…](?:\s+(?![a-z])|\Z)|[。！？；]|[;:：,，]\Z")
_CLOSING_HASHES = re.compile(r"(?:^|(?<=\s))#+\Z")
_RANKS = {"编": 1, "篇": 1, "部": 1, "卷": 1, "章": 1, "节": 2, "節": 2, "条": 3, "條": 3}


def _plain_newlines(text: str) -> str:
    r"""Return a copy of the same length in which \n alone ends a line, so that offsets stay true."""
    return text.replace("\r\n", " \n").replace("\r", "\n") if "\r" in text else text


def _marker(text: str, at: int) -> tuple[int, ...] | str | None:
    """Return the numbering that the next printed line starts with: (3, 2) for 3.2, or the style of a Chinese one."""
    if not (found := _MARKER.match(text, at)):
        return None
    if found[1]:
        return _figures(found[1])
    return "一、" if found[2] else "（一）"


def _figures(number: str) -> tuple[int, ...]:
    return tuple(map(int, number.split(".")))


def _neighbours(one: tuple[int, ...] | str | None, other: tuple[int, ...] | str | None) -> bool:
    """Tell whether the other numbering comes right after the one, as in a list."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return other == (*one[:-1], one[-1] + 1)
    return one is not None and one == other


class Blocks:
    """The paragraphs and headings of one text, found in one pass over the lines that start in a special way.

    `pieces` holds (start, end, opaque, opens a paragraph): a list item opens a piece but not a paragraph.
    `headings` holds (start of the line, level, title, is it marked by # or a line below).
    A method named as a group of the line pattern handles such a line and returns where to search on.
    """

    def __init__(self, text: str) -> None:
        check_str("text", text)
        self.text = _plain_newlines(text)
        self.pieces: list[tuple[int, int, bool, bool]] = []
        self.headings: list[tuple[int, int, str, bool]] = []
        self.begin = 0  # of the open piece
        self.paragraph = 0  # start of the open paragraph
        self.listed: tuple[int, ...] | str | None = None  # the last numbering in the open paragraph
        self.before: tuple[int, ...] | str | None = None  # the last numbering in the paragraph before
        self.items = False  # has the open paragraph a list item
        self.numbers: set[tuple[int, ...]] = set()  # of the numbered headings so far
        self.strokes: list[str] = []  # kinds of lines below headings, in order of appearance
        line = _FIRST_LINE.match(self.text)
        resume = 0
        while line or (line := _NEXT_LINE.search(self.text, resume)):
            resume = getattr(self, "_" + line.lastgroup)(line, line.start("at"))
            line = None
        self._close(len(self.text))

    def _close(self, end: int) -> bool:
        """End the open piece before `end`, white space trimmed; tell whether there is anything to see in it."""
        piece = self.text[self.begin : end]
        stripped = piece.strip()
        # The last character settles most cases, and quickly: what is printable can be seen.
        if not stripped or (not stripped[-1].isprintable() and is_blank(stripped)):
            return False
        start = self.begin + len(piece) - len(piece.lstrip())
        self.pieces.append((start, start + len(stripped), False, self.begin == self.paragraph))
        return True

    def _open(self, at: int, before: tuple[int, ...] | str | None = None) -> None:
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

    def _heading(self, start: int, end: int, level: int, title: str, marked: bool = False) -> int:
        self.headings.append((start, level, title, marked))
        return self._whole(start, end)

    def _blank(self, line: re.Match, at: int) -> int:
        self._close(line.start("blank"))
        self._open(line.end(), self.before if self.paragraph == at else self.listed)
        return line.end() - bool(line["blank"])  # the last newline begins the next line's match

    def _fence(self, line: re.Match, at: int) -> int:
        mark = line["ticks"] or line["tildes"]
        if mark[0] == "~" and line["fence"].strip() == mark and len(mark) >= max(len(self._title_above(at)), 4):
            if self._title_above(at):
                return self._underline(line.end(), "~", at)
        closing = re.compile(rf"\n{_GAP}{mark[0]}{{{len(mark)},}}+{_EOL}").search(self.text, line.end())
        return self._whole(at, closing.end() if closing else len(self.text))

    def _table(self, line: re.Match, at: int) -> int:
        return self._whole(at, _TABLE.match(self.text, line.start("table")).end())

    def _divider(self, line: re.Match, at: int) -> int:
        """Take the line under the head of a table whose rows need not start with a bar."""
        head = max(self.text.rfind("\n", self.paragraph, max(at - 1, 0)) + 1, self.paragraph)
        if "|" not in line["divider"] or "|" not in self.text[head:at]:
            return line.end()
        return self._whole(head, _PIPED.match(self.text, at).end())

    def _hash(self, line: re.Match, at: int) -> int:
        title = _CLOSING_HASHES.sub("", line["title"].strip()).strip()
        # Markdown allows three spaces before the mark, but plain-text manuals indent their code by three
        if not title or line.start("hash") - at > 2:
            return line.end()
        return self._heading(at, line.end(), len(line["depth"]), title, True)

    def _title_above(self, at: int) -> str:
        """Return the one line that the open paragraph has so far, if it may be a title."""
        if self.items or at - self.paragraph > 200:
            return ""
        title = self.text[self.paragraph : at].strip()
        return "" if "\n" in title or len(title) > 100 or title[-1:] in tuple(".。；;,，:：") else title

    def _rule(self, line: re.Match, at: int) -> int:
        title = self._title_above(at)
        if not title or (line["stroke"] not in "=-" and len(line["rule"].strip()) < len(title)):
            return line.end()
        return self._underline(line.end(), line["stroke"], at)

    def _underline(self, end: int, stroke: str, at: int) -> int:
        if stroke not in self.strokes:
            self.strokes.append(stroke)
        level = max(self.strokes.index(stroke) + 1, 2 if stroke == "-" else 1)
        return self._heading(self.paragraph, end, level, self._title_above(at), True)

    def _number(self, line: re.Match, at: int) -> int:
        number, words = _figures(line["figure"]), line["number"].strip()
        listed = _neighbours(number, _marker(self.text, line.end())) or (
            _neighbours(self.before, number) and (*number[:-1], number[-1] - 1) not in self.numbers
        )
        if at != self.paragraph or listed or _SENTENCE_LIKE.search(words, len(line["figure"]) + 1):
            return self._item(_NUMBERED.match(self.text, line.start("number")), at) or line.end()
        self.numbers.add(number)
        return self._heading(at, line.end(), len(number), words)

    def _han(self, line: re.Match, at: int) -> int:
        words = line["han"].strip()
        kind = _marker(words, 0)
        listed = kind in (self.before, self.listed, _marker(self.text, line.end()))
        if listed or not self._follows_a_stop(at) or _SENTENCE_LIKE.search(words):
            return self._item(line, at)
        return self._heading(at, line.end(), 1 if kind == "一、" else 2, words)

    def _chapter(self, line: re.Match, at: int) -> int:
        words, level, apart = line["chapter"].strip(), _RANKS[line["rank"]], line["apart"] is not None
        if not self._follows_a_stop(at):
            return line.end()
        if len(words) <= 40 and not _SENTENCE_LIKE.search(words) and (apart or "，" not in words):
            return self._heading(at, line.end(), level, words)
        if apart:  # an article of a law: its text stands on the line of its number
            self._close(at)
            self._open(at)
            self.headings.append((at, level, line["label"], False))
        return line.end()

    def _follows_a_stop(self, at: int) -> bool:
        if at == self.paragraph:
            return True
        return self.text[max(self.paragraph, at - 16) : at].rstrip()[-1:] in tuple("。！？；”」』）")

    def _item(self, line: re.Match | None, at: int) -> int:
        if not line:
            return 0
        digits = line.groupdict().get("digits")
        # a wrapped line may start with a number by chance; a list starts with 1 or starts its paragraph
        if not digits or at == self.paragraph or self.items or int(digits) <= 1:
            if not self._close(at):  # nothing seen of the paragraph so far
                self.paragraph = at
            self.begin = at
            self.items = True
            self.listed = _marker(self.text, at) or self.listed
        return line.end()


def paragraphs(text: str) -> list[Span]:
    """Cut a text at blank lines, headings, code fences and tables, white space trimmed.

    TypeError for what is no text.
    """
    spans: list[tuple[int, int]] = []
    for start, end, _, opens in Blocks(text).pieces:
        spans.append((start, end) if opens else (spans.pop()[0], end))
    return list(starmap(Span, spans))
