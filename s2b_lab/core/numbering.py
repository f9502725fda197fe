"""Numbered headings: how their numbers are read, which may follow which, and what level each has."""

import re
from collections.abc import Sequence
from typing import NamedTuple

HAN = "[一二三四五六七八九十百]{1,4}"
COUNT = r"[〇零一二三四五六七八九十百千两\d]{1,6}"
RANK = "[编篇部卷章节節条條]"
NAME = "(?:ARTICLE|Article|SECTION|Section|CHAPTER|Chapter|PART|Part)"
VALUE = r"(?:\d{1,3}+(?:\.\d{1,2}){0,2}+|[IVXLC]{1,7}+|[A-Z]|ONE|One|TWO|Two|THREE|Three|FOUR|Four|FIVE|Five|SIX|Six)"
_LABEL = rf"""(?:
  (?P<figure>\d{{1,2}}(?:\.\d{{1,2}})*+)(?:[.．)）、]|[^\S\n]++(?=[^\Wa-z\d_]))
| (?P<han>{HAN})、 | [(（](?P<bracket>{HAN})[)）] | (?P<roman>[IVXLC]{{1,7}}+)[.．、]
| 第(?P<count>{COUNT})(?P<rank>{RANK}) | (?P<name>{NAME})[^\S\n]++(?P<value>{VALUE})(?![\w'’])
)"""
_NEXT = re.compile(r"\s*+" + _LABEL, re.VERBOSE)
_LINES = re.compile(rf"(?:\A|\n)(?P<line>)[^\S\n]*+{_LABEL}", re.VERBOSE)
_ROMAN = re.compile(r"C{0,3}(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})")
_DIGITS = {digit: n for n, digit in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_UNITS = {"十": 10, "百": 100, "千": 1000}
_LETTERS = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
_WORDS = {word: n for n, word in enumerate("one two three four five six".split(), 1)}
_SAME = {"節": "节", "條": "条", "篇": "编"}
_NAMED = frozenset(["article", "section", "chapter", "part", *"编部卷章节条"])
# Custom gives these a level whatever stands above them; the others have that of their place.
_LEAST = {"bracket": 2, "节": 2, "条": 3, "section": 2, "article": 3}
_FIRST_CHILD = 3  # the first sub-sections of a text may be missing, but 1.5 is an amount


class Label(NamedTuple):
    """The numbering that a line begins with: ("number", (3, 2)) for 3.2, ("条", (7,)) for 第七条."""

    scheme: str
    figures: tuple[int, ...]

    def before(self) -> "Label":
        """The label just before this one: 3.1 for 3.2."""
        return Label(self.scheme, (*self.figures[:-1], self.figures[-1] - 1))

    def after(self) -> "Label":
        """The label just after this one: 3.3 for 3.2."""
        return Label(self.scheme, (*self.figures[:-1], self.figures[-1] + 1))


def read_number(figure: str) -> tuple[int, ...]:
    """The figures of 3.2 as (3, 2)."""
    return tuple(map(int, figure.split(".")))


def read_chinese(words: str) -> int:
    """The value of a Chinese number, written with units or digit by digit."""
    total = digit = 0
    for character in words:
        if unit := _UNITS.get(character):
            total, digit = total + (digit or 1) * unit, 0
        else:
            known = _DIGITS.get(character)
            digit = digit * 10 + (int(character) if known is None else known)
    return total + digit


def read_roman(words: str) -> int:
    """The value of a Roman number below 400; 0 for letters that are none."""
    if not words or not _ROMAN.fullmatch(words):
        return 0
    values = [_LETTERS[letter] for letter in words]
    return sum(-one if one < after else one for one, after in zip(values, [*values[1:], 0], strict=True))


def named(name: str, value: str) -> Label:
    """The label of a named heading: of 第七条 by its sign and number, of Article VII by its word and number."""
    scheme = _SAME.get(name, name.lower())
    if name in RANK:
        return Label(scheme, (read_chinese(value),))
    if value[0].isdecimal():
        return Label(scheme, read_number(value))
    return Label(scheme, (read_roman(value) or _WORDS.get(value.lower()) or ord(value[0]) - 64,))


def _label(found: re.Match) -> Label | None:
    if found["figure"]:
        return Label("number", read_number(found["figure"]))
    if found["rank"] or found["name"]:
        return named(found["rank"] or found["name"], found["count"] or found["value"])
    if found["roman"]:
        value = read_roman(found["roman"])
        return Label("roman", (value,)) if value else None
    scheme = "han" if found["han"] else "bracket"
    return Label(scheme, (read_chinese(found[scheme]),))


def next_label(text: str, at: int) -> Label | None:
    """The label that the next printed line begins with, if any."""
    found = _NEXT.match(text, at)
    return _label(found) if found else None


def labels(text: str) -> list[tuple[Label, int]]:
    """The labels that lines begin with, each with the place where its line begins."""
    found = ((_label(line), line.start("line")) for line in _LINES.finditer(text))
    return [(label, at) for label, at in found if label]


def coming_again(labels: Sequence[tuple[Label, int]]) -> set[int]:
    """The places of labels that come again before their kind begins anew with 1: one of the two is no heading's."""
    later: dict[tuple[str, int], set[tuple[int, ...]]] = {}
    found = set()
    for (scheme, figures), at in reversed(labels):
        seen = later.setdefault((scheme, len(figures)), set())
        if figures in seen:
            found.add(at)
        seen.add(figures)
        if figures[-1] == 1:
            seen.clear()
    return found


def follows(one: tuple[int, ...] | None, other: tuple[int, ...]) -> bool:
    """Tell whether the other numbering may come right after the one: 4 or 3.3 after 3.2, and 3.2.1 below it."""
    if one is None:
        return False
    depth = len(other) - 1
    if depth >= len(one):
        return other[: len(one)] == one and max(other[len(one) :]) <= _FIRST_CHILD
    return other == (*one[:depth], one[depth] + 1)


def neighbours(one: Label | None, other: Label | None) -> bool:
    """Tell whether two lines may be items of one list, the other right after the one."""
    if one is None or other is None or one.scheme != other.scheme:
        return False
    return len(one.figures) == len(other.figures) and follows(one.figures, other.figures)


class Numbering:
    """The order of the numbered headings so far, of one text read from its beginning.

    A kind of numbering that is met for the first time is one level below the last heading. Where a number may as well
    belong to a list, or jumps, its heading is doubtful: nobody may rely on it to end what stands before.
    """

    def __init__(self, level: int = 0) -> None:
        self._stack = [("title", level)] if level else []  # what holds the present place: kind of numbering and level
        self._last: dict[str, tuple[int, ...]] = {}  # number of the last heading of each kind
        self._firm: dict[str, tuple[int, ...]] = {}  # of the last that was not doubtful
        self._items: dict[str, tuple[int, ...]] = {}  # last numbers of lists
        self._taken: set[Label] = set()

    def item(self, label: Label | None) -> None:
        """Note the number of a list item."""
        if label:
            self._items[label.scheme] = label.figures

    def continues_list(self, label: Label) -> bool:
        """Tell whether the label comes right after that of a list item."""
        item = self._items.get(label.scheme)
        return item is not None and len(item) == len(label.figures) and follows(item, label.figures)

    def expects(self, label: Label) -> bool:
        """Tell whether a heading before leads to this label."""
        known = (self._last.get(label.scheme), self._firm.get(label.scheme))
        return any(follows(one, label.figures) for one in known)

    def knows(self, label: Label) -> bool:
        """Tell whether there is a heading with this label."""
        return label in self._taken

    def place(self, label: Label, doubtful: bool = False, comes_again: bool = False) -> tuple[int, bool] | None:
        """Take a heading: its level and whether it is sure; None where its number says that it is no heading.

        It is not sure where it is doubtful as it stands, or its number `comes_again`: the later one may be the heading.
        """
        if (ordered := self._in_order(label)) is None:
            return None
        sure = ordered and not doubtful and not comes_again
        level = self._enter(label)
        self._last[label.scheme] = label.figures
        self._taken.add(label)
        if sure:
            self._items.clear()
            self._firm[label.scheme] = label.figures
        elif not ordered or doubtful:
            self.item(label)
        return level, sure

    def _in_order(self, label: Label) -> bool | None:
        """True for the next number of its kind, False for one that may be, None for one that cannot."""
        scheme, figures = label
        last, firm, listed = self._last.get(scheme), self._firm.get(scheme), self.continues_list(label)
        if last is None:
            return True
        if follows(firm, figures):
            return not listed
        later = figures > last and (listed or scheme in ("han", "bracket"))
        if scheme in _NAMED or later or follows(last, figures) or figures == last != firm:
            return False
        child = len(figures) > 1 and figures[-1] == 1 and follows(last, figures[:-1])
        # What came first was no heading: a house number above a letter.
        anew = figures[-1] == 1 and last[0] > 1 and not self.knows(Label(scheme, last).before())
        return False if child or anew else None

    def _enter(self, label: Label) -> int:
        """Leave what the heading ends, and return its level."""
        place = next((n for n, (kind, _) in enumerate(self._stack) if kind == label.scheme), len(self._stack))
        for kind, _ in self._stack[place + 1 :]:
            for known in (self._last, self._firm, self._items):
                known.pop(kind, None)
        del self._stack[place:]
        above = self._stack[-1][1] if self._stack else 0
        level = max(_LEAST.get(label.scheme, 1), above + 1) + len(label.figures) - 1
        self._stack.append((label.scheme, level))
        return level
