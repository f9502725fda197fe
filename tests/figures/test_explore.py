"""Controls, views, recordings and the widget, without a browser."""

from __future__ import annotations

import functools
import gzip
import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import json_trees

from s2b_lab.core.headings import document
from s2b_lab.core.text import Span
from s2b_lab.figures.controls import Choice, Slider, Switch, Text, start_of
from s2b_lab.figures.explore import explore
from s2b_lab.figures.page import INLINE_BYTES, pieces_between
from s2b_lab.figures.passages import Mark, Passages
from s2b_lab.figures.record import position_of, positions, record, values_at
from s2b_lab.figures.views import Figure, Meter, Note, Stage, Stages, Table, frame_of

WHOLE = "whole manual"
QUESTIONS = Text("Question", {"English": ["When?", "Who?"], "中文": ["何时?"]}, by="language")
CONTROLS = {
    "size": Slider("Size", [100, None], unit="characters", labels={None: WHOLE}),
    "language": Choice("Policy", {"English": "travel-en", "中文": "travel-zh"}),
    "merge": Switch("Merge", True),
    "question": QUESTIONS,
}


def echo(**values: object) -> Note:
    return Note(repr(values))


def resolved(tree, pool):
    if isinstance(tree, dict):
        own = {k: resolved(v, pool) for k, v in tree.items() if k != "$"}
        if isinstance(tree.get("$"), list):
            return [resolved(pool[place], pool) for place in tree["$"]]
        shared = resolved(pool[tree["$"]], pool) if "$" in tree else {}
        return shared | own if own else shared
    return [resolved(part, pool) for part in tree] if isinstance(tree, list) else tree


# --- controls ---


def test_a_slider_shows_units_and_labels():
    assert CONTROLS["size"].texts() == ["100 characters", WHOLE]
    assert Slider("Width", [0, 1, 2], unit="sentences").texts() == ["0 sentences", "1 sentence", "2 sentences"]
    assert Slider("Width", [1], unit="sentences on each side").texts() == ["1 sentence on each side"]
    assert Slider("Wait", [1, 0.25], unit="ms").texts() == ["1 ms", "0.25 ms"]
    assert Slider("Ratio", [0.5, 1.0]).texts() == ["0.5", "1"]


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda: Slider("Size", []), "'Size' needs a list of at least one value"),
        (lambda: Slider("Size", [1, 2], labels=["one"]), "2 values but 1 labels"),
        (lambda: Slider("Size", [1, 2], labels="ab"), "'Size' needs a list"),
        (lambda: Slider("Size", [1, 1, 2]), "'Size' has the value 1 twice"),
        (lambda: Slider("Size", 5), "'Size' needs a list.*got 5"),
        (lambda: Slider(None, [1]), "label of a Slider is a text to show, not None"),
        (lambda: Switch(b"x"), "label of a Switch is a text"),
        (lambda: Choice("Policy", {"a": 1, "b": 1}), "'Policy' has the value 1 twice"),
        (lambda: Text("Question", [1, 2]), "an example of 'Question' is a text, not 1"),
        (lambda: Text("Question", ["a", "a"]), "'Question' has the value 'a' twice"),
        (lambda: Choice("Policy", []), "'Policy' needs"),
        (lambda: Text("Question", "When?"), "'Question' needs a list"),
        (lambda: Text("Question", {"English": ["a"]}), "needs by="),
        (lambda: Text("Question", ["a"], by="language"), "needs by="),
        (lambda: Mark(Span(0, 1), "bold"), "'bold'"),
        (lambda: Mark((0, 1), "hit"), r"a mark needs a Span, not \(0, 1\)"),
        (lambda: Passages("abc", [Mark(Span(1, 4), "hit")]), "3 characters"),
        (lambda: Passages("abc", [Span(0, 1)]), "marks must hold Marks only"),
        (lambda: Passages(None), "text of a Passages is a text to show, not None"),
        (lambda: Passages("abc", title=["x"]), "title of a Passages"),
        (lambda: Note(None), "text of a Note"),
        (lambda: Meter("m", float("nan"), 10), "value of a Meter is a finite number, not nan"),
        (lambda: Meter("m", 1, float("inf")), "maximum of a Meter is a finite number, not inf"),
        (lambda: Meter("m", "1", 10), "value of a Meter is a finite number, not '1'"),
        (lambda: Figure(5), "a Figure needs a Plotly figure, not 5"),
        (lambda: Table("ab", []), "'columns' needs a list"),
        (lambda: Table(["a", "b"], ["xy"]), "'a row' needs a list"),
        (lambda: Passages("abc", show="some"), "'some'"),
        (lambda: Table(["a", "b"], [[1]]), "1 cells in a table of 2 columns"),
        (lambda: explore(echo, size=Slider("Size", [1, 2], start=3)), "cannot start at 3"),
        (lambda: explore(echo, size=3), "size is 3"),
        (lambda: explore(5), "explore needs a function of the controls' values, not 5"),
        (lambda: explore(echo, name=Slider("Name", [1])), "name= is explore's own, so no control"),
        (lambda: explore(echo, timeout=Slider("Wait", [1])), "timeout= is explore's own"),
        (lambda: explore(echo, name=5), "name is a text, not 5"),
        (lambda: explore(echo, timeout=float("nan")), "seconds above 0, not nan"),
        (lambda: explore(echo, timeout=0), "seconds above 0, not 0"),
        (lambda: explore(echo, question=QUESTIONS), "by='language'"),
        (lambda: explore(echo, language=Choice("Policy", ["Deutsch"]), question=QUESTIONS), "no examples for Deutsch"),
    ],
)
def test_what_cannot_be_is_refused_by_name(build, says):
    with pytest.raises(ValueError, match=says):
        build()


