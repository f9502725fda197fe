"""Blocks of whole sentences, one question each, cut at the likeliest end; the rest joins the next block."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rules import check_cover, check_sizes
from strategies import texts, units
from wishes import Wishes

from s2b_lab.chunkers.lgmgc import lgmgc
from s2b_lab.chunkers.logits import logits, logits_blocks
from s2b_lab.chunkers.signal import end_signal
from s2b_lab.core.characters import is_blank
from s2b_lab.core.headings import document
from s2b_lab.core.sizes import count
from s2b_lab.core.split import Cuts
from s2b_lab.core.text import Span

TEXT = "One two. Three four five. Six. Seven eight nine. Ten. Eleven twelve."


def naive(text, model, theta, unit="word"):
    """The reference: sentence by sentence, each prefix of a block scored by itself; whole sentences only."""
    ends = [*Cuts(text, unit).ends("titled sentence")]
    ends = [*ends, *([len(text.rstrip())] if text.rstrip() and ends[-1:] != [len(text.rstrip())] else [])]
    spans, start = [], 0
    while ends:
        start += len(text[start:]) - len(text[start:].lstrip())
        block = [end for end in ends if count(text[start:end], unit) <= theta] or ends[:1]
        scores = [model.one(text[start:end]) for end in block]
        cut = block[-1] if len(block) in (1, len(ends)) else block[scores.index(max(scores))]
        spans.append(Span(start, cut))
        ends, start = [end for end in ends if end > cut], cut
    return spans


@given(texts, st.integers(1, 40), units)
def test_every_cut_is_that_of_scoring_each_prefix_by_itself(text, theta, unit):
    model = Wishes()
    blocks = logits_blocks(text, model, theta, unit)
    expected = [span for span in naive(text, model, theta, unit) if not is_blank(span.of(text))]
    assert [Span(block.span.start, block.cut) for block in blocks] == expected
    assert model.passes == sum(bool(block.probabilities) for block in blocks)


@given(texts, st.integers(1, 40), units)
def test_chunks_cover_the_text_and_none_is_larger_than_theta(text, theta, unit):
    spans = logits(text, Wishes(), theta, unit)
    check_cover(text, spans)
    check_sizes(text, spans, theta, unit)


def test_one_pass_a_block_and_the_rest_joins_the_next_block():
    model = Wishes(by=lambda prefix: prefix.endswith(("five.", "Ten.")))
    assert [span.of(TEXT) for span in logits(TEXT, model, 6)] == [
        "One two. Three four five.", "Six. Seven eight nine. Ten.", "Eleven twelve.",
    ]  # fmt: skip
    # Blocks of at most 6 words, each from the last cut on, and what is left at the end is not asked about.
    assert model.asked == ["One two. Three four five. Six.", "Six. Seven eight nine. Ten."]
    assert model.passes == 2


def test_a_block_tells_its_ends_and_their_probabilities_up_to_the_last_that_fits():
    first, *_, last = logits_blocks(TEXT, Wishes(by=lambda prefix: len(prefix) / 100), 7)
    assert (first.ends, first.probabilities, first.cut) == ((8, 25, 30), (0.08, 0.25, 0.3), 30)
    assert first.span == Span(0, 30)
    assert last.probabilities == () and last.cut == last.span.end == len(TEXT)


def test_of_equal_ends_the_last_one_is_the_cut():
    assert [block.cut for block in logits_blocks(TEXT, Wishes(by=lambda _: 0.5), 7)] == [30, 68]


def test_a_heading_goes_with_what_follows_however_much_the_model_would_end_there():
    text = "One two.\n\n## Head\n\nThree four.\n\nFive six seven."
    model = Wishes(by=lambda prefix: 0.9 if prefix.endswith("Head") else 0.1 if prefix.endswith("two.") else 0)
    assert [span.of(text) for span in logits(text, model, 7)] == [
        "One two.",
        "## Head\n\nThree four.\n\nFive six seven.",
    ]


@pytest.mark.parametrize("text", ["", "  \n\n ", "\u200b"])
def test_an_empty_document_has_no_chunk_and_asks_nothing(text):
    model = Wishes()
    assert logits(text, model) == logits_blocks(text, model) == [] and model.passes == 0


def test_a_block_without_the_end_of_a_sentence_is_cut_as_recursive_does_without_a_question():
    text = "no full stop in all of these words so that nothing ends"
    model = Wishes()
    spans = logits(text, model, 5)
    assert model.passes == 0
    assert spans == Cuts(text, "word").fill(0, len(text), 5, 0)


def test_a_theta_below_one_sentence_still_holds_and_the_sentences_around_are_whole():
    text = "One two three four five six. Seven. Eight nine. Ten eleven twelve thirteen fourteen."
    assert [span.of(text) for span in logits(text, Wishes(by=lambda prefix: len(prefix) / 100), 3)] == [
        "One two three", "four five six.", "Seven. Eight nine.", "Ten eleven twelve", "thirteen fourteen.",
    ]  # fmt: skip
    blocks = logits_blocks(text, Wishes(), 3)
    assert blocks[0].span.of(text) == "One two three four five six." and blocks[0].probabilities == ()


@pytest.mark.parametrize("unit", ["char", "word", "token"])
@pytest.mark.parametrize("text", ["x" * 10_000, "没有标点" * 2_500, "word " * 2_000])
def test_ten_thousand_characters_without_an_end_are_cut_to_size_and_no_model_is_asked(text, unit):
    model = Wishes()
    spans = logits(text, model, 60, unit)
    check_cover(text, spans)
    check_sizes(text, spans, 60, unit)
    assert model.passes == 0


def test_a_huge_theta_asks_nothing_and_a_theta_of_one_cuts_every_word():
    model = Wishes()
    assert logits(TEXT, model, 10**9) == [Span(0, len(TEXT))] and model.passes == 0
    assert [span.of(TEXT) for span in logits(TEXT, model, 1)] == TEXT.split() and model.passes == 0


@pytest.mark.parametrize("theta", [0, -1, 2.5, True, "9"])
def test_a_theta_is_a_whole_number_of_at_least_one(theta):
    with pytest.raises(ValueError, match="theta"):
        logits(TEXT, Wishes(), theta)


def test_what_is_no_text_model_unit_or_probability_is_refused():
    for text, model in ((3, Wishes()), (TEXT, None), (TEXT, "smollm2")):
        with pytest.raises(TypeError):
            logits(text, model)
    with pytest.raises(ValueError, match="unit"):
        logits(TEXT, Wishes(), 7, "line")


class Gives(Wishes):
    """Answers something else than a list of probabilities."""

    def __init__(self, made):
        super().__init__()
        self.made = made

    def end_probabilities(self, text, places):
        return self.made(places)


def every(value):
    return lambda places: [value] * len(places)


@pytest.mark.parametrize(
    ("made", "error", "says"),
    [
        (lambda places: [0.5], ValueError, "wishes gave 1 probabilities for 3 places"),
        (lambda places: [0.5] * 4, ValueError, "wishes gave 4 probabilities for 3 places"),
        (lambda places: [], ValueError, "wishes gave 0 probabilities for 3 places"),
        (every(float("nan")), ValueError, "a probability that wishes gives must be a finite number.*not nan"),
        (every(float("inf")), ValueError, "a probability that wishes gives.*not inf"),
        (every(-0.1), ValueError, "a probability that wishes gives.*at least 0, not -0.1"),
        (every(1.5), ValueError, "a probability that wishes gives must be at most 1, not 1.5"),
        (every(None), ValueError, "a probability that wishes gives must be a number, not NoneType"),
        (every("0.5"), ValueError, "a probability that wishes gives must be a number, not str '0.5'"),
        (lambda places: None, TypeError, "what wishes gives must be a list.*not NoneType"),
        (lambda places: 0.5, TypeError, "what wishes gives must be a list.*not float 0.5"),
        (lambda places: "0.5", TypeError, "what wishes gives must be a list.*not str"),
        (lambda places: dict.fromkeys(places, 0.5), TypeError, "what wishes gives must be a list.*not dict"),
    ],
    ids=lambda case: case if isinstance(case, str) else "",
)
def test_what_are_no_probabilities_is_refused_by_every_cut_that_asks(made, error, says):
    doc = document("d", TEXT)
    for ask in (lambda: logits(TEXT, Gives(made), 7), lambda: logits_blocks(TEXT, Gives(made), 7),
                lambda: lgmgc(doc, Gives(made), 7), lambda: end_signal(doc, Gives(made), 7)):  # fmt: skip
        with pytest.raises(error, match=says):
            ask()


def test_rounding_above_one_and_other_kinds_of_lists_are_taken():
    for made in (every(1 + 1e-7), lambda places: (0.5 for _ in places), lambda places: np.full(len(places), 0.5, "f")):
        assert [block.cut for block in logits_blocks(TEXT, Gives(made), 7)] == [30, 68]


def test_a_model_has_a_name_and_its_own_errors_come_through():
    class Nameless:
        def end_probabilities(self, text, places):
            return [0.5] * len(places)

    class Breaks(Wishes):
        def end_probabilities(self, text, places):
            raise RuntimeError("no power")

    with pytest.raises(TypeError, match="name of the model must be a str, not NoneType"):
        logits(TEXT, Nameless(), 7)
    with pytest.raises(RuntimeError, match="no power"):
        logits(TEXT, Breaks(), 7)


def test_a_length_of_ones_own_counts_in_the_place_of_a_unit():
    spans = logits(TEXT, Wishes(), 30, length=len)
    assert all(len(span) <= 30 for span in spans)
    check_cover(TEXT, spans)
