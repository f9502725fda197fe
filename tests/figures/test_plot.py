"""Charts are plain JSON: the same frames that figures built with Plotly give."""

import json
from types import SimpleNamespace

import numpy as np
import plotly.graph_objects as go
import pytest

from s2b_lab.figures import maps, plot
from s2b_lab.figures.views import Figure, frame_of

SCORES = [0.12345, 0.5, 0.2]
ABOVE = {"orientation": "h", "y": 1.02, "yanchor": "bottom"}


def test_shorten_keeps_one_line_within_the_limit():
    assert plot.shorten("a\n b   c") == "a b c"
    assert plot.shorten("abcdef", 4) == "abc…"
    assert plot.shorten("abcd", 4) == "abcd"


def test_map_draws_each_layer_once_and_lines_below_them():
    layers = [
        maps.Layer("sentences", [(0, 0), (1, 2)], ["one", "two"], plot.REST),
        maps.Layer("q", [(3, 3)], ["?"], "red"),
    ]
    figure = maps.scatter_map(layers, [((3, 3), (0, 0))]).fig
    assert [trace.get("name") for trace in figure["data"]] == [None, "sentences", "q"]
    assert list(figure["data"][1]["x"]) == [0, 1] and list(figure["data"][1]["y"]) == [0, 2]
    assert list(figure["data"][0]["x"]) == [3, 0, None]
    assert figure["layout"]["xaxis"]["visible"] is False  # a UMAP plane has no unit


def test_similarity_bars_mark_the_best():
    (bar,) = plot.similarity_bars(SCORES, [1], ["a", "b", "c"]).fig["data"]
    assert bar["y"] == [0.123, 0.5, 0.2]
    assert bar["marker"]["color"] == [plot.REST, plot.HIT, plot.REST]


def test_curve_marks_where_the_slider_is():
    _, here = plot.curve([10, 20, 40], [0.9, 0.5, 0.2], 2, "size", "similarity").fig["data"]
    assert here["x"] == [40] and here["y"] == [0.2]


def test_a_curve_has_other_lines_beside_it_with_gaps_in_them():
    figure = plot.curve([10, 20, 40], [0.9, 0.5, 0.2], 0, "size", "similarity", beside={"alone": [None, 0.3, 0.1]})
    line, other, here = figure.fig["data"]
    assert (other["name"], other["x"], other["y"]) == ("alone", line["x"], [None, 0.3, 0.1]) and here["x"] == [10]
    assert figure.table.columns[-1] == "alone" and figure.table.cells[-1] == [None, 0.3, 0.1]


@pytest.mark.parametrize(
    ("counts", "said"),
    [((3, 3), "mean over 3 questions"), ((3, 4), "mean over questions"), ((0,), "mean over questions")],
)
def test_a_tradeoff_says_over_how_many_questions_it_is(counts, said):
    spent = [SimpleNamespace(tokens=1, recall=0.5, scores=range(count)) for count in counts]
    axis = plot.tradeoff({"a": spent[:1], "b": spent[1:] or spent}).fig["layout"]["xaxis"]
    assert axis["title"]["text"] == f"tokens delivered, {said}"


def test_grouped_bars_keep_series_in_order():
    figure = plot.grouped_bars(["a", "b"], {"one": [1, 2], "two": [3, 4]}, "share").fig
    assert [(bar["name"], bar["y"]) for bar in figure["data"]] == [("one", [1, 2]), ("two", [3, 4])]
    assert figure["layout"]["yaxis"]["title"]["text"] == "share"


# --- the same, built with Plotly ---


def drawn(traces, x=None, y=None, **layout):
    figure = go.Figure(traces)
    figure.update_layout(**layout)
    figure.update_xaxes(**(x or {}))
    figure.update_yaxes(**(y or {}))
    return figure


def plotly_similarity_bars():
    bar = go.Bar(
        x=[1, 2, 3], y=[0.123, 0.5, 0.2], marker={"color": [plot.EVIDENCE, plot.REST, plot.EVIDENCE]},
        hovertext=["a", "b b", "c" * 69 + "…"], hovertemplate="%{x}: %{y:.3f}<br>%{hovertext}<extra></extra>",
    )  # fmt: skip
    layout = {"height": 260, "bargap": 0.1, "showlegend": False}
    return drawn(bar, {"title": "children"}, {"title": "cosine similarity"}, **layout)


def plotly_curve():
    line = go.Scatter(x=[10, 20], y=[0.123, 0.5], mode="lines+markers", line={"color": plot.REST}, name="every step")
    here = go.Scatter(
        x=[20], y=[0.5], mode="markers", marker={"color": plot.HIT, "size": 14}, name="where the slider is"
    )
    return drawn([line, here], {"title": "size"}, {"title": "similarity"}, height=280, legend=ABOVE)


