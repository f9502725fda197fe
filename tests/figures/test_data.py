"""The table and the sentence of a chart, for those who cannot see it."""

import json

import pytest

from s2b_lab.core.text import Span
from s2b_lab.figures import maps, plot
from s2b_lab.figures.controls import Slider
from s2b_lab.figures.data import Data, data_of
from s2b_lab.figures.page import alone
from s2b_lab.figures.passages import Mark, Passages
from s2b_lab.figures.record import positions, record
from s2b_lab.figures.views import Figure, frame_of

SPENT = [type("E", (), {"tokens": tokens, "recall": recall})() for tokens, recall in ((100, 0.25), (1200, 0.75))]


def rows(figure):
    (frame,) = frame_of(figure)
    return [frame["table"]["columns"], *map(list, zip(*frame["table"]["cells"], strict=True))]


@pytest.mark.parametrize(
    ("columns", "cells"), [([], []), (["a"], []), (["a"], [[1], [2]]), (["a", "b"], [[1, 2], [1]])]
)
def test_columns_are_lists_of_one_length(columns, cells):
    with pytest.raises(ValueError):
        Data(columns, cells)


def test_a_chart_of_points_has_a_table_of_its_own():
    layout = {"xaxis": {"title": {"text": "size"}}, "yaxis": {"title": "score"}}
    line = {"type": "scatter", "x": [1, 2], "y": [3, 4]}
    assert data_of([line], layout) == Data(["size", "score"], [[1, 2], [3, 4]])
    # The same steps stand side by side, others below each other.
    named = [line | {"name": "a"}, {"x": [1, 2], "y": [5, 6], "name": "b"}]
    assert data_of(named, layout) == Data(["size", "a", "b"], [[1, 2], [3, 4], [5, 6]])
    named[1]["x"] = [1, 9]
    assert data_of(named, {}) == Data(["", "x", "y"], [["a", "a", "b", "b"], [1, 2, 1, 9], [3, 4, 5, 6]])
    pie = {"type": "pie", "labels": ["one", "two"], "values": [1, 2]}
    assert data_of([pie], {}).cells == [["one", "two"], [1, 2]]


@pytest.mark.parametrize("trace", [{}, {"z": [[1]]}, {"x": [1, 2]}, {"x": [1], "y": [1, 2]}, {"x": [], "y": []}])
def test_what_is_no_list_of_points_has_no_table(trace):
    assert data_of([trace], {}) is None
    assert "table" not in Figure({"data": [trace], "layout": {}}).frame()
    helper = {"x": [0, 1], "y": [0, 1], "hoverinfo": "skip"}  # a line that says nothing
    assert data_of([helper], {}) is None


def test_a_table_that_is_given_stays():
    inner = Figure({"data": [{"x": [1], "y": [2]}], "layout": {}}, table=Data(["only"], [["this"]]))
    assert rows(inner) == rows(Figure(inner, alt="Other.")) == [["only"], ["this"]]


def test_the_tables_of_our_charts_hold_their_data():
    assert rows(plot.similarity_bars([0.5, 0.25], [0], ["one", "two"], "chunk")) == [
        ["chunk", "cosine similarity", "text"], [1, 0.5, "one"], [2, 0.25, "two"]
    ]  # fmt: skip
    assert rows(plot.curve([10, 20], [0.5, 0.25], 1, "size", "score"))[1:] == [[10, 0.5], [20, 0.25]]
    assert rows(plot.grouped_bars(["a", "b"], {"one": [1, 2], "two": [3, 4]}, "share"))[1:] == [
        ["a", 1, 3],
        ["b", 2, 4],
    ]
    long = "A name that is far too long for the side of a chart"
    assert rows(plot.bars([long], [3], "tokens")) == [["", "tokens"], [long, 3]]
    assert rows(plot.intervals(["a"], [0.5], [(0.25, 0.75)], "gain")) == [
        ["", "gain", "from", "to"],
        ["a", 0.5, 0.25, 0.75],
    ]
    assert rows(plot.gains([0.5, -1], ["q", "r"]))[1:] == [["q", 0.5], ["r", -1]]
    cut = plot.strata({"all": [(0, 9)], "parts": [(0, 2), (2, 5), (5, 9)]}, {"all": ["x"], "parts": list("abc")})
    assert rows(cut)[1:] == [["all", 1, 9, 9, 9], ["parts", 3, 2, 3, 4]]
    assert rows(plot.tradeoff({"alone": SPENT}))[1:] == [["alone", 100, 0.25], ["alone", 1200, 0.75]]