def test_a_control_starts_at_a_value_or_a_label():
    controls = {"size": Slider("Size", [100, None], start=WHOLE, labels=["100", WHOLE]), "merge": Switch("Merge", True)}
    assert explore(echo, **controls).values == {"size": None, "merge": True}
    assert explore(echo, language=Choice("Policy", {"A": "a", "B": "b"}, start="b")).values == {"language": "b"}


def test_values_that_are_equal_to_some_are_told_apart():
    widget = explore(echo, kind=Choice("Kind", {"int": 1, "bool": True, "float": 1.0}), start=Slider("Start", [1, 2]))
    for place, value in enumerate([1, True, 1.0]):
        assert position_of(widget._controls, {"kind": value, "start": np.int64(2)}) == ((place, 1), {})
    assert start_of(Choice("Kind", {"int": 1, "bool": True}, start=True)) == 1


def test_values_may_be_arrays_which_are_equal_to_nothing():
    arrays = {"near": np.arange(3), "far": np.arange(3)}
    controls = {
        "where": Choice("Where", arrays, start="far"), "size": Slider("Size", [[1], [2, 3]], labels=["one", "two"])
    }  # fmt: skip
    widget = explore(lambda where, size: Note(f"{sum(where)} {len(size)}"), **controls)
    wire = Wire(widget)
    assert widget.get_state()["values"] == {"where": "far", "size": "one"}
    widget._receive(widget, {"kind": "ask", "id": "v/1", "position": [0, 1], "own": {}}, [])
    assert wire[0]["views"] == [{"kind": "note", "text": "3 2"}]
    widget.values = widget.values | {"where": arrays["far"]}
    assert wire[1]["position"] == [1, 1]
    with pytest.raises(ValueError, match="it is one of near, far"):
        widget.values = widget.values | {"where": np.arange(3)}
    assert Slider("Size", [[1], [2, 3]]).texts() == ["[1]", "[2, 3]"]
    assert Slider("Size", [np.arange(2), None], labels={None: WHOLE}).texts() == ["[0 1]", WHOLE]


