"""Texts to vectors: what an embedding model is, models by name, a cache, and a fake for tests."""

from __future__ import annotations

import functools
import hashlib
import os
import re
import threading
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from .core.characters import CJK, is_blank
from .core.checks import check_kind, check_str, check_whole
from .models.arrays import finite_array, first_not_finite, real_array
from .models.copies import digest, normalise, passage_copies, query_copy, unit_rows
from .models.encoders import E5, MINILM, E5Embedder, SentenceEmbedder, minilm
from .models.packaged import PACKAGED, PackagedVectors

if TYPE_CHECKING:
    import numpy as np

    from .models.vector_cache import VectorFile

_ENGLISH = ("en", MINILM, "all-MiniLM-L6-v2")
_MULTILINGUAL = ("zh", E5)
_MODELS = 8  # models that a process keeps
_TOKEN = re.compile(rf"[^\W_{CJK}]+|[{CJK}]")  # a word, or one CJK character


class Embedder(Protocol):
    """A model with two sides: passages are stored, a query looks for them."""

    name: str
    dimension: int
    max_tokens: int
    query_prefix: str
    passage_prefix: str

    def passages(self, texts: Sequence[str]) -> np.ndarray:
        """Embed texts to be stored: (n, dimension) float32 rows of unit length."""

    def query(self, text: str) -> np.ndarray:
        """Embed one question: (dimension,) float32 of unit length; ValueError when it is blank.

        Of a longer one than `max_tokens` only the beginning counts: retrieval gives it in pieces (`queries`).
        """

    def count_tokens(self, text: str) -> int:
        """Count what the model reads for a passage, its prefix and special tokens included."""


_PARTS = ("name", "dimension", "max_tokens", "query_prefix", "passage_prefix", "passages", "query", "count_tokens")


def embedder(name: str = "en", cache: str | Path | None = None) -> Embedder:
    """Get a model by name, loaded once a process and, given a folder, with a cache of its vectors.

    "en" is all-MiniLM-L6-v2 and "zh" multilingual-e5-small (Chinese, English and across): both come with installed
    packages, and the vectors of this book's own texts with this one: other texts are computed. Any other name goes to
    sentence-transformers. `cache` defaults to the environment's S2B_EMBEDDING_CACHE.
    ValueError for a name that is blank, no text, or of no model; TypeError for a cache that is no folder's path.
    """
    if not isinstance(name, str) or is_blank(name):
        raise ValueError(f"a model's name is a text such as 'en' or 'zh', not {name!r}")
    check_kind("cache", cache, str | os.PathLike | None)
    model = _named(name)
    folder = cache or os.environ.get("S2B_EMBEDDING_CACHE")
    return cached(model, folder) if folder else model


@functools.lru_cache(maxsize=_MODELS)
def _named(name: str) -> Embedder:
    if name in _MULTILINGUAL:
        return RememberingEmbedder(E5Embedder(), PACKAGED)
    if name in _ENGLISH:
        return RememberingEmbedder(minilm(), PACKAGED)
    return SentenceEmbedder(name, name)


def as_embedder(model: Embedder | str | None) -> Embedder:
    """Get what is meant by a model, a model's name or nothing ("en"); TypeError when it is none of them."""
    if model is None or isinstance(model, str):
        return embedder("en" if model is None else model)
    missing = [part for part in _PARTS if not hasattr(model, part)]
    if isinstance(model, type) or missing:
        what = "is a class" if isinstance(model, type) else f"has no {missing[0]}"
        raise TypeError(f"an embedder is a model or a model's name such as 'en'; {model!r} {what}")
    return model


def as_rows(model: Embedder, vectors: Any, count: int) -> np.ndarray:
    """Give a model's vectors for `count` texts as they came, float32.

    ValueError unless they are so many, whole and finite; TypeError for what are no numbers.
    """
    rows = real_array(f"the vectors of {model.name}", vectors).astype("float32", copy=False)
    needed = f"{count} finite vectors of {model.dimension} dimensions are needed, but {model.name} gave"
    if rows.shape != (count, model.dimension):
        raise ValueError(f"{needed} an array of shape {rows.shape}")
    if wrong := first_not_finite(rows):
        raise ValueError(f"{needed} {rows[wrong]} for text {wrong[0] + 1}, in an array of shape {rows.shape}")
    return rows


def query_row(model: Embedder, query: Sequence[float] | np.ndarray) -> np.ndarray:
    """Give the vector (dimension,) of a question as float32.

    ValueError for one of another dimension, not finite or all zero; TypeError for what is no vector.
    """
    vector = finite_array("query, a text or a vector,", query)
    if vector.shape != (model.dimension,):
        raise ValueError(f"a query vector has the shape ({model.dimension},), not {vector.shape}")
    if not vector.any():
        raise ValueError("a query vector must be finite and not all zero")
    return vector


def text_tokens(model: Embedder, text: str) -> int:
    """Count the tokens of a text itself, 0 for a blank one, without the prefix and special tokens that a model adds.

    Exact for tokenizers that cut at white space or join it to a word, as those of nearly all embedding models do; one
    that begins every text with a mark of its own (SentencePiece) counts it where a text begins in Chinese. TypeError
    for what is no text or no model.
    """
    check_str("text", text)
    if not hasattr(model, "count_tokens"):
        raise TypeError(f"model must be an embedding model that counts tokens, not {model!r}")
    if is_blank(text):
        return 0
    return model.count_tokens(text) - _around(model)


