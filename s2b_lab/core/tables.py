"""Tables of plain text as rows: a row means little without the head of its table, and nothing when cut in two."""

import re
from bisect import bisect_right
from itertools import pairwise

from .text import Span

_LINE = re.compile(r"[^\r\n]*+(?:\r\n|\r|\n|\Z)")
_START = re.compile(r"\ufeff?[^\S\r\n]*+(?:\||\+[-=])")
_DIVIDER = re.compile(r"\s*+[|:\-+][\s|:\-+]*+\Z")  # the line below the head of a table of pipes
_GRID_RULE = re.compile(r"\ufeff?\s*+\+[-=:+ \t]*+\Z")
_HEAD_RULE = re.compile(r"\s*+\|=[=:|+ \t]*+\Z")  # in a grid, as Sphinx writes the rule below a head
_WORDLESS = re.compile(r"[\s|+\-=:_>\u2500-\u257f]*+\Z")  # lines that rule off, and empty rows
_BETWEEN_CELLS = "|\t│｜"
_FIRST_CELL = re.compile(r"\s*+\|?([^|]*+)")


def table_rows(text: str, start: int, end: int) -> list[Span]:
    """The rows of the table in text[start:end], the head with the first of them; what is no table is one span.

    A table has lines that begin with a bar or `+---`, or a line of dashes and bars below its first. Rows of a grid end
    at its rules; where it has none between rows, at each line with something in its first cell.
    """
    if text.find("|", start, end) < 0 or not _is_table(text, lines := _lines(text, start, end)):
        return [Span(start, end)]
    head, blocks = _parts(text, lines)
    blocks = blocks or [head]
    starts = [start, *(block[0].start for block in blocks[1:])]
    ends = [*starts[1:], end]
    return [Span(left, left + len(text[left:right].rstrip())) for left, right in zip(starts, ends, strict=True)]


def delimited_rows(text: str, start: int, end: int) -> list[Span]:
    """The lines of text[start:end] as rows where all have cells, as many each, with one mark between them; else none.

    So come tables without a line of dashes, of spreadsheets and of terminals. Lines that only rule off go with a row.
    """
    mark = next((one for one in _BETWEEN_CELLS if text.find(one, start, end) >= 0), "")
    lines = _lines(text, start, end) if mark else []
    counts = {line.of(text).strip().count(mark) for line in lines if not _WORDLESS.match(line.of(text))}
    rows = _by_line(text, lines) if len(counts) == 1 and counts != {0} else []
    return [Span(row[0].start, row[-1].end) for row in rows] if len(rows) > 3 else []


def table_head(text: str, start: int, end: int) -> Span | None:
    """The lines above the first row of the table in text[start:end]; None where it has no head, or is no table."""
    lines = _lines(text, start, end)
    head, blocks = _parts(text, lines) if _is_table(text, lines) else ([], [])
    return Span(head[0].start, head[-1].end) if head and blocks else None


def ends_in_rows(text: str, start: int, end: int) -> set[int]:
    """Where lines of the table in text[start:end] end but no row does: nobody should cut there."""
    if text.find("|", start, end) < 0 or not _is_table(text, lines := _lines(text, start, end)):
        return set()
    return {line.end for line in lines} - {row.end for row in table_rows(text, start, end)}


def without_rules(text: str) -> str:
    """A table without the lines that only rule off: to a model each of their dashes is a token."""
    lines = text.splitlines()
    kept = [line for line in lines if not (_WORDLESS.match(line) and re.search("[-=]{2}", line))]
    return "\n".join(kept) or text


class Heads:
    """The tables of one text, to ask which of them a place is inside of."""

    def __init__(self, text: str, pieces: list[Span]) -> None:
        self._tables = [piece for piece in pieces if _is_table(text, _lines(text, piece.start, piece.end, 2))]
        self._starts = [table.start for table in self._tables]
        self._text = text
        self._known: dict[int, Span | None] = {}

    def around(self, place: int) -> Span | None:
        """The table that a place is inside of, its first character left out."""
        number = bisect_right(self._starts, place) - 1
        table = self._tables[number] if number >= 0 else None
        return table if table and table.start < place < table.end else None

    def touched(self, span: Span) -> bool:
        """Tell whether a span has a part of a table in it."""
        number = bisect_right(self._starts, span.start)
        return any(table.overlaps(span) for table in self._tables[max(0, number - 1) : number + 1])

    def above(self, place: int) -> Span | None:
        """The head of the table that a place is inside of and below the head of."""
        table = self.around(place)
        if not table:
            return None
        if table.start not in self._known:
            self._known[table.start] = table_head(self._text, table.start, table.end)
        head = self._known[table.start]
        return head if head and head.end <= place else None


def _lines(text: str, start: int, end: int, most: int | None = None) -> list[Span]:
    """The lines of text[start:end] with something in them, or the first few, white space at their ends left out."""
    found: list[Span] = []
    while start < end and len(found) != most:
        stop = min(_LINE.match(text, start).end(), end)
        if line := text[start:stop].rstrip():
            found.append(Span(start, start + len(line)))
        start = stop
    return found


def _is_table(text: str, lines: list[Span]) -> bool:
    if not lines:
        return False
    if _START.match(text, lines[0].start, lines[0].end):
        return True
    return len(lines) > 1 and "|" in lines[0].of(text) and _divides(lines[1].of(text))


def _divides(line: str) -> bool:
    return "-" in line and ("|" in line or "+" in line) and bool(_DIVIDER.match(line))


def _parts(text: str, lines: list[Span]) -> tuple[list[Span], list[list[Span]]]:
    """The lines of the head, and those of each row."""
    if _GRID_RULE.match(lines[0].of(text)):
        return _grid(text, lines)
    count = 2 if len(lines) > 1 and _divides(lines[1].of(text)) else 0
    return lines[:count], _by_line(text, lines[count:])


def _grid(text: str, lines: list[Span]) -> tuple[list[Span], list[list[Span]]]:
    rules = [n for n, line in enumerate(lines) if _GRID_RULE.match(line.of(text)) or _HEAD_RULE.match(line.of(text))]
    if rules[-1] != len(lines) - 1:  # it stops without a rule
        rules.append(len(lines) - 1)
    blocks = [(left + 1, right + 1) for left, right in pairwise(rules) if right > left + 1]
    double = next((right for left, right in blocks if "=" in lines[right - 1].of(text)), 0)
    # Three rules and many lines below the second: the head and a body without rules.
    plain = len(blocks) == 2 and blocks[1][1] - blocks[1][0] > 2
    below = double or (blocks[0][1] if plain else 0)
    rows = [lines[left:right] for left, right in blocks if left >= below]
    if len(rows) == 1 and below:
        rows = _by_line(text, rows[0], bool(_first_cell(rows[0][0].of(text))))
    if rows and not below:
        rows[0] = [lines[0], *rows[0]]
    return lines[:below], rows


def _by_line(text: str, lines: list[Span], cells_go_on: bool = False) -> list[list[Span]]:
    """One row a line; one without words goes on with the row before, and may do so where its first cell is empty."""
    rows: list[list[Span]] = []
    begun = False  # lines without words at the beginning go with the first row
    for line in lines:
        words = line.of(text)
        wordless = bool(_WORDLESS.match(words))
        if rows and (not begun or wordless or (cells_go_on and not _first_cell(words))):
            rows[-1].append(line)
        else:
            rows.append([line])
        begun = begun or not wordless
    return rows


def _first_cell(line: str) -> str:
    return _FIRST_CELL.match(line)[1].strip()
