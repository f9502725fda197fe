from s2b_lab import plot


def test_shorten_keeps_one_line_within_the_limit():
    assert plot.shorten("a\n b   c") == "a b c"
    assert plot.shorten("abcdef", 4) == "abc…"
    assert plot.shorten("abcd", 4) == "abcd"


def test_map_draws_each_layer_once_and_lines_below_them():
    layers = [
        plot.Layer("sentences", [(0, 0), (1, 2)], ["one", "two"], plot.REST),
        plot.Layer("q", [(3, 3)], ["?"], "red"),
    ]
    figure = plot.scatter_map(layers, [((3, 3), (0, 0))])
    assert [trace.name for trace in figure.data] == [None, "sentences", "q"]
    assert list(figure.data[1].x) == [0, 1] and list(figure.data[1].y) == [0, 2]
    assert list(figure.data[0].x) == [3, 0, None]
    assert figure.layout.xaxis.visible is False  # a UMAP plane has no unit


def test_similarity_bars_mark_the_best():
    figure = plot.similarity_bars([0.12345, 0.5, 0.2], [1], ["a", "b", "c"])
    assert list(figure.data[0].y) == [0.123, 0.5, 0.2]
    assert list(figure.data[0].marker.color) == [plot.REST, plot.HIT, plot.REST]


def test_curve_marks_where_the_slider_is():
    figure = plot.curve([10, 20, 40], [0.9, 0.5, 0.2], 2, "size", "similarity")
    assert list(figure.data[1].x) == [40] and list(figure.data[1].y) == [0.2]


def test_grouped_bars_keep_series_in_order():
    figure = plot.grouped_bars(["a", "b"], {"one": [1, 2], "two": [3, 4]}, "share")
    assert [(bar.name, list(bar.y)) for bar in figure.data] == [("one", [1, 2]), ("two", [3, 4])]
    assert figure.layout.yaxis.title.text == "share"
