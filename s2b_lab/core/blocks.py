"""The blocks of a text in one pass: headings, code fences, tables, list items, blank lines."""

import re
from itertools import starmap
from typing import NamedTuple

from .characters import is_blank
from .checks import check_str
from .front_matter import front_matter
from .lines import (
    EOL,
    FIRST_LINE,
    FOLLOWING,
    HTML_BLOCK,
    NEXT_LINE,
    NO_TITLE,
    NUMBERED,
    RULE_BELOW,
    TABLE_BELOW,
    has_leader,
    is_address,
    is_sentence,
    is_title,
    may_stand_above,
    plain_newlines,
    without_hashes,
)
from .numbering import Label, Numbering, named, neighbours, next_label, read_number, read_roman
from .pieces import Pieces
from .text import Span

_STOPS = tuple("。！？；”」』）.!?")
_MOST_FOR_FIRST = 9  # above it, a number that leads nowhere is an amount
_MOST_ON_A_LINE = 15  # of a Chinese article's title: what is longer is text


class Heading(NamedTuple):
    """A heading: `marked` by # or a line below; not `sure` where it may as well be an item of a list, or a sentence."""

    start: int
    level: int
    title: str
    marked: bool
    sure: bool


class Blocks(Pieces):
    """The paragraphs and headings of one text, found in one pass over the lines that start in a special way.

    Front matter is no piece. Where headings are marked, by # or a line below, a number makes none: `plain` tells a text
    in which a title at most is marked, `hashed` one with a #. That may come out late: a second pass then knows it.
    """

    def __init__(self, text: str) -> None:
        check_str("text", text)
        self.text = plain_newlines(text)
        self.body = front_matter(self.text)
        self._scan(plain=True, hashed=False)
        if self.late:
            self._scan(self.plain, self.hashed)

    def _scan(self, plain: bool, hashed: bool) -> None:
        super().__init__(self.text, self.body)
        self.plain, self.hashed = plain, hashed
        self.late = False  # has a heading been taken that is none after all
        self.headings: list[Heading] = []
        self.strokes: dict[str, int] = {}  # levels of the kinds of lines below headings
        self.styles: dict[tuple[str, int], str] = {}  # what stands between number and title, by kind and depth
        self.indent = 3  # of the last sure heading with a #
        self.unclosed: set[tuple[str, int]] = set()  # marks of fences, and their indents, that nothing closes
        resume, line = self.body, FIRST_LINE.match(self.text, self.body)
        while line or (line := NEXT_LINE.search(self.text, resume)):
            resume = getattr(self, "_" + line.lastgroup)(line, line.start("at"))
            line = None
        self._close(len(self.text))

    def _fence(self, line: re.Match, at: int) -> int:
        mark = line["ticks"] or line["tildes"]
        if mark[0] == "~" and line["fence"].strip() == mark and not self.hashed:  # in Markdown it is a fence
            if (title := self._title_above(at)) and len(mark) >= max(len(title), 4):
                return self._underline(line.end(), "~", at)
        indent = line.start("fence") - at
        if line["fence"].startswith("^", len(mark)) or (mark, indent) in self.unclosed:
            return line.end()  # a traceback marks a place with ~~~^^^
        gap = rf"[^\S\n]{{0,{indent + 3}}}+"  # indented further, it is code
        closing = re.compile(rf"\n{gap}{mark[0]}{{{len(mark)},}}+{EOL}").search(self.text, line.end())
        if not closing and indent > 3:
            self.unclosed.add((mark, indent))  # a line of an example rather than code up to the end
            return line.end()
        return self._whole(at, closing.end() if closing else len(self.text))

    # --- headings marked by # or a line below ---

    def _marked(self, start: int, end: int, level: int, title: str, sure: bool = True) -> int:
        if not self.headings and level == 1 and is_blank(self.text, self.body, start):
            self.numbering = Numbering(1)  # numbers may follow a title
        elif self.plain:
            self.plain = False
            self.late = self.late or not all(heading.marked for heading in self.headings)
        self.headings.append(Heading(start, level, title, True, sure))
        return self._whole(start, end)

    def _hash(self, line: re.Match, at: int) -> int:
        title, indent = without_hashes(line["title"]), line.start("hash") - at
        # Markdown allows three spaces before the mark, but plain-text manuals indent their code by three
        if not title or indent > 2 or "\t" in self.text[at : at + indent]:
            return line.end()
        if not self.hashed:
            self.hashed = True
            self.late = self.late or bool(self.strokes)
        # Indented further than others it may be a line of what it is below, and there is no Markdown inside HTML.
        sure = indent <= self.indent and not HTML_BLOCK.match(self.text, self.paragraph, at)
        self.indent = min(indent, self.indent)
        return self._marked(at, line.end(), len(line["depth"]), title, sure)

    def _title_above(self, at: int) -> str:
        """Return the one line that the open paragraph has so far, if it may be a title."""
        if self.items or at - self.paragraph > 200:
            return ""
        title = self.text[self.paragraph : at].strip()
        return "" if "\n" in title or len(title) > 100 or title[-1:] in tuple(".。；;,，:：") else title

    def _rule(self, line: re.Match, at: int) -> int:
        title = self._title_above(at)
        if not title or (line["stroke"] not in "=-" and (self.hashed or len(line["rule"].strip()) < len(title))):
            return line.end()
        return self._underline(line.end(), line["stroke"], at)

    def _underline(self, end: int, stroke: str, at: int) -> int:
        if self.hashed:
            level = 1 if stroke == "=" else 2
        else:  # each new kind of line is one level deeper
            level = self.strokes.setdefault(stroke, max([int(stroke == "-"), *self.strokes.values()]) + 1)
        self.indent = 0
        return self._marked(self.paragraph, end, level, self._title_above(at))

    # --- headings that only their numbers make ---

    def _underlined(self, line: re.Match, words: str, item: bool) -> bool:
        """Tell whether a line below marks this one, as a title or as the head of a table.

        A list item it must match in length, in Markdown it never does.
        """
        if "|" in words and TABLE_BELOW.match(self.text, line.end()):
            return True
        rule = RULE_BELOW.match(self.text, line.end())
        return bool(rule) and (not item or (not self.hashed and len(rule[0].strip()) >= len(words)))

    def _take(self, at: int, end: int, label: Label, title: str, style: str = "") -> bool:
        """Note the line at `at` as a heading unless its number is out of order."""
        # A law has each article once: of two, one is quoted.
        quoted = label.scheme in ("条", "article") and self._later.get(label, 0) > end
        # A line that is numbered in another way than its like is rather an amount or an item.
        unlike = style != self.styles.setdefault((label.scheme, len(label.figures)), style)
        if (placed := self.numbering.place(label, quoted or unlike, at in self._again)) is None:
            return False
        level, sure = placed
        self.headings.append(Heading(at, level, title, False, sure))
        return True

    def _number(self, line: re.Match, at: int) -> int:
        words, figure = line["number"].strip(), line["figure"]
        label, title = Label("number", read_number(figure)), words[len(figure) + 1 :].strip()
        bare = words[len(figure)].isspace()
        if self._underlined(line, words, not bare):
            return line.end()
        if not (bare and is_address(words)) and (end := self._titled(line, at, label, words, title)):
            return end
        return self._item(NUMBERED.match(self.text, line.start("number")), at) or line.end()

    def _han(self, line: re.Match, at: int) -> int:
        words = line["han"].strip()
        if self._underlined(line, words, True):
            return line.end()
        return self._titled(line, at, next_label(words, 0), words, words) or self._item(line, at)

    def _roman(self, line: re.Match, at: int) -> int:
        words, letters = line["roman"].strip(), line["letters"]
        label = Label("roman", (read_roman(letters) or 0,))
        if self._underlined(line, words, True):
            return line.end()
        leads = label.figures > (0,) and (self._leads(label) or has_leader(words))  # else an initial
        return (leads and self._titled(line, at, label, words, words[len(letters) + 1 :].strip())) or line.end()

    def _titled(self, line: re.Match, at: int, label: Label, words: str, title: str) -> int:
        """Take a numbered line as a heading if it reads like one, comes in order and belongs to no list; else 0."""
        if has_leader(words):  # else it may be an item with an amount
            return self._entry(line, at)
        if not self.plain or is_sentence(title) or self._is_item(line.end(), label):
            return 0
        if self._is_entry(label, words, line.end()):
            return self._entry(line, at)
        if label.figures[0] > _MOST_FOR_FIRST and not self._leads(label) and label.after() not in self._later:
            return 0
        following = self._following(line.end())
        if at != self.paragraph or following:
            led = label.scheme in ("han", "bracket") or self._leads(label)
            if not (led and self._follows_a_stop(at) and may_stand_above(title, following)):
                return 0
        style = words[len(line["figure"])] if label.scheme == "number" else ""
        return self._whole(at, line.end()) if self._take(at, line.end(), label, words, style) else 0

    def _is_item(self, end: int, label: Label) -> bool:
        """Tell whether the numbers before and after make a line one of a list."""
        if neighbours(label, next_label(self.text, end)):
            return True
        if label.scheme in ("han", "bracket") and neighbours(self.listed, label):
            return True
        return neighbours(self.before, label) and not self.numbering.knows(label.before())

    def _leads(self, label: Label) -> bool:
        """Tell whether a number may make a heading of a line by itself: as the first of several, or as the next."""
        if self.numbering.continues_list(label):
            return False
        return self.numbering.expects(label) or (label.figures[-1] == 1 and label.after() in self._later)

    def _chapter(self, line: re.Match, at: int) -> int:
        words, label = line["chapter"].strip(), named(line["rank"], line["count"])
        apart, article = line["apart"] is not None, label.scheme == "条"
        if not self.plain or self._underlined(line, words, False):
            return line.end()
        if self._is_entry(label, words, line.end()):
            return self._entry(line, at)
        if not self._follows_a_stop(at):
            return line.end()
        if words == line["label"] and not article and (below := self._title_below(line.end())):
            return self._joined(at, below, label, words)
        following, rest = self._following(line.end()), words[len(line["label"]) :].strip(" \u3000：:、")
        runs_on = article and following and (len(rest) > _MOST_ON_A_LINE or "，" in rest)
        if len(words) <= 40 and not is_sentence(words) and (apart or "，" not in words) and not runs_on:
            return self._whole(at, line.end()) if self._take(at, line.end(), label, words) else line.end()
        if apart and article:  # its text stands on the line of its number
            self._begun(at, line.end(), label, line["label"])
        return line.end()

    def _article(self, line: re.Match, at: int) -> int:
        label, words, rest = named(line["name"], line["value"]), line["article"].strip(), line["rest"].strip()
        if not self.plain or self._underlined(line, words, False):
            return line.end()
        if self._is_entry(label, words, line.end()):
            return self._entry(line, at)
        following = self._following(line.end())
        if not self._follows_a_stop(at) or rest[:1].islower():
            return line.end()
        if not rest:
            below = self._title_below(line.end())
            return self._joined(at, below, label, words) if below else self._alone(line, at, label, words)
        runs_on = following and line["stop"] and not is_title(rest)
        if len(rest) <= 80 and not is_sentence(rest) and may_stand_above(rest, following) and not runs_on:
            return self._alone(line, at, label, words)
        if line["stop"] and label.scheme in ("article", "section"):
            self._begun(at, line.end(), label, words[: -len(rest)].rstrip(" .:：—–-"))
        return line.end()

    def _alone(self, line: re.Match, at: int, label: Label, words: str) -> int:
        return self._whole(at, line.end()) if self._take(at, line.end(), label, words) else line.end()

    def _joined(self, at: int, below: re.Match, label: Label, words: str) -> int:
        title = f"{words} {below['words'].strip()}"
        return self._whole(at, below.end()) if self._take(at, below.end(), label, title) else below.start()

    def _begun(self, at: int, end: int, label: Label, title: str) -> None:
        if self._take(at, end, label, title):
            self._close(at)
            self._open(at)

    def _title_below(self, end: int) -> re.Match | None:
        """The line below the number of a chapter, if it is its title."""
        below = FOLLOWING.match(self.text, end)
        title = below["words"].strip() if below else ""
        if not title or len(title) > 80 or is_sentence(title) or title[0].islower() or NO_TITLE.match(title):
            return None
        if next_label(self.text, end) or not may_stand_above(title, self._following(below.end())):
            return None
        return below

    def _following(self, end: int) -> str:
        """The line below unless it is blank or begins with a number, as a heading does."""
        found = FOLLOWING.match(self.text, end)
        return found["words"].strip() if found and not next_label(self.text, end) else ""

    def _follows_a_stop(self, at: int) -> bool:
        if at in (self.paragraph, self.entry[1] + 1):
            return True
        return self.text[max(self.paragraph, at - 16) : at].rstrip()[-1:] in _STOPS


def paragraphs(text: str) -> list[Span]:
    """Cut a text at blank lines, headings, code fences and tables, white space trimmed.

    TypeError for what is no text.
    """
    spans: list[tuple[int, int]] = []
    for start, end, _, opens in Blocks(text).pieces:
        spans.append((start, end) if opens else (spans.pop()[0], end))
    return list(starmap(Span, spans))