def test_a_generator_is_read_once_and_kept():
    def twice(view):
        assert frame_of(view) == frame_of(view)
        return frame_of(view)[0]

    assert twice(Passages("abc", (Mark(Span(i, i + 1), "hit") for i in range(2))))["marks"] == {"hit": [[0, 1], [1, 2]]}
    table = twice(Table((name for name in "ab"), (iter(row) for row in [[1, 2], [3, 4]])))
    assert (table["columns"], table["rows"]) == (["a", "b"], [["1", "2"], ["3", "4"]])
    assert Choice("A", map(str, [1, 2])).values == ("1", "2")
    assert Slider("A", iter([1, 2]), labels=map(str, [3, 4])).texts() == ["3", "4"]
    assert Text("A", iter(["x", "y"])).under(None) == ["x", "y"]
    assert Text("A", {"l": iter(["x"])}, by="b").under("l") == Text("A", {"l": iter(["x"])}, by="b").under("l") == ["x"]


def test_numbers_are_shown_as_text_wherever_text_is_shown():
    views = [
        Note(5),
        Passages("abc", [Mark(Span(0, 1), "hit", 0.87231)], title=5),
        Table([100, 200], []),
        Meter(1, 2, 3),
    ]
    note, passages, table, meter = frame_of(views)
    assert (note["text"], passages["title"], passages["marks"]) == ("5", "5", {"hit": [[0, 1, "0.872"]]})
    assert (table["columns"], meter["label"]) == (["100", "200"], "1")


def test_positions_are_all_that_exist_and_no_other():
    found = positions(CONTROLS)
    assert len(found) == len(set(found)) == 2 * 2 * (2 + 1)
    assert (0, 0, 0, 1) in found
    assert (0, 1, 0, 1) not in found
    assert values_at(CONTROLS, (1, 1, 0, 0)) == {
        "size": None, "language": "travel-zh", "merge": False, "question": "何时?"
    }  # fmt: skip


@pytest.mark.parametrize("blank", ["", " \n", "\u200b", "\ufeff \u2060"])
def test_a_question_with_nothing_to_see_in_it_is_none(blank):
    with pytest.raises(ValueError, match="it is one of When"):
        position_of(CONTROLS, {"size": 100, "language": "travel-en", "merge": True, "question": blank})


def test_too_many_positions_are_refused():
    with pytest.raises(ValueError, match="10000 positions to record, at most 5000"):
        positions({"a": Slider("A", range(100)), "b": Slider("B", range(100))})


# --- views ---


def test_offsets_are_counted_as_javascript_counts():
    text = "a🧭b🧭c"
    (frame,) = frame_of(Passages(text, [Mark(Span(2, 3), "hit", "x"), Mark(Span(3, 5), "context")]))
    assert frame["marks"] == {"hit": [[3, 4, "x"]], "context": [[4, 7]]}


@given(st.text(), st.data())
def test_utf16_offsets_cut_the_same_text(text, data):
    end = data.draw(st.integers(0, len(text)))
    start = data.draw(st.integers(0, end))
    units = text.encode("utf-16-le", "surrogatepass")
    (frame,) = frame_of(Passages(text, [Mark(Span(start, end), "hit")]))
    ((a, b),) = frame["marks"]["hit"]
    assert units[2 * a : 2 * b].decode("utf-16-le", "surrogatepass") == text[start:end]


@given(st.integers(1, 20), st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=6))
def test_the_twin_cuts_as_asking_every_character_does(length, ends):
    marks = [("hit", i, min(a, b, length), min(max(a, b), length), "") for i, (a, b) in enumerate(ends)]
    pieces = pieces_between(length, marks)
    assert [at for start, end, _ in pieces for at in range(start, end)] == list(range(length))
    for start, end, inside in pieces:
        for at in range(start, end):
            assert inside == [mark for mark in marks if mark[2] <= at < mark[3]]


