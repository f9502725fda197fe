"""Chinese among other words: where a run of it begins and ends, for lang="zh" on pages that speak English."""

from __future__ import annotations

import re
from html import escape

from ..core.characters import language_of

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff"
# Marks that are Chinese, or that a Chinese voice reads just as well between Chinese words: “ ” ‘ ’ … —, blanks, digits.
_MARKS = "\u3000-\u303f\uff00-\uffef\u2014\u2018\u2019\u201c\u201d\u2026 0-9.,:;!?%()"
# JavaScript reads it too (with the flags "gu"): from a first Chinese character to the last, and the marks that end it.
CHINESE_RUN = f"[{_HAN}](?:[{_HAN}{_MARKS}]*[{_HAN}])?[\u3001-\u303f\uff00-\uff1f\u2026!?,;:]*"
_RUN = re.compile(CHINESE_RUN)


def with_languages(text: str) -> str:
    """The text as HTML, each run of Chinese in a span that says so."""
    if language_of(text) == "en":
        return escape(text)
    parts, at = [], 0
    for run in _RUN.finditer(text):
        parts += [escape(text[at : run.start()]), f'<span lang="zh">{escape(run[0])}</span>']
        at = run.end()
    return "".join([*parts, escape(text[at:])])
