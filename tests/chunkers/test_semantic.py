"""Cuts at turns of meaning; the size always holds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rules import check_cover, check_sizes
from strategies import texts, units

from s2b_lab.chunkers.semantic import semantic, semantic_distances
from s2b_lab.core.sentences import sentences
from s2b_lab.embed import HashEmbedder

TOPICS = "The cat sleeps. The cat eats. The cat plays. Taxes rise again. Taxes fall again. Taxes stay again."
model = HashEmbedder()


class Line(HashEmbedder):
    """Puts each text at an angle of our own choice: that of the number it begins with."""

    def passages(self, given):
        angles = [float(text.split()[0]) for text in given]
        return np.array([[np.cos(a), np.sin(a)] for a in angles], dtype=np.float32)


line = Line(dimension=2)


def text_of(angles):
    return " ".join(f"{a} x." for a in angles)


def naive(text, embedder, buffer):
    """The reference: each pair of groups by itself."""
    spans = sentences(text)
    found = []
    for i in range(len(spans) - 1):
        pair = [
            embedder.passages([text[spans[max(0, j - buffer)].start : spans[min(len(spans) - 1, j + buffer)].end]])[0]
            for j in (i, i + 1)
        ]
        found.append((spans[i].end, 1 - float(pair[0] @ pair[1])))
    return found


@pytest.mark.parametrize("buffer", [0, 1, 2, 9])
def test_distances_are_those_of_each_pair_of_groups(buffer):
    found, expected = semantic_distances(TOPICS, model, buffer), naive(TOPICS, model, buffer)
    assert [end for end, _ in found] == [end for end, _ in expected]
    assert [d for _, d in found] == pytest.approx([d for _, d in expected], abs=1e-6)


def test_the_cut_is_where_the_topic_turns():
    for threshold in ("percentile", "gradient"):
        spans = semantic(TOPICS, model, 200, threshold, 80, buffer=0)
        assert [span.of(TOPICS)[:5] for span in spans] == ["The c", "Taxes"]


def test_a_gradient_finds_a_rise_and_a_percentile_the_largest():
    # Distances rise slowly all along, with one sudden step that is not the largest distance.
    angles = np.cumsum([0, 0.1, 0.1, 0.1, 0.5, 0.55, 0.6, 0.65, 0.7]).round(3)
    text = text_of(angles)
    largest = semantic(text, line, 200, "percentile", 90, buffer=0)
    assert [span.of(text).count("x") for span in largest] == [8, 1]
    steepest = semantic(text, line, 200, "gradient", 90, buffer=0)
    assert [span.of(text).count("x") for span in steepest] == [4, 5]


def test_a_buffer_hides_one_odd_sentence():
    text = "The cat sleeps well. The cat sleeps long. Taxes. The cat sleeps still. The cat sleeps on."
    alone, grouped = (max(d for _, d in semantic_distances(text, model, buffer)) for buffer in (0, 1))
    assert grouped < alone / 2


def test_a_chunk_that_is_too_large_is_cut_at_its_largest_distance():
    text = text_of([0, 0.1, 0.2, 0.9, 1.0, 1.1])
    assert [span.of(text).count("x") for span in semantic(text, line, 10, amount=100, buffer=0)] == [3, 3]
    assert len(semantic(text, line, 12, amount=100, buffer=0)) == 1


def test_equal_sentences_are_no_turn():
    text = "Same words. " * 20
    assert len(semantic(text, model, 200, amount=0)) == 1


@given(texts, st.integers(1, 30), units, st.sampled_from(["percentile", "gradient"]), st.integers(0, 2))
def test_chunks_cover_the_text_and_the_size_always_holds(text, size, unit, threshold, buffer):
    spans = semantic(text, model, size, threshold, 70, buffer, unit)
    check_cover(text, spans)
    check_sizes(text, spans, size, unit)


@pytest.mark.parametrize(("text", "count"), [("", 0), (" \n", 0), ("One.", 1), ("One. Two.", 1)])
def test_short_texts(text, count):
    assert len(semantic(text, model)) == count
    assert len(semantic_distances(text, model)) == max(0, len(sentences(text)) - 1)


def test_a_heading_goes_with_what_follows():
    text = "The cat sleeps. The cat eats.\n\n# Taxes\n\nTaxes rise. Taxes fall."
    spans = semantic(text, model, 7, amount=50, buffer=0)
    assert not any(span.of(text).endswith("# Taxes") for span in spans)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"size": 0}, "size must be at least 1"),
        ({"threshold": "median"}, "threshold must be one of 'percentile', 'gradient', not 'median'"),
        ({"amount": 101}, "amount must be at most 100"),
        ({"amount": -1}, "amount"),
        ({"amount": float("nan")}, "amount"),
        ({"buffer": -1}, "buffer must be at least 0, not -1"),
        ({"unit": "line"}, "unit"),
    ],
)
def test_wrong_values_are_named_with_their_limit(arguments, words):
    with pytest.raises(ValueError, match=words):
        semantic(TOPICS, model, **arguments)


def test_what_is_no_text_or_model_and_vectors_that_are_not_finite():
    with pytest.raises(TypeError):
        semantic(3, model)
    with pytest.raises(TypeError, match="embedder"):
        semantic(TOPICS, object())

    class Broken(HashEmbedder):
        def passages(self, given):
            return super().passages(given) * np.nan

    with pytest.raises(ValueError, match="finite"):
        semantic(TOPICS, Broken())


def test_a_percentile_of_all_cuts_nowhere_and_one_of_nothing_everywhere_but_at_the_smallest():
    text = text_of([0, 0.1, 0.3, 0.6, 1.0])
    assert len(semantic(text, line, 200, amount=100, buffer=0)) == 1
    assert [span.of(text).count("x") for span in semantic(text, line, 200, amount=0, buffer=0)] == [2, 1, 1, 1]
    for threshold in ("percentile", "gradient"):
        assert len(semantic(text_of([0, 2]), line, 200, threshold, 0, 0)) == 1, "one distance is beyond no other"


def test_a_gradient_finds_a_turn_after_the_first_sentence():
    assert [s.start for s in semantic(text_of([0, 1, 1.1, 1.2, 1.3]), line, 200, "gradient", 80, 0)] == [0, 5]
    # All are far apart, the third pair a little farther: the first distance is no rise.
    spans = semantic(text := text_of([0, 1.05, 2.1, 3.2, 4.25]), line, 200, "gradient", 90, 0)
    assert [span.of(text).count("x") for span in spans] == [3, 2]


@pytest.mark.parametrize("words", [2, 4, 16, 64])
def test_of_equal_distances_the_one_in_the_middle_is_cut(words):
    """Else a row of equal sentences would be peeled one by one, and all but the last chunk be a sentence."""
    text = "Same words. " * 64
    assert {span.of(text).count("Same") for span in semantic(text, model, words)} == {words // 2}
