"""A question in words that match better: a step back, or a made-up passage (HyDE)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

from .core.cards import Card, Rows, abridged
from .core.characters import is_blank
from .core.checks import check_filled
from .llm import ChatModel, ModelUnavailable, checked, is_cut_end, reply, why_cut
from .models.cleaning import first_line, is_question, unwrapped_passage
from .models.copies import normalise
from .models.prompts import Language, Prompt, instructions

ITSELF = "the question itself"
_LINE, _PASSAGE = 300, 2000  # characters; what is longer is not what was asked for


@dataclass(frozen=True, slots=True)
class Rewrite(Card):
    """What to retrieve with, who wrote it, and, where the question itself had to be used, why."""

    text: str
    source: str
    reason: str = ""

    def _card(self) -> tuple[str, Rows]:
        title = "No rewrite: the question as it is" if self.source == ITSELF else f"Rewrite by {self.source}"
        why = [("reason", self.reason)] if self.reason else []
        return title, [("text", abridged(self.text)), *why]


@dataclass(frozen=True, slots=True)
class Rewriter:
    """A model under `instructions`, which are its system prompt; call it with a question, or give it to a Retriever."""

    model: ChatModel
    instructions: str
    limit: int
    clean: Callable[[str], str]
    asks: bool = False  # whether only a question will do

    def __call__(self, question: str) -> str:
        """Rewrite the question; where the model fails, warn (RuntimeWarning) and give the question back."""
        done = self.explain(question)
        if done.reason:
            warnings.warn(f"the question is used as it is: {done.reason}", RuntimeWarning, stacklevel=2)
        return done.text

    def explain(self, question: str) -> Rewrite:
        """Rewrite the question and tell where the text comes from; ValueError when it is blank."""
        question = check_filled("question", question)
        try:
            said, source = reply(self.model, question, self.instructions)
        except ModelUnavailable as error:
            return Rewrite(question, ITSELF, str(error))
        text = self.clean(said)
        fault = self._fault(text) or self._half(text, said)
        return Rewrite(question, ITSELF, f"{source} {fault}") if fault else Rewrite(text, source)

    def _fault(self, text: str) -> str:
        if is_blank(text) or not normalise(text):
            return "gave an empty answer"
        if len(text) > self.limit:
            return f"rambles: {len(text)} characters where at most {self.limit} make sense"
        # Weak models answer the question, with facts of their own.
        return f"wrote no question: {text!r}" if self.asks and not is_question(text) else ""

    def _half(self, text: str, said: str) -> str:
        # Half a passage is still like the texts to be found; half a question asks something else.
        return f"wrote half a question: {why_cut(said)}" if self.asks and is_cut_end(text, said) else ""


def step_back(model: ChatModel, prompt: Prompt = "few-shot", language: Language = "en") -> Rewriter:
    """Turn a question into a more general one, which lies nearer to texts about its subject.

    With "few-shot" the rules come with examples, in the language of the texts. TypeError for what is no model,
    ValueError for another prompt or language.
    Source: Zheng et al., "Take a Step Back", 2023, arXiv:2310.06117.
    """
    return Rewriter(checked(model), instructions("step back", prompt, language), _LINE, first_line, asks=True)


def hyde(model: ChatModel, prompt: Prompt = "few-shot", language: Language = "en") -> Rewriter:
    """Turn a question into a passage that might answer it, made up but worded like the texts to be found.

    With "few-shot" the rules come with examples, in the language of the texts. TypeError for what is no model,
    ValueError for another prompt or language.
    Source: Gao et al., "Precise Zero-Shot Dense Retrieval without Relevance Labels", 2022, arXiv:2212.10496.
    """
    return Rewriter(checked(model), instructions("hyde", prompt, language), _PASSAGE, unwrapped_passage)
