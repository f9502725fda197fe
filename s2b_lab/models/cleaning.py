"""What models wrap around an answer, and how it is taken off: labels, chat, bullets, quotation marks, fences."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..llm import spoken

_MOST = 6000  # characters of an answer that are looked at: cleaning takes time that grows with its square
_STEP = (
    r"(?:rewritten|rephrased|step[- ]?back|(?:more )?general|broader|new) (?:question|query)"
    r"|(?:改写后的?|退一步的?|更?(?:概括|一般|宽泛)的?)(?:问题|提问)"
)
_MADE_UP = r"(?:hypothetical )?(?:passage|document|answer)|(?:假设的?)?(?:段落|文档|回答|答案)"
_ASKED = r"(?:hypothetical )?questions|(?:假设)?问题(?:列表)?"
_MARKS = r"[\s*_#]*"
_LABEL = (
    rf"{_MARKS}(?:{_STEP}|{_MADE_UP}|{_ASKED}|(?:question|query)(?: \d{{1,2}})?|q\d{{0,2}}|output|问题 ?\d{{1,2}}|输出)"
    rf"{_MARKS}[:：]{_MARKS}"
)
_CHAT = (
    r"(?:sure|certainly|of course|okay|ok|好的|当然|没问题)(?:[!.,！。，]+|\Z)"
    r"|here(?: is| are|['’]s)\b[^:：\n]{0,80}[:：]"
    r"|the (?:answer|passage|rewritten question)(?: to this| to the question)?(?: is)?[:：]"
    r"|(?:以下|下面|这)是[^:：\n]{0,40}[:：]"
)
_WRAPPED = re.compile(rf"{_CHAT}|{_LABEL}", re.IGNORECASE)
_BULLET = re.compile(
    r"(?:[-*•>]|#{1,6}|\d{1,2}[.)]|[(（]\d{1,2}[)）])\s+|\d{1,2}[.)](?=[^\s\d])|\d{1,2}[、．]|[（(]\d{1,2}[)）]"
)
# Models leave the mark out at times; relative clauses and full stops tell a statement.
_QUESTION = re.compile(
    r"[?？][\s”’」』\"')）]*\Z"
    r"|\A(?:what|which|who|whose|when|where|why|how|is|are|was|were|do|does|did|can|may|must|should|will|has|have)\b"
    r"|(?:什么|哪|谁|怎|如何|多少|多久|是否|为何|[吗呢]\Z)[^。]*\Z",
    re.IGNORECASE,
)
_QUOTES = (*zip("\"“'‘「『«`", "\"”'’」』»`", strict=True), ("**", "**"), ("__", "__"))


def first_line(answer: str) -> str:
    """Take the first line of an answer, such as a question, without what models wrap around it; "" for none."""
    return next(_lines(_STEP, answer), "")


def unwrapped_passage(answer: str) -> str:
    """Take all lines of an answer that is a passage, without what models wrap around them."""
    lines = map(str.strip, _result(_MADE_UP, answer).splitlines())
    return _bare("\n".join(filter(None, lines)))


def question_lines(answer: str) -> Iterator[str]:
    """Take the questions of an answer, one a line, without numbers, labels and quotation marks."""
    return filter(is_question, _lines(_ASKED, answer))


def _lines(label: str, answer: str) -> Iterator[str]:
    lines = (_bare(line, _BULLET) for line in _result(label, answer).splitlines())
    return filter(None, lines)


def _result(label: str, answer: str) -> str:
    # A model that was shown examples may repeat the whole form; what was asked for follows its own label.
    lines = (line.strip() for line in spoken(answer)[:_MOST].splitlines())
    text = "\n".join(line for line in lines if line and not line.startswith("```"))
    found = re.search(rf"^{_MARKS}(?:{label}){_MARKS}[:：]", text, re.IGNORECASE | re.MULTILINE)
    return text[found.start() :] if found else text


def _bare(text: str, *more: re.Pattern[str]) -> str:
    # Wrappings stand inside one another in any order, so they are taken off until none is left.
    before = None
    while text != before:
        before, text = text, text.strip()
        for wrapping in (_WRAPPED, *more):
            found = wrapping.match(text)
            text = text[found.end() :].strip() if found else text
        text = _unquoted(text)
    return text


def is_question(text: str) -> bool:
    """Tell a question, with its mark or without, from a statement."""
    return _QUESTION.search(text) is not None


def _unquoted(text: str) -> str:
    for opening, closing in _QUOTES:
        inner = text[len(opening) : -len(closing)]
        # "One" and "two": these marks do not belong together.
        if text == opening + inner + closing and not (opening in inner or closing in inner):
            return inner
    return text
