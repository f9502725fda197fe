"""How likely a text ends here: the end-of-sequence probability of a small language model, many places in one pass."""

from __future__ import annotations

import hashlib
import inspect
import os
import threading
from array import array
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.checks import check_filled, check_kind, check_str, check_whole, list_of
from ..llm import ModelUnavailable
from .recorded_ends import RecordedEnds, shipped_ends
from .weights import SMALL, SMALL_NAME, load_causal

if TYPE_CHECKING:
    from .vector_cache import VectorFile

PROMPT = "Continue the text."


def causal_model(
    name: str | Path = SMALL, prompt: str = PROMPT, cache: str | Path | None = None, recorded: bool = True
) -> EndModel:
    """Get a model that says how likely a text ends at each place: "smollm2", a folder, a .gguf file, or another name.

    It reads the `prompt` as a user's, and the text as the answer that it gives, where it has a chat form, else the one
    before the other. For our own texts SmolLM2 is not asked: the probabilities are `recorded`, unless that is off or
    the prompt is another. `cache` is a folder that keeps what was computed, by default the environment's
    S2B_EMBEDDING_CACHE. A name such as "owner/model" is downloaded. ValueError for a blank prompt; TypeError for a name
    or cache that is no text or path.
    """
    check_kind("name", name, str | Path)
    check_kind("cache", cache, str | os.PathLike | None)
    prompt = check_filled("prompt", prompt)
    folder = cache or os.environ.get("S2B_EMBEDDING_CACHE")
    known = shipped_ends() if recorded and str(name) == SMALL and prompt == PROMPT else ()
    return EndModel(str(name), prompt, folder, known)


def block_digest(prompt: str, text: str, places: Sequence[int]) -> bytes:
    """What the probabilities at some places of a text are kept by."""
    asked = "\0".join([prompt, text, *map(str, places)])
    return hashlib.sha256(asked.encode("utf-8", "surrogatepass")).digest()


class EndModel:
    """A causal language model that is asked for ends; `passes` counts its forward passes, `name` tells what it is."""

    def __init__(
        self,
        source: str,
        prompt: str = PROMPT,
        cache: str | Path | None = None,
        known: Sequence[RecordedEnds] = (),
    ):
        self.name, self.prompt, self.passes = SMALL_NAME if source == SMALL else source, prompt, 0
        self._source, self._cache, self._known, self._lock = source, cache, tuple(known), threading.Lock()

    def end_probabilities(self, text: str, places: Sequence[int]) -> list[float]:
        """The probability that an end of sequence follows text[:place], for each place, of one forward pass.

        Of a model with several tokens that end, the sum. ModelUnavailable where the model cannot be loaded. ValueError
        for places that do not rise from 1 to at most the end of the text, a model without an end-of-sequence token,
        and a text longer than it reads; TypeError for what is no text.
        """
        check_str("text", text)
        places = _rising(places, len(text))
        if not places:
            return []
        for recording in self._known:
            if (found := recording.find(text, places)) is not None:
                return found
        return self._kept(text[: places[-1]], places)

    def _kept(self, text: str, places: list[int]) -> list[float]:
        if self._file is None:
            return self._passed(text, places)
        digest = block_digest(self.prompt, text, places)
        kept = self._file.read(self.name, "ends", [digest])
        if digest in kept:
            return array("d", kept[digest]).tolist()
        found = self._passed(text, places)
        self._file.write(self.name, "ends", {digest: array("d", found).tobytes()})
        return found

    @cached_property
    def _file(self) -> VectorFile | None:
        if self._cache is None:
            return None
        from .vector_cache import VectorFile  # a Python in the browser has no sqlite3

        file = VectorFile(Path(self._cache).absolute())
        file.make()
        return file

    def _passed(self, text: str, places: list[int]) -> list[float]:
        import torch

        with self._lock:  # two threads must not load it twice
            tokenizer, model, form, endings = self._loaded
            ids, at = _tokens(tokenizer, form, text, places)
            limit = getattr(model.config, "max_position_embeddings", None)
            if limit and len(ids) > limit:
                size = f"the text with its prompt is {len(ids)} tokens long"
                raise ValueError(f"{size}, {self.name} reads {limit}: take a smaller theta")
            keep = {"logits_to_keep": torch.tensor(at)} if _keeps(model) else {}
            with torch.inference_mode():
                scores = model(torch.tensor([ids]), use_cache=False, **keep).logits[0]
            self.passes += 1
        rows = scores if keep else scores[at]
        return rows.double().softmax(-1)[:, endings].sum(-1).tolist()

    @cached_property
    def _loaded(self) -> tuple[Any, Any, str, list[int]]:
        try:
            tokenizer, model = load_causal(self._source)
        except ModelUnavailable:
            raise
        except Exception as error:  # the libraries below raise a dozen kinds
            reason = str(error).strip().split("\n")[0]
            raise ModelUnavailable(f"the local model {self.name!r} cannot be used: {reason}") from error
        endings = _endings(tokenizer, model)
        if not endings:
            raise ValueError(f"{self.name} has no end-of-sequence token, so that it cannot say where a text ends")
        if not tokenizer.is_fast:
            raise ValueError(f"{self.name} has a tokenizer that does not tell which characters a token stands for")
        return tokenizer, model, _form(tokenizer, self.prompt), endings