def test_figures_become_short_plain_lists():
    points = go.Scatter(x=np.array([1.23456789, 12345.678901], "float64"), y=np.array([0.000123456, np.nan]))
    (frame,) = frame_of(Figure(go.Figure(points, layout={"title": "Map"})))
    assert frame["data"] == [{"type": "scatter", "x": [1.2345679, 12345.679], "y": [0.0001235, None]}]
    assert "template" not in frame["layout"]
    assert frame["alt"] == "Map"
    assert "bdata" not in json.dumps(frame)


@pytest.mark.parametrize(
    "numbers",
    [[1000.0001, 1000.0002], [0.87231, 0.87279], [1.7e9 + 0.001, 1.7e9 + 0.002], [1e-9, 2e-9], [-12.34567, -12.34568]],
)
def test_numbers_that_differ_are_drawn_apart(numbers):
    (frame,) = frame_of(go.Figure(go.Scatter(x=np.array(numbers), y=numbers)))
    assert frame["data"][0]["x"] == frame["data"][0]["y"] == pytest.approx(numbers, rel=1e-4)
    assert len(set(frame["data"][0]["x"])) == 2


@pytest.mark.parametrize("unit", ["D", "s", "ns"])
def test_dates_stay_dates(unit):
    days = np.array(["2026-01-31", "NaT", "2026-02-01"], f"datetime64[{unit}]")
    figure = {"data": [{"x": days, "first": days[0]}], "layout": {}}
    drawn = type("Drawn", (), {"to_plotly_json": lambda _: figure})()
    (frame,) = frame_of(drawn)
    assert frame["data"] == [
        {"x": ["2026-01-31 00:00:00", None, "2026-02-01 00:00:00"], "first": "2026-01-31 00:00:00"}
    ]
    (frame,) = frame_of(go.Figure(go.Scatter(x=days[[0, 2]], y=[1, 2])))
    assert frame["data"][0]["x"] == ["2026-01-31 00:00:00", "2026-02-01 00:00:00"]


def test_a_heatmap_keeps_its_shape():
    (frame,) = frame_of(go.Figure(go.Heatmap(z=np.arange(6).reshape(2, 3))))
    assert frame["data"][0]["z"] == [[0, 1, 2], [3, 4, 5]]


def test_tables_say_which_columns_are_numbers():
    (frame,) = frame_of(Table(["id", "score", "new"], [["a", np.float32(0.5), True], ["b", 1, None]]))
    assert frame["rows"] == [["a", "0.500", "yes"], ["b", "1", "–"]]
    assert frame["numeric"] == [0, 1, 0]


@pytest.mark.parametrize("result", ["text", None, [Note("a"), 3]])
def test_what_is_no_view_is_refused(result):
    with pytest.raises(ValueError, match="a view is Passages"):
        frame_of(result)


# --- recordings ---


@given(st.lists(json_trees, min_size=1, max_size=5))
def test_a_recording_resolves_to_what_was_recorded(trees):
    from s2b_lab.figures.record import Pool

    pool = Pool()
    kept = [pool.intern(tree) for tree in [*trees, *trees]]
    assert resolved(kept, pool.items) == [*trees, *trees]
    assert len({json.dumps(item) for item in pool.items}) == len(pool.items)


def test_what_frames_share_is_stored_once_and_each_position_asked_once():
    text = "Here a text begins that all positions share. " + "It goes on. " * 20
    asked = []

    def fn(at):
        asked.append(at)
        return Passages(text, [Mark(Span(at, at + 3), "hit")])

    recording = record(fn, {"at": Slider("At", range(50))}, [(i,) for i in range(50)])
    assert asked == list(range(50))
    assert json.dumps(recording).count("Here a text begins") == 1
    assert resolved(recording["frames"]["7"], recording["pool"]) == frame_of(fn(7))


