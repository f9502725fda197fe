"""What measuring retrieval needs: exact search, and models that keep each answer with the seconds that it took."""

from __future__ import annotations

import time
import warnings
from array import array
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import s2b_lab as s2b
from s2b_lab.chunkers.logits import CausalModel
from s2b_lab.core.characters import is_blank
from s2b_lab.core.embedded import Copies
from s2b_lab.models.causal import block_digest
from s2b_lab.models.copies import digest, normalise
from s2b_lab.models.vector_cache import VectorFile
from s2b_lab.store.plan import pieces

_PART = 256  # texts of about one length that are timed together
Kept = dict[bytes, tuple[float, bytes]]  # seconds and numbers by digest


class Memory:
    """Arrays with the CPU seconds that they took, by model, side and digest: in a file, or without one in memory."""

    def __init__(self, folder: str | Path | None = None):
        self._held: dict[tuple[str, str, bytes], bytes] = {}
        self._file = None
        if folder:
            self._file = VectorFile(Path(folder).absolute())
            self._file.make()

    def read(self, model: str, side: str, digests: Sequence[bytes]) -> Kept:
        """What is kept, each once: its seconds, and the bytes of its array."""
        new = [name for name in digests if (model, side, name) not in self._held]
        found = self._file.read(model, side, new) if self._file and new else {}
        self._held |= {(model, side, name): value for name, value in found.items()}
        held = {name: self._held.get((model, side, name)) for name in digests}
        return {name: _unpacked(value) for name, value in held.items() if value}

    def write(self, model: str, side: str, made: Mapping[bytes, tuple[float, np.ndarray]]) -> None:
        """Keep arrays with their seconds."""
        packed = {name: array("d", [seconds]).tobytes() + row.tobytes() for name, (seconds, row) in made.items()}
        self._held |= {(model, side, name): value for name, value in packed.items()}
        if self._file:
            self._file.write(model, side, packed)


def _unpacked(value: bytes) -> tuple[float, bytes]:
    return array("d", value[:8])[0], value[8:]


class TimedEmbedder:
    """An embedding model that computes each text once and knows what it took.

    `spent` is the CPU time that went by inside it, `cost` what its answers took when they were computed: now, in an
    earlier run, or for another strategy.
    """

    def __init__(self, model: s2b.Embedder, memory: Memory):
        self._model, self._memory = model, memory
        self.name, self.dimension, self.max_tokens = model.name, model.dimension, model.max_tokens
        self.query_prefix, self.passage_prefix = model.query_prefix, model.passage_prefix
        self.count_tokens = model.count_tokens
        self.spent = self.cost = 0.0
        self._ready = False

    def passages(self, texts: Sequence[str]) -> np.ndarray:
        """Embed texts to be stored: (n, dimension)."""
        start = time.process_time()
        kept, names = self._through("passages", [normalise(text) for text in texts], self._model.passages)
        self.cost += sum(kept[name][0] for name in kept)
        self.spent += time.process_time() - start
        return self._rows(kept, names)

    def query(self, text: str) -> np.ndarray:
        """Embed one question: (dimension,)."""
        found = self._through("queries", [normalise(text)], lambda one: self._model.query(one[0])[None, :])
        return self._rows(*found)[0]

    def _rows(self, kept: Kept, names: list[bytes]) -> np.ndarray:
        joined = b"".join(kept[name][1] for name in names)
        return np.frombuffer(joined, dtype=np.float32).reshape(-1, self.dimension)

    def _through(
        self, side: str, copies: list[str], embed: Callable[[list[str]], np.ndarray]
    ) -> tuple[Kept, list[bytes]]:
        names = [digest(side, copy) for copy in copies]
        kept = self._memory.read(self.name, f"timed {side}", names)
        new = {copy: name for copy, name in zip(copies, names, strict=True) if name not in kept}
        order = sorted(new, key=lambda copy: (-len(copy), copy))  # texts of one length, one price
        if order and not self._ready:
            embed(["a"])  # what loads the model is not timed
            self._ready = True
        for at in range(0, len(order), _PART):
            made = self._made(order[at : at + _PART], embed)
            self._memory.write(self.name, f"timed {side}", {new[copy]: value for copy, value in made.items()})
            kept |= {new[copy]: (seconds, row.tobytes()) for copy, (seconds, row) in made.items()}
        return kept, names

    def _made(self, part: list[str], embed: Callable[[list[str]], np.ndarray]) -> dict[str, tuple[float, np.ndarray]]:
        start = time.process_time()
        rows = np.asarray(embed(part), dtype=np.float32)
        each = (time.process_time() - start) / sum(map(len, part))
        return {copy: (each * len(copy), row) for copy, row in zip(part, rows, strict=True)}


