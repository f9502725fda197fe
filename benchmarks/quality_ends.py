"""The end-of-sequence probabilities that cutting our texts needs, recorded with the seconds that they took: an hour.

`python -m benchmarks.quality_ends` asks SmolLM2 for all that is not in the embedding cache and writes the recordings;
with names of texts, for those alone. `make bench-quality` asks it only where a text has changed since.
"""

from __future__ import annotations

import copy
import itertools
import json
import math
import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import s2b_lab as s2b
from s2b_lab.models.causal import EndModel, block_digest
from s2b_lab.models.weights import SMALL

from .quality_search import Memory, TimedEnds
from .quality_strategies import SIZES, TEXTS, Documents, Models, documents, lgmgc, logits

FOLDER = Path(__file__).parent / "data"
_STEP = 1000  # a recorded whole number is this many times the negative logarithm
_DIGEST = 8  # bytes that tell a block from all others


class HalfEndModel(EndModel):
    """SmolLM2 in half precision: 2.5 times as quick, and about one cut in seven is another than in single precision."""

    def __init__(self) -> None:
        super().__init__(SMALL)
        self.name += ", bfloat16"

    @cached_property
    def _loaded(self) -> tuple[Any, Any, str, list[int]]:
        import torch

        tokenizer, model, form, endings = super()._loaded
        return tokenizer, copy.deepcopy(model).to(torch.bfloat16), form, endings


class RecordedEnds:
    """What a model said about blocks of text and how long each took; it is asked where nothing is recorded."""

    def __init__(self, model: s2b.CausalModel, file: Path):
        self._model, self._file = model, file
        self.name, self.prompt = model.name, getattr(model, "prompt", "")

    @cached_property
    def blocks(self) -> dict[str, list[float]]:
        """For the digest of a block its seconds and its probabilities; none of another model or prompt."""
        held = json.loads(self._file.read_text(encoding="utf-8")) if self._file.is_file() else {}
        if (held.get("author"), held.get("prompt")) != (self.name, self.prompt):
            return {}
        return {
            key: [row[0], *(math.exp(-number / _STEP) for number in row[1:])] for key, row in held["blocks"].items()
        }

    def find(self, text: str, places: Sequence[int]) -> tuple[float, np.ndarray] | None:
        """The seconds and probabilities of a block, None where they are not recorded."""
        row = self.blocks.get(block_digest(self.prompt, text, places)[:_DIGEST].hex())
        return (row[0], np.array(row[1:])) if row and len(row) == len(places) + 1 else None

    def warm(self) -> None:
        """Load the model, so that loading is not timed."""
        self._model.end_probabilities("One.", [4])

    def end_probabilities(self, text: str, places: Sequence[int]) -> list[float]:
        """Ask the model, and round as the recording is."""
        return [math.exp(-_number(value) / _STEP) for value in self._model.end_probabilities(text, places)]


def _number(probability: float) -> int:
    return round(-_STEP * math.log(max(probability, 1e-30)))


class Listening:
    """A model that remembers the blocks that it was asked about."""

    def __init__(self, model: TimedEnds, prompt: str):
        self.name, self._model, self._prompt = model.name, model, prompt
        self.rows: dict[str, list[float]] = {}

    def end_probabilities(self, text: str, places: Sequence[int]) -> list[float]:
        """Ask the model."""
        before = self._model.cost
        found = self._model.end_probabilities(text, places)
        key = block_digest(self._prompt, text, places)[:_DIGEST].hex()
        self.rows[key] = [round(self._model.cost - before, 3), *map(_number, found)]
        return found


def recording(model: TimedEnds, prompt: str, docs: Documents, sizes: Sequence[int] = SIZES) -> str:
    """A recording of all that `logits` and `lgmgc` ask about documents."""
    heard = Listening(model, prompt)
    for cut, size in itertools.product((logits, lgmgc), sizes):
        cut(docs, size, Models(None, heard))
        print(f"{model.name}, {size}: {len(heard.rows)} blocks", file=sys.stderr, flush=True)
    head = {
        "what": "a recording of the end-of-sequence probabilities that the author, a model, gave",
        "author": model.name, "date": datetime.now(UTC).date().isoformat(), "prompt": prompt,
        "python": sys.version.split()[0], "unit": f"by digest of a block: seconds, then -{_STEP} ln p for each end",
    }  # fmt: skip
    parts = [f'"{key}": {json.dumps(value)}' for key, value in head.items()]
    rows = (f'"{key}":{json.dumps(row, separators=(",", ":"))}' for key, row in sorted(heard.rows.items()))
    return "{" + ",\n".join([*parts, '"blocks": {\n' + ",\n".join(rows) + "\n}}\n"])


def file_of(text: str) -> Path:
    """Where the recording of a text is."""
    return FOLDER / f"ends-{text}.json"


def model_of(text: str) -> EndModel:
    """The Python documentation, which is long, is read in half precision; our texts as by everyone, but live."""
    return HalfEndModel() if text == "python" else EndModel(SMALL)


def main(texts: Sequence[str]) -> None:
    """Write the recordings of all texts, or of those named; the documentation is that of the Python that runs this."""
    memory = Memory(os.environ.get("S2B_EMBEDDING_CACHE"))
    for text in texts or TEXTS:
        model = model_of(text)
        # Not what is in the file: of the cache and the model, a new one is made.
        timed = TimedEnds(RecordedEnds(model, FOLDER / "none"), memory)
        found = recording(timed, model.prompt, documents(text))
        file_of(text).write_text(found, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
