"""Pack the vectors and maps that a build of the book computed into the package, in half precision.

usage: python _ext/vectors.py FOLDER, the folder being the build's embedding cache. `make vectors` does all of it.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import sys
from contextlib import closing
from importlib.metadata import files, version
from pathlib import Path

import numpy as np

from s2b_lab.models.packaged import DIGEST, FILE, PACKAGES

_WEIGHTS = (".safetensors", ".bin")  # the largest file of a model's package that ends so


def pack(folder: Path, file: Path = FILE) -> dict[str, int]:
    """Write the file of a folder's vectors and maps; the number of vectors by model and side."""
    arrays, counts = {"made_by": np.array(json.dumps({model: made_by(model) for model in PACKAGES}))}, {}
    with closing(sqlite3.connect(folder / "embeddings.sqlite3")) as kept:
        for model, side in kept.execute("SELECT DISTINCT model, side FROM vectors ORDER BY 1, 2").fetchall():
            if model in PACKAGES:
                found = kept.execute(
                    "SELECT digest, vector FROM vectors WHERE model = ? AND side = ? ORDER BY 1", (model, side)
                ).fetchall()
                digests, rows = zip(*found, strict=True)
                arrays[f"{model} {side} digests"] = np.array([[*digest[:DIGEST]] for digest in digests], np.uint8)
                arrays[f"{model} {side}"] = np.array([np.frombuffer(row, np.float32) for row in rows], np.float16)
                counts[f"{model}, {side}"] = len(rows)
    arrays |= {f"map {path.stem}": np.load(path) for path in sorted(folder.glob("map-*.npy"))}
    np.savez_compressed(file, **arrays)
    return counts


def made_by(model: str) -> dict[str, str]:
    """The version of a model's package and the SHA-256 of its weights."""
    return {"version": version(PACKAGES[model]), "sha256": hashlib.sha256(weights(model).read_bytes()).hexdigest()}


def weights(model: str) -> Path:
    """The file of a model's weights: the largest one of its package that may hold them."""
    found = [Path(one.locate()) for one in files(PACKAGES[model]) or () if one.suffix in _WEIGHTS]
    return max(found, key=lambda path: path.stat().st_size)


if __name__ == "__main__":
    for side, count in pack(Path(sys.argv[1])).items():
        print(f"{count} vectors of {side}")
