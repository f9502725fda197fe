"""Text with positions: spans, documents, sections, paragraphs and sentences, in Chinese and English."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import starmap

# letters and marks that are written without spaces between sentences
_CJK = (
    r"\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f"
    r"\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff9f\U00020000-\U0003ffff"
)
# anything but white space, controls, and the marks that join, shape or direct what stands beside them
_SEEN = re.compile(
    r"[^\s\0-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f]"
)


def is_blank(text: str, start: int = 0, end: int = sys.maxsize) -> bool:
    """Tell whether nothing in `text[start:end]` can be seen: white space, controls and zero-width marks at most."""
    return not _SEEN.search(text, start, end)


def check_str(name: str, value: object) -> None:
    """Refuse what is no str (TypeError)."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a str, not {type(value).__name__}")


# --- spans and documents ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open range of character offsets, `text[start:end]`."""

    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end:
            raise ValueError(f"a span needs 0 <= start <= end, got start={self.start}, end={self.end}")

    def __len__(self) -> int:
        return self.end - self.start

    def of(self, text: str) -> str:
        """Return the piece of the text that the span covers."""
        return text[self.start : self.end]

    def overlaps(self, other: Span) -> bool:
        """Tell whether at least one character lies in both spans."""
        return max(self.start, other.start) < min(self.end, other.end)

    def contains(self, other: Span) -> bool:
        """Tell whether the other span lies wholly inside this one."""
        return self.start <= other.start and other.end <= self.end


@dataclass(frozen=True, slots=True)
class Section:
    """The part of a document from one heading up to the next."""

    id: str
    title: str
    level: int
    span: Span
    access: str

    def __post_init__(self) -> None:
        for name in ("id", "title", "access"):
            check_str(f"{name} of section {self.id!r}", getattr(self, name))


@dataclass(frozen=True, slots=True)
class Document:
    """A text with an identity, a version, an access label and its sections, one for all of it where none are given."""

    id: str
    title: str
    text: str
    version: str
    access: str
    sections: tuple[Section, ...] = ()

    def __post_init__(self) -> None:
        for name in ("id", "title", "text", "version", "access"):
            check_str(f"{name} of document {self.id!r}", getattr(self, name))
        if not self.id:
            raise ValueError("a document needs an id, got an empty one")
        if not self.sections and not is_blank(self.text):
            whole = Section(f"{self.id}/0", "", 0, Span(0, len(self.text)), self.access)
            object.__setattr__(self, "sections", (whole,))
        ends = [0, *(section.span.end for section in self.sections)]
        if self.sections and [*(s.span.start for s in self.sections), len(self.text)] != ends:
            raise ValueError(f"the sections of document {self.id!r} must follow each other and cover all its text")


def document(
    id: str,
    text: str,
    *,
    title: str | None = None,
    version: str = "1",
    access: str = "public",
    section_access: Mapping[int | str, str] | None = None,
) -> Document:
    """Build a document and find its sections.

    Section ids are `id/ordinal`; the text before the first heading, or the only level-1 heading (marked by `#` or a
    line below) when the text opens with it, has ordinal 0. `section_access` maps an ordinal or a title to the label
    of that section and of the deeper sections below it; a key that fits no section is a ValueError.
    """
    if not isinstance(section_access, Mapping | None):
        raise TypeError(f"section_access must be a mapping of labels, not {type(section_access).__name__}")
    headings = _Blocks(text).headings
    titled = _opens_with_title(text, headings)
    parts = _parts(text, headings)
    first = 0 if titled or (parts and not parts[0][1]) else 1
    labels = _labels(parts, first, access, dict(section_access or {}))
    found = tuple(
        Section(f"{id}/{ordinal}", heading, level, span, label)
        for ordinal, ((heading, level, span), label) in enumerate(zip(parts, labels, strict=True), first)
    )
    if title is None:
        title = headings[0][2] if titled else id
    return Document(id, title, text, version, access, found)


def sections(text: str) -> list[Span]:
    """Cut a text at its headings; the spans cover all of it, and blank text has none."""
    return [span for _, _, span in _parts(text, _Blocks(text).headings)]


def _opens_with_title(text: str, headings: list[tuple]) -> bool:
    tops = [start for start, level, _, marked in headings if marked and level == 1]
    return len(tops) == 1 and tops[0] == headings[0][0] and is_blank(text, 0, tops[0])


def _parts(text: str, headings: list[tuple]) -> list[tuple[str, int, Span]]:
    if is_blank(text):
        return []
    starts = [heading[0] for heading in headings]
    names = [(heading[2], heading[1]) for heading in headings]
    if not starts or not is_blank(text, 0, starts[0]):
        starts, names = [0, *starts], [("", 0), *names]
    starts[0] = 0
    spans = map(Span, starts, [*starts[1:], len(text)])
    return [(name, level, span) for (name, level), span in zip(names, spans, strict=True)]


