"""What all models do alike: the copy of a text that is embedded, and rows of unit length."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..core.characters import is_blank
from ..core.checks import check_filled

if TYPE_CHECKING:
    import numpy as np


def normalise(text: str) -> str:
    """Make the copy of a text that is embedded: NFKC, and every run of white space one space."""
    return re.sub(r"[\s\0]+", " ", unicodedata.normalize("NFKC", text)).strip()


def passage_copies(texts: Sequence[str]) -> list[str]:
    """Make the copies of texts to be stored; ValueError when one of them is blank."""
    if isinstance(texts, str):
        raise ValueError(f"passages are a list of texts, not one text: {texts[:40]!r}")
    blank = list(map(is_blank, texts := list(texts)))
    if any(blank):
        raise ValueError(f"passage {blank.index(True)} of {len(texts)} is blank")
    return list(map(normalise, texts))


def query_copy(text: str) -> str:
    """Make the copy of a question; ValueError when it is blank."""
    check_filled("query", text)
    return normalise(text)


def unit_rows(vectors: Any, dimension: int) -> np.ndarray:
    """Bring vectors to unit length: (n, dimension) float32, also when there are none."""
    import numpy as np

    rows = np.asarray(vectors, dtype=np.float32).reshape(-1, dimension)
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
