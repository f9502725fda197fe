"""From the printed lines of pages to a text that reads on: no running heads, paragraphs apart, headings marked."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from ..core.headings import document
from .content import Content

_EDGE = 4  # lines at the head and at the foot of a page among which running lines are looked for
_NEAR = 2  # points by which the place of a running line may differ; pages to the next one, since left and right differ
_NUMBER = re.compile(r"\d{1,9}")
_ROMAN = re.compile(r"\W*[ivxlcdm]+\W*", re.IGNORECASE)
# With a first number that counts with the pages these are headings all the same: a chapter a page.
_LABEL = re.compile(
    r"\W*(?:(?:article|section|chapter|part|annex|appendix|exercise|lesson|unit|week|day|question|step|table|figure)\b"
    r"|第\s*\d+\s*[章节節条條编編部篇课課讲講])",
    re.IGNORECASE,
)
_SENTENCE_END = tuple(".!?:;。！？：；…”’\"')）")
_NO_HEADING_END = tuple(".!:;,。！：；，、…")
_HASHES = re.compile(r"^(?= {0,3}#{1,6}(?:\s|$))")
_CONTENTS = re.compile(r"(?:\.\s?){4}|…{2}|\t\s*\d+$")  # a line of a table of contents
_APART = 1.35  # times the usual distance of two lines: a new paragraph
_LARGER = 1.15  # times the size of most of the text: a heading
_SAME_SIZE = 1.06  # of one level, since two fonts are seldom of quite one size
_LONGEST_HEADING = 150
_INNER_END = re.compile(r"[^\W\d_][.!?]\s|[。！？；]")
_CJK = re.compile("[\u3000-\u9fff\uff00-\uffef]")


@dataclass(frozen=True, slots=True)
class Line:
    """A printed line: its height above the foot of the page and its type size, in points.

    It may be all bold; in a row of a table its words stand apart.
    """

    text: str
    height: float = 0.0
    size: float = 0.0
    bold: bool = False
    row: bool = False


# --- running lines ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Edge:
    # A line near the head or the foot of a page, and how many lines stand outside of it on both sides.
    page: int
    line: Line
    above: int
    below: int


def without_running_lines(pages: list[list[Line]]) -> list[list[Line]]:
    """Leave out what repeats at the head or foot of pages, the same in place and type but for the page's number.

    A head or a foot counts as running where at least half of the pages have one. A page keeps its lines where nothing
    else stands on it.
    """
    repeated = _repeated(pages)
    kept = [list(lines) for lines in pages]
    for top in (True, False):
        peeled = [_peeled(lines, repeated, top) for lines in pages]
        if 2 * sum(map(bool, peeled)) >= sum(map(bool, pages)):
            kept = [[line for line in lines if id(line) not in gone] for lines, gone in zip(kept, peeled, strict=True)]
    return [lines or whole for lines, whole in zip(kept, pages, strict=True)]


def _peeled(lines: list[Line], repeated: set[int], top: bool) -> set[int]:
    """The running lines from the edge of a page inwards, by identity."""
    gone = set()
    for line in _from_the_top(lines)[:: 1 if top else -1][:_EDGE]:
        if id(line) not in repeated:
            break
        gone.add(id(line))
    return gone


def _from_the_top(lines: list[Line]) -> list[Line]:
    return sorted(lines, key=lambda line: -line.height)


def _repeated(pages: list[list[Line]]) -> set[int]:
    """The lines near the heads and feet of pages that stand again on one of the next two, by identity."""
    alike: dict[str, list[_Edge]] = defaultdict(list)
    for page, lines in enumerate(pages):
        for above, line in enumerate(_from_the_top(lines)):
            below = len(lines) - 1 - above
            if min(above, below) < _EDGE:
                alike[_but_for_numbers(line.text)].append(_Edge(page, line, above, below))
    repeated = set()
    for found in alike.values():
        for place, one in enumerate(found):
            for other in found[place + 1 : place + 1 + 4 * _EDGE]:
                if _is_again(one, other):
                    repeated |= {id(one.line), id(other.line)}
    return repeated


def _but_for_numbers(text: str) -> str:
    return "#" if _ROMAN.fullmatch(text) else _NUMBER.sub("#", " ".join(text.split()).casefold())


def _is_again(one: _Edge, other: _Edge) -> bool:
    """Tell whether a line stands again some pages on; numbers in it stay, or count with the pages."""
    pages = other.page - one.page
    if not 0 < pages <= _NEAR or abs(one.line.size - other.line.size) > 1:
        return False
    close = abs(one.line.height - other.line.height) <= _NEAR
    as_far_out = _EDGE > one.above == other.above or _EDGE > one.below == other.below
    numbers, others = _NUMBER.findall(one.line.text), _NUMBER.findall(other.line.text)
    steps = [int(b) - int(a) for a, b in zip(numbers, others, strict=False)]
    return (close or as_far_out) and {*steps} <= {0, pages} and not (steps and steps[0] and _LABEL.match(one.line.text))


# --- one text --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Placed:
    # A line on its page; level is that of a heading, 0 for others.
    page: int
    line: Line
    level: int = 0

    @property
    def text(self) -> str:
        if self.level:
            return f"{'#' * self.level} {self.line.text.strip()}"
        # A line of code may begin as a heading of Markdown does: it is told apart as Markdown does it.
        return _HASHES.sub(r"\\", self.line.text)


def flowing(pages: list[list[Line]]) -> Content:
    """Join the lines of pages into a text; `pages` of the result are the offsets at which they begin.

    A sentence runs on over the end of a page. Lines further apart than usual are paragraphs; lines in larger or bold
    type are headings, marked as in Markdown where their text alone would not show it.
    """
    placed = [_Placed(number, line) for number, lines in enumerate(pages) for line in lines]
    if not placed:
        return Content("", (0,) * len(pages))
    usual = _usual_distance(placed)
    text, starts = _joined(placed, usual)
    if marked := _marked(placed, text, starts):
        placed = marked
        text, starts = _joined(placed, usual)
    firsts = [bisect_left(placed, number, key=lambda one: one.page) for number in range(len(pages))]
    return Content(text, (0, *([*starts, len(text)][first] for first in firsts[1:])))


def _joined(placed: list[_Placed], usual: float) -> tuple[str, list[int]]:
    """The text of lines and the offset of each."""
    between = [_between(before, one, usual) for before, one in pairwise(placed)]
    pieces = [mark + one.text for mark, one in zip(["", *between], placed, strict=True)]
    ends = accumulate(map(len, pieces))
    return "".join(pieces), [end - len(one.text) for end, one in zip(ends, placed, strict=True)]


def _between(before: _Placed, one: _Placed, usual: float) -> str:
    if before.level or one.level:
        return "\n\n"
    if before.line.row and one.line.row:  # a row of a table says something by itself
        return "\n\n"
    distance = before.line.height - one.line.height
    if before.page != one.page or distance < 0:  # the next page, or the next column
        return "\n\n" if before.text.endswith(_SENTENCE_END) else "\n"
    goes_on = one.text[:1].islower() and not before.text.endswith(_SENTENCE_END)
    return "\n\n" if usual and distance > _APART * usual and not goes_on else "\n"


def _usual_distance(placed: list[_Placed]) -> float:
    pairs = (a.line.height - b.line.height for a, b in pairwise(placed) if a.page == b.page)
    distances = sorted(distance for distance in pairs if distance > 1)
    return distances[len(distances) // 4] if distances else 0  # most lines of short paragraphs stand apart


# --- headings --------------------------------------------------------------------------------------------------------


def _marked(placed: list[_Placed], text: str, starts: list[int]) -> list[_Placed]:
    """The lines with their headings marked, a heading of several lines as one; [] where the text shows them itself."""
    levels = _levels([one.line for one in placed])
    shown = {bisect_left(starts, part.span.start): part for part in document("-", text).sections if part.title}
    large = sum(len(placed[number].text) for number in levels)
    if not levels or 2 * large > len(text) or levels.keys() <= shown.keys():
        return []  # where most is large, as on slides, size says nothing
    # A text with marked headings has no others: those that its numbers show are marked too, below the larger ones.
    deepest = max(levels.values())
    for number, part in shown.items():
        if number not in levels and part.title != placed[number].line.text.strip():
            return []  # a label with its text on the same line cannot be marked
        levels.setdefault(number, min(6, deepest + part.level))
    marked: list[_Placed] = []
    for number, one in enumerate(placed):
        one = replace(one, level=levels.get(number, 0))
        if number - 1 in levels and marked and _is_one_heading(marked[-1], placed[number - 1], one):
            marked[-1] = replace(
                marked[-1], line=replace(one.line, text=_in_a_line(marked[-1].line.text, one.line.text))
            )
        else:
            marked.append(one)
    return marked


def _levels(lines: list[Line]) -> dict[int, int]:
    """Which lines are set as headings, and their levels: the larger the type, the higher."""
    sizes, in_bold = Counter(), 0
    for line in lines:
        sizes[line.size] += len(line.text)
        in_bold += line.bold * len(line.text)
    usual, stands_out = max(sizes, key=sizes.get, default=0), 2 * in_bold < sizes.total()
    styles = {}
    for n, (line, after) in enumerate(zip(lines, [*lines[1:], Line("")], strict=True)):
        larger = line.size > _LARGER * usual
        if _may_be_heading(line) and (larger or (line.bold and stands_out and _heads(line, after))):
            styles[n] = line.size if larger else usual
    ranks, rank, last = {}, 0, 0.0
    for size in sorted({*styles.values()}, reverse=True):
        rank, last = (rank, last) if last and last < size * _SAME_SIZE else (rank + 1, size)
        ranks[size] = min(6, rank)
    return {n: ranks[size] for n, size in styles.items()}


def _may_be_heading(line: Line) -> bool:
    text = line.text.strip()
    other = line.row or text.endswith(_NO_HEADING_END) or _CONTENTS.search(text)
    return len(text) <= _LONGEST_HEADING and not other and re.search(r"[^\W\d_]{2}", text) is not None


def _heads(line: Line, after: Line) -> bool:
    """Tell whether a bold line of the usual size is a title: no part of bold sentences, and no head of a table."""
    text, following = line.text.strip(), after.text.strip()
    prose = text[0].islower() or following[:1].islower() or _INNER_END.search(text)
    return not prose and (after.bold or len(following) > len(text))


def _is_one_heading(heading: _Placed, before: _Placed, one: _Placed) -> bool:
    """Tell whether a line goes on with the heading of the line before it: same page, same type, close below."""
    same = (before.page, before.line.size, before.line.bold) == (one.page, one.line.size, one.line.bold)
    close = 0 <= before.line.height - one.line.height < 1.6 * one.line.size
    return same and close and heading.level == one.level > 0 and len(heading.text) + len(one.text) < _LONGEST_HEADING


def _in_a_line(first: str, second: str) -> str:
    first, second = first.strip(), second.strip()
    return first + ("" if _CJK.match(first[-1:]) and _CJK.match(second) else " ") + second
