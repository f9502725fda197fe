"""LumberChunker: a chat model names the paragraph where the topic turns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from ..core.characters import language_of
from ..core.checks import check_choice
from ..core.sizes import Unit
from ..core.split import Cuts, check_size
from ..core.text import Span
from ..llm import ChatModel, ModelUnavailable, checked, reply
from .whole import headed_sentences, in_size

_RULES = {
    "en": (
        "You read paragraphs in a row, each with its number. Find the first paragraph, not number 1, where the content "
        "clearly turns away from the paragraphs before it. Choose a turn that leaves neither very short nor very long "
        "parts where you can. Answer with the number alone, as in: ID 3"
    ),
    "zh": (
        "你会读到几个连续的段落，每段都有编号。请找出内容明显偏离前文的第一个段落，不能是 1 号。"
        "尽量不要分出过短或过长的部分。只回答编号，例如：ID 3"
    ),
}
# What answers wrap around a word and its number, with white space: it becomes one space.
_WRAPPED = re.compile(r"(?:<[^<>\s]{1,20}>|[\s*_`\"'#>\[\](){}（）=:：№])+")
# A number, and no part of 3.5 or 1.2.3.
_NUMBER = r"(?<![\d.])\d{1,9}(?![\d.]*\d)"
_WORD = r"(?:(?<![a-z])(?:ID|paragraph)|段落|编号) ?(?:(?:ID|number|no\.?|编号) ?)?"
_AND = r"(?: ?(?:[,，、/&~～\-–—→]|and|or|to|和|与|及|或|到|至) ?| )"
# "ID 2 and 3" names two.
_NAMED = re.compile(rf"{_WORD}({_NUMBER}(?:{_AND}(?:{_WORD})?\d+)*)", re.IGNORECASE)
_ORDINAL = re.compile(rf"第 ?({_NUMBER}(?:{_AND}\d+)*) ?个?(?:自然)?段|({_NUMBER}) ?号")
# A line that is nothing but an answer, as most are: reasons may follow it.
_ALONE = re.compile(
    r"(?:(?:the )?(?:answer|turn)(?: is)?|答案是?)? ?(?:(?:ID|paragraph|number|no\.?|段落|编号|第) ?){0,3}"
    rf"({_NUMBER}) ?(?:个?(?:自然)?段|号)?[.。]?",
    re.IGNORECASE,
)
_PATIENCE = 3  # questions without any answer after which a model is taken not to be there


class LumberCuts(list[Span]):
    """The chunks of `lumber`: `asked` counts the questions, `unused` has each answer that no cut could be made of."""

    def __init__(self, spans: Iterable[Span] = (), asked: int = 0, unused: Iterable[str] = ()) -> None:
        super().__init__(spans)
        self.asked, self.unused = asked, list(unused)

    @property
    def fallbacks(self) -> int:
        """How many groups became a chunk as they were, since the model's answer was of no use."""
        return len(self.unused)


def lumber(
    text: str,
    model: ChatModel,
    size: int = 550,
    unit: Unit = "token",
    length: Callable[[str], int] | None = None,
    language: Literal["en", "zh"] | None = None,
) -> LumberCuts:
    """Cut before the paragraph that a chat model names, out of a group of paragraphs up to `size`.

    The next group begins there. An answer must name one paragraph of the group, and not its first: any other is kept
    in `unused`, and the whole group is a chunk. A paragraph larger than `size` is cut as `recursive` does, and a
    heading goes with what follows. The question is in `language`, by default that of the text. ModelUnavailable where
    the first three questions have no answer, or all where there are fewer; one without an answer else counts as unused.
    ValueError for a size below 1, another unit or language; TypeError for what is no text or model.
    Source: LumberChunker, arXiv:2406.17526, where a group goes on until it is larger than the size.
    """
    check_size(size, 0)
    cuts, turns = Cuts(text, unit, length), _Turns(text, checked(model), rules_for(language or language_of(text)))
    pieces = [part for span in headed_sentences(cuts, 0, len(text), "paragraph") for part in in_size(cuts, span, size)]
    chunks, first = [], 0
    while first < len(pieces):
        after = first + 1
        while after < len(pieces) and cuts.fits(pieces[first].start, pieces[after].end, size):
            after += 1
        turn = turns.within(pieces[first:after]) if after - first > 1 else 1
        chunks.append(Span(pieces[first].start, pieces[first + turn - 1].end))
        first += turn
    turns.check_answered(1)
    return LumberCuts(chunks, turns.asked, turns.unused)


def rules_for(language: Literal["en", "zh"]) -> str:
    """The rules under which a model looks for the turn; ValueError for another language."""
    check_choice("language", language, tuple(_RULES))
    return _RULES[language]


class _Turns:
    """Asks a model for the turns in one text: how often it was asked, what was of no use, and who did not answer."""

    def __init__(self, text: str, model: ChatModel, rules: str) -> None:
        self._text, self._model, self._rules = text, model, rules
        self.asked, self.unused = 0, []
        self._failed: list[ModelUnavailable] = []

    def within(self, group: list[Span]) -> int:
        """How many paragraphs of a group stand before the turn that the model names, all where it names none."""
        prompt = "\n\n".join(f"ID {number}: {span.of(self._text)}" for number, span in enumerate(group, 1))
        self.asked += 1
        try:
            answer = reply(self._model, prompt, self._rules)[0]
        except ModelUnavailable as error:
            self._failed.append(error)
            self.check_answered(_PATIENCE)
            answer, named = str(error), None
        else:
            named = named_paragraph(answer)
        if named is not None and 1 < named <= len(group):
            return named - 1
        self.unused.append(answer)
        return len(group)

    def check_answered(self, patience: int) -> None:
        """Raise where nothing at all was answered: a model that is not there must not look like one without turns."""
        if len(self._failed) == self.asked >= patience:
            raise self._failed[0]


def named_paragraph(answer: str) -> int | None:
    """The one number that an answer names, with a word such as ID or alone on a line; None for none or several.

    A number elsewhere counts what the model speaks of: "There are 3 paragraphs".
    """
    lines = [_WRAPPED.sub(" ", line).strip() for line in answer.splitlines()]
    named = [found[1] for line in lines if (found := _ALONE.fullmatch(line))]
    if not named:
        named = [one for line in lines for pattern in (_NAMED, _ORDINAL) for one in _texts(pattern, line)]
    numbers = {number.lstrip("0") for one in named for number in re.findall(r"\d+", one)}
    return int(numbers.pop() or 0) if len(numbers) == 1 else None


def _texts(pattern: re.Pattern[str], line: str) -> Iterator[str]:
    return (found[found.lastindex or 0] for found in pattern.finditer(line))