class TimedEnds:
    """A causal model that is asked about each block once and knows what it took; `spent` and `cost` as above."""

    def __init__(self, model: CausalModel, memory: Memory):
        self._model, self._memory, self.name = model, memory, model.name
        self.spent = self.cost = 0.0
        self._ready = False

    def end_probabilities(self, text: str, places: Sequence[int]) -> list[float]:
        """The probability that the text ends, at each place."""
        start = time.process_time()
        name = block_digest(getattr(self._model, "prompt", ""), text, places)
        kept = self._memory.read(self.name, "timed ends", [name])
        seconds, held = kept[name] if name in kept else self._found(name, text, places)
        self.cost += seconds
        self.spent += time.process_time() - start
        return array("d", held).tolist()

    def _found(self, name: bytes, text: str, places: Sequence[int]) -> tuple[float, bytes]:
        """What the model has recorded, or says; this is kept."""
        made = self._model.find(text, places) if hasattr(self._model, "find") else None
        if made is None:
            if not self._ready and hasattr(self._model, "warm"):
                self._model.warm()
            at, self._ready = time.process_time(), True
            found = np.array(self._model.end_probabilities(text, places), dtype=np.float64)
            made = time.process_time() - at, found
            self._memory.write(self.name, "timed ends", {name: made})
        return made[0], made[1].tobytes()


class Exact:
    """A tree with the vectors of what everyone may read in it: searches compare each of them, as `Index` would.

    A chunk longer than the model reads is embedded in pieces, as in `Index`, and has the score of the best of them.
    """

    def __init__(
        self, tree: s2b.ChunkTree, embedder: s2b.Embedder, copies: Callable[[s2b.Document, bool], Copies] = Copies
    ):
        self.tree, self.embedder = tree, embedder
        made = {doc_id: copies(document, doc_id in tree.headed) for doc_id, document in tree.documents.items()}
        held = [(c, self._texts(c, made[c.doc_id])) for c in s2b.readable_chunks(tree)]
        self.chunks = [chunk for chunk, texts in held if texts]
        texts = [text for _, some in held for text in some]
        self.vectors = embedder.passages(texts)
        self._starts = np.cumsum([0, *(len(some) for _, some in held if some)])[:-1]
        self._known: dict[bytes, tuple[np.ndarray, np.ndarray]] = {}

    def _texts(self, chunk: s2b.Chunk, copies: Copies) -> list[str]:
        copy = normalise(copies.whole(chunk.span))
        with warnings.catch_warnings(action="ignore", category=UserWarning):  # of each long chunk
            return [] if is_blank(copy) else pieces(chunk, copy, self.embedder, copies)

    def similarities(self, vector: np.ndarray) -> np.ndarray:
        """The cosine similarity (chunks,) of each chunk, that of its best piece."""
        return np.maximum.reduceat(self.vectors @ np.asarray(vector, dtype=np.float32), self._starts).round(6)

    def search(self, query: Any, k: int = 16, where: Mapping[str, Any] | None = None) -> list[s2b.Hit]:
        """The k chunks most like a vector, or a text, best first, ties in the order of the text; `where` is ignored."""
        if not self.chunks:
            return []
        vector = self.embedder.query(query) if isinstance(query, str) else np.asarray(query, dtype=np.float32)
        key = vector.tobytes()
        if key not in self._known:
            scores = self.similarities(vector)
            self._known[key] = scores, np.argsort(-scores, kind="stable")
        scores, order = self._known[key]
        return [
            s2b.Hit(self.chunks[place], min(1.0, max(-1.0, float(scores[place]))), rank)
            for rank, place in enumerate(order[:k].tolist(), 1)
        ]
