"""Grapheme clusters."""

import sys
import unicodedata

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from speed import in_proportion

from s2b_lab.core.graphemes import graphemes, is_boundary, next_cut


def pieces(spans, text):
    return [span.of(text) for span in spans]


# --- speed grows with the text, whatever the text --------------------------------------------------------------------


@pytest.mark.parametrize("unit", ["\U0001f1eb", "\u0301", "👩\u200d", "\u1100", "क्", "\r\n"], ids=ascii)
def test_time_of_cluster_cuts_grows_in_proportion(unit):
    def cut(text):
        list(graphemes(text))
        start = 0
        while start < len(text):
            start = next_cut(text, min(start + 50, len(text)), start)

    small, large = unit * 1000, unit * 8000
    assert in_proportion(cut, small, large, 24)


SCRIPTS = [
    "a", "é", "e\u0301", "n\u0303\u0301", "👩", "👩\u200d👩\u200d👧", "👍🏽", "❤\ufe0f", "❤",
    "🏳\ufe0f\u200d🌈", "👩🏽\u200d🚀", "🇫", "🇩🇪", "1\ufe0f\u20e3", "한", "\u1112\u1161\u11ab", "\u1100",
    "\u1161", "가\u11a8", "\r\n", "\r", "\n", "\t", " ", "中", "。", "が", "か\u3099", "ｶﾞ", "น้ำ",
    "ที่", "க்", "नि", "क्षि", "עִ", "لَا", "\u0600", "\u200d", "\u200c", "\u200b", "\u00ad",
    "\ufeff", "🏴\U000e0067\U000e007f", "👩\u200d❤\ufe0f\u200d👨", "♀", "✈\ufe0f",
]  # fmt: skip
assigned = st.characters(exclude_categories=["Cn", "Cs"])
clusters = st.lists(st.one_of(st.sampled_from(SCRIPTS), assigned), max_size=12).map("".join)


def unicode_bounds(text):
    return {0, *(match.end() for match in regex.finditer(r"\X", text))}


@given(clusters)
def test_clusters_end_only_where_unicode_allows(text):
    assert {span.end for span in graphemes(text)} <= unicode_bounds(text)


@given(st.lists(st.sampled_from([unit for unit in SCRIPTS if unit != "\u200d"]), max_size=12).map("".join))
def test_clusters_of_common_scripts_are_those_of_unicode(text):
    assert {0, *(span.end for span in graphemes(text))} == unicode_bounds(text)


@given(st.integers(0, sys.maxunicode).map(chr).filter(lambda c: unicodedata.category(c) not in ("Cn", "Cs")))
def test_every_character_between_letters_is_cut_only_where_unicode_allows(char):
    text = f"a{char}b"
    assert {span.end for span in graphemes(text)} <= unicode_bounds(text)


@given(clusters)
def test_clusters_partition_the_text(text):
    spans = list(graphemes(text))
    assert "".join(pieces(spans, text)) == text
    assert all(spans)


@given(clusters, st.data())
def test_cuts_are_the_nearest_cluster_ends(text, data):
    position = data.draw(st.integers(0, len(text)))
    bounds = [0, *(span.end for span in graphemes(text))]
    assert is_boundary(text, position) == (position in bounds)
    assert next_cut(text, position) == min(bound for bound in bounds if bound >= position)


@given(clusters, st.data())
def test_a_known_cut_gives_the_same_answer(text, data):
    bounds = [0, *(span.end for span in graphemes(text))]
    start = data.draw(st.sampled_from(bounds))
    position = data.draw(st.integers(start, len(text)))
    assert is_boundary(text, position, start) == is_boundary(text, position)
    assert next_cut(text, position, start) == next_cut(text, position)


def test_a_range_of_clusters():
    text = "ae\u0301👍🏽b"
    assert pieces(graphemes(text, 1, 5), text) == ["e\u0301", "👍🏽"]


def test_a_run_of_flags_is_cut_in_pairs():
    assert [len(span) for span in graphemes("🇫🇷" * 200 + "🇩")] == [2] * 200 + [1]
    assert not is_boundary("🇫🇷" * 200, 201)
    assert next_cut("🇫🇷" * 200, 201) == 202