def test_a_failure_while_recording_names_the_position(monkeypatch):
    monkeypatch.setenv("S2B_BUILD", "1")

    def fn(size, merge):
        return Note("fine") if size < 3 or not merge else Note(1 / 0)

    with pytest.raises(RuntimeError, match=r"fn failed at size=3, merge=on: ZeroDivisionError"):
        explore(fn, size=Slider("Size", [1, 3]), merge=Switch("Merge"))


def test_messages_show_labels_and_not_whole_documents(monkeypatch):
    long = document("d", "A long text. " * 1000)
    controls = {"doc": Choice("Text", {"short": 1, "long": long}), "question": Text("Question", ["Why?"])}
    with pytest.raises(RuntimeError, match=r"^fn failed at doc=long, question=Why\?: KeyError: 'x'$"):
        record(fails("fn"), controls, [(1, 0)])
    for call in (
        lambda: position_of(controls, {"doc": document("e", long.text), "question": "Why?"}),
        lambda: Slider("Text", [long, long]),
        lambda: start_of(Choice("Text", ["a"], start=long)),
        lambda: frame_of(long),
        lambda: Table(["a"], [[long, long]]),
        lambda: explore(echo, doc=long),
    ):
        with pytest.raises(ValueError) as caught:
            call()
        assert len(str(caught.value)) < 200


def fails(name):
    def fn(**values):
        raise KeyError("x")

    fn.__name__ = name
    return fn


class Thing:
    def __call__(self, size):
        return Note(1 / (size - 2))


def test_what_is_called_need_not_be_a_function():
    size = Slider("Size", [1, 2])
    bound = functools.partial(functools.partial(echo, k=1), n=2)
    assert explore(bound, size=size).spec["name"] == "echo"
    assert explore(Thing(), size=size).spec["name"] == "Thing"
    assert explore(Thing(), name="My thing", size=size).spec["name"] == "My thing"
    with pytest.raises(RuntimeError, match="Thing failed at size=2: ZeroDivisionError"):
        record(Thing(), {"size": size}, [(1,)])


def test_infinity_is_no_json():
    widget = explore(echo, limit=Slider("Limit", [math.inf, 0.5], labels={math.inf: "none"}))
    assert json.loads(json.dumps(widget.get_state()["values"], allow_nan=False)) == {"limit": "none"}


def test_a_thousand_positions_are_small_and_quick():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(200, 2))
    text = "".join(f"Rule {i} holds for every trip of every kind. " for i in range(330))

    def fn(size, k, question):
        spans = [Span(a, min(a + size, len(text))) for a in range(0, len(text), size)]
        hits = [hash((question, i)) % len(spans) for i in range(k)]
        figure = {
            "data": [{"x": points[:, 0], "y": points[:, 1]}, {"x": [points[h % 200, 0] for h in hits]}],
            "layout": {},
        }
        drawn = type("Drawn", (), {"to_plotly_json": lambda _: figure})()
        marks = [Mark(s, "chunk", str(n)) for n, s in enumerate(spans)] + [Mark(spans[h], "hit") for h in hits]
        return Passages(text, marks), drawn, Meter("Tokens", k * size, len(text))

    controls = {
        "size": Slider("S", range(100, 1100, 100)),
        "k": Slider("K", range(1, 11)),
        "question": Slider("Q", range(10)),
    }
    packed = gzip.compress(json.dumps(record(fn, controls, positions(controls))).encode())
    assert len(packed) < 120_000


# --- the page ---


def built(monkeypatch, tmp_path, fn, **controls) -> str:
    monkeypatch.setenv("S2B_BUILD", "1")
    monkeypatch.setenv("S2B_RECORDINGS", str(tmp_path / "recordings"))
    return explore(fn, **controls)._repr_mimebundle_()["text/html"]


