"""Citations are read in the forms that models write, and nothing else is taken for one."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2b_lab.models.citations import cited_numbers, without_code


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("根据[资料1]，【资料 2】也这样说。", [1, 2]),
        ("See [Source 1] and [context 2].", [1, 2]),
        ("[citation:1][^2]", [1, 2]),
        ("[1 and 2]", [1, 2]),
        ("[1, 3]", [1, 3]),
        ("[1-3]", [1, 2, 3]),
        ("[3–1]", [3, 2, 1]),
        ("[1, 2, and 4]", [1, 2, 4]),
        ("[1；2] [3 & 4]", [1, 2, 3, 4]),
        ("[1和2] [资料3与资料4]", [1, 2, 3, 4]),
        ("[sources 1 to 3]", [1, 2, 3]),
        ("[Source 1, Source 2]", [1, 2]),
        ("[来源：资料1] [见资料2]", [1, 2]),
        ("[Ref. 2] [doc #3] [SOURCE: 4]", [2, 3, 4]),
        ("(Source 3) （资料 2）", [3, 2]),
        ("[Source 1: the policy, part 3]", [1]),
        ("[1, p. 12] [Document 2, page 3]", [1, 2]),
        ("【1†source】 [[2]](https://a.b/c) \\[3\\]", [1, 2, 3]),
        ("１［２］", [2]),
        ("[1] [2] [1]", [1, 2]),
        ("[0] [9]", [0, 9]),  # wrong ones, which are told
    ],
)
def test_usual_forms_are_read(text, numbers):
    assert cited_numbers(text, 4) == numbers


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Use `items[1]` to get it [2].", [2]),
        ("Use ``a`b[1]`` [2].", [2]),
        ("```python\nx[1]\n```\nSee [2].", [2]),
        ("~~~\nx[1]\n\ny[3]\n~~~~\nSee [2].", [2]),
        ("See [2].\n```\nx[1]", [2]),
        ("a ` stray [1]\n\nand ` another [2]", [1, 2]),
        ("```\nIt is Monday [1].\n```", [1]),  # the whole answer in a fence is no code
        ("He moved in [1934] [1].", [1]),
        ("From [1934-1936] and [2007, 2008].", []),
        ("[Article 5] (1) (2.5) [2.5] [1/2] [x] [ ] arr[i] [note] [12345]", []),
    ],
)
def test_code_years_and_other_brackets_are_no_citations(text, numbers):
    assert cited_numbers(text, 4) == numbers


def test_a_year_is_a_number_where_there_are_so_many_contexts():
    assert cited_numbers("[1934]", 2000) == [1934]


@given(st.text(alphabet="[]【】()0123,-–^: `~\n†资料Source and", max_size=60))
def test_any_text_is_read_and_code_has_none(text):
    numbers = cited_numbers(text, 3)
    assert len(set(numbers)) == len(numbers)
    assert cited_numbers(f"`{text.replace('`', '').strip() or 'x'}` ok".replace("\n", " "), 3) == []
    assert without_code("x") == "x"


def test_hostile_texts_are_read_in_no_time():
    start = time.process_time()
    for text in ("[1, " * 40_000, "`" * 100_000, "[资料" * 40_000, "``` \n" * 20_000, "[" + "1," * 50_000 + "]"):
        cited_numbers(text, 3)
    assert time.process_time() - start < 20, "a quadratic reading takes minutes"
