"""What all models do alike: the copy of a text that is embedded, and rows of unit length."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..core.characters import is_blank, without_surrogates
from ..core.checks import check_filled, check_str, list_of, mended
from ..core.embedded import unhyphenated

if TYPE_CHECKING:
    import numpy as np


def normalise(text: str) -> str:
    """Make the copy of a text that is embedded: NFKC, every run of white space one space, and no lone surrogate.

    Words that a hyphen at a line end cut are joined, and soft hyphens are gone.
    """
    check_str("text", text)
    whole = unhyphenated(without_surrogates(text))
    return re.sub(r"[\s\0]+", " ", unicodedata.normalize("NFKC", whole)).strip()


def passage_copies(texts: Sequence[str]) -> list[str]:
    """Make the copies of texts to be stored; ValueError when one of them is blank, TypeError when one is no text."""
    if isinstance(texts, str):
        raise ValueError(f"passages are a list of texts, not one text: {texts[:40]!r}")
    blank = list(map(is_blank, texts := list_of(str, "passages", texts)))
    if any(blank):
        raise ValueError(f"passage {blank.index(True)} of {len(texts)} is blank")
    return [normalise(mended(f"passage {place} of {len(texts)}", text)) for place, text in enumerate(texts)]


def query_copy(text: str) -> str:
    """Make the copy of a question; ValueError when it is blank."""
    return normalise(check_filled("query", text))


def digest(prefix: str, copy: str) -> bytes:
    """What a vector is kept by: the SHA-256 of all that its model was given."""
    return hashlib.sha256((prefix + copy).encode()).digest()


def unit_rows(vectors: Any, dimension: int) -> np.ndarray:
    """Bring vectors to unit length: (n, dimension) float32, also when there are none."""
    import numpy as np

    rows = np.asarray(vectors, dtype=np.float32).reshape(-1, dimension)
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
