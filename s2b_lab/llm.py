"""What a language model is here: it answers a prompt or says why it cannot, and models stand in a row."""

from __future__ import annotations

import re
from typing import Any, Protocol

from .core.characters import is_blank

# How models mark their thoughts: what opens and what closes them.
_THOUGHTS = {
    **{f"<{name}>": f"</{name}>" for name in ("think", "thinking", "thought", "thoughts", "reasoning", "seed:think")},
    "[THINK]": "[/THINK]",
    "◁think▷": "◁/think▷",
    "<|begin_of_thought|>": "<|end_of_thought|>",
    "<|START_THINKING|>": "<|END_THINKING|>",
    "<|channel|>analysis<|message|>": "<|channel|>final<|message|>",
}
_LEADING = re.compile(
    "|".join(rf"{re.escape(opening)}.*?(?:{re.escape(closing)}|\Z)" for opening, closing in _THOUGHTS.items()),
    re.DOTALL | re.IGNORECASE,
)
_OPENING = re.compile("|".join(map(re.escape, _THOUGHTS)), re.IGNORECASE)
_CLOSING = re.compile("|".join(map(re.escape, _THOUGHTS.values())), re.IGNORECASE)
# Before a mark that a sentence speaks of: a blank or a character of a sentence that goes on, or a quotation mark.
_SPOKEN_OF = re.compile(r"(?:[`'\"“‘「『]|(?<![.!?…:。！？：])[^\S\n]+|[\u3400-\u9fff][^\S\n]*)\Z")
# Templates without a system role speak of it, of roles that must alternate, or (Gemini) of developer instructions.
_NO_SYSTEM = re.compile(r"system|roles? must alternate|developer instruction", re.IGNORECASE)


class ModelUnavailable(RuntimeError):
    """A model gave no answer; the message says which, why, and what to do."""


class ChatModel(Protocol):
    """Anything that answers a prompt: `system` gives the rules, `prompt` what they are applied to."""

    name: str

    def __call__(self, prompt: str, system: str = "") -> str:
        """Answer, never with a blank; as a CutShort where something ended it, ModelUnavailable where there is none."""


class CutShort(str):
    """An answer that is not whole: `why` says what ended it."""

    __slots__ = ("why",)

    def __new__(cls, text: str, why: str) -> CutShort:
        """Make the text with what ended it."""
        cut = super().__new__(cls, text)
        cut.why = why
        return cut


def why_cut(answer: str) -> str:
    """What ended an answer early, "" for a whole one."""
    return answer.why if isinstance(answer, CutShort) else ""


def first_of(*models: ChatModel) -> ChatModel:
    """Get a model that asks each of these until one answers: a recording first, say, and a server for all else.

    ModelUnavailable, with what each of them said, where none does. TypeError for what is no model, ValueError where
    none is given.
    """
    if not models:
        raise ValueError("first_of needs at least 1 model, got 0")
    return _FirstOf(tuple(map(checked, models)))


def checked(model: ChatModel) -> ChatModel:
    """Refuse what is no ChatModel (TypeError)."""
    if not callable(model) or not isinstance(getattr(model, "name", None), str):
        raise TypeError(f"model must be a ChatModel such as openai_model(), which has a name, not {model!r}")
    return model


class _FirstOf:
    def __init__(self, models: tuple[ChatModel, ...]):
        self.models, self.name = models, ", else ".join(model.name for model in models)

    def __call__(self, prompt: str, system: str = "") -> str:
        return reply(self, prompt, system)[0]


def is_cut_end(text: str, answer: str) -> bool:
    """Tell whether a question is the half one that an answer, cut short, ends with."""
    return why_cut(answer) != "" and answer.endswith(text) and not text.endswith(("?", "？"))


def reply(model: ChatModel, prompt: str, system: str = "") -> tuple[str, str]:
    """Ask a model: its answer, and the name of who gave it, which for `first_of` is one of its models."""
    if not isinstance(model, _FirstOf):
        return _text(model.name, model(prompt, system)), model.name
    faults = []
    for one in model.models:
        try:
            return reply(one, prompt, system)
        except ModelUnavailable as error:
            faults.append(str(error))
    raise ModelUnavailable("; ".join(faults))


def _text(name: str, answer: object) -> str:
    if not isinstance(answer, str):
        raise ModelUnavailable(f"{name} gave no text but {answer!r}")
    text = spoken(answer)
    if is_blank(text):
        raise ModelUnavailable(f"{name} gave an empty answer")
    # Half of an emoji can come through JSON, and can neither be embedded nor stored.
    text = text.encode("utf-8", "replace").decode()
    return CutShort(text, why) if (why := why_cut(answer)) else text


def spoken(answer: str) -> str:
    """Take the thoughts that lead a model's answer, such as `<think>`, and outer white space off it.

    Thoughts may lack their end, where the answer is empty, or their beginning. A mark further on is a word of it.
    """
    text = answer.strip()
    while end := _end_of_thoughts(text):
        text = text[end:].strip()
    return text


def _end_of_thoughts(text: str) -> int:
    if leading := _LEADING.match(text):
        return leading.end()
    closings = (mark for mark in _CLOSING.finditer(text) if not _is_spoken_of(text, mark))
    closing = next(closings, None)
    return closing.end() if closing and not _OPENING.search(text, 0, closing.start()) else 0


def _is_spoken_of(text: str, mark: re.Match) -> bool:
    ends_line = not text[mark.end() :].partition("\n")[0].strip()
    quoted = text[mark.end() : mark.end() + 1] in tuple("`'\"”’」』")
    return not ends_line and (quoted or _SPOKEN_OF.search(text, max(0, mark.start() - 80), mark.start()) is not None)


def chat_messages(prompt: str, system: str, folded: bool = False) -> list[dict[str, Any]]:
    """Write the prompt and its rules as chat models take them: blank rules are left out.

    `folded` rules stand before the prompt, for a model that knows no system role.
    """
    if is_blank(system) or folded:
        return [{"role": "user", "content": prompt if is_blank(system) else f"{system}\n\n{prompt}"}]
    return [{"role": "system", "content": system}, {"role": "user", "content": prompt}]


def refuses_system(error: str) -> bool:
    """Tell whether the words of an error are about the system role, which some models and their templates lack."""
    return _NO_SYSTEM.search(error) is not None
