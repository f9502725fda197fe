import numpy as np
import pytest

from s2b_lab import HashEmbedder, document, project
from s2b_lab.project import atlas, neighbours_kept, place, principal_map, umap_map


def blobs(groups: int = 3, each: int = 12, dimension: int = 16) -> np.ndarray:
    """Unit vectors in tight groups around orthogonal directions."""
    noise = np.random.default_rng(7).normal(scale=0.05, size=(groups * each, dimension))
    vectors = np.repeat(np.eye(dimension)[:groups], each, axis=0) + noise
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_umap_keeps_groups_together_and_is_the_same_for_one_seed():
    vectors = blobs()
    points = umap_map(vectors, seed=3)
    assert points.shape == (36, 2)
    assert np.array_equal(points, umap_map(vectors, seed=3))
    assert not np.array_equal(points, umap_map(vectors, seed=4))
    centres = points.reshape(3, 12, 2).mean(axis=1)
    spread = np.abs(points.reshape(3, 12, 2) - centres[:, None]).max()
    gaps = [np.linalg.norm(centres[i] - centres[j]) for i, j in ((0, 1), (0, 2), (1, 2))]
    assert min(gaps) > spread


@pytest.mark.parametrize("count", [1, 2, 5, 9])
def test_few_vectors_are_laid_out_by_principal_components(count):
    vectors = blobs()[:: 36 // count][:count]
    points = umap_map(vectors)
    assert points.shape == (count, 2)
    assert np.allclose(points, principal_map(vectors))
    # A projection never stretches: distances on the plane are at most the true ones.
    true = np.linalg.norm(vectors[:, None] - vectors[None], axis=-1)
    flat = np.linalg.norm(points[:, None] - points[None], axis=-1)
    assert (flat <= true + 1e-9).all()


def test_a_copy_is_placed_near_its_twin_and_not_in_another_group():
    vectors = blobs()
    points = umap_map(vectors)
    placed = place(points, vectors, vectors[[5, 20]])
    nearest = [int(np.argmin(np.linalg.norm(points - p, axis=1))) // 12 for p in placed]
    assert nearest == [0, 1]


def test_place_is_the_weighted_mean_of_the_five_nearest():
    vectors, points = np.eye(8), np.arange(16.0).reshape(8, 2)
    newcomer = np.array([0.9, 0.4, 0.1, 0.05, 0.02, 0.0, 0.0, 0.0])
    weights = np.exp(10 * newcomer[:5])
    expected = (weights[:, None] * points[:5]).sum(axis=0) / weights.sum()
    assert np.allclose(place(points, vectors, newcomer), expected)
    assert place(points[:2], vectors[:2], newcomer).shape == (1, 2)


def test_neighbours_kept_is_one_for_a_true_map_and_low_for_a_shuffled_one():
    angles = np.linspace(0, 1, 40) ** 1.3  # uneven, so that no two distances tie
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    assert neighbours_kept(vectors, vectors, k=5) == 1.0
    shuffled = vectors[np.random.default_rng(0).permutation(40)]
    assert neighbours_kept(shuffled, vectors, k=5) < 0.4


@pytest.mark.parametrize(
    ("k", "says"),
    [(0, "at least 1, not 0"), (-1, "at least 1, not -1"), (3, "at most 2 with 3 vectors, not 3"), (1.5, "whole.*1.5")],
)
def test_neighbours_kept_names_a_bad_k_and_its_limit(k, says):
    with pytest.raises(ValueError, match=f"k must be .*{says}"):
        neighbours_kept(np.eye(3)[:, :2], np.eye(3), k=k)


def test_a_map_has_one_point_for_each_vector_and_newcomers_of_their_dimension():
    points, vectors = np.eye(4)[:, :2], np.eye(4)
    for call in (lambda: place(points[:3], vectors, vectors[:1]), lambda: neighbours_kept(points[:3], vectors, 1)):
        with pytest.raises(ValueError, match="not 3 for 4"):
            call()
    with pytest.raises(ValueError, match="dimension 3, but the map is of 4"):
        place(points, vectors, np.eye(3))


def test_nothing_to_map_is_said():
    with pytest.raises(ValueError, match="at least 1"):
        umap_map(np.empty((0, 4)))


def test_a_map_is_kept_beside_the_embeddings_and_is_the_same_map(tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr(project, "umap_map", lambda vectors, seed: calls.append(seed) or principal_map(vectors) + seed)
    text = document("kept", " ".join(f"Sentence {n} is here." for n in range(20)))

    def points(seed, dimension=256):
        project._atlases.clear()
        return atlas(text, HashEmbedder(dimension), seed).points

    fresh = points(1)
    monkeypatch.setenv("S2B_EMBEDDING_CACHE", str(tmp_path / "new"))
    assert (points(1) == fresh).all() and (points(1) == fresh).all() and calls == [1, 1]
    assert (points(2) != fresh).any() and calls == [1, 1, 2], "another seed is another map"
    points(1, 64)
    assert calls == [1, 1, 2, 1], "other vectors are another map"
    project._atlases.clear()


def test_what_is_closed_is_on_no_map_also_when_it_is_closed_later():
    text = "## Open\n\nTea is free. Pots are blue.\n\n## Closed\n\nThe code is 1234."

    def shown(**options):
        return [c.text for c in atlas(document("later", text, **options), HashEmbedder(), 0, "pca").sentences]

    assert shown()[-2:] == ["## Closed", "The code is 1234."]
    assert shown(section_access={"Closed": "finance"}) == ["## Open", "Tea is free.", "Pots are blue."]


def test_a_document_is_cut_once_for_all_its_maps(monkeypatch):
    cuts, cut = [], project.sentence_tree
    monkeypatch.setattr(project, "sentence_tree", lambda doc: cuts.append(doc.id) or cut(doc))
    doc = document("once", "Tea is free. Pots are blue. Trains are late.")
    charts = [atlas(doc, HashEmbedder(size), 0, "pca") for size in (64, 128)] + [atlas(doc, HashEmbedder(64))]
    assert cuts == ["once"] and [chart.vectors.shape for chart in charts] == [(3, 64), (3, 128), (3, 64)]
    assert all(chart.tree is charts[0].tree and set(chart.sentences) <= set(chart.tree) for chart in charts)


def test_another_method_is_refused():
    with pytest.raises(ValueError, match="'umap' or 'pca', not 'tsne'"):
        atlas(document("d", "One. Two."), HashEmbedder(), 0, "tsne")
