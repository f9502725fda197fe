"""What a recording says beside its frames: controls without effect, and the plotly.js that a page needs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plotly.offline import get_plotlyjs_version
from strategies import json_trees

from s2b_lab.core.text import Span
from s2b_lab.figures.controls import Choice, Slider, Switch, Text
from s2b_lab.figures.explore import explore
from s2b_lab.figures.page import _resolved
from s2b_lab.figures.passages import Mark, Passages
from s2b_lab.figures.record import Pool, positions, record
from s2b_lab.figures.traces import BUNDLES, bundle_of
from s2b_lab.figures.views import Figure, Note, Stage, Stages, Table, frame_of

MODULES = Path(__file__).resolve().parents[2] / "node_modules"
CONTROLS = {
    "size": Slider("Size", [1, 2, 3]),
    "text": Choice("Text", ["A", "B"]),
    "merge": Switch("Merge"),
    "question": Text("Question", {"A": ["a1", "a2", "a3"], "B": ["b1"]}, by="text"),
    "only": Choice("Only", ["one"]),
}


# --- controls without effect ---


@given(st.data())
def test_a_control_is_idle_where_all_its_values_show_the_same(data):
    shown = {at: data.draw(st.integers(0, 1), label=str(at)) for at in positions(CONTROLS)}
    questions = {"A": ["a1", "a2", "a3"], "B": ["b1"]}
    values = [[1, 2, 3], ["A", "B"], [False, True], questions, ["one"]]

    def fn(size, text, merge, question, only):
        return Note(f"picture {shown[size - 1, 'AB'.index(text), int(merge), questions[text].index(question), 0]}")

    idle = {}
    for at in shown:
        for c in range(4):
            others = set()
            for i in range(len(questions["AB"[at[1]]] if c == 3 else values[c])):
                there = [*at[:c], i, *at[c + 1 :]]
                there[3] = min(there[3], len(questions["AB"[there[1]]]) - 1)
                others.add(shown[tuple(there)])
            # A control of one value cannot be moved: that it does nothing is no news.
            if len(others) == 1 and not (c == 3 and at[1] == 1):
                idle.setdefault(",".join(map(str, at)), []).append(c)
    assert record(fn, CONTROLS, positions(CONTROLS)).get("idle", {}) == idle


def test_a_computation_that_only_took_other_times_is_the_same():
    times = iter(range(100))

    def fn(size, seed):
        search = Stage("search", "1 vector", Table(["text"], [[f"child {size}"]]), next(times) + 0.5)
        return Stages([search]), Note("The same.")

    def timed(size, seed):
        return Note(f"{next(times)} ms")

    controls = {"size": Slider("Size", [1, 2]), "seed": Slider("Seed", [1, 2])}
    every = positions(controls)
    assert record(fn, controls, every)["idle"] == {f"{a},{b}": [1] for a, b in every}
    assert "idle" not in record(timed, controls, every)


def test_live_nothing_is_said_of_values_that_were_not_computed():
    widget = explore(lambda size: Note("the same"), size=Slider("Size", [1, 2]))
    assert set(widget.recording) == {"pool", "frames"}


# --- what is stored once ---


def test_a_text_is_stored_with_its_words_once_and_a_frame_points_at_both_at_once():
    def fn(at):
        return Passages("Whoever travels keeps the receipts. " * 9, [Mark(Span(at, at + 3), "hit")], title="Manual")

    recording = record(fn, {"at": Slider("At", range(50))}, [(i,) for i in range(50)])
    texts = [part for part in recording["pool"] if isinstance(part, dict) and part.get("title") == "Manual"]
    assert len(texts) == 1 and {"text", "words", "breaks", "lang"} <= set(texts[0])
    for i in range(50):
        frame = recording["frames"][f"{i}"]
        assert len(json.dumps(frame)) < 60
        assert _resolved(frame, recording["pool"]) == frame_of(fn(i))


# --- types of traces ---


@pytest.mark.parametrize("bundle", BUNDLES)
def test_the_types_of_a_bundle_are_those_of_its_file_which_is_as_new_as_the_python_package(bundle):
    folder = MODULES / f"plotly.js-{bundle}-dist-min"
    script = (folder / f"plotly-{bundle}.min.js").read_text(encoding="utf-8")
    assert set(re.findall(r'moduleType:"trace",name:"(\w+)"', script)) == BUNDLES[bundle]
    assert json.loads((folder / "package.json").read_text(encoding="utf-8"))["version"] == get_plotlyjs_version()


def test_a_page_takes_the_smallest_bundle_that_draws_it():
    plain = Figure({"data": [{"y": [1, 2]}, {"type": "bar", "y": [1]}], "layout": {}})
    assert bundle_of(frame_of([Note("no figure")])) == bundle_of(frame_of(plain)) == "basic"
    for trace in (go.Histogram(x=[1, 2]), go.Box(y=[1, 2]), go.Heatmap(z=[[1, 2]]), go.Violin(y=[1, 2]), go.Contour()):
        assert bundle_of(frame_of([plain, go.Figure([go.Bar(), trace])])) == "cartesian"


def test_a_recording_names_a_larger_bundle_even_if_one_position_needs_it():
    def fn(size):
        return go.Figure(go.Box(y=[1, 2]) if size == 2 else go.Bar(y=[1, 2]))

    sizes = [{"size": Slider("Size", values)} for values in ([1, 2, 3], [1, 3])]
    wide, narrow = (record(fn, one, positions(one), on_page=True) for one in sizes)
    assert wide["bundle"] == "cartesian"
    assert "bundle" not in narrow and "bundle" not in record(fn, sizes[0], positions(sizes[0]))


@pytest.mark.parametrize("kind", ["scatter3d", "scattergl", "sankey"])
def test_while_the_book_is_built_a_trace_that_no_page_draws_is_refused_by_name_and_place(monkeypatch, kind):
    def fn(size):
        return [Note("fine"), Figure({"data": [{"type": kind if size == 2 else "bar"}], "layout": {}})]

    size = Slider("Size", [1, 2])
    assert explore(fn, size=size).recording["frames"], "live, Python sends the whole of plotly.js"
    monkeypatch.setenv("S2B_BUILD", "1")
    with pytest.raises(
        RuntimeError, match=f"fn failed at size=2: ValueError: a page cannot draw a trace of type {kind}; "
    ):
        explore(fn, size=size)


def test_what_is_interned_twice_is_what_it_was():
    rows = [{"chunk": f"a chunk with a long name, number {n}", "score": n / 7} for n in range(40)]
    pool = Pool()
    once = pool.intern(rows)
    twice = pool.intern({"rows": once, "note": "A note that is longer than forty characters, to be pooled."})
    assert _resolved(once, pool.items) == rows
    assert _resolved(twice, pool.items)["rows"] == rows
    assert sum(isinstance(item, dict) and isinstance(item.get("$"), list) for item in pool.items) == 1


def test_lists_of_lists_of_shared_parts_are_what_they_were():
    parts = [f"a part with a long name, number {n}, which is pooled" for n in range(3)]
    tree = [[parts[0], parts[1]], [parts[1], parts[2]], [[parts[2], parts[0]], parts[1]]]
    pool = Pool()
    assert _resolved(pool.intern(tree), pool.items) == tree


@given(st.lists(json_trees, min_size=1, max_size=4))
def test_every_tree_comes_out_of_the_pool_as_it_went_in(trees):
    pool = Pool()
    kept = [pool.intern(tree) for tree in trees * 2]
    assert [_resolved(tree, pool.items) for tree in kept] == trees * 2
