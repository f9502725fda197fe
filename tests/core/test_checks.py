"""Bad input gets an error that names the value and the limit; blank means the same everywhere."""

import pytest

from s2b_lab.core.characters import is_blank, language_of
from s2b_lab.core.checks import check_choice, check_filled, check_str, check_whole


@pytest.mark.parametrize("value", [True, 2.0, "2", None])
def test_a_whole_number_is_no_bool_float_or_text(value):
    with pytest.raises(ValueError, match=r"k must be a whole number, not"):
        check_whole("k", value, 1)


def test_a_limit_is_named_with_the_value():
    check_whole("k", 1, 1)
    with pytest.raises(ValueError, match=r"k must be at least 1, not 0"):
        check_whole("k", 0, 1)
    with pytest.raises(ValueError, match=r"unit must be one of 'char', 'word', not 'page'"):
        check_choice("unit", "page", ("char", "word"))
    with pytest.raises(TypeError, match=r"text must be a str, not bytes"):
        check_str("text", b"x")


@pytest.mark.parametrize("blank", ["", " \n\t", "\u200b\u200b", "\ufeff", "\0", "\u3000", None])
def test_what_has_nothing_to_see_is_blank(blank):
    with pytest.raises(ValueError, match=r"the query is blank: "):
        check_filled("query", blank)


def test_one_visible_character_is_enough():
    check_filled("query", "\u200b.")
    assert is_blank("a b", 1, 2) and not is_blank("a b", 1, 3)


def test_a_chinese_character_makes_a_text_chinese():
    assert [language_of(text) for text in ("travel", "出差 travel", "\u3400", "カナ", "")] == [
        "en",
        "zh",
        "zh",
        "en",
        "en",
    ]