def test_the_twin_shows_the_start_without_a_script(monkeypatch, tmp_path):
    def views(size):
        marks = [Mark(Span(5, 11), "hit", "0.9"), Mark(Span(0, 11), "context")]
        figure = Figure(go.Figure(), alt="A map of two points.")
        passages = (
            Passages("A 🧭 <b>older", marks[1:], title="Manual"),
            Passages("A 🧭 <b>older text", marks, show="marked"),
        )
        return [*passages, figure, Table(["id"], [["s1"]]), Meter("Tokens", 1200, 3000, "tokens"), Note("One of two.")]

    html = built(monkeypatch, tmp_path, views, size=Slider("Size", [1, 7], start=7, unit="words"))
    html = html.split("</script>")[1]
    for shown in ("Size: <b>7 words</b>", "&lt;b&gt;olde</mark>r", "A map of two points.", "<td>s1</td>", "One of two.",
                  "1,200 of 3,000 tokens", '<span class="s2b-tag">0.9</span><mark class="s2b-context s2b-hit">',
                  "⋯ 6 characters left out ⋯"):  # fmt: skip
        assert shown in html, shown


def test_stages_hold_texts_and_tables_and_can_be_read_without_a_script(monkeypatch, tmp_path):
    search = Stage("search", "1 <vector>", Table(["rank", "child"], [[1, "a/1"], [2, "b/2"]]), 1.25)
    view = Stages([search, Stage("answer", "the prompt", "in 1936")], title="Stage by stage")
    (frame,) = frame_of(view)
    assert frame["stages"][0]["ms"] == 1.25 and frame["stages"][1]["ms"] is None
    assert frame["stages"][0]["made"]["rows"] == [["1", "a/1"], ["2", "b/2"]]
    assert frame["stages"][1]["made"] == {"text": ["in 1936"]}
    html = built(monkeypatch, tmp_path, lambda size: view, size=Slider("S", [1])).split("</script>")[1]
    assert html.count("<details>") == 2 and "1.25 ms" in html and "1 &lt;vector&gt;" in html and "<td>b/2</td>" in html


@pytest.mark.parametrize(
    ("make", "fault"),
    [
        (lambda: Stage("search", 3, "x"), "a text or a Table and makes one, not 3"),
        (lambda: Stages([]), "at least one value"),
        (lambda: Stages(["search"]), "stages must hold Stages only, not 'search'"),
    ],
)
def test_stages_of_another_kind_are_refused(make, fault):
    with pytest.raises(ValueError, match=fault):
        make()


def test_a_script_in_a_text_stays_text(monkeypatch, tmp_path):
    html = built(monkeypatch, tmp_path, lambda size: Note("</script><script>alert(1)</script>"), size=Slider("S", [1]))
    assert html.count("<script") == html.count("</script>") == 1
    data = json.loads(html.split(">", 2)[2].split("</script>")[0])
    assert "</script><script>" in json.dumps(data["recording"])


