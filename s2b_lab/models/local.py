"""A small language model on this computer, by way of transformers."""

from __future__ import annotations

import functools
import threading
from pathlib import Path
from typing import Any

from ..core.characters import is_blank
from ..core.checks import check_whole
from ..llm import ChatModel, CutShort, ModelUnavailable, chat_messages, refuses_system, spoken
from .weights import SMALL, SMALL_NAME, load_causal


def local_model(name: str | Path = "smollm2", max_tokens: int = 100) -> ChatModel:
    """Get a model that runs here through transformers: "smollm2", a folder, a .gguf file, or a name to download.

    SmolLM2 (135 million parameters) is optional and rewrites weakly. It answers at most `max_tokens` tokens, always
    the likeliest, so that the same prompt gets the same answer. A model that takes no system role is given the rules
    before the prompt. It is loaded by the first call, which raises
    ModelUnavailable where that fails. ValueError for max_tokens below 1.
    """
    check_whole("max_tokens", max_tokens, 1)
    return _LocalModel(str(name), max_tokens)


class _LocalModel:
    def __init__(self, source: str, max_tokens: int):
        self.name = SMALL_NAME if source == SMALL else source
        self._source, self._max_tokens, self._lock = source, max_tokens, threading.Lock()

    def __call__(self, prompt: str, system: str = "") -> str:
        try:
            with self._lock:  # two threads must not load it twice
                text = self._generated(prompt, system)
        except ModelUnavailable:
            raise
        except Exception as error:  # the libraries below raise a dozen kinds
            reason = str(error).strip().split("\n")[0]
            raise ModelUnavailable(f"the local model {self.name!r} cannot be used: {reason}") from error
        if is_blank(text):
            raise ModelUnavailable(f"the local model {self.name!r} gave an empty answer: try another question or model")
        return text

    def _generated(self, prompt: str, system: str) -> str:
        tokenizer, model = self._loaded
        read = tokenizer(
            self._formed(prompt, system), return_tensors="pt", add_special_tokens=not tokenizer.chat_template
        )
        ids = read["input_ids"]
        limits = {"max_new_tokens": self._max_tokens, "do_sample": False, "pad_token_id": tokenizer.eos_token_id}
        written = model.generate(ids, attention_mask=read["attention_mask"], **limits)[0, ids.shape[1] :]
        text = spoken(tokenizer.decode(written, skip_special_tokens=True))
        # What ends by itself ends with a special token, which is not shown.
        whole = len(written) < self._max_tokens or int(written[-1]) in tokenizer.all_special_ids
        limit = f"it is cut short after {self._max_tokens} tokens: pass a larger max_tokens="
        return text if whole else CutShort(text, limit)

    def _formed(self, prompt: str, system: str) -> str:
        tokenizer = self._loaded[0]
        if not tokenizer.chat_template:
            return "\n\n".join(message["content"] for message in chat_messages(prompt, system)) + "\n"
        form = functools.partial(tokenizer.apply_chat_template, add_generation_prompt=True, tokenize=False)
        try:
            return form(chat_messages(prompt, system))
        except Exception as error:  # the template's own
            if is_blank(system) or not refuses_system(str(error)):
                raise
            return form(chat_messages(prompt, system, folded=True))

    @functools.cached_property
    def _loaded(self) -> tuple[Any, Any]:
        return load_causal(self._source)
