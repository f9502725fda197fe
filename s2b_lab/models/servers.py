"""Models behind any server that speaks the OpenAI chat protocol, and what its failures mean."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import Any

from ..core.characters import is_blank
from ..core.checks import check_whole
from ..llm import ChatModel, ModelUnavailable, chat_messages, refuses_system
from .completions import content, server_words

_OPENAI = "https://api.openai.com/v1"
_TODO = {
    400: "the server does not take this request: see its message, and check the options",
    401: "the key is missing or wrong: set OPENAI_API_KEY or pass api_key=",
    403: "the key may not use this model: choose another model or key",
    404: "check the name of the model (OPENAI_MODEL) and the address, which often ends in /v1",
    429: "the server limits how often it may be asked: wait and try again, or check what the account has left",
}
_TEACHING = (400, 422, 500, None)  # the statuses under which servers say what they do not take


def openai_model(
    model: str | None = None,
    base_url: str | None = None,
    api_key: str | None = None,
    timeout: float = 30,
    retries: int = 0,
    max_tokens: int | None = 512,
    **options: Any,
) -> ChatModel:
    """Get a model behind a server that speaks the OpenAI chat protocol: OpenAI, Ollama, vLLM and others.

    What is not given comes from OPENAI_MODEL, OPENAI_BASE_URL and OPENAI_API_KEY; a server of one's own may need no
    key. `timeout` is seconds of silence; `retries` are made after as long as the server asks to wait. At most
    `max_tokens` tokens are asked for, thoughts included, so that a slow server does not compute on for nobody; None
    leaves it to the server. `options` go to the server (temperature=0). A model that takes no system role is given the
    rules before the prompt. Nothing is sent before the first call, which raises ModelUnavailable where the server
    does not answer. ValueError for a timeout that is not above 0, retries below 0 or max_tokens below 1, TypeError for
    what is no text.
    """
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not timeout > 0:
        raise ValueError(f"timeout must be more than 0 seconds, not {timeout!r}")
    check_whole("retries", retries, 0)
    check_whole("max_tokens", 1 if max_tokens is None else max_tokens, 1)
    if max_tokens is not None and "max_completion_tokens" not in options:
        options["max_tokens"] = int(max_tokens)
    given = {"OPENAI_MODEL": model, "OPENAI_BASE_URL": base_url, "OPENAI_API_KEY": api_key}
    if wrong := next((value for value in given.values() if not isinstance(value, str | None)), None):
        raise TypeError(f"model, base_url and api_key are texts, not {type(wrong).__name__}")
    name, address, key = ((value or os.environ.get(variable, "")).strip() for variable, value in given.items())
    return _EndpointModel(name, address, key, {"timeout": timeout, "max_retries": retries}, options)


class _Refused(ModelUnavailable):
    # With the server's words, and its status where that was an error.
    words, status = "", None


class _EndpointModel:
    def __init__(self, name: str, address: str, key: str, limits: Mapping[str, Any], options: Mapping[str, Any]):
        self.name, self.address = name or "a model without a name", address or _OPENAI
        self._missing = self._what_is_missing(name, key)
        self._key, self._limits = key or "none", dict(limits)
        # What the server has taught is remembered: whether rules stand before the prompt, and the names of options.
        self._folded, self._options = False, dict(options)

    def __call__(self, prompt: str, system: str = "") -> str:
        if self._missing:
            raise ModelUnavailable(self._missing)
        before = self._folded, self._options
        while True:
            try:
                return self._asked(chat_messages(prompt, system, self._folded))
            except _Refused as refused:
                if not self._adapts_to(refused, system):
                    self._folded, self._options = before
                    raise

    def _asked(self, messages: list[dict[str, Any]]) -> str:
        openai = _client_library()
        try:
            with openai.OpenAI(api_key=self._key, base_url=self.address, **self._limits) as client:
                answer = client.chat.completions.create(model=self.name, messages=messages, **self._options)
        except Exception as error:  # beside its own errors the client lets those of decoding and of headers through
            fault = self._unavailable(_trouble(error, self._limits["timeout"]))
            fault.status, fault.words = getattr(error, "status_code", None), server_words(getattr(error, "body", None))
            raise fault from error
        text, words = content(answer)
        if words:
            fault = self._unavailable(words)
            fault.words = words
            raise fault
        return text

    def _adapts_to(self, refused: _Refused, system: str) -> bool:
        """Change what is asked for where the server says how, each thing once; tell whether to ask again."""
        if refused.status not in _TEACHING:
            return False
        if "max_completion_tokens" in refused.words and "max_tokens" in self._options:
            rest = {name: value for name, value in self._options.items() if name != "max_tokens"}
            self._options = {**rest, "max_completion_tokens": self._options["max_tokens"]}
            return True
        if self._folded or is_blank(system) or not refuses_system(refused.words):
            return False
        self._folded = True
        return True

    def _what_is_missing(self, name: str, key: str) -> str:
        if not name:
            return f"no model is named for {_shown(self.address)}: pass model= or set OPENAI_MODEL"
        if not re.match(r"https?://[^/]", self.address):
            return f"the address {_shown(self.address)!r} must begin with http:// or https:// and name a server"
        if not (key.isascii() and key.isprintable()):
            return "the key holds a character that no request can carry: copy it again"
        if not key and self.address == _OPENAI:
            return (
                f"no key for {_OPENAI}: pass api_key= or set OPENAI_API_KEY; for a server of your own, such as "
                "Ollama or vLLM, set OPENAI_BASE_URL"
            )
        return ""

    def _unavailable(self, fault: str) -> _Refused:
        # Servers quote the key that they refuse.
        fault = fault if self._key == "none" else fault.replace(self._key, "***")
        return _Refused(f"the model {self.name!r} at {_shown(self.address)} {fault}")


def _client_library() -> Any:
    try:
        import openai
    except ImportError as error:
        raise ModelUnavailable(f"a model behind a server needs the client: pip install openai ({error})") from error
    return openai


def _shown(address: str) -> str:
    # No password in a message, and no key that is part of the address.
    return re.sub(r"(?<=//)[^/?#]*@", "", address).partition("?")[0]


def _trouble(error: Exception, timeout: float) -> str:
    import openai

    if isinstance(error, openai.APIStatusError):
        return _refusal(error)
    if isinstance(error, openai.APITimeoutError):
        return f"gave no answer within {timeout:g} s: pass a longer timeout=, or try a smaller model"
    if isinstance(error, openai.APIConnectionError):
        cause = error.__cause__ or error
        if "Connect" in type(cause).__name__:
            return f"cannot be reached ({cause}): is the server running, and is the address right?"
        return f"broke off the connection ({cause}): try again, and look at the server's log"
    if isinstance(error, json.JSONDecodeError):
        return f"sent an answer that is not JSON ({error}): does the address speak the OpenAI protocol?"
    return f"could not be asked ({type(error).__name__}: {error}): check the address, the key and the options"


def _refusal(error: Any) -> str:
    status, wait = error.status_code, error.response.headers.get("retry-after", "").strip()
    todo = _TODO.get(status, "the server has a fault of its own: try again later" if status >= 500 else "")
    # What a server says about a key may show part of it.
    said = "" if status == 401 else server_words(error.body) or server_words(error.message)
    if wait:
        wait = "it asks to wait " + (f"{wait} s" if wait.replace(".", "", 1).isdigit() else f"until {wait}")
    first = f"refused with status {status}" + (f" ({said})" if said else "")
    return "; ".join(filter(None, [first, todo, wait]))
