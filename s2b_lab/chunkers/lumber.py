"""LumberChunker: a chat model names the paragraph where the topic turns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
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
_BARE = r"(?<![\d.])(\d{1,9})(?![\d.]*\d)"
_NAME = r"(?:(?<![a-z])(?:ID|paragraph)|段落|编号|第)[\s:：#*\[(（]*"
_AND = r"\s*(?:,|、|-|–|and|or|to|和|或|到|至)\s*"
# "ID 2 and 3" names two.
_NAMED = re.compile(rf"{_NAME}{_BARE}(?:{_AND}(?:{_NAME})?(\d+))?", re.IGNORECASE)
_NUMBER = re.compile(_BARE)


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
    the first question has no answer; one that fails later counts as unused. ValueError for a size below 1, another
    unit or language; TypeError for what is no text or model.
    Source: LumberChunker, arXiv:2406.17526.
    """
    check_size(size, 0)
    cuts, model = Cuts(text, unit, length), checked(model)
    rules = rules_for(language or language_of(text))
    pieces = [part for span in headed_sentences(cuts, 0, len(text), "paragraph") for part in in_size(cuts, span, size)]
    chunks, first = LumberCuts(), 0
    while first < len(pieces):
        after = first + 1
        while after < len(pieces) and cuts.fits(pieces[first].start, pieces[after].end, size):
            after += 1
        turn = _turn(text, pieces[first:after], model, rules, chunks) if after - first > 1 else after - first
        chunks.append(Span(pieces[first].start, pieces[first + turn - 1].end))
        first += turn
    return chunks


def rules_for(language: Literal["en", "zh"]) -> str:
    """The rules under which a model looks for the turn; ValueError for another language."""
    check_choice("language", language, tuple(_RULES))
    return _RULES[language]


def _turn(text: str, group: list[Span], model: ChatModel, rules: str, chunks: LumberCuts) -> int:
    """How many paragraphs of a group stand before the turn that the model names, all of them where it names none."""
    prompt = "\n\n".join(f"ID {number}: {span.of(text)}" for number, span in enumerate(group, 1))
    try:
        answer = reply(model, prompt, rules)[0]
    except ModelUnavailable as error:
        if not chunks.asked:  # a model that is not there must not look like one that sees no turn
            raise
        answer, named = str(error), None
    else:
        named = named_paragraph(answer)
    chunks.asked += 1
    if named is not None and 1 < named <= len(group):
        return named - 1
    chunks.unused.append(answer)
    return len(group)


def named_paragraph(answer: str) -> int | None:
    """The one number that an answer names, with a word such as ID or else bare; None where it names none or several."""
    named = {number for pair in _NAMED.findall(answer) for number in pair if number}
    numbers = {number.lstrip("0") for number in named or _NUMBER.findall(answer)}
    return int(numbers.pop() or 0) if len(numbers) == 1 else None
