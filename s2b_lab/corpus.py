"""The texts of the lab with their questions, and the prose of the Python documentation."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

from .core.characters import is_blank
from .core.checks import check_filled, check_str, list_of
from .core.headings import document
from .core.text import Document, Span

Place = tuple[str, Span]  # a document's id, and where in it


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the spans that a good answer rests on: pairs of document id and span, in order.

    `kind` says what makes it hard, as in "exception". Where the words of an answer stand elsewhere, too, `elsewhere`
    has for each answer those other places, and one of all is enough. ValueError for a blank text, and for `elsewhere`
    of another length than `answers`; TypeError for answers that are no such pairs, and a kind that is no text.
    """

    text: str
    answers: tuple[Place, ...]
    kind: str = ""
    elsewhere: tuple[tuple[Place, ...], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", check_filled("text of a question", self.text))
        object.__setattr__(self, "answers", _places("answers", self.answers))
        check_str("kind of a question", self.kind)
        others = tuple(_places("elsewhere", places) for places in list_of(tuple, "elsewhere", self.elsewhere))
        object.__setattr__(self, "elsewhere", others)
        if others and len(others) != len(self.answers):
            raise ValueError(f"elsewhere must have a list for each of {len(self.answers)} answers, not {len(others)}")

    @property
    def gold(self) -> tuple[tuple[Place, ...], ...]:
        """What must be delivered: each answer once, as all the places where its words stand."""
        others = self.elsewhere or ((),) * len(self.answers)
        items: dict[Place, tuple[Place, ...]] = {}
        for answer, more in zip(self.answers, others, strict=True):
            items[answer] = tuple(dict.fromkeys((*items.get(answer, (answer,)), *more)))
        return tuple(items.values())

    @property
    def gold_kind(self) -> Literal["needle", "evidence"]:
        """Whether one span answers the question, a needle, or several are needed together."""
        return "evidence" if len(self.gold) > 1 else "needle"


def _places(name: str, given: Iterable[Place]) -> tuple[Place, ...]:
    places = tuple(list_of(tuple, name, given))
    for pair in places:
        if len(pair) != 2 or not isinstance(pair[0], str) or not isinstance(pair[1], Span):
            raise TypeError(f"an answer is a pair of document id and Span, not {pair!r}")
    return places


# --- our own texts ---------------------------------------------------------------------------------------------------


def names() -> list[str]:
    """List the names that `load` knows."""
    return list(_catalog())


def load(name: str) -> Document:
    """Load one of our own texts by its name; ValueError for another, TypeError for what is no name."""
    check_str("name", name)
    return _loaded(name)


@cache
def _loaded(name: str) -> Document:
    entry = _entry(name)
    return document(
        entry["id"],
        _data(entry["file"]),
        title=entry["title"],
        version=entry["version"],
        access=entry["access"],
        section_access={int(ordinal): label for ordinal, label in entry["section_access"].items()},
    )


def language(name: str) -> Literal["en", "zh"]:
    """Tell the language of one of our own texts; ValueError for another, TypeError for what is no name."""
    return _entry(name)["language"]


def cut_sizes(name: str) -> tuple[int, int, int]:
    """Get the sizes that our measurements cut a text with, in characters: parent, child and overlap.

    A Chinese character says about as much as three of English. ValueError for a text that nothing is measured on,
    TypeError for what is no name.
    """
    check_str("name", name)
    sizes = {entry["id"]: tuple(entry["sizes"]) for entry in _catalog().values() if "sizes" in entry}
    if name not in sizes:
        raise ValueError(f"there are no sizes for {name!r}; there are some for {', '.join(sizes)}")
    return sizes[name]


def questions(name: str, more: bool = False) -> list[Question]:
    """List the questions about a text; those of a translation have the same order and kinds.

    With `more` come those that only measurements need, since a table of them all would be too long to read. ValueError
    for a text without questions, TypeError for what is no name.
    """
    doc = load(name)
    entries = [entry for entry in _questions() if name in entry and (more or not entry.get("more"))]
    if not entries:
        known = sorted({key for entry in _questions() for key in entry if key not in ("kind", "more")})
        raise ValueError(f"there are no questions about {name!r}; there are some about {', '.join(known)}")
    return [_question(doc, entry["kind"], **entry[name]) for entry in entries]


def _question(doc: Document, kind: str, text: str, evidence: list[dict]) -> Question:
    return Question(text, tuple((doc.id, _evidence(doc, **item)) for item in evidence), kind)


def _evidence(doc: Document, section: int, quote: str, to: str | None = None) -> Span:
    """Find a passage by its section and words: one quotation, or the stretch from one to another."""
    start = _only(doc, section, quote)
    return start if to is None else Span(start.start, _only(doc, section, to).end)


def _only(doc: Document, section: int, quote: str) -> Span:
    spans = [part.span for part in doc.sections if part.id == f"{doc.id}/{section}"]
    count = sum(span.of(doc.text).count(quote) for span in spans)
    if count != 1:
        raise ValueError(f"evidence must occur once in section {section} of {doc.id}, found {count} times: {quote!r}")
    start = doc.text.index(quote, spans[0].start)
    return Span(start, start + len(quote))


def _entry(name: str) -> dict:
    check_str("name", name)
    if name not in _catalog():
        raise ValueError(f"unknown text {name!r}; known are {', '.join(_catalog())}")
    return _catalog()[name]


@cache
def _catalog() -> dict[str, dict]:
    return {entry["id"]: entry for entry in json.loads(_data("catalog.json"))}


@cache
def _questions() -> list[dict]:
    return json.loads(_data("questions.json"))


def _data(name: str) -> str:
    return files("s2b_lab").joinpath("data", name).read_text(encoding="utf-8")


# --- the documentation that comes with Python ------------------------------------------------------------------------


def python_docs() -> list[Document]:
    """Collect the help topics of the running Python as documents `python/<topic>`, each section once, by topic.

    Where several topics share a text, the one that its title names stands for all. A section that is in two topics
    stays in the first one, by name, and a topic without a section of its own is left out. The version is Python's.
    """
    from pydoc_data.topics import topics

    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    shared: dict[str, list[str]] = {}
    for topic, text in sorted(topics.items()):
        shared.setdefault(text.strip("\n") + "\n", []).append(topic)
    found = {_speaker(keys, text): text for text, keys in shared.items() if not is_blank(text)}
    seen: set[tuple[str, str]] = set()
    own = {topic: _unseen(document(topic, text), seen) for topic, text in sorted(found.items())}
    return [
        document(f"python/{topic}", text, title=text.split("\n", 1)[0], version=version)
        for topic, text in own.items()
        if text
    ]


def _unseen(doc: Document, seen: set[tuple[str, str]]) -> str:
    """The text without the sections seen before, and without headings that nothing is left below."""
    parts = [(section.level, section.span.of(doc.text), section.title) for section in doc.sections]
    kept: list[tuple[int, str]] = []
    for level, text, title in parts:
        key = title, _below_heading(text)
        if key not in seen or not key[1]:
            kept.append((level, text))
        seen.add(key)
    left: list[str] = []
    below = 0  # the level of what is left after a heading
    for level, text in reversed(kept):
        if _below_heading(text) or below > level:
            left.append(text)
            below = level
    return "".join(reversed(left)).strip("\n") + "\n" if left else ""


def _below_heading(text: str) -> str:
    # The same section has another line below its title where it stands at another level.
    lines = text.strip().split("\n")
    ruled = len(lines) > 1 and len(set(lines[1])) == 1 and not lines[1][0].isalnum()
    return "\n".join(lines[2 if ruled else 1 :]).strip()


def _speaker(topics: list[str], text: str) -> str:
    title = text.split("\n", 1)[0].lower()
    return min(topics, key=lambda topic: (topic.lower() not in title, topic))
