"""A text with its cuts as a frame, and as tables where no script runs."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2b_lab.core.text import Span
from s2b_lab.figures.controls import Text
from s2b_lab.figures.cut_points import LEAST, CutPoints, bar_length, percent
from s2b_lab.figures.cut_tables import tables_of
from s2b_lab.figures.page import page
from s2b_lab.figures.record import positions, record, spec_of
from s2b_lab.figures.views import frame_of

TEXT = "A b. C d.\n\nE f. G h."
SENTENCES = [Span(0, 4), Span(5, 9), Span(11, 15), Span(16, 20)]


def points(**changes):
    given = {"text": TEXT, "sentences": SENTENCES, "probabilities": [0.5, None, 1e-9, 0.02], "chunks": {}}
    return CutPoints(**given | changes)


def test_a_frame_has_sentences_ends_cuts_and_tree_by_number():
    chunks = {"two": [Span(0, 9), Span(11, 20)], "torn": [Span(0, 7), Span(8, 15), Span(15, 20)]}
    tree = [[Span(0, 9), Span(11, 20)], [Span(5, 9)]]
    (frame,) = frame_of(points(chunks=chunks, tree=tree, title="T", lang="zh"))
    assert frame["sentences"] == ["A b.", "C d.", "E f.", "G h."]
    assert frame["breaks"] == [2], "a blank line stands behind the second sentence alone"
    assert frame["ends"] == [["50%", bar_length(0.5)], None, ["below 0.0001%", 0.0], ["2.0%", bar_length(0.02)]]
    assert frame["cuts"] == [
        {"name": "two", "after": [2], "elsewhere": 0},
        {"name": "torn", "after": [3], "elsewhere": 1},
    ]
    assert frame["tree"] == [[[1, 2, 4], [3, 4, 4]], [[2, 2, 2]]]
    assert (frame["kind"], frame["title"], frame["lang"]) == ("cuts", "T", "zh")


@given(st.data())
def test_cuts_agree_with_asking_each_gap_for_the_ends_in_it(data):
    lengths = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=6))
    spaces = data.draw(st.lists(st.integers(0, 2), min_size=len(lengths), max_size=len(lengths)))
    at, sentences = 0, []
    for length, space in zip(lengths, spaces, strict=True):
        sentences.append(Span(at, at + length))
        at += length + space
    text = "x" * sentences[-1].end
    ends = sorted(data.draw(st.sets(st.integers(1, len(text)), max_size=5)) | {len(text)})
    spans = [Span(a, b) for a, b in zip([0, *ends], ends, strict=False)]
    (cuts,) = CutPoints(text, sentences, [None] * len(sentences), {"it": spans}).frame()["cuts"]
    gaps = [range(a.end, b.start + 1) for a, b in pairwise(sentences)]
    assert cuts["after"] == [n for n, gap in enumerate(gaps, 1) for end in ends[:-1] if end in gap]
    assert cuts["elsewhere"] == sum(not any(end in gap for gap in gaps) for end in ends[:-1])


@given(st.floats(LEAST, 1), st.floats(LEAST, 1))
def test_a_bar_grows_with_its_probability_and_each_power_of_ten_is_a_sixth(one, other):
    low, high = sorted([one, other])
    assert 0 <= bar_length(low) <= bar_length(high) <= 1
    assert bar_length(low) == pytest.approx((math.log10(low) + 6) / 6, abs=0.001)
    number, unit = percent(low)[:-1], percent(low)[-1]
    assert unit == "%" and float(number) == pytest.approx(100 * low, rel=0.051)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (1, "100%"),
        (0.5, "50%"),
        (0.0633, "6.3%"),
        (0.00076, "0.076%"),
        (LEAST, "0.00010%"),
        (1e-9, "below 0.0001%"),
        (0, "below 0.0001%"),
    ],
)
def test_a_probability_is_shown_with_the_digits_that_count(value, shown):
    assert percent(value) == shown


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"probabilities": [0.1]}, "1 probabilities for 4 sentences"),
        ({"probabilities": [0.1, 0.2, 0.3, 1.5]}, "must be at most 1, not 1.5"),
        ({"probabilities": [0.1, 0.2, 0.3, -1]}, "at least 0, not -1"),
        ({"probabilities": [0.1, 0.2, 0.3, math.nan]}, "finite"),
        ({"probabilities": [0.1, 0.2, 0.3, True]}, "must be a number"),
        ({"sentences": SENTENCES[::-1]}, "sentences must be Spans in order"),
        ({"sentences": [(0, 4)] * 4}, "sentences must be Spans in order"),
        ({"chunks": {"far": [Span(0, 21)]}}, r"far must be Spans .*text of 20 characters.*end=21"),
        ({"chunks": {"overlapping": [Span(0, 9), Span(5, 20)]}}, "overlapping must be Spans in order, apart"),
        ({"tree": [[Span(3, 4), Span(0, 1)]]}, "a level of the tree must be Spans"),
        ({"chunks": [SENTENCES]}, "chunks map names of chunkers to Spans"),
        ({"tree": "tree"}, "'tree' needs a list"),
        ({"text": None}, "text of a CutPoints"),
    ],
)
def test_what_cannot_be_drawn_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        points(**changes)


def test_tables_say_what_is_drawn():
    chunks = {
        "two": [Span(0, 9), Span(11, 20)],
        "all": SENTENCES,
        "one": [Span(0, 20)],
        "torn": [Span(0, 7), Span(8, 20)],
    }
    frame = points(chunks=chunks, tree=[[Span(0, 9), Span(11, 20)], [Span(0, 4), Span(5, 9)], []], title="T").frame()
    sentences, chunkers, tree = tables_of(frame)
    assert sentences["caption"] == "T"
    assert sentences["rows"][0] == ["1", "A b.", "50%", "all"]
    assert sentences["rows"][1] == ["2", "C d.", "nothing to choose", "two, all"]
    assert sentences["rows"][3][3] == "", "behind the last sentence nobody cuts"
    assert chunkers["rows"] == [["two", "1"], ["all", "3"], ["one", "0"], ["torn", "0 + 1 elsewhere"]]
    assert tree["columns"] == ["parent", "halves", "quarters"]
    assert tree["rows"] == [
        ["sentences 1–2: 4 words", "sentence 1: 2 words; sentence 2: 2 words", "–"],
        ["sentences 3–4: 4 words", "–", "–"],
    ]
    assert len(tables_of(points().frame())) == 2, "no tree, no table of one"


def test_a_page_without_a_script_shows_everything_as_text_alone():
    view = points(text="<b>. C d.\n\nE f. G h.", title="<i>", chunks={"<s>": [Span(0, 4), Span(5, 20)]})
    html = view._repr_html_()
    assert "&lt;b&gt;." in html and "&lt;i&gt;" in html and '<td data-column="cut here by">&lt;s&gt;</td>' in html
    assert "<b>." not in html and "50%" in html


def test_an_empty_text_is_drawn_too():
    frame = CutPoints("", [], [], {"none": []}, [[], [], []]).frame()
    assert frame["sentences"] == [] and frame["cuts"] == [{"name": "none", "after": [], "elsewhere": 0}]
    assert [len(table["rows"]) for table in tables_of(frame)] == [0, 1]


def test_a_recording_holds_the_sentences_once_however_many_positions_there_are():
    long = " ".join(f"Sentence number {n} of them." for n in range(40))
    starts = [n for n in range(len(long)) if long.startswith("Sentence", n)]
    sentences = [Span(a, b - 1) for a, b in zip(starts, [*starts[1:], len(long) + 1], strict=True)]
    controls = {"cut": Text("Cut", [str(n) for n in range(1, 9)])}

    def at(cut):
        half = sentences[int(cut)].start
        chunks = {"it": [Span(0, half - 1), Span(half, len(long))]}
        return CutPoints(long, sentences, [int(cut) / 10] * 40, chunks)

    found = record(at, controls, positions(controls), on_page=True)
    assert str(found).count("Sentence number 17 of them.") == 1
    assert "idle" not in found, "another cut is another picture"


def test_a_text_that_its_reader_pastes_has_several_lines_and_is_not_shown_whole_as_a_value():
    controls = {"text": Text("Text", ["short", "y" * 500], long=True), "other": Text("Other", ["x"])}
    spec = spec_of(controls, "f", 9)
    assert spec["controls"][0]["long"] is True and "long" not in spec["controls"][1]
    spec["start"] = [1, 0]
    html = page(spec, record(lambda text, other: points(), controls, [(1, 0)]))
    assert f"<b>{'y' * 200}…</b>" in html and "y" * 201 not in html.split("</script>")[1]
