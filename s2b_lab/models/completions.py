"""What a server's chat answer holds: a text, whole or cut short, a refusal, an error, or nothing of the kind."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ..core.characters import is_blank
from ..llm import CutShort, spoken

_LONGEST = 200  # characters of a server's words that are quoted
_WHOLE = {"stop", "eos", "eos_token", "end_turn", "stop_sequence", "tool_calls", "function_call", ""}
_FULL = {"length", "max_tokens", "model_length"}
_FILTERED = {"content_filter", "safety", "sensitive", "recitation", "prohibited_content", "refusal"}


def content(answer: Any) -> tuple[str, str]:
    """Take the text out of a chat answer, a CutShort where it is not whole, and what is wrong where there is none.

    The client checks no answer: each part may be missing or of another type.
    """
    choices = getattr(answer, "choices", None)
    if not isinstance(choices, list) or not choices:
        return "", _no_choice(answer, choices)
    message, end = getattr(choices[0], "message", None), getattr(choices[0], "finish_reason", None)
    parts = list(_parts(getattr(message, "content", None)))
    text = spoken("".join(said for kind, said in parts if kind == "text"))
    refusal = _words(getattr(message, "refusal", None)) or "".join(said for kind, said in parts if kind == "refusal")
    error = _words(getattr(choices[0], "error", None) or getattr(answer, "error", None))
    if is_blank(text):
        return "", _why_empty(refusal, error, end)
    why = _quoted("it ends in a refusal", refusal) or _quoted("it ends in an error", error) or _why_cut(end)
    return (CutShort(text, why) if why else text), ""


def server_words(error: Any) -> str:
    """What a server says about an error in one line, whatever it wraps around it; "" for nothing."""
    return " ".join(_words(error).split())[:_LONGEST]


def _no_choice(answer: Any, choices: Any) -> str:
    wrong = getattr(answer, "error", None) or getattr(answer, "message", None) or getattr(answer, "detail", None)
    if words := server_words(wrong):
        return f"sent an error in place of an answer ({words}): see its words, and try again or another model"
    if choices == []:
        return "sent no choice at all: try again, or try another model"
    return "sent something that is no chat answer: does the address speak the OpenAI protocol?"


def _parts(given: Any) -> Iterator[tuple[str, str]]:
    """The parts of a message's content as (kind, text); thoughts and pictures are no part of an answer."""
    for part in given if isinstance(given, list) else [given]:
        if isinstance(part, str):
            yield "text", part
        elif isinstance(part, Mapping):
            kind = part.get("type", "text")
            if kind in ("text", "output_text"):
                text = part.get("text")
                text = text.get("value") if isinstance(text, Mapping) else text
                yield "text", text if isinstance(text, str) else ""
            elif kind == "refusal":
                yield "refusal", _words(part.get("refusal"))


def _words(given: Any) -> str:
    """The text in what may be one, or a mapping that holds it."""
    if given is None or isinstance(given, str):
        return given or ""
    if isinstance(given, Mapping):
        named = (given.get(name) for name in ("message", "error", "detail", "msg"))
        return next((words for one in named if (words := _words(one))), "") or json.dumps(given, default=str)
    return str(given)


def _why_empty(refusal: str, error: str, end: Any) -> str:
    if said := _quoted("refuses to answer", refusal):
        return f"{said}: ask in other words, or another model"
    if said := _quoted("sent an error in place of an answer", error):
        return f"{said}: see its words, and try again or another model"
    kind = end.casefold() if isinstance(end, str) else ""
    todo = "pass a larger max_tokens=, since thoughts count" if kind in _FULL else "try again, or try another model"
    todo = "a filter held it back: ask in other words, or another model" if kind in _FILTERED else todo
    return f"sent an empty answer (it ended with {end!r}): {todo}"


def _why_cut(end: Any) -> str:
    kind = end.casefold() if isinstance(end, str) else ""
    if kind in _FULL:
        return f"it is cut short by the limit of tokens ({end!r}): pass a larger max_tokens="
    if kind in _FILTERED:
        return f"it is cut short by a filter ({end!r})"
    return "" if kind in _WHOLE else f"it may be cut short: it ended with {end!r}"


def _quoted(what: str, words: str) -> str:
    return f"{what} ({' '.join(words.split())[:_LONGEST]})" if not is_blank(words) else ""
