"""What a language model is here: it answers a prompt or says why it cannot, and models stand in a row."""

from __future__ import annotations

import re
from typing import Protocol

from .core.characters import is_blank

# Some servers leave a model's reasoning in the answer, at times without the opening mark.
_THOUGHTS = re.compile(r"<think>.*?(?:</think>|\Z)|\A(?:(?!<think>).)*?</think>", re.DOTALL | re.IGNORECASE)


class ModelUnavailable(RuntimeError):
    """A model gave no answer; the message says which, why, and what to do."""


class ChatModel(Protocol):
    """Anything that answers a prompt: `system` gives the rules, `prompt` what they are applied to."""

    name: str

    def __call__(self, prompt: str, system: str = "") -> str:
        """Answer, never with a blank; ModelUnavailable when that cannot be done."""


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
    if is_blank(answer):
        raise ModelUnavailable(f"{name} gave an empty answer")
    # Half of an emoji can come through JSON, and can neither be embedded nor stored.
    return answer.encode("utf-8", "replace").decode()


def spoken(answer: str) -> str:
    """Take a model's thoughts (`<think>`) and outer white space off its answer."""
    return _THOUGHTS.sub("", answer).strip()


def chat_messages(prompt: str, system: str) -> list[dict[str, str]]:
    """Write the prompt and its rules as chat models take them: blank rules are left out."""
    rules = [{"role": "system", "content": system}] if not is_blank(system) else []
    return [*rules, {"role": "user", "content": prompt}]