def _labels(parts: list[tuple[str, int, Span]], first: int, access: str, wanted: dict) -> list[str]:
    known = {name for name, _, _ in parts} | set(range(first, first + len(parts)))
    if unknown := [key for key in wanted if key not in known]:
        raise ValueError(f"section_access names no section of the text: {unknown[0]!r}")
    labels: list[str] = []
    above: list[tuple[int, str]] = []  # level and label of the sections that hold the current one
    for ordinal, (name, level, _) in enumerate(parts, first):
        while above and above[-1][0] >= level:
            above.pop()
        label = wanted.get(ordinal, wanted.get(name, above[-1][1] if above else access))
        labels.append(label)
        if ordinal:  # the title section stands for itself: the whole document has a label of its own
            above.append((level, label))
    return labels


# --- structure: headings, fences, tables, list items, blank lines ----------------------------------------------------

_GAP = r"[^\S\n]*+"  # white space inside a line; possessive, so that hostile input cannot make it backtrack
_EOL = rf"{_GAP}(?=\n|\Z)"
_HAN = "[一二三四五六七八九十百]{1,4}"
_COUNTED = rf"(?P<digits>\d{{1,3}})(?:[.．](?=[\s{_CJK}])|[)）、])"
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sep|Oct|Nov|Dec)[a-z]*\b"
_LINE = rf"""(?P<at>)\ufeff?{_GAP}(?:
  (?P<blank>\n(?:{_GAP}\n)*+|\Z)
| (?P<fence>(?P<ticks>`{{3,}}+)[^`\n]*+(?=\n|\Z)|(?P<tildes>~{{3,}}+)[^\n]*+)
| (?P<table>\||\+[-=])
| (?P<hash>(?P<depth>\#{{1,6}}+)[^\S\n]++(?P<title>[^\n]++))
| (?P<number>(?P<figure>\d{{1,2}}(?:\.\d{{1,2}}){{0,4}}+)
    (?:[.．]?[^\S\n]++(?![个個天年月日名份位元次万千]|{_MONTH})|[.．、](?=[{_CJK}]))
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


class _Blocks:
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
    """Cut a text at blank lines, headings, code fences and tables, white space trimmed."""
    spans: list[tuple[int, int]] = []
    for start, end, _, opens in _Blocks(text).pieces:
        spans.append((start, end) if opens else (spans.pop()[0], end))
    return list(starmap(Span, spans))


# --- sentences -------------------------------------------------------------------------------------------------------

_SOFT = ".!?…．"  # these end a sentence only before white space, the end or CJK
_HARD = "。！？；｡"
_SHUT = "”’」』》〉】）〕］｝)\\]}»›"
_EITHER = "\"'*_`"  # these open as well as close: they close before white space and before other marks
_CLOSER = rf"(?:[{_SHUT}]|[{_EITHER}]{{1,3}}+(?=[\s{_SHUT},.;:!?，。、；：！？]|\Z)|\[\d{{1,3}}\])"
_GOING_ON = rf"，、：,:{_SHUT}"  # no sentence begins with these
# Never tried inside a run of marks, and few closing marks are taken: no input makes the search quadratic.
_END = re.compile(
    rf"""[{_SOFT}{_HARD}](?<![{_SOFT}{_HARD}][{_SOFT}{_HARD}])(?:
      (?P<hard>(?<=[{_HARD}])|[{_SOFT}]*+[{_HARD}]|(?<=…)…)[{_SOFT}{_HARD}]*+(?:{_CLOSER}[{_SOFT}{_HARD}]*+){{0,8}}+
    | [{_SOFT}]*+(?:{_CLOSER}[{_SOFT}]*+){{0,8}}+(?![{_HARD}])(?=[{_EITHER}]{{0,3}}+[\s{_CJK}“‘]|\Z)
    )(?![{_GOING_ON}])(?=(?P<space>\s*+))""",
    re.VERBOSE,
)
_SPACE = re.compile(r"\s*+")
_RUN = re.compile(rf"([{_EITHER}])\1{{0,2}}")
_NEVER = "mr mrs ms mx dr prof gen col sgt lt capt rev hon gov sen rep messrs mme e.g i.e cf vs viz approx resp"
_NUMERIC = "no nos fig figs eq eqs sec secs ch chap vol vols p pp art arts ref refs tab app para paras max min c ca pt"
_OFTEN = "etc a.m p.m"
_SELDOM = (
    "st mt inc ltd corp co jr sr al ed eds dept univ ph.d v ave blvd jan feb mar apr jun jul aug sep sept oct nov dec"
)
_ABBREVIATIONS = {
    word: kind
    for kind, words in (("never", _NEVER), ("numeric", _NUMERIC), ("often", _OFTEN), ("seldom", _SELDOM))
    for word in words.split()
}
_STARTERS = frozenset(
    "The This That These Those It He She We They You I A An In On At If When While As But And Or So Then There Here "
    "However For From To With By After Before Since Because Although What Who Why How Where Our My Your His Her Its "
    "Their Not No Yes All Some Many Most Both Each Every One Another Such Also Thus Hence Once Until Everyone Nobody "
    "Nothing".split()
)
# words that name things by a letter: "plan B." is not an initial
_LETTERED = frozenset(
    "plan vitamin section appendix option part class type grade group figure table chapter annex exhibit level step "
    "point case item schedule category phase version series model team zone letter".split()
)
_ACRONYM = re.compile(r"(?:[^\W\d_]\.-?)+[^\W\d_]\Z")
_LIST_NUMBER = re.compile(r"\d{1,3}(\.\d{1,3})*+\Z")
_WORD = re.compile(r"[^\W\d_]+")
_NAME = re.compile(r"(?:[^\W\d_]\.[\s-]*+){0,3}[^\Wa-z\d_](?:['’][^\Wa-z\d_])?[^\W\d_]")
_AFTER_NUMERIC = re.compile(r"[\d(#§\[]|[A-Z]\d|[IVXLC]+\b(?!['’])|[A-Z]\b")


def sentences(text: str) -> list[Span]:
    """Cut a text into sentences, which hold all of it but white space.

    Sentences never cross a paragraph; a code fence, a table and a heading are one sentence each.
    """
    blocks = _Blocks(text)
    spans: list[tuple[int, int]] = []
    for start, end, opaque, _ in blocks.pieces:
        if opaque:
            spans.append((start, end))
        else:
            _split(blocks.text, start, end, spans)
    return list(starmap(Span, spans))


def _split(text: str, start: int, end: int, spans: list[tuple[int, int]]) -> None:
    pairs = _Pairs(text, start)
    for found in _END.finditer(text, start, end):
        stop, after = found.end(), found.end("space")
        if after >= end:
            break
        if stop <= start:
            continue
        follower = text[after]
        if found.start("hard") < 0:
            if follower.islower() or follower in ".!?…,;:)]}”’":
                continue
            if text[found.start()] == "." and not _dot_ends(text, start, found.start(), after):
                continue
        if follower in _EITHER and after == stop:
            stop = pairs.close(stop)
            after = _SPACE.match(text, stop, end).end()
            if stop >= end:
                break
        spans.append((start, stop))
        start = after
    if not text[end - 1].isprintable() and is_blank(text, start, end):
        start, _ = spans.pop()
    spans.append((start, end))


class _Pairs:
    """Marks of one paragraph that open and close with the same character, counted once from left to right."""

    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.start = start
        self.counts: dict[str, tuple[int, int]] = {}  # mark -> (counted up to here, found)

    def close(self, at: int) -> int:
        """Return where the left sentence ends: behind the mark at `at` if that closes a pair, else before it."""
        run = _RUN.match(self.text, at)
        place, count = self.counts.get(run[0], (self.start, 0))
        count += self.text.count(run[0], place, at)
        self.counts[run[0]] = (at, count)
        return run.end() if count % 2 else at


def _dot_ends(text: str, start: int, dot: int, after: int) -> bool:
    """Decide whether the full stop at `dot` ends a sentence or an abbreviation, an initial or a list number."""
    at = max(text.rfind(" ", max(start, dot - 24), dot) + 1, start, dot - 24)
    word = text[at:dot].rpartition("\n")[2].lstrip("([{\"'“‘「『（《*_`")
    kind = _ABBREVIATIONS.get(word.lower())
    if kind:
        return kind != "never" and _abbreviation_ends(text, kind, word, after)
    if len(word) == 1 and word.isupper():
        return _letter_ends(text, start, dot, after)
    if word[:1].isdigit() and (number := _LIST_NUMBER.match(word)):
        return _number_ends(text, start, dot - len(word), number)
    if "." in word and word.isupper() and _ACRONYM.match(word):
        return _starts_anew(text, after)
    return not (len(word) == 1 and word.islower() and dot - 1 == start and "\n" not in text[dot:after])


def _abbreviation_ends(text: str, kind: str, word: str, after: int) -> bool:
    if kind == "often" or word.lower() == "no":
        return not (text[after].isdigit() or text[after] in "(#§[")
    if kind == "numeric":
        return not _AFTER_NUMERIC.match(text, after)
    return _starts_anew(text, after)


def _number_ends(text: str, start: int, place: int, number: re.Match) -> bool:
    """Tell the number of a list item, at the start of a sentence, from one that ends its sentence."""
    ahead = text[max(0, place - 4) : place]
    if number[1]:  # like 2.1: a decimal unless it starts a line
        return bool(ahead.rpartition("\n")[2].strip())
    return place > start and not (number[0] == "1" and ahead.strip()[-1:] == ":")


def _letter_ends(text: str, start: int, dot: int, after: int) -> bool:
    """Tell an initial ("A. Einstein") from a letter that ends its sentence ("plan B. Then")."""
    line_start = max(text.rfind("\n", max(start, dot - 2), dot) + 1, start)
    alone = line_start == dot - 1 and "\n" in text[dot:after]
    if alone or not _NAME.match(text, after) or _starts_anew(text, after):
        return True
    left = text[max(start, dot - 24) : dot - 1].split()
    if not left:
        return False
    return left[-1].lower() in _LETTERED or (text[dot - 1] == "I" and not left[-1].endswith("."))


def _starts_anew(text: str, after: int) -> bool:
    word = _WORD.match(text, after)
    return bool(word) and word[0] in _STARTERS and text[word.end() : word.end() + 1] != "."


# --- grapheme clusters -----------------------------------------------------------------------------------------------

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
