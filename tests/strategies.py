"""Texts that break splitters: Chinese, English, mixed, emoji, all line ends, fences, tables, quotes, headings."""

import dataclasses

from hypothesis import settings
from hypothesis import strategies as st

from s2b_lab.core.headings import document
from s2b_lab.core.text import Document

# A busy machine is slow now and then: time says nothing about what is right.
settings.register_profile("steady", deadline=None)
settings.load_profile("steady")

PIECES = (
    "今天下雨，我们在家；明天会晴吗？",
    "他说：“系统坏了！”然后走了。",
    "请提交ChatGPT的3.14版发票（原件）……",
    "没有标点的一句很长很长的话" * 4,
    "Dr. Lane paid $3.50, e.g. for tea. ",
    'He said "stop!" and left at 5 p.m. today. ',
    "See x.io/y.html or a@b.com; version v1.2.3. ",
    "Same. ",
    "supercalifragilistic" * 3,
    "👩‍👩‍👧‍👦👍🏽🇨🇳🇫🇷 ok. ",
    "e\u0301a\u0308\u0323葛\U000e0100 ",
    "don’t ‘quote’ me “twice”. ",
    "\n\n# Title\n\n",
    "\n\n## 2 Deadline\n\n",
    "\n\n一、范围\n\n",
    "\n\n```python\nx = 1.\n\n# not a heading\n```\n\n",
    "\n\n| a | b |\n|---|---|\n| 1. | 2. |\n\n",
    "\n- first item\n- second item\n",
    "\n(1) 第一条。\n(2) 第二条。\n",
    "\n\n",
    "\r\n\r\n",
    "\r",
    "\n",
    "   ",
    "\t",
    "\u3000",
)
texts = st.lists(
    st.sampled_from(PIECES) | st.text(alphabet="a1 .,。，\n\r“”（）中😀\u0301", max_size=12), max_size=14
).map("".join)
units = st.sampled_from(["char", "word", "token"])


@st.composite
def sizes(draw: st.DrawFn, most: int = 60) -> tuple[int, int]:
    """A legal (size, overlap)."""
    size = draw(st.integers(1, most))
    return size, draw(st.integers(0, size - 1))


@st.composite
def documents(draw: st.DrawFn, labels: tuple[str, ...] = ("public",)) -> list[Document]:
    """One to three documents, each section with one of the labels."""
    found = []
    for number in range(draw(st.integers(1, 3))):
        text = draw(st.lists(texts, min_size=1, max_size=4).map("\n\n## Part\n\n".join))
        plain = document(f"doc{number}", text)
        labelled = [dataclasses.replace(section, access=draw(st.sampled_from(labels))) for section in plain.sections]
        found.append(dataclasses.replace(plain, sections=tuple(labelled)))
    return found


json_trees = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=60),
    lambda inner: (
        st.lists(inner, max_size=5) | st.dictionaries(st.text("abc", min_size=1, max_size=3), inner, max_size=4)
    ),
    max_leaves=30,
)
