"""What can be seen, and what is Chinese, Japanese or Korean: every module asks here."""

import re
import sys

# Letters and marks that are written without spaces between sentences.
CJK = (
    r"\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f"
    r"\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff9f\U00020000-\U0003ffff"
)
# Of these, the characters that are a word each.
HAN_AND_KANA = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_CHINESE = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff]")
# Anything but white space, controls, and the marks that join, shape or direct what stands beside them.
_SEEN = re.compile(
    r"[^\s\0-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f]"
)

_SURROGATE = re.compile("[\ud800-\udfff]")


def without_surrogates(text: str) -> str:
    """Put U+FFFD for each half of a character that stands in a text as one, so that its length stays."""
    return _SURROGATE.sub("\ufffd", text)


def is_blank(text: str, start: int = 0, end: int = sys.maxsize) -> bool:
    """Tell whether nothing in `text[start:end]` can be seen: white space, controls and zero-width marks at most."""
    return not _SEEN.search(text, start, end)


def language_of(text: str) -> str:
    """Tell "zh" from "en": a text with a Chinese character is Chinese."""
    return "zh" if _CHINESE.search(text) else "en"