def test_a_map_names_what_has_a_similarity_nearest_first_and_no_grey_points():
    layers = [
        maps.Layer("sentences", [(0, 0)] * 300, ["grey"] * 300, plot.REST),
        maps.Layer("hits", [(1, 1), (2, 2)], ["far", "near"], plot.HIT, similarities=[0.25, 0.5]),
        maps.Layer("evidence", [(1, 1)], ["proof"], plot.EVIDENCE, similarities=[0.75]),
        maps.Layer("question", [(3, 3)], ["?"], plot.QUESTION),
    ]
    figure = maps.scatter_map(layers)
    assert rows(figure)[1:] == [["hits", "near", 0.5], ["hits", "far", 0.25], ["evidence", "proof", 0.75]]
    assert "hits: similarity up to 0.50 among 2" in figure.frame()["alt"].lower()
    assert "evidence: similarity 0.75" in figure.frame()["alt"]
    assert "grey" not in json.dumps(figure.frame()["table"])


# What each chart says, and the same chart with one number changed.
SAID = {
    "bars of similarity": [lambda v: plot.similarity_bars([v, 0.25], [0], "ab"), "0.90", "number 1"],
    "curve": [lambda v: plot.curve([10, 20], [v, 0.5], 0, "characters", "similarity"), "0.9", "10 characters"],
    "grouped": [lambda v: plot.grouped_bars(["k = 1"], {"one": [v]}, "parents"), "one: 0.9", "Parents at k = 1"],
    "bars": [lambda v: plot.bars(["a", "b"], [v, 0.1], "tokens"), "a with 0.9 tokens", "lowest b"],
    "intervals": [lambda v: plot.intervals(["a"], [v], [(v - 0.5, v + 0.5)], "gain"), "+0.900", "1 above"],
    "gains": [lambda v: plot.gains([v - 0.5, -1], "ab"), "1 go up", "1 go down"],
    "strata": [lambda v: plot.strata({"parts": [(0, 1)] * int(v * 10)}, {"parts": ["a"] * 9}), "parts: 9"],
    "tradeoff": [
        lambda v: plot.tradeoff({"alone": [SPENT[0], type("E", (), {"tokens": 1200, "recall": v})()]}),
        "alone: 0.25 of the evidence for 100 tokens, 0.90 for 1,200",
    ],
}


@pytest.mark.parametrize("name", SAID)
def test_a_sentence_says_what_this_position_shows(name):
    make, *parts = SAID[name]
    said, other = (make(value).frame()["alt"] for value in (0.9, 0.3))
    assert said != other
    assert [part for part in parts if part not in said] == []


def test_a_table_costs_a_recording_little_since_its_columns_are_the_charts_own_lists():
    texts = [f"Sentence {i} of a text with about forty characters." for i in range(60)]

    def chart(at, with_table):
        figure = plot.similarity_bars([(i * at) % 7 / 7 for i in range(60)], [at], texts)
        return figure if with_table else Figure(figure.fig, figure.alt, Data(["a"], [["b"]]))

    controls = {"at": Slider("At", range(40))}
    sizes = [
        len(json.dumps(record(lambda at, w=with_table: chart(at, w), controls, positions(controls))))
        for with_table in (True, False)
    ]
    assert sizes[0] < 1.1 * sizes[1]


def test_a_page_without_a_script_has_the_numbers():
    html = alone(frame_of(plot.bars(["a", "b"], [1234, 2], "tokens"))[0])
    assert "<details" in html and "open" in html and "1,234" in html and "lowest b" in html
    half = alone(frame_of(Figure({"data": [{"x": [0.5, None], "y": [1.0, 2]}], "layout": {}}))[0])
    assert [cell in half for cell in (">0.5<", ">–<", ">1<", ">1.0<")] == [True, True, True, False]


# --- the text box without a script ---


def text_of(marks, show="all"):
    text = "\n\n".join(f"Paragraph {i} says something." for i in range(9))
    spans = [Mark(Span(text.index(part), text.index(part) + len(part)), kind) for part, kind in marks]
    return alone(frame_of(Passages(text, spans, show=show))[0])


def test_without_a_script_far_paragraphs_are_left_out_with_a_gap():
    html = text_of([("Paragraph 4", "context")])
    assert "Paragraph 4</mark> says something." in html
    assert "Paragraph 3" not in html and "Paragraph 5" not in html and html.count("characters left out") == 2
    assert text_of([("Paragraph 0", "hit"), ("Paragraph 1", "gold")]).count("left out") == 1


def test_chunks_alone_leave_nothing_out():
    html = text_of([(f"Paragraph {i}", "chunk") for i in range(9)])
    assert html.count("says something") == 9 and "left out" not in html
    assert text_of([]).count("says something") == 9
    both = text_of([(f"Paragraph {i}", "chunk") for i in range(9)] + [("Paragraph 8", "hit")])
    assert both.count("says something") == 1
