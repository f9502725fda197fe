"""The models of `make bench-quality`: what each text is embedded with, and whose wish to end it is cut by."""

from __future__ import annotations

import functools
import os

import s2b_lab as s2b
from s2b_lab.models.encoders import E5Embedder, minilm

from .quality_ends import RecordedEnds, file_of, model_of
from .quality_search import Memory, TimedEmbedder, TimedEnds
from .quality_strategies import Models


def models(text: str) -> Models:
    """The models of a text; what SmolLM2 says is recorded, and it is asked where a text has changed since."""
    language = "en" if text == "python" else s2b.language(text)
    return Models(_embedder(language), _ends(text))


@functools.cache
def _memory() -> Memory:
    return Memory(os.environ.get("S2B_EMBEDDING_CACHE"))


@functools.cache
def _embedder(language: str) -> TimedEmbedder:
    # Not `s2b.embedder`: vectors that it has from a file or from the package do not tell what they took.
    if language == "zh":
        return TimedEmbedder(E5Embedder(), _memory())
    return TimedEmbedder(minilm(), _memory())


@functools.cache
def _ends(text: str) -> TimedEnds:
    return TimedEnds(RecordedEnds(model_of(text), file_of(text)), _memory())
