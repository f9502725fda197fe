"""Controls, views, recordings and the widget, without a browser."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2b_lab.explore import explore, positions, record, values_at
from s2b_lab.interact import (
    Choice,
    Figure,
    Mark,
    Meter,
    Note,
    Passages,
    Slider,
    Switch,
    Table,
    Text,
    frame_of,
)
from s2b_lab.text import Span
from s2b_lab.widgets.page import INLINE_BYTES, cut

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
        return resolved(pool[tree["$"]], pool) if "$" in tree else {k: resolved(v, pool) for k, v in tree.items()}
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
        (lambda: Choice("Policy", []), "'Policy' needs"),
        (lambda: Text("Question", "When?"), "'Question' needs a list"),
        (lambda: Text("Question", {"English": ["a"]}), "needs by="),
        (lambda: Text("Question", ["a"], by="language"), "needs by="),
        (lambda: Mark(Span(0, 1), "bold"), "'bold'"),
        (lambda: Passages("abc", [Mark(Span(1, 4), "hit")]), "3 characters"),
        (lambda: Passages("abc", show="some"), "'some'"),
        (lambda: Table(["a", "b"], [[1]]), "1 cells in a table of 2 columns"),
        (lambda: explore(echo, size=Slider("Size", [1, 2], start=3)), "cannot start at 3"),
        (lambda: explore(echo, size=3), "size is 3"),
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


def test_positions_are_all_that_exist_and_no_other():
    found = positions(CONTROLS)
    assert len(found) == len(set(found)) == 2 * 2 * (2 + 1)
    assert (0, 0, 0, 1) in found
    assert (0, 1, 0, 1) not in found
    assert values_at(CONTROLS, (1, 1, 0, 0)) == {
        "size": None, "language": "travel-zh", "merge": False, "question": "何时?"
    }  # fmt: skip


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
    pieces = cut(length, marks)
    assert [at for start, end, _ in pieces for at in range(start, end)] == list(range(length))
    for start, end, inside in pieces:
        for at in range(start, end):
            assert inside == [mark for mark in marks if mark[2] <= at < mark[3]]


def test_figures_become_short_plain_lists():
    points = go.Scatter(x=np.array([1.23456789, 12345.678901], "float64"), y=np.array([0.000123456, np.nan]))
    (frame,) = frame_of(Figure(go.Figure(points, layout={"title": "Map"})))
    assert frame["data"] == [{"type": "scatter", "x": [1.235, 12345.679], "y": [0.000123, None]}]
    assert "template" not in frame["layout"]
    assert frame["alt"] == "Map"
    assert "bdata" not in json.dumps(frame)


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

json_trees = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=60),
    lambda parts: (
        st.lists(parts, max_size=4) | st.dictionaries(st.text("abc", min_size=1, max_size=3), parts, max_size=4)
    ),
    max_leaves=20,
)


@given(st.lists(json_trees, min_size=1, max_size=5))
def test_a_recording_resolves_to_what_was_recorded(trees):
    from s2b_lab.explore import _Pool

    pool = _Pool()
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

    with pytest.raises(RuntimeError, match=r"fn failed at size=3, merge=True: ZeroDivisionError"):
        explore(fn, size=Slider("Size", [1, 3]), merge=Switch("Merge"))


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
    """What a widget sent."""

    def __init__(self, widget):
        super().__init__()
        widget.send = lambda content, buffers=None: self.append(content | {"buffers": buffers or []})


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
    assert wire == [{"kind": "answer", "id": "v/1", "views": [{"kind": "note", "text": repr(values)}], "buffers": []}]
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
    code = f"import sys, s2b_lab.explore; print({heavy} & set(sys.modules))"
    root = Path(__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root)
    assert done.stdout.strip() == "set()"
