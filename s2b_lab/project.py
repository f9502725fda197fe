"""Flat maps of vectors: UMAP, placing newcomers on an existing map, and how much a map lies."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import tempfile
import warnings
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from .core.access import readable_chunks
from .core.build import sentence_tree
from .core.checks import check_kind, check_number, check_whole
from .core.text import Document
from .core.tree import Chunk, ChunkTree
from .embed import as_embedder, as_rows
from .models.arrays import finite_array
from .models.packaged import PACKAGED

if TYPE_CHECKING:
    from .embed import Embedder

FEWEST_FOR_UMAP = 10
NEAREST = 5


def umap_map(vectors: np.ndarray, seed: int = 0, n_neighbors: int = 15, min_dist: float = 0.1) -> np.ndarray:
    """Lay unit vectors out on a plane so that cosine neighbours stay close.

    Takes (n, dimension), returns (n, 2). Fewer than 10 vectors are too few for UMAP's
    neighbourhoods and are laid out by their two principal components. ValueError for no vectors, what is no table of
    finite numbers, a seed below 0, fewer than 2 neighbours and a min_dist outside 0 to 1; TypeError for no numbers.
    Source: McInnes, Healy and Melville, "UMAP", 2018, arXiv:1802.03426.
    """
    vectors = _matrix("vectors", vectors)
    check_whole("seed", seed, 0)
    check_whole("n_neighbors", n_neighbors, 2)
    check_number("min_dist", min_dist, 0, 1)
    if len(vectors) < FEWEST_FOR_UMAP:
        return principal_map(vectors)
    import umap  # slow to import, and only maps need it

    neighbours = min(n_neighbors, len(vectors) - 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a fixed seed means one thread, which UMAP warns about
        fitted = umap.UMAP(n_neighbors=neighbours, min_dist=min_dist, metric="cosine", random_state=seed).fit(vectors)
    return np.asarray(fitted.embedding_, dtype=float)


def principal_map(vectors: np.ndarray) -> np.ndarray:
    """Lay vectors out by their two principal components; (n, dimension) to (n, 2). ValueError as for `umap_map`."""
    vectors = _matrix("vectors", vectors)
    centred = vectors - np.mean(vectors, axis=0)
    left, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    flat = np.zeros((len(centred), 2))
    kept = min(2, len(sizes))
    flat[:, :kept] = left[:, :kept] * sizes[:kept]
    return flat


def place(points: np.ndarray, vectors: np.ndarray, newcomers: np.ndarray) -> np.ndarray:
    """Place new vectors on an existing map, each at the similarity-weighted mean of its 5 nearest.

    `points` (n, 2) is the map of `vectors` (n, dimension); `newcomers` is (m, dimension) or one
    vector; returns (m, 2). The map itself does not move, so a picture stays steady while a reader
    changes the question. ValueError for no vectors, a point too few or too many, points that are not (n, 2), another
    dimension, and numbers that are not finite; TypeError for no numbers.
    """
    flat, vectors = _mapped(points, vectors)
    newcomers = _matrix("newcomers", newcomers)
    if newcomers.shape[1] != vectors.shape[1]:
        raise ValueError(f"newcomers have dimension {newcomers.shape[1]}, but the map is of {vectors.shape[1]}")
    similarity = newcomers @ vectors.T
    nearest = np.argsort(-similarity, axis=1, kind="stable")[:, :NEAREST]
    near = np.take_along_axis(similarity, nearest, axis=1)
    # Softmax at temperature 0.1: a near-copy lands on its twin, an outsider between its five.
    weights = np.exp(10 * (near - near.max(axis=1, keepdims=True)))
    weights /= weights.sum(axis=1, keepdims=True)
    return np.einsum("mk,mkd->md", weights, flat[nearest])


def neighbours_kept(points: np.ndarray, vectors: np.ndarray, k: int = 10) -> float:
    """Share of true cosine neighbours that are still among the k nearest on the map, 0 to 1.

    `points` (n, 2) is the map of `vectors` (n, dimension). ValueError when k is not between 1 and n - 1, for no
    vectors, a point too few or too many, points that are not (n, 2), and numbers that are not finite; TypeError for no
    numbers.
    """
    flat, vectors = _mapped(points, vectors)
    check_whole("k", k, 1)
    if k >= len(vectors):
        raise ValueError(f"k must be at most {len(vectors) - 1} with {len(vectors)} vectors, not {k}")
    true = _nearest(-(vectors @ vectors.T), k)
    seen = _nearest(((flat[:, None] - flat[None]) ** 2).sum(-1), k)
    return float(np.mean([len(set(a) & set(b)) / k for a, b in zip(true, seen, strict=True)]))


@dataclass(frozen=True, slots=True)
class Atlas:
    """The map of a document: its public sentences laid out on a plane, everything else placed among them.

    `vectors` (n, dimension) and `points` (n, 2) belong to the `sentences`, which are chunks of `tree`.
    """

    tree: ChunkTree
    sentences: tuple[Chunk, ...]
    vectors: np.ndarray
    points: np.ndarray

    def place(self, vectors: np.ndarray) -> np.ndarray:
        """Points (m, 2) of vectors (m, dimension) among the sentences."""
        return place(self.points, self.vectors, vectors)


# Access labels are part of a document, so that a map never shows what has been closed since.
_atlases: dict[tuple[Document, str, int, int, str], Atlas] = {}


def atlas(document: Document, embedder: Embedder, seed: int = 0, method: Literal["umap", "pca"] = "umap") -> Atlas:
    """Fit the map of a document once: its public sentences by UMAP, or by their two principal components.

    Larger chunks and questions are placed among the five sentences most similar to them, so the
    picture stays still while sliders move. The first call takes seconds, later ones nothing. What it returns has the
    `sentences`, their `vectors` (n, dimension) and `points` (n, 2), and `place` for newcomers. ValueError for another
    method, a seed below 0, a text without a public sentence, and a model whose vectors are not finite; TypeError for
    what is no Document or embedder.
    """
    check_kind("document", document, Document)
    embedder = as_embedder(embedder)
    check_whole("seed", seed, 0)
    if method not in ("umap", "pca"):
        raise ValueError(f"method must be 'umap' or 'pca', not {method!r}")
    key = (document, embedder.name, embedder.dimension, seed if method == "umap" else 0, method)
    if key not in _atlases:
        tree = _sentence_tree(document)
        kept = tuple(readable_chunks(tree))
        vectors = as_rows(embedder, embedder.passages([chunk.text for chunk in kept]), len(kept))
        points = _kept_map(kept, embedder, vectors, seed) if method == "umap" else principal_map(vectors)
        _atlases[key] = Atlas(tree, kept, vectors, points)
    return _atlases[key]


@functools.lru_cache(maxsize=16)
def _sentence_tree(document: Document) -> ChunkTree:
    return sentence_tree(document)


def _kept_map(kept: tuple[Chunk, ...], embedder: Embedder, vectors: np.ndarray, seed: int) -> np.ndarray:
    # UMAP compiles itself for a quarter of a minute in every process: a book of many chapters keeps its maps, by what
    # they are made of, as vectors are kept.
    made_of = json.dumps([embedder.name, embedder.dimension, embedder.passage_prefix, seed, [c.text for c in kept]])
    name = f"map-{version('umap-learn')}-{hashlib.sha256(made_of.encode()).hexdigest()[:16]}"
    folder, known = os.environ.get("S2B_EMBEDDING_CACHE"), PACKAGED.map(name)
    if known is not None:
        return known
    if not folder:
        return umap_map(vectors, seed=seed)
    path = Path(folder) / f"{name}.npy"
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".npy", delete=False) as draft:
            np.save(draft, umap_map(vectors, seed=seed))
        os.replace(draft.name, path)  # whole or not at all, whoever else writes it
    return np.load(path)


def _nearest(distance: np.ndarray, k: int) -> np.ndarray:
    np.fill_diagonal(distance, np.inf)
    return np.argsort(distance, axis=1, kind="stable")[:, :k]


def _mapped(points: np.ndarray, vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The points of a map and its vectors, one of each for each."""
    flat, matrix = finite_array("points", points, "float64"), _matrix("vectors", vectors)
    if flat.ndim != 2 or flat.shape[1] != 2:
        raise ValueError(f"the points of a map have the shape (n, 2), not {flat.shape}")
    if len(flat) != len(matrix):
        raise ValueError(f"a map needs one point for each vector, not {len(flat)} for {len(matrix)}")
    return flat, matrix


def _matrix(name: str, vectors: np.ndarray) -> np.ndarray:
    """One vector or a table of them as a table."""
    matrix = finite_array(name, vectors, "float64")
    if matrix.size == 0:
        raise ValueError("there are no vectors to map: give at least 1")
    if matrix.ndim not in (1, 2):
        raise ValueError(f"{name} must have the shape (n, dimension), not {matrix.shape}")
    return np.atleast_2d(matrix)
