import itertools
import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from s2b_lab.core import rank
from s2b_lab.core.rank import cosine, reciprocal_rank_fusion, top_k

numbers = st.floats(-100, 100, allow_nan=False).map(lambda x: round(x, 3))
pairs = st.integers(1, 8).flatmap(
    lambda n: st.tuples(st.lists(numbers, min_size=n, max_size=n), st.lists(numbers, min_size=n, max_size=n))
)
tables = st.integers(1, 5).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(-3, 3), min_size=n, max_size=n),
        st.lists(st.lists(st.integers(-3, 3), min_size=n, max_size=n), max_size=12),
    )
)


def test_cosine_of_known_angles():
    assert cosine([1, 0], [3, 0]) == pytest.approx(1)
    assert cosine([1, 0], [0, 5]) == 0
    assert cosine([1, 2], [-2, -4]) == pytest.approx(-1)
    assert cosine([1, 0], [1, 1]) == pytest.approx(math.cos(math.pi / 4))


@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1e-160, 1e160, 1e300])
def test_the_length_of_a_vector_says_nothing(scale):
    assert cosine([scale, 0], [scale, 0]) == cosine([1, 0], [scale, 0]) == cosine([scale, 0], [1, 0]) == 1
    assert cosine([3 * scale, 4 * scale], [1, 0]) == pytest.approx(0.6)
    assert [index for index, _ in top_k([scale, 0], [[0, 1], [scale, scale], [1, 0]], 2)] == [2, 1]


def test_a_zero_vector_is_like_nothing():
    assert cosine([0, 0], [1, 2]) == cosine([1, 2], [0, 0]) == cosine([0, 0], [0, 0]) == 0
    assert top_k([0, 0], [[1, 0], [0, 1]], 2) == [(0, 0.0), (1, 0.0)]


@given(pairs)
def test_cosine_against_the_formula(pair):
    a, b = pair
    assume(any(a) and any(b))
    reference = math.fsum(x * y for x, y in zip(a, b, strict=True)) / (math.hypot(*a) * math.hypot(*b))
    assert cosine(a, b) == pytest.approx(reference, abs=1e-9)
    assert -1 <= cosine(a, b) <= 1
    assert cosine(a, b) == cosine(b, a)


@given(pairs)
def test_both_ways_to_sum_products_agree(pair):
    a, b = pair
    exact = math.fsum(x * y for x, y in zip(a, b, strict=True))
    assert rank._sum_of_products(a, b) == pytest.approx(exact, abs=1e-7)
    assert rank._dot(a, b) == pytest.approx(exact, abs=1e-7)


def test_the_fast_way_is_taken_where_python_has_it():
    assert rank._dot is getattr(math, "sumprod", rank._sum_of_products)


@given(tables, st.integers(1, 15))
def test_top_k_equals_sorting_everything(table, k):
    query, vectors = table
    scored = [(index, cosine(query, vector)) for index, vector in enumerate(vectors)]
    assert top_k(query, vectors, k) == sorted(scored, key=lambda pair: -pair[1])[:k]


def test_top_k_keeps_the_order_of_ties_E9():
    assert [index for index, _ in top_k([1, 0], [[0, 1], [2, 0], [1, 0], [5, 0]], 3)] == [1, 2, 3]


def test_top_k_of_nothing_and_of_fewer_E3():
    assert top_k([1.0], [], 5) == []
    assert len(top_k([1.0], [[1.0], [2.0]], 50)) == 2


@pytest.mark.parametrize("k", [0, -2], ids=["E3-zero", "E3-negative"])
def test_k_below_one_is_refused(k):
    with pytest.raises(ValueError, match=f"k must be at least 1, not {k}"):
        top_k([1.0], [[1.0]], k)


@pytest.mark.parametrize("k", ["4", 2.0, True, None])
def test_k_of_the_wrong_kind_is_refused(k):
    with pytest.raises(ValueError, match="k must be a whole number"):
        top_k([1.0], [[1.0]], k)