def plotly_grouped_bars(x_title=None):
    bars = [
        go.Bar(x=["a", "b"], y=[1, 2.5], name="one", marker={"color": plot.CONTEXT}),
        go.Bar(x=["a", "b"], y=[3, 0.333], name="two", marker={"color": plot.HIT}),
    ]
    return drawn(bars, {"title": x_title}, {"title": "share"}, height=300, barmode="group", legend=ABOVE)


def plotly_level():
    figure = plotly_grouped_bars("groups")
    figure.add_hline(
        y=4, line={"dash": "dot", "color": plot.REST}, annotation_text="4 wanted", annotation_position="top left"
    )
    return figure


def plotly_bars():
    bar = go.Bar(
        x=[1200, 30], y=["A" * 29 + "…", "b"], orientation="h", marker={"color": plot.CONTEXT}, text=["1,200", "30"],
        textposition="outside", cliponaxis=False, hoverinfo="skip",
    )  # fmt: skip
    return drawn(bar, {"title": "tokens"}, {"autorange": "reversed"}, height=116, showlegend=False, margin={"r": 60})


def plotly_intervals():
    figure = go.Figure()
    for y, value, (low, high), color in (
        ("HyDE", 0.2, (0.1, 0.3), plot.EVIDENCE),
        ("HyDE<br>+ hypothetical", -0.2, (-0.4, -0.1), plot.HIT),
        ("question", 0.0, (-0.1, 0.1234), plot.REST),
    ):
        reach = {"array": [round(high - value, 3)], "arrayminus": [round(value - low, 3)], "color": color}
        figure.add_scatter(
            x=[value], y=[y], mode="markers", marker={"color": color, "size": 11}, error_x=reach,
            hovertemplate=f"{value:+.3f} ({low:+.3f} to {high:+.3f})<extra></extra>",
        )  # fmt: skip
    figure.add_vline(x=0, line={"color": plot.REST, "dash": "dot"})
    figure.update_layout(height=188, showlegend=False)
    figure.update_xaxes(title="gain")
    return figure.update_yaxes(autorange="reversed")


def plotly_gains():
    bar = go.Bar(
        x=[1, 2, 3], y=[0.5, 0, -1], marker={"color": [plot.EVIDENCE, plot.HIT, plot.HIT]},
        hovertext=["a", "b", "c"], hovertemplate="%{y:+.2f}<br>%{hovertext}<extra></extra>",
    )  # fmt: skip
    y = {"title": "change in recall", "range": [-1.05, 1.05]}
    return drawn(bar, {"title": "questions, the most helped first"}, y, height=260, showlegend=False)


def plotly_strata():
    strips = [
        go.Bar(
            x=lengths, base=starts, y=[name] * len(starts), orientation="h", hovertext=texts, hoverinfo="text",
            marker={"color": [plot.CONTEXT, plot.HIT, plot.CONTEXT][: len(starts)], "line": {"width": 0}}, opacity=0.75,
        )
        for name, starts, lengths, texts in (
            ("document", [0], [9], ["all"]),
            ("parts", [0, 2, 7], [2, 5, 2], ["a", "b", "c"]),
        )
    ]  # fmt: skip
    layout = {"height": 240, "showlegend": False, "barmode": "overlay", "bargap": 0.25}
    return drawn(strips, {"title": "characters of the text"}, {"autorange": "reversed"}, **layout)


def plotly_tradeoff():
    lines = [
        go.Scatter(
            x=[101, 201], y=[0.5, 0.667], mode="lines+markers", name=name, line={"color": color},
            hovertemplate="%{x} tokens: %{y:.2f}<extra>" + name + "</extra>",
        )
        for name, color in (("alone", plot.CONTEXT), ("parents", plot.HIT))
    ]  # fmt: skip
    x = {"title": "tokens delivered, mean over questions", "rangemode": "tozero"}
    return drawn(lines, x, {"title": "share of evidence delivered", "range": [0, 1.03]}, height=340, legend=ABOVE)


def plotly_map():
    figure = go.Figure()
    figure.add_scatter(
        x=[3, 0.12, None], y=[3, 1, None], mode="lines", line={"color": plot.QUESTION, "width": 1}, opacity=0.6,
        hoverinfo="skip", showlegend=False,
    )  # fmt: skip
    for name, (x, y), text, color, symbol, size, opacity, width in (
        ("sentences", (0.12, 1), "one", plot.REST, "circle", 5, 0.5, 0),
        ("evidence", (3, 3), "?", plot.EVIDENCE, "diamond-open", 9, 1.0, 2),
    ):
        figure.add_scatter(
            x=[x], y=[y], mode="markers", name=name, hovertext=[text], hoverinfo="text+name", opacity=opacity,
            marker={"color": color, "symbol": symbol, "size": size, "line": {"width": width}},
        )  # fmt: skip
    figure.add_annotation(
        x=0.12, y=1, ax=3, ay=3, axref="x", ayref="y", text="", arrowhead=2, arrowwidth=2, arrowcolor=plot.QUESTION,
        standoff=8,
    )  # fmt: skip
    legend = {"orientation": "h", "y": -0.02, "yanchor": "top"}
    figure.update_layout(height=340, hovermode="closest", legend=legend)
    figure.update_xaxes(visible=False)
    return figure.update_yaxes(visible=False)


