"""Sets of questions that are large enough to measure with: one half to tune on, the other only to report on."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

from .core.cards import Card, Rows, counted
from .core.checks import check_choice, check_str
from .core.text import Document, Span
from .corpus import Place, Question, load, python_docs, questions

_FILES = {
    "travel-en": "questions-travel.json",
    "travel-zh": "questions-travel.json",
    "einstein": "questions-einstein.json",
    "python": "questions-python.json",
}


@dataclass(frozen=True, slots=True)
class QuestionSet(Card):
    """Questions about one text and their ids, in the same order; iterate it for the questions.

    `skipped` has the ids of those that were left out, since what they rest on does not stand in the text at hand.
    """

    name: str
    questions: tuple[Question, ...]
    ids: tuple[str, ...]
    skipped: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.questions)

    def __iter__(self) -> Iterator[Question]:
        return iter(self.questions)

    def _card(self) -> tuple[str, Rows]:
        kinds = [question.gold_kind for question in self.questions]
        rows = [(kind, f"{kinds.count(kind):,}") for kind in dict.fromkeys(kinds)]
        return f"{counted(len(self), 'question')} about {self.name}", [*rows, ("skipped", f"{len(self.skipped):,}")]


def question_set(name: str, split: Literal["tune", "report"] | None = None) -> QuestionSet:
    """Get the questions that measurements ask about a text, each with a `gold_kind`, "needle" or "evidence".

    The text is "travel-en", "travel-zh", "einstein", or "python" for `python_docs()`. A needle rests on one passage,
    evidence on two or three that are needed together; what says the same elsewhere counts as well. Choose settings with
    the questions of one split, "tune", and report what they are worth on the other: "report" holds none that a chapter
    shows. Both are as large and hold as many of each kind, but for those skipped; translations have the same ids.
    ValueError for another name or split, TypeError for a name that is no str.
    """
    check_str("name", name)
    if name not in _FILES:
        raise ValueError(f"there is no set of questions about {name!r}; there are some about {', '.join(_FILES)}")
    check_choice("split", split, (None, "tune", "report"))
    found = [(key, question) for key, part, question in _located(name) if split in (None, part)]
    held = [(key, question) for key, question in found if question]
    return QuestionSet(
        name,
        tuple(question for _, question in held),
        tuple(key for key, _ in held),
        tuple(key for key, question in found if not question),
    )


def documents_of(name: str) -> list[Document]:
    """The documents that a set of questions is about; ValueError for another name."""
    return python_docs() if name == "python" else [load(name)]


@cache
def _located(name: str) -> list[tuple[str, str, Question | None]]:
    """The id, the split and, where the text at hand holds what it rests on, the question of each entry."""
    documents = documents_of(name)
    known = {} if name == "python" else {question.text: question for question in questions(name, more=True)}
    return [(entry["id"], entry["split"], _question(entry, name, known, documents)) for entry in _entries(name)]


def _question(entry: dict, name: str, known: dict[str, Question], documents: Sequence[Document]) -> Question | None:
    asked = entry[name]
    if isinstance(asked, str):  # one of those that the chapters show
        return known[asked]
    return _asked(asked["text"], asked["quotes"], documents)


def _asked(text: str, quotes: Sequence[str | list[str]], documents: Sequence[Document]) -> Question | None:
    """The question on all places of its quotes; one quote of several ways to say the same is enough."""
    ways = [[quote] if isinstance(quote, str) else quote for quote in quotes]
    places = [[place for quote in same for place in quoted(quote, documents)] for same in ways]
    if not all(places):
        return None
    elsewhere = tuple(tuple(found[1:]) for found in places)
    return Question(text, tuple(found[0] for found in places), elsewhere=elsewhere)


def quoted(quote: str, documents: Sequence[Document]) -> list[Place]:
    """Wherever the words of a quote stand: lines break elsewhere in another version of the same text."""
    words = re.compile(r"\s+".join(map(re.escape, quote.split())))
    return [(document.id, Span(*found.span())) for document in documents for found in words.finditer(document.text)]


@cache
def _entries(name: str) -> list[dict]:
    return json.loads(files("s2b_lab").joinpath("data", _FILES[name]).read_text(encoding="utf-8"))
