"""The numbers of contexts that an answer cites, in the forms that models write."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

_LABEL = (
    r"(?:(?:sources?|contexts?|citations?|cited?|documents?|docs?|references?|refs?|passages?|excerpts?|see|cf)\b"
    r"|资料|来源|上下文|文档|文献|参考|引用|引文|依据|出处|片段|材料|参见|详见|见)[\s:#.]*"
)
_NUMBER = r"[#^]?\s*\d{1,4}(?!\d)"
_JOIN = r"\s*(?:,\s*and\b|[,、;&]|\band\b|\bor\b|以及|[和与及])\s*"
_RANGE = r"\s*(?:[-–—~]|\bto\b|[至到])\s*"
_LIST = re.compile(
    rf"\s*(?P<label>{_LABEL})?(?:{_LABEL})*(?P<list>{_NUMBER}(?:(?:{_JOIN}|{_RANGE})(?:{_LABEL})*{_NUMBER})*)"
    # ChatGPT adds "†source"; models name a page, and beside a label they repeat a title.
    r"\s*(?:†.*|,\s*(?:pp?\.|pages?\b|§|第).*|(?(label)[,:]\s*\D.*|(?!)))?\s*\\?",
    re.IGNORECASE,
)
_ITEM = re.compile(rf"(?P<range>{_RANGE})?(?P<number>\d{{1,4}})", re.IGNORECASE)
_BRACKETS = re.compile(r"[\[［【(（]([^\[\]［］【】()（）\n]{1,80}?)[\]］】)）]")
_YEAR = 1000  # a number of four digits is a year or a quantity, unless there are so many contexts
_FENCE = re.compile(r"^[ ]{0,3}(`{3,}+|~{3,}+)[^\n]*+\n.*?(?:^[ ]{0,3}\1[`~]*[ ]*$|\Z)", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"(?<!`)(`++)(?!`)(?:(?!\n\s*\n).)+?(?<!`)\1(?!`)", re.DOTALL)


def cited_numbers(text: str, contexts: int) -> list[int]:
    """The numbers that a text cites, each once, in its order; code and, with fewer `contexts`, years are none.

    Read are [1], 【1】, [1, 3], [1-3], [1 and 2], [^2], [citation:1], [Source 1], 【资料 2】 and the like, in round
    brackets where a label says that it is a source.
    """
    found = (number for content in _BRACKETS.finditer(without_code(text)) for number in _numbers(content))
    return list(dict.fromkeys(number for number in found if number <= contexts or number < _YEAR))


def without_code(text: str) -> str:
    """The text with its code fences and code spans blanked; whole where nothing else is in it."""
    plain = _CODE.sub(" ", _FENCE.sub("\n", text))
    return plain if plain.strip() else text


def _numbers(bracket: re.Match) -> Iterator[int]:
    found = _LIST.fullmatch(unicodedata.normalize("NFKC", bracket[1]))
    if not found or (bracket[0][0] in "(（" and not found["label"]):
        return
    last = 0
    for item in _ITEM.finditer(found["list"]):
        number = int(item["number"])
        # A range that ends in a year is no range of contexts.
        if item["range"] and max(last, number) < _YEAR:
            yield from range(min(last, number) + 1, max(last, number))
        yield number
        last = number
