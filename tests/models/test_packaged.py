"""Vectors that come with the package: of this model, of these texts, and computed where they are not there."""

import hashlib
import random
import sqlite3

import numpy as np
import pytest
from embedders import RecordingEmbedder
from extensions import FOLDER, extension

from s2b_lab import embedder, load, sentence_tree
from s2b_lab.embed import RememberingEmbedder, cached
from s2b_lab.models.copies import digest, passage_copies
from s2b_lab.models.packaged import PACKAGED, PACKAGES, PackagedVectors

TEXTS = ["Tea is free.", "Pots are blue.", "Trains are late."]


def fake():
    return RecordingEmbedder(name="fake", passage_prefix="tell ", query_prefix="ask ")


@pytest.fixture
def packed(tmp_path, monkeypatch):
    """Pack the vectors of a fake model as a build does; gives the file."""
    model = fake()
    monkeypatch.setitem(PACKAGES, "fake", "numpy")
    cached(model, tmp_path).passages(TEXTS[:2])
    cached(model, tmp_path).query("tea?")
    np.save(tmp_path / "map-1.npy", np.ones((2, 2)))
    pack = extension("vectors")
    monkeypatch.setattr(pack, "weights", lambda name: tmp_path / "map-1.npy")
    assert pack.pack(tmp_path, tmp_path / "vectors.npz") == {"fake, passage": 2, "fake, query": 1}
    return tmp_path / "vectors.npz"


def test_a_known_text_is_looked_up_and_a_new_one_computed(packed):
    model, plain = fake(), fake()
    prepared = RememberingEmbedder(model, PackagedVectors(packed))
    rows = prepared.passages([TEXTS[2], TEXTS[0], TEXTS[2], "tea?"])
    assert model.embedded == [TEXTS[2], "tea?"], "each new text once, and a question's vector is no passage's"
    assert np.allclose(rows, plain.passages([TEXTS[2], TEXTS[0], TEXTS[2], "tea?"]), atol=1e-3)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6) and rows.dtype == np.float32
    model.embedded.clear()
    assert np.allclose(prepared.query("  tea?\n"), plain.query("tea?"), atol=1e-3) and not model.embedded
    assert prepared.passages([]).shape == (0, 256)


def test_vectors_of_another_version_or_prefix_are_not_used(packed, monkeypatch):
    other = RecordingEmbedder(name="fake", passage_prefix="say ")
    RememberingEmbedder(other, PackagedVectors(packed)).passages(TEXTS[:1])
    assert other.embedded == TEXTS[:1]
    model = fake()
    monkeypatch.setattr("importlib.metadata.version", lambda package: "0.0")
    RememberingEmbedder(model, PackagedVectors(packed)).passages(TEXTS[:1])
    assert model.embedded == TEXTS[:1]


def test_a_package_without_vectors_computes_all(tmp_path):
    model = RecordingEmbedder()
    assert RememberingEmbedder(model, PackagedVectors(tmp_path / "none.npz")).passages(TEXTS).shape == (3, 256)
    assert model.embedded == TEXTS and PackagedVectors(tmp_path / "none.npz").map("map-1") is None


def test_maps_come_too(packed):
    assert PackagedVectors(packed).map("map-1").tolist() == [[1, 1], [1, 1]]


@pytest.mark.parametrize("name", ["en", "zh"])
def test_the_packaged_vectors_are_those_of_the_installed_model(name):
    """The weights are those the vectors were made with, and a sample computed again is the same."""
    model = embedder(name)
    weights = extension("vectors").weights(model.name)
    assert PACKAGED.made_by[model.name]["sha256"] == hashlib.sha256(weights.read_bytes()).hexdigest()
    texts = [chunk.text for chunk in sentence_tree(load(f"travel-{name}")).indexed]
    sample = random.Random(1).sample(texts, 12)
    digests = {digest(model.passage_prefix, copy) for copy in passage_copies(sample)}
    assert PACKAGED.read(model.name, "passage", digests).keys() == digests
    similar = (model.passages(sample) * model._model.passages(sample)).sum(axis=1)
    assert similar.min() > 0.999, f"the packaged vectors differ from those of this machine: {similar}"


def test_nearly_every_text_of_the_book_is_there():
    """A build keeps all vectors that it used, wherever they came from."""
    with sqlite3.connect(FOLDER.parent / "_build" / "embeddings" / "embeddings.sqlite3") as kept:
        rows = kept.execute("SELECT model, side, digest FROM vectors").fetchall()
    missing = [row for row in rows if not PACKAGED.read(*row[:2], row[2:])]
    assert rows and len(missing) < len(rows) / 10, f"{len(missing)} of {len(rows)} are not packed: run make vectors"
