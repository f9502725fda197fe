"""The words of the search page: English ones as ever, Chinese ones by their pairs of characters."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx
from sphinx.search.en import SearchEnglish

# Chinese characters: the common ones, those of Extension A, compatible ones, and what lies beyond U+FFFF.
_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = re.compile(rf"([{_HAN}]+)|[^\W{_HAN}]+")


class EnglishAndChinese(SearchEnglish):
    """Sphinx takes a run of Chinese characters for one word; here each two neighbours are one, alone or not.

    The index holds the words that `split` finds in a page, and the page asks it for those of `splitQuery` in a query:
    both cut alike, so that a Chinese query is found where all its pairs are.
    """

    js_splitter_code = r"""
function splitQuery(query) {
  const han = "[\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\u{20000}-\\u{3ffff}]";
  const words = new RegExp(`(${han}+)|(?:(?!${han})[\\p{Letter}\\p{Number}_\\p{Emoji_Presentation}])+`, "gu");
  return [...query.matchAll(words)].flatMap(([word, chinese]) => {
    const characters = [...word];
    if (!chinese || characters.length < 2) return [word];
    return characters.slice(1).map((character, i) => characters[i] + character);
  });
}
"""

    def split(self, input: str) -> list[str]:
        """The words of a text, in order."""
        return [word for match in _WORD.finditer(input) for word in _pairs(match[0], match[1] is not None)]


def _pairs(word: str, chinese: bool) -> list[str]:
    if not chinese or len(word) < 2:
        return [word]
    return [word[i : i + 2] for i in range(len(word) - 1)]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension."""
    app.add_search_language(EnglishAndChinese)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
