"""What figures are about: our texts and questions to choose from, and who rewrites them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from .. import corpus
from ..corpus import Question
from ..figures.controls import Choice, Text
from ..llm import ChatModel, first_of
from ..models.recording import Recording, recorded, recordings
from ..models.servers import openai_model
from ..rewrite import Rewriter, hyde, step_back
from .evidence import is_hidden

LANGUAGES = {"English": "en", "中文": "zh"}
TEXTS = {"Einstein's patents": "einstein", "Travel policy": "travel-en", "差旅报销制度": "travel-zh"}
WRITERS = {"the authors": "authors", "SmolLM2, a model of 135 million parameters": "smollm2"}
# The first examples of a figure, by their place among all questions about the text: narrow ones and broad ones.
_FIRST = {"einstein": (0, 48, 43, 14, 23, 45), "travel-en": (0, 6, 4, 28, 21, 18), "travel-zh": (0, 6, 4, 28, 21, 18)}


def policy_controls(questions: int = 8) -> dict[str, Any]:
    """The two controls of a figure on the policy: its language, and one of our first questions in it."""
    examples = {
        label: [q.text for q in corpus.questions(f"travel-{code}")][:questions] for label, code in LANGUAGES.items()
    }
    return {"language": Choice("Policy", LANGUAGES), "question": Text("Question", examples, by="language")}


def text_controls(questions: int = 6, texts: Sequence[str] = tuple(TEXTS.values()), first: int = 0) -> dict[str, Any]:
    """The two controls of a figure on any text: the text, and one of our questions about it, from the `first` on."""
    shown = {label: name for label, name in TEXTS.items() if name in texts}
    turned = {label: [*examples_of(name)[first:], *examples_of(name)[:first]] for label, name in shown.items()}
    examples = {label: [question.text for question in some[:questions]] for label, some in turned.items()}
    return {"text": Choice("Text", shown), "question": Text("Question", examples, by="text")}


def examples_of(text: str) -> list[Question]:
    """Six questions about a text for its figures."""
    known = corpus.questions(text, more=True)
    return [known[place] for place in _FIRST[text]]


def asked_of_all(text: str) -> list[Question]:
    """All questions about a text whose evidence everyone may read: the others cannot be counted."""
    return [question for question in corpus.questions(text, more=True) if not is_hidden(question)]


def rewriter(lever: str, writer: str, prompt: str, text: str) -> Rewriter:
    """The step-back or HyDE rewriter that asks the recordings of a writer, then the model that is configured."""
    makers = {"step-back": step_back, "hyde": hyde}
    if lever not in makers or writer not in WRITERS.values():
        known = f"{', '.join(makers)} by {', '.join(WRITERS.values())}"
        raise ValueError(f"there are rewrites {known}, not {lever!r} by {writer!r}")
    return makers[lever](writer_model(lever, writer, prompt, text), prompt, corpus.language(text))


def writer_model(lever: str, writer: str, prompt: str, text: str) -> ChatModel:
    """The recording of a writer's rewrites under a prompt; for what was not recorded the model that is configured."""
    name = f"{lever}.{writer}.{prompt}.{corpus.language(text)}"
    return first_of(recorded(name), openai_model()) if name in recordings() else openai_model()


def configured() -> ChatModel | None:
    """The model that OPENAI_MODEL names, to answer with; None where none is named, as while the book is built."""
    return openai_model() if os.environ.get("OPENAI_MODEL") else None


def origin(recording: Recording) -> str:
    """Who wrote a recording, when, and under which prompt."""
    return f"Recorded on {recording.date}, written by {recording.author}, under this prompt:\n\n{recording.prompt}"
