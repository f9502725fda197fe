"""Sentences in Chinese and English."""

import re
from itertools import starmap

from .blocks import Blocks
from .brackets import Brackets, brackets, is_chinese
from .characters import CJK, is_blank
from .tables import delimited_rows, table_rows
from .text import Span

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
    | [{_SOFT}]*+(?:{_CLOSER}[{_SOFT}]*+){{0,8}}+(?![{_HARD}])(?=[{_EITHER}]{{0,3}}+[\s{CJK}“‘]|\Z)
    )(?![{_GOING_ON}])(?=(?P<space>\s*+))""",
    re.VERBOSE,
)
_LEADER = "....."  # leads from a title to its page
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
_NUMBERED_NAMES = frozenset(["article", "section", "chapter", "part"])
_LONGEST_NAME = 9
_ACRONYM = re.compile(r"(?:[^\W\d_]\.-?)+[^\W\d_]\Z")
_LIST_NUMBER = re.compile(r"\d{1,3}(\.\d{1,3})*+\Z")
_WORD = re.compile(r"[^\W\d_]+")
_NAME = re.compile(r"(?:[^\W\d_]\.[\s-]*+){0,3}[^\Wa-z\d_](?:['’][^\Wa-z\d_])?[^\W\d_]")
_AFTER_NUMERIC = re.compile(r"[\d(#§\[]|[A-Z]\d|[IVXLC]+\b(?!['’])|[A-Z]\b")


def sentences(text: str) -> list[Span]:
    """Cut a text into sentences, which hold all of it but white space.

    Sentences never cross a paragraph; a code fence, a heading and a row of a table are one sentence each, the first row
    with the head of its table. In Chinese, a mark inside brackets, a title or a quotation in mid-sentence ends none.
    Front matter is left out. TypeError for what is no text.
    """
    blocks = Blocks(text)
    paired = is_chinese(blocks.text)
    spans: list[tuple[int, int]] = []
    for start, end, opaque, _ in blocks.pieces:
        if opaque:
            spans.extend((row.start, row.end) for row in table_rows(blocks.text, start, end))
        elif rows := delimited_rows(blocks.text, start, end):
            spans.extend((row.start, row.end) for row in rows)
        else:
            _split(blocks.text, start, end, spans, brackets(blocks.text, start, end) if paired else None)
    return list(starmap(Span, spans))


def _split(text: str, start: int, end: int, spans: list[tuple[int, int]], held: Brackets | None) -> None:
    pairs = _Pairs(text, start)
    for found in _END.finditer(text, start, end):
        stop, after = found.end(), found.end("space")
        if after >= end:
            break
        if stop <= start or (held and held.hold(found.start(), start)):
            continue
        follower = text[after]
        if found.start("hard") < 0:
            if follower.islower() or follower in ".!?…,;:)]}”’":
                continue
            if follower.isdecimal() and text.startswith(_LEADER, found.start()):
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
    if place - start <= _LONGEST_NAME and text[start:place].rstrip().lower() in _NUMBERED_NAMES:
        return False  # "Section 1. All powers"
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