def test_a_large_recording_is_a_file_named_by_its_content(monkeypatch, tmp_path):
    def views(size):
        return Note("".join(chr(97 + (i * size) % 26) for i in range(INLINE_BYTES // 2)))

    html = built(monkeypatch, tmp_path, views, size=Slider("Size", [1, 3, 5]))
    (file,) = (tmp_path / "recordings").iterdir()
    assert f'data-recording="{file.name}"' in html
    assert len(html) < INLINE_BYTES
    data = json.loads(file.read_text(encoding="utf-8"))
    assert set(data["recording"]["frames"]) == {"0", "1", "2"}
    built(monkeypatch, tmp_path, views, size=Slider("Size", [1, 3, 5]))
    assert list((tmp_path / "recordings").iterdir()) == [file]


# --- the widget ---


class Wire(list):
    """What a widget sent, beside that it is busy."""

    def __init__(self, widget):
        super().__init__()
        widget.send = self.send

    def send(self, content, buffers=None):
        if content != {"kind": "busy"}:
            self.append(content | {"buffers": buffers or []})


@pytest.fixture
def lab():
    widget = explore(echo, **CONTROLS)
    return widget, Wire(widget)


def test_only_the_start_is_computed_before_the_kernel_is_asked():
    asked = []

    def fn(size):
        asked.append(size)
        return Note(str(size))

    widget = explore(fn, size=Slider("Size", [1, 2, 3], start=2))
    assert asked == [2]
    assert list(widget.recording["frames"]) == ["1"]


def test_hello_is_answered_with_where_the_controls_are(lab):
    widget, wire = lab
    widget._receive(widget, {"kind": "hello", "from": "view1"}, [])
    assert wire[0]["kind"] == "welcome"
    assert wire[0]["to"] == "view1"
    assert wire[0]["position"] == [0, 0, 1, 0]


def test_an_answer_holds_the_typed_question_and_moves_the_values(lab):
    widget, wire = lab
    seen = []
    widget.observe(lambda change: seen.append(change["new"]), "values")
    widget._receive(widget, {"kind": "ask", "id": "v/1", "position": [1, 1, 0, 0], "own": {"question": "为什么?"}}, [])
    values = {"size": None, "language": "travel-zh", "merge": False, "question": "为什么?"}
    assert wire == [
        {
            "kind": "answer",
            "id": "v/1",
            "position": [1, 1, 0, 0],
            "own": {"question": "为什么?"},
            "views": [{"kind": "note", "text": repr(values)}],
            "buffers": [],
        }
    ]
    assert seen == [values]


def test_setting_values_moves_the_figure(lab):
    widget, wire = lab
    widget.values = widget.values | {"language": "travel-zh", "question": "何时?"}
    assert (wire[0]["kind"], wire[0]["position"], wire[0]["own"]) == ("move", [0, 1, 1, 0], {})
    widget.values = widget.values | {"question": "自己的"}
    assert wire[1]["own"] == {"question": "自己的"}
    with pytest.raises(ValueError, match="size cannot be 7"):
        widget.values = widget.values | {"size": 7}
    with pytest.raises(ValueError, match="values are of size, language"):
        widget.values = {"size": 100}


@pytest.mark.parametrize(
    ("error", "says"), [(ValueError("k is 0, at least 1"), "k is 0, at least 1"), (KeyError("x"), "KeyError: 'x'")]
)
def test_what_goes_wrong_in_the_function_is_sent_to_the_figure(error, says):
    def fn(size):
        if size > 1:
            raise error
        return Note("fine")

    widget = explore(fn, size=Slider("Size", [1, 2]))
    wire = Wire(widget)
    widget._receive(widget, {"kind": "ask", "id": "v/1", "position": [1], "own": {}}, [])
    assert wire[0]["error"] == says
    widget._receive(widget, {"kind": "ask", "id": "v/2", "position": [0], "own": {}}, [])
    assert wire[1]["views"] == [{"kind": "note", "text": "fine"}]


def test_plotly_is_sent_as_bytes_once_asked(lab):
    widget, wire = lab
    widget._receive(widget, {"kind": "plotly"}, [])
    assert len(wire[0]["buffers"][0]) > 1_000_000


def test_values_that_json_cannot_hold_travel_as_labels():
    widget = explore(lambda model: Note("fine"), model=Choice("Model", {"fast": max, "slow": min}))
    assert widget.values == {"model": max}
    assert widget.get_state()["values"] == {"model": "fast"}


def test_without_a_widget_manager_the_start_is_still_shown(lab):
    widget, _ = lab
    bundle, _ = widget._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert "travel-en" in bundle["text/html"]
    assert "FigureWidget" not in bundle["text/html"]


def test_importing_explore_imports_nothing_heavy():
    heavy = {"plotly", "anywidget", "ipywidgets", "numpy"}
    code = f"import sys, s2b_lab.figures.explore; print({heavy} & set(sys.modules))"
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root)
    assert done.stdout.strip() == "set()"
