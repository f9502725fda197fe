"""Brackets, titles and quotations of a Chinese paragraph: where a mark inside them ends no sentence."""

import re
from typing import NamedTuple

MARKS = ".!?…．。！？；｡"
SHUT = "”’」』》〉】）〕］｝)\\]}»›"
_OPENING = {"）": "（", "》": "《", "〉": "〈", "】": "【", "〕": "〔", "］": "［", ")": "("}
_OPENING |= {"”": "“", "’": "‘", "」": "「", "』": "『", '"': '"'}
_TOKEN = re.compile("[" + re.escape("".join({*_OPENING, *_OPENING.values()})) + "]")
_TITLES, _QUOTES = "《〈", '“‘「『"'
_CHINESE = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff\uff01-\uff60]")
# What shows that a sentence goes on after a quotation: it is part of a phrase, or somebody says it.
_PHRASE = re.compile("[之以]?[后後前]|[时時的等]|[是即]|一[词詞句文书書语語类類章节節]|[这這][一个個句类類]|字[样樣]")
_SAYS = re.compile(r"(?:[他她它我你您]们?|[\u4e00-\u9fff]{2,3})?(?:[问問说說答喊叫]道?|道|表示)[，,]")
_FARTHEST = 300  # a pair that holds more is no part of a sentence
_DEEPEST = 8
_MARK = re.compile(f"[{MARKS}]")
_EDGE = re.compile(rf"[{MARKS}{SHUT}]{{1,8}}\Z")
_CLOSERS = re.compile(rf"[{SHUT}]{{0,8}}+")


class _Pair(NamedTuple):
    """Marks in text[low:high] end no sentence; unless `always`, only where the sentence began before `start`."""

    start: int
    low: int
    high: int
    always: bool


class Brackets:
    """Pairs of one paragraph, asked about its marks from left to right."""

    def __init__(self, pairs: list[_Pair]) -> None:
        self._pairs = sorted(pairs, reverse=True)
        self._open: list[_Pair] = []

    def hold(self, mark: int, start: int) -> bool:
        """Tell whether the mark at `mark` ends nothing in the sentence that began at `start`."""
        while self._pairs and self._pairs[-1].start < mark:
            self._open = [pair for pair in self._open if pair.high > self._pairs[-1].start][-_DEEPEST:]
            self._open.append(self._pairs.pop())
        return any(pair.low <= mark < pair.high and (pair.always or start < pair.start) for pair in self._open)


def brackets(text: str, start: int, end: int) -> Brackets | None:
    """The pairs of a paragraph that may hold a mark which ends nothing; None where there are none."""
    if not _TOKEN.search(text, start, end):
        return None
    pairs = _pairs(text, start, end)
    return Brackets(pairs) if pairs else None


def is_chinese(text: str) -> bool:
    """Tell quickly whether a text has a mark of Chinese."""
    return not text.isascii() and any(mark in text for mark in "，。、；：！？｡《「（")


def _pairs(text: str, start: int, end: int) -> list[_Pair]:
    found, waiting = [], []  # waiting: where the brackets stand that are not closed yet
    for token in _TOKEN.finditer(text, start, end):
        mark, at = token[0], token.start()
        opening = _OPENING.get(mark)
        near = range(len(waiting) - 1, max(-1, len(waiting) - 1 - _DEEPEST), -1)
        place = next((n for n in near if text[waiting[n]] == opening), None)
        if place is None:
            if opening in (None, mark):
                waiting.append(at)
            continue
        begin = waiting[place]
        del waiting[place:]
        if at - begin <= _FARTHEST and _MARK.search(text, begin, at) and (pair := _pair(text, start, begin, at, end)):
            found.append(pair)
    return found


def _pair(text: str, start: int, begin: int, close: int, end: int) -> _Pair | None:
    """The pair from `begin` to `close` if the sentence may go on after it."""
    edge = _EDGE.search(text, max(begin + 1, close - 8), close)
    tail = edge.start() if edge and edge[0].strip(SHUT) else close  # where the marks before the closing one begin
    after = _CLOSERS.match(text, close + 1, end).end()
    follower = text[after : after + 1] if after < end else ""
    ends = not follower or follower.isspace() or follower in MARKS
    high = tail if ends else close
    kind = text[begin]
    if kind in _QUOTES:
        return _quotation(text, start, begin, tail, close, after) if not ends or tail == close else None
    if kind in _TITLES:
        return _Pair(begin, begin, high, follower.isalnum())
    if kind == "(" and not any(map(_CHINESE.match, (text[begin - 1 : begin], follower))):
        return None
    if tail == close:
        return _Pair(begin, begin, close, True)
    line = text[max(start, begin - 8) : begin].rpartition("\n")
    opens_line = (bool(line[1]) or begin - start <= 8) and not line[2].strip()
    return None if opens_line else _Pair(begin, begin, high, False)


def _quotation(text: str, start: int, begin: int, tail: int, close: int, after: int) -> _Pair | None:
    lead, follower = text[max(start, begin - 1) : begin], text[after : after + 1]
    if not (_CHINESE.match(follower) or (tail == close and _CHINESE.match(lead))):
        return None
    if tail == close or _PHRASE.match(text, after):
        return _Pair(begin, begin, close, True)
    if _SAYS.match(text, after):
        return _Pair(begin, tail, close, True)
    embedded = lead.isalnum() and text[tail] not in "。；．.｡"
    return _Pair(begin, begin, close, False) if embedded else None
