"""The area under the curve, against counting all pairs, and which ends are compared."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wishes import Wishes

from s2b_lab.chunkers.signal import EndSignal, area_under_curve, end_signal
from s2b_lab.core.headings import document

scores = st.lists(st.integers(0, 6), min_size=1, max_size=12)
TEXT = "# Head\n\nOne two. Three four.\n\nFive six. Seven eight. Nine ten.\n\nLast one. It is."


@given(scores, scores)
def test_the_area_is_the_share_of_pairs_won(positive, negative):
    won = sum((p > n) + (p == n) / 2 for p in positive for n in negative)
    assert area_under_curve(positive, negative) == pytest.approx(won / len(positive) / len(negative))


def test_an_area_needs_both_kinds():
    with pytest.raises(ValueError, match="got 0 and 1"):
        area_under_curve([], [1.0])


@pytest.mark.parametrize("theta", [4, 6, 200])
def test_paragraph_ends_are_told_from_others_and_the_last_of_the_text_is_left_out(theta):
    knows = Wishes(by=lambda prefix: prefix.endswith(("Three four.", "Nine ten.")))
    found = end_signal([document("d", TEXT), document("e", TEXT)], knows, theta)
    assert found == EndSignal(1.0, 4, 8)
    assert end_signal(document("d", TEXT), Wishes(by=lambda _: 0.5), theta) == EndSignal(0.5, 2, 4)
    assert all(len(text.split()) <= theta for text in knows.asked)


def test_each_sentence_is_scored_once_and_one_larger_than_a_block_not_at_all():
    model = Wishes()
    text = "One. Two. " + "Word " * 9 + "end. Three. Four."
    assert end_signal(document("d", text), model, 4) == EndSignal(None, 0, 3)
    assert not any("Word" in asked for asked in model.asked)


def test_prose_leaves_out_ends_without_a_mark_and_knows_marks_in_quotes_and_chinese():
    text = 'As follows:\n\n```\nx = 1\n```\n\nHe said "yes." She left.\n\n他走了。“好！”\n\n今天 OK\n\nEnd.'
    doc = document("d", text)
    prose, every = (end_signal(doc, Wishes(), 200, kind) for kind in (True, False))
    assert (prose.paragraph_ends, prose.other_ends) == (2, 2)
    assert (every.paragraph_ends, every.other_ends) == (5, 2)


def test_nothing_to_compare_has_no_area():
    assert end_signal(document("d", ""), Wishes()) == EndSignal(None, 0, 0)
    assert end_signal([], Wishes()) == EndSignal(None, 0, 0)


def test_wrong_input_is_named():
    with pytest.raises(ValueError, match="theta must be at least 1"):
        end_signal(document("d", TEXT), Wishes(), 0)
    for docs, model in (("text", Wishes()), (document("d", TEXT), "smollm2")):
        with pytest.raises(TypeError):
            end_signal(docs, model)
