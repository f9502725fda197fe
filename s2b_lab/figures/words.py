"""Every word of a figure that is no chapter's own: JavaScript and the page without Python have none of their own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

# In the language of the site; a recording carries them as spec["words"].
WORDS: dict[str, dict[str, Any]] = {
    "en": {
        # How a figure stands to Python: what its badge says, and the sentence that explains it.
        "badges": {
            "recorded": ["recorded", "Every position of the controls was computed when this page was built."],
            "live": ["live Python", "A running Python kernel computes this figure."],
            "dead": [
                "Python does not answer",
                "Nothing is heard from the kernel. Run the cell again, or restart the kernel.",
            ],
        },
        # What stands for a picture that is in no recording.
        "unrecorded": {
            "recorded": "Only Python can answer here, and it has not said hello yet. "
            "Run the cell again if it stays away.",
            "dead": "Python does not answer, so this is still the last picture. Run the cell again to go on.",
        },
        "computing": "Python is computing",
        "busy": "Python is computing …",
        "reset": "Reset",
        "ask": "Ask",
        "own": "{label}: type your own",
        "placeholder": "Type your own …",
        "hint": "To type your own, open this page in Binder or Colab (the rocket at the top) or in JupyterLab.",
        "copy": "Copy as JSON",
        "copied": "Copied",
        "press": "Press Ctrl+C",
        "json": "The stages as JSON",
        "in": "in",
        "out": "out",
        "of": "{value} of {maximum} {unit}",
        "ms": "{ms} ms",
        "seconds": "{count} s",
        "idle": "no effect here",
        # What a screen reader calls a view without a name of its own.
        "text": "Text",
        "table": "Table",
        # What a table that is folded away is called: of one row, and of more.
        "folded": ["{title} ({count} row)", "{title} ({count} rows)"],
        "stages": "Stages",
        "figure": "Figure",
        "data": "Data of this chart",
        # A text whose reader cuts it, and then compares.
        "cuts": {
            "how": "Where would you cut? Set cuts between sentences, then compare.",
            "cut": "Cut after sentence {number}",
            "button": "cut",
            "own": "your cut",
            "placed": ["You have set {count} cut.", "You have set {count} cuts."],
            "beside": "{placed} Numbers in lists: after which sentence.",
            "compare": "Compare",
            "hide": "Hide the other cuts",
            "legend": "Bars: the probability that the text ends here, each power of ten a sixth of a full bar. "
            "¶: a paragraph ends here.",
            "unasked": "nothing to choose",
            "end": "probability that the text ends here",
            "chunker": "chunker",
            "cuts": "its cuts",
            "shared": "shared",
            "yours": "only yours",
            "its": "only its",
            "counted": ["{count}", "{count} + {elsewhere} elsewhere"],
            "tree": "Parents and the pieces inside",
            "levels": ["halves", "quarters"],
            "pieces": ["sentence {first}: {count} words", "sentences {first}–{last}: {count} words"],
            "inside": "{level}: {pieces}",
            "between": ", ",
            "then": "; ",
        },
        "no_plotly": "plotly.js could not be loaded",
        "no_answer": "Python did not send plotly.js",
    }
}

# In the language of the text they stand in; kinds of marks from the outermost in. A gap counts one, or more.
PASSAGES: dict[str, dict[str, Any]] = {
    "en": {
        "legend": {
            "context": "delivered",
            "chunk": "chunk",
            "hit": "hit",
            "unread": "not read by the model",
            "gold": "evidence",
            "lost": "evidence not delivered",
        },
        "gap": ["⋯ {count} character left out ⋯", "⋯ {count} characters left out ⋯"],
        # What a small number before a mark is: an example of it, and its meaning.
        "badges": {
            "chunk": ["1", "place of the chunk in the text"],
            "context": ["1", "place among what is delivered"],
            "similarity": ["0.54", "similarity to the question"],
        },
    },
    "zh": {
        "legend": {
            "context": "已交付",
            "chunk": "文本块",
            "hit": "命中",
            "unread": "模型未读",
            "gold": "证据",
            "lost": "未交付的证据",
        },
        "gap": ["⋯ 此处省略 {count} 个字符 ⋯", "⋯ 此处省略 {count} 个字符 ⋯"],
        "badges": {
            "chunk": ["1", "文本块在原文中的序号"],
            "context": ["1", "在已交付内容中的次序"],
            "similarity": ["0.54", "与问题的相似度"],
        },
    },
}

# Of the page without Python: around a text where no script runs, and where a recording does not come.
PAGE: dict[str, dict[str, str]] = {
    "en": {
        "marked": "Marked: {kinds}",
        "between": ", ",
        "undrawn": "A figure, drawn by JavaScript.",
        "fault": "This figure stays still: {problem}.",
        "missing": "the recording {file} could not be loaded ({status})",
        # The columns of a text that is cut, and what its table of chunkers is called.
        "number": "#",
        "sentence": "sentence",
        "by": "cut here by",
        "parent": "parent",
        "chunkers": "Cuts between sentences",
    },
    "zh": {"marked": "标记：{kinds}", "between": "、"},
}


def passage_words(lang: str, badges: Iterable[tuple[str, str]] = ()) -> dict[str, Any]:
    """The words of a text in a language (a tag such as "zh" or "zh-Hans"); English for others.

    Its legend, its gap, and for badges, each a kind of mark and what it says, {kind: [an example, its meaning]}.
    """
    words = PASSAGES[_known(lang)]
    return words | {"badges": {kind: words["badges"][says] for kind, says in badges}}


def page_words(lang: str) -> dict[str, str]:
    """The words of a page without a script around a text in a language; English where there are no others."""
    return PAGE["en"] | PAGE[_known(lang)]


def _known(lang: str) -> str:
    code = lang.lower().replace("_", "-").split("-")[0]
    return code if code in PASSAGES else "en"