def test_mixed_dimensions_are_refused_E7():
    for call in (lambda: cosine([1, 2], [1, 2, 3]), lambda: top_k([1, 2], [[1, 2], [1, 2, 3]], 1)):
        with pytest.raises(ValueError, match="2 and 3"):
            call()


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 10**400], ids=["nan", "inf", "-inf", "huge"])
@pytest.mark.parametrize("rest", [[], [1.0], [0.0, 0.0], [1e-300], [1e300, 1.0], [5e-324, 2.0]])
def test_what_is_no_finite_number_is_refused_wherever_it_stands_H26(bad, rest):
    for place in range(len(rest) + 1):
        vector = [*rest[:place], bad, *rest[place:]]
        for other in ([1.0] * len(vector), [0.0] * len(vector)):
            for call in (
                cosine,
                lambda a, b: cosine(b, a),
                lambda a, b: top_k(a, [b], 1),
                lambda a, b: top_k(b, [a], 1),
            ):
                with pytest.raises(ValueError, match=f"finite numbers, not .* at place {place}$"):
                    call(vector, other)


@given(pairs, st.data())
def test_no_vector_with_nan_has_a_similarity(pair, data):
    a, b = pair
    bad = data.draw(st.sampled_from([math.nan, math.inf, -math.inf]))
    place = data.draw(st.integers(0, len(a) - 1))
    with pytest.raises(ValueError, match=f"at place {place}$"):
        cosine(a, [*b[:place], bad, *b[place + 1 :]])


@pytest.mark.parametrize("bad", [None, 3, "ab", ["a"], [None], [[1.0]], iter([1.0]), [1j], {"a": 1}])
def test_what_is_no_vector_is_refused(bad):
    for call in (lambda: cosine(bad, [1.0]), lambda: top_k([1.0], [bad], 1)):
        with pytest.raises(TypeError, match="a vector must be a list of numbers, not"):
            call()


# --- fusion ---


def test_parents_repeated_in_one_list_count_once_B12():
    (first, one), (second, other) = reciprocal_rank_fusion([["p", "p", "p", "q"], ["q", "p"]])
    assert (first, second) == ("p", "q")
    assert one == other == 1 / 61 + 1 / 62


def test_a_repeated_item_takes_no_rank_from_others_E15():
    assert reciprocal_rank_fusion([["a", "a", "b"]]) == reciprocal_rank_fusion([["a", "b"]])


def test_fusion_rewards_agreement():
    fused = reciprocal_rank_fusion([["a", "b", "c"], ["d", "b", "e"]])
    assert fused[0][0] == "b" and [item for item, _ in fused[1:3]] == ["a", "d"]


@given(st.lists(st.lists(st.sampled_from("abcdef"), max_size=6), max_size=4), st.sampled_from([0, 1, 60]))
def test_fusion_against_a_naive_reference(lists, c):
    unique = [[x for n, x in enumerate(ranked) if x not in ranked[:n]] for ranked in lists]
    seen = list(dict.fromkeys(itertools.chain(*unique)))
    value = {x: math.fsum(1 / (c + ranked.index(x) + 1) for ranked in unique if x in ranked) for x in seen}
    fused = reciprocal_rank_fusion(lists, c)
    assert [item for item, _ in fused] == sorted(seen, key=lambda x: (-value[x], seen.index(x)))
    assert dict(fused) == pytest.approx(value)


@given(
    st.permutations([["pqrst"[(start + n) % 5] for n in range(5)] for start in range(5)]), st.sampled_from([0, 1, 60])
)
def test_a_perfect_tie_keeps_the_order_of_appearance(lists, c):
    # Floats added in another order differ in the last digit, which must not decide.
    fused = reciprocal_rank_fusion(lists, c)
    assert len({score for _, score in fused}) == 1
    assert [item for item, _ in fused] == lists[0]


def test_fusion_of_nothing():
    assert reciprocal_rank_fusion([]) == reciprocal_rank_fusion([[], []]) == []


@pytest.mark.parametrize("c", [-1, math.nan, math.inf])
def test_a_constant_that_cannot_rank_is_refused(c):
    with pytest.raises(ValueError, match=f"at least 0, not {c}"):
        reciprocal_rank_fusion([["a"]], c)