# What a model reads with every text, by model and its prefix.
_added: weakref.WeakKeyDictionary[Embedder, tuple[str | None, int]] = weakref.WeakKeyDictionary()


def _around(model: Embedder) -> int:
    prefix = getattr(model, "passage_prefix", None)
    try:
        known = _added.get(model)
    except TypeError:  # it has no hash or can have no weak reference
        return _counted_around(model)
    if known is None or known[0] != prefix:
        known = _added[model] = prefix, _counted_around(model)
    return known[1]


def _counted_around(model: Embedder) -> int:
    # What is read with every text is what a word written twice does not repeat. Counting the empty text would not tell:
    # a prefix that ends in a space has one token more where no word follows (SentencePiece).
    return 2 * model.count_tokens("a") - model.count_tokens("a a")


class HashEmbedder:
    """A deterministic fake for tests: a bag of hashed words and CJK characters, so that shared words mean likeness.

    Vectors are float32 of unit length, as an Embedder's. ValueError for a dimension or max_tokens below 1, TypeError
    for a name or prefix that is no text.
    """

    def __init__(
        self,
        dimension: int = 256,
        *,
        name: str = "hash",
        max_tokens: int = 512,
        query_prefix: str = "",
        passage_prefix: str = "",
    ):
        check_whole("dimension", dimension, 1)
        check_whole("max_tokens", max_tokens, 1)
        for part, value in {"name": name, "query_prefix": query_prefix, "passage_prefix": passage_prefix}.items():
            check_str(part, value)
        self.name, self.dimension, self.max_tokens = name, dimension, max_tokens
        self.query_prefix, self.passage_prefix = query_prefix, passage_prefix

    def passages(self, texts: Sequence[str]) -> np.ndarray:
        """Embed texts to be stored: (n, dimension)."""
        return unit_rows([self._bag(self.passage_prefix + text) for text in passage_copies(texts)], self.dimension)

    def query(self, text: str) -> np.ndarray:
        """Embed one question: (dimension,)."""
        return unit_rows([self._bag(self.query_prefix + query_copy(text))], self.dimension)[0]

    def count_tokens(self, text: str) -> int:
        """Count words and CJK characters, the prefix included."""
        return len(_TOKEN.findall(self.passage_prefix + normalise(text)))

    def _bag(self, text: str) -> list[float]:
        bag = [0.0] * self.dimension
        for token in _TOKEN.findall(text.lower()) or [text]:
            number = int.from_bytes(hashlib.blake2b(token.encode(), digest_size=8).digest(), "big")
            bag[number % self.dimension] += 1.0 if number >> 63 else -1.0
        return bag if any(bag) else [1.0] * self.dimension


# A model's cache in a folder is one object as long as anybody holds it; the last ones are held here.
_cached: weakref.WeakValueDictionary[tuple[int, Path], RememberingEmbedder] = weakref.WeakValueDictionary()
_latest: deque[RememberingEmbedder] = deque(maxlen=_MODELS)
_opening = threading.Lock()


def cached(model: Embedder, folder: str | Path) -> Embedder:
    """Keep a model's vectors in `folder`, so that each text is embedded once; one object a model and folder."""
    from .models.vector_cache import VectorFile  # a Python in the browser has no sqlite3

    path = Path(folder).absolute()
    file = VectorFile(path)
    file.make()
    with _opening:
        # No other model has this id while the cache, which holds its model, is there.
        found = _cached.setdefault((id(model), path), RememberingEmbedder(model, file))
        if found not in _latest:
            _latest.append(found)
    return found


class RememberingEmbedder:
    """A model beside vectors that are kept by what it was given: it computes those that are not there."""

    def __init__(self, model: Embedder, kept: VectorFile | PackagedVectors):
        self._model, self._kept = model, kept
        self.name, self.dimension, self.max_tokens = model.name, model.dimension, model.max_tokens
        self.query_prefix, self.passage_prefix = model.query_prefix, model.passage_prefix

    def passages(self, texts: Sequence[str]) -> np.ndarray:
        """Embed texts to be stored: (n, dimension)."""
        return self._through(passage_copies(texts), "passage", self.passage_prefix, self._model.passages)

    def query(self, text: str) -> np.ndarray:
        """Embed one question: (dimension,)."""
        copies = [query_copy(text)]
        return self._through(copies, "query", self.query_prefix, lambda one: self._model.query(one[0])[None, :])[0]

    def count_tokens(self, text: str) -> int:
        """Count what the model reads for a passage, its prefix and special tokens included."""
        return self._model.count_tokens(text)

    def _through(
        self, texts: list[str], side: str, prefix: str, embed: Callable[[list[str]], np.ndarray]
    ) -> np.ndarray:
        import numpy as np

        digests = {text: digest(prefix, text) for text in texts}
        found = self._kept.read(self.name, side, digests.values())
        known = {name: vector for name, vector in found.items() if len(vector) == 4 * self.dimension}
        new = [text for text, name in digests.items() if name not in known]
        if new:
            rows = as_rows(self._model, embed(new), len(new))
            made = {digests[text]: row.tobytes() for text, row in zip(new, rows, strict=True)}
            self._kept.write(self.name, side, made)
            known |= made
        joined = b"".join(known[digests[text]] for text in texts)
        return np.frombuffer(joined, dtype=np.float32).reshape(-1, self.dimension).copy()
