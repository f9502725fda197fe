"""How numbers of headings are read, and which may follow which."""

import pytest

from s2b_lab.core.numbering import Label, Numbering, follows, named, neighbours, next_label, read_chinese, read_roman


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("一", 1),
        ("十", 10),
        ("十二", 12),
        ("二十", 20),
        ("一百零二", 102),
        ("一〇二", 102),
        ("两百", 200),
        ("一千三百", 1300),
        ("12", 12),
    ],
)
def test_chinese_numbers(words, value):
    assert read_chinese(words) == value


def roman(number):
    """Write a number below 400 by taking away the largest part that fits."""
    parts = [(100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")]
    value, words = next((part for part in parts if part[0] <= number), (0, ""))
    return words + roman(number - value) if number else ""


def test_roman_numbers_are_read_as_they_are_written():
    assert [read_roman(roman(number)) for number in range(400)] == [*range(400)]
    assert [read_roman(words) for words in ("IIII", "IC", "VX", "LC", "")] == [0] * 5


@pytest.mark.parametrize(
    ("line", "label"),
    [
        ("3.2 Title", Label("number", (3, 2))),
        ("3) Title", Label("number", (3,))),
        ("3 apples", None),
        ("  \n二、乙", Label("han", (2,))),
        ("（十一）乙", Label("bracket", (11,))),
        ("IV. Title", Label("roman", (4,))),
        ("CIVIC. Title", None),
        ("第十二條 乙", Label("条", (12,))),
        ("ARTICLE VII", Label("article", (7,))),
        ("Part B", Label("part", (2,))),
        ("Chapter Two", Label("chapter", (2,))),
        ("Section 3.1", Label("section", (3, 1))),
        ("Section 3's", None),
        ("Partial 3", None),
    ],
)
def test_labels_of_lines(line, label):
    assert next_label(line, 0) == label


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ((3,), (4,), True), ((3,), (5,), False), ((3,), (3,), False), ((3,), (2,), False), ((3, 2), (3, 3), True),
        ((3, 2), (4,), True), ((3, 2), (4, 1), False), ((3,), (3, 1), True), ((3,), (3, 3), True),
        ((3,), (3, 4), False), ((3,), (4, 1), False), ((3, 2, 9), (3, 3), True), (None, (1,), False),
    ],
)  # fmt: skip
def test_what_may_follow(one, other, expected):
    assert follows(one, other) is expected


def test_neighbours_are_of_one_kind_and_depth():
    assert neighbours(Label("number", (1,)), Label("number", (2,)))
    assert not neighbours(Label("number", (1,)), Label("han", (2,)))
    assert not neighbours(Label("number", (1,)), Label("number", (1, 1)))
    assert not neighbours(Label("number", (1, 9)), Label("number", (2,)))
    assert not neighbours(None, Label("number", (1,))) and not neighbours(Label("number", (1,)), None)


def placed(*labels, level=0):
    numbering = Numbering(level)
    return [numbering.place(named(name, str(value)) if name else Label("number", value)) for name, value in labels]


def test_a_new_kind_is_one_level_below_and_a_known_one_where_it_was():
    found = placed(("Part", 1), ("Chapter", 1), (None, (1,)), (None, (1, 1)), ("Chapter", 2), (None, (1,)), ("Part", 2))
    assert found == [(level, True) for level in (1, 2, 3, 4, 2, 3, 1)]
    assert placed((None, (1,)), level=1) == [(2, True)]
    # within one law the order of kinds by custom is no matter: what is met first is above
    assert placed(("Article", 1), ("Section", 1), ("Article", 2)) == [(3, True), (4, True), (3, True)]


def test_a_number_out_of_order_is_doubtful_or_none():
    assert placed((None, (1,)), (None, (12,)), (None, (2,))) == [(1, True), None, (1, True)]
    assert placed(("条", 3), ("条", 7), ("条", 8), ("条", 4)) == [(3, True), (3, False), (3, False), (3, True)]
    assert placed((None, (12,)), (None, (1,)), (None, (2,))) == [(1, True), (1, False), (1, False)]
    assert placed((None, (1, 2)), (None, (2, 1))) == [(2, True), (2, False)]


def test_what_may_continue_a_list_is_doubtful():
    numbering = Numbering()
    assert numbering.place(Label("number", (1,))) == (1, True)
    numbering.item(Label("number", (1,)))
    assert numbering.continues_list(Label("number", (2,)))
    assert numbering.place(Label("number", (2,))) == (1, False)
    assert numbering.place(Label("number", (3,))) == (1, False)  # of the list, or the next heading
    assert numbering.place(Label("number", (2,))) == (1, True)  # the heading after 1, and no item after 3