def our_map():
    points = np.array([[0.12345, 1], [3, 3]], "float32")
    layers = [
        maps.Layer("sentences", points[:1], ["one"], plot.REST, size=5, opacity=0.5),
        maps.Layer("evidence", points[1:], ["?"], plot.EVIDENCE, "diamond-open"),
    ]
    return maps.scatter_map(layers, [(points[1], points[0])], [(points[1], points[0])])


SPENT = [SimpleNamespace(tokens=np.float64(100.6), recall=0.5), SimpleNamespace(tokens=201, recall=2 / 3)]
BOUNDS = [(0.1, 0.3), (-0.4, -0.1), (-0.1, 0.1234)]
PAIRS = {
    "similarity_bars": (
        lambda: plot.similarity_bars(
            np.array(SCORES, "float32"), [0, 2], ["a", "b\n b", "c" * 80], "children", plot.EVIDENCE
        ),
        plotly_similarity_bars,
    ),
    "curve": (lambda: plot.curve(np.array([10, 20]), np.array(SCORES[:2]), 1, "size", "similarity"), plotly_curve),
    "grouped_bars": (
        lambda: plot.grouped_bars(["a", "b"], {"one": [1, 2.5], "two": np.array([3, 1 / 3])}, "share"),
        plotly_grouped_bars,
    ),
    "level": (
        lambda: plot.grouped_bars(
            ["a", "b"], {"one": [1, 2.5], "two": [3, 1 / 3]}, "share", "groups", level=(4, "4 wanted")
        ),
        plotly_level,
    ),
    "bars": (lambda: plot.bars(["A" * 40, "b"], [1200, 30], "tokens"), plotly_bars),
    "intervals": (
        lambda: plot.intervals(
            ["HyDE", "HyDE + hypothetical", "question"], np.array([0.2, -0.2, 0.0]), BOUNDS, "gain"
        ),
        plotly_intervals,
    ),
    "gains": (lambda: plot.gains([0.5, 0, -1], ["a", "b", "c"]), plotly_gains),
    "strata": (
        lambda: plot.strata({"document": [(0, 9)], "parts": [(0, 2), (2, 7), (7, 9)]},
                            {"document": ["all"], "parts": list("abc")}),
        plotly_strata,
    ),
    "tradeoff": (lambda: plot.tradeoff({"alone": SPENT, "parents": SPENT}), plotly_tradeoff),
    "map": (our_map, plotly_map),
}  # fmt: skip


def without_empty(tree):
    """A tree without empty mappings: plotly.js takes {"title": {}} for no title."""
    if isinstance(tree, list):
        return [without_empty(part) for part in tree]
    if not isinstance(tree, dict):
        return tree
    return {key: kept for key, part in tree.items() if (kept := without_empty(part)) != {}}


@pytest.mark.parametrize("name", PAIRS)
def test_a_frame_is_what_plotly_gives(name):
    ours, theirs = (make() for make in PAIRS[name])
    assert isinstance(ours, Figure)
    (frame,), (other,) = frame_of(ours), frame_of(theirs)
    for part in ("kind", "data", "layout"):  # the sentence and the table are ours alone
        assert without_empty(frame[part]) == without_empty(other[part])
    json.dumps(ours.fig, allow_nan=False)  # plain before it is a frame: no array is left inside


def test_every_chart_carries_the_sentence_for_those_who_cannot_see_it():
    for make in (
        lambda alt: plot.similarity_bars(SCORES, [1], "abc", alt=alt),
        lambda alt: plot.curve([1, 2], [1, 2], 0, "x", "y", alt=alt),
        lambda alt: plot.grouped_bars(["a"], {"one": [1]}, "y", alt=alt),
        lambda alt: plot.bars(["a"], [1], "x", alt=alt),
        lambda alt: plot.intervals(["a"], [1], [(0, 2)], "x", alt=alt),
        lambda alt: plot.gains([1], ["a"], alt=alt),
        lambda alt: plot.strata({"a": [(0, 1)]}, {"a": ["b"]}, alt=alt),
        lambda alt: plot.tradeoff({"a": SPENT}, alt=alt),
        lambda alt: maps.scatter_map([maps.Layer("a", [(0, 0)], ["b"], "red")], alt=alt),
    ):
        assert make("What is seen.").frame()["alt"] == "What is seen."