def _rising(places: Sequence[int], last: int) -> list[int]:
    found = list_of(object, "places", places)
    for before, place in pairwise([0, *found]):
        check_whole("a place", place, before + 1)
        if place > last:
            raise ValueError(f"a place must be at most {last}, the end of the text, not {place}")
    return [int(place) for place in found]


def _endings(tokenizer: Any, model: Any) -> list[int]:
    """The tokens that end a sequence: the tokenizer's, and those that the model stops at when it writes."""
    settings = getattr(model, "generation_config", None)
    stops = getattr(settings, "eos_token_id", None)
    found = [tokenizer.eos_token_id, *(stops if isinstance(stops, list | tuple) else [stops])]
    return sorted({token for token in found if token is not None and 0 <= token < model.config.vocab_size})


def _form(tokenizer: Any, prompt: str) -> str:
    if not tokenizer.chat_template:
        return f"{prompt}\n\n"
    asked = [{"role": "user", "content": prompt}]
    return tokenizer.apply_chat_template(asked, add_generation_prompt=True, tokenize=False)


def _keeps(model: Any) -> bool:
    return "logits_to_keep" in inspect.signature(model.forward).parameters


def _tokens(tokenizer: Any, form: str, text: str, places: list[int]) -> tuple[list[int], list[int]]:
    """The tokens of the prompt and the text, and where among them is the last one of each text[:place].

    A token over a place, such as that of a full stop and a line end, would tell the model what comes next: there the
    text is given to the tokenizer in two parts.
    """
    whole, ends = form + text, [len(form) + place for place in places]
    bare = bool(tokenizer.chat_template)  # the form has its special tokens in it
    ids, spans = _read(tokenizer, whole, 0, not bare)
    if torn := sorted({end for end in ends for start, stop in spans if start < end < stop}):
        parts = [_read(tokenizer, whole[a:b], a, not bare and a == 0) for a, b in pairwise([0, *torn, len(whole)])]
        ids, spans = [i for part, _ in parts for i in part], [span for _, part in parts for span in part]
    at, place = [], -1
    for end in ends:
        # Special tokens stand for no character: (0, 0).
        place = max((n for n in range(place + 1, len(spans)) if 0 < spans[n][1] <= end), default=place)
        at.append(place)
    return ids, at


def _read(tokenizer: Any, text: str, start: int, special: bool) -> tuple[list[int], list[tuple[int, int]]]:
    read = tokenizer(text, return_offsets_mapping=True, add_special_tokens=special, verbose=False)
    return read["input_ids"], [(a + start, b + start) if b > a else (0, 0) for a, b in read["offset_mapping"]]
