"""Questions that a passage answers, to be searched beside it or instead of it, and their tree."""

from __future__ import annotations

import hashlib
import reprlib
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from .core.characters import is_blank
from .core.checks import check_callable, check_filled, check_kind, check_whole
from .core.text import Document, Span
from .core.tree import Chunk, ChunkTree
from .llm import ChatModel, ModelUnavailable, checked, is_cut_end, reply
from .models.cleaning import question_lines
from .models.prompts import Language, Prompt, instructions

_LINE = 300  # characters; what is longer is no question


def hypothetical_questions(
    model: ChatModel, n: int = 3, prompt: Prompt = "few-shot", language: Language = "en"
) -> Callable[[str], list[str]]:
    """Turn a passage into at most n questions that it answers, to be embedded beside or instead of it.

    Where the model fails there is a RuntimeWarning and no question: nothing stands in for them. TypeError for what is
    no model, ValueError for an n below 1, another prompt or language.
    """
    check_whole("n", n, 1)
    return Questioner(checked(model), instructions("questions", prompt, language).replace("{n}", str(n)), n)


@dataclass(frozen=True, slots=True)
class Questioner:
    """A model under `instructions`, which are its system prompt; call it with a passage."""

    model: ChatModel
    instructions: str
    n: int

    def __call__(self, passage: str) -> list[str]:
        """Ask for the questions, each once; ValueError when the passage is blank."""
        passage = check_filled("passage", passage)
        try:
            answer, source = reply(self.model, passage, self.instructions)
        except ModelUnavailable as error:
            warnings.warn(f"no questions for {passage[:40]!r}: {error}", RuntimeWarning, stacklevel=2)
            return []
        lines = (line for line in question_lines(answer) if len(line) <= _LINE and not is_cut_end(line, answer))
        questions = list(dict.fromkeys(lines))[: self.n]
        if not questions:
            reason = f"{source} wrote none: {answer[:80]!r}"
            warnings.warn(f"no questions for {passage[:40]!r}: {reason}", RuntimeWarning, stacklevel=2)
        return questions


def question_tree(tree: ChunkTree, ask: Callable[[str], list[str]]) -> ChunkTree:
    """Put the questions that each indexed chunk answers into a tree of their own, for an index of their own.

    A question's document is named by `key_of` the chunk that it points to, and has that chunk's version and access
    label: give the index to a Retriever as `questions`, or its hits to `pointed_to`. `ask` is a Questioner or any
    function from a passage to a list of questions, or to None; TypeError when it gives something else, and for what is
    no ChunkTree or no function. A chunk about which it asks none, or whose sections are for different readers, has no
    document here.
    """
    check_kind("tree", tree, ChunkTree)
    check_callable("ask", ask, "from a passage to a list of questions")
    documents, chunks = [], []
    for chunk in tree.indexed:
        source = tree.document(chunk)
        access = source.labels(chunk.span)
        if len(access) == 1 and (questions := _questions_of(ask, chunk.text)):
            title, key = f"Questions about {chunk.id}", key_of(chunk)
            documents.append(Document(key, title, "\n".join(questions), source.version, *access))
            chunks += _question_chunks(documents[-1], questions)
    return ChunkTree(documents, chunks)


def key_of(chunk: Chunk) -> str:
    """The chunk's id and a hash of its text, so that questions about a text that has changed point to nothing."""
    return f"{chunk.id}#{hashlib.sha256(chunk.text.encode()).hexdigest()[:8]}"


def chunk_id_of(key: str) -> str:
    """The id of the chunk that has this key."""
    return key.rpartition("#")[0]


def _questions_of(ask: Callable[[str], list[str] | None], passage: str) -> list[str]:
    given = ask(passage)
    if given is None:
        return []
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise TypeError(f"ask must give a list of questions, not {reprlib.repr(given)}")
    questions = list(given)
    if other := [question for question in questions if not isinstance(question, str)]:
        raise TypeError(f"ask must give questions that are texts, not {reprlib.repr(other[0])}")
    return [text for text in dict.fromkeys(" ".join(question.split()) for question in questions) if not is_blank(text)]


def _question_chunks(written: Document, questions: list[str]) -> Iterator[Chunk]:
    start = 0
    for number, question in enumerate(questions, 1):
        span = Span(start, start + len(question))
        yield Chunk(f"{written.id}/q{number}", written.id, span, question, "sentence", None, written.sections[0].id)
        start = span.end + 1
