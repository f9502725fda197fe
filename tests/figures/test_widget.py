"""The widget in Python alone: its values, signs of life while it computes, and the picture that a notebook saves."""

import copy
import pickle
import re
import threading
import time

import pytest

from s2b_lab import Choice, Note, Slider, Text, explore
from s2b_lab.figures import widget as module


class Wire(list):
    """What a widget sent."""

    def __init__(self, widget):
        super().__init__()
        widget.send = lambda content, buffers=None: self.append(content)

    def kinds(self):
        return [message["kind"] for message in self]


def figure(fn=lambda k, question: Note(f"k is {k}: {question}"), **options):
    controls = {"k": Slider("k", [1, 4]), "question": Text("Question", ["Why?", "When?"])}
    made = explore(fn, **controls, **options)
    return made, Wire(made)


def ask(widget, position, own=None, number=1):
    widget._receive(widget, {"kind": "ask", "id": f"v/{number}", "position": position, "own": own or {}}, [])


# --- values ---


@pytest.mark.parametrize(
    "change",
    [
        lambda values: values.__setitem__("k", 4),
        lambda values: values.__delitem__("k"),
        lambda values: values.update(k=4),
        lambda values: values.setdefault("other", 4),
        lambda values: values.pop("k"),
        lambda values: values.popitem(),
        lambda values: values.clear(),
    ],
)
def test_values_are_not_changed_one_by_one_and_it_says_what_to_write(change):
    widget, wire = figure()
    with pytest.raises(TypeError, match=re.escape('set them: figure.values |= {"name": value}')):
        change(widget.values)
    assert widget.values == {"k": 1, "question": "Why?"} and wire == []


def test_what_is_to_be_written_moves_the_figure():
    widget, wire = figure()
    widget.values |= {"k": 4}
    assert wire == [{"kind": "move", "position": [1, 0], "own": {}}]
    with pytest.raises(TypeError, match="one by one"):
        widget.values["k"] = 1


def test_a_dictionary_that_was_given_can_be_changed_afterwards_without_effect():
    widget, wire = figure()
    given = {"k": 4, "question": "Why?"}
    widget.values = given
    given["k"] = 1
    assert widget.values["k"] == 4 and len(wire) == 1


@pytest.mark.parametrize("copied", [dict, copy.copy, copy.deepcopy, lambda v: pickle.loads(pickle.dumps(v)), dict.copy])
def test_a_copy_of_the_values_is_a_dictionary_like_any_other(copied):
    widget, wire = figure()
    mine = copied(widget.values)
    mine["k"] = 4
    assert widget.values["k"] == 1 and wire == []
    assert repr(widget.values) == "{'k': 1, 'question': 'Why?'}"


def test_values_set_while_another_thread_answers_reach_the_displays():
    began, go_on = threading.Event(), threading.Event()

    def slow(k, question):
        if k == 4:
            began.set()
            go_on.wait(10)
        return Note(k)

    widget, wire = figure(slow)
    thread = threading.Thread(target=ask, args=(widget, [1, 0]))
    thread.start()
    assert began.wait(10)
    widget.values |= {"question": "When?"}
    go_on.set()
    thread.join()
    assert [m["position"] for m in wire if m["kind"] == "move"] == [[1, 1]]


def test_an_answer_tells_every_display_where_it_is_of():
    widget, wire = figure()
    ask(widget, [1, 0], {"question": "Mine?"})
    assert (wire[-1]["kind"], wire[-1]["position"], wire[-1]["own"]) == ("answer", [1, 0], {"question": "Mine?"})
    assert "move" not in wire.kinds()


# --- signs of life ---


@pytest.fixture
def alone(monkeypatch):
    """No figure of another test is in the process."""
    monkeypatch.setattr(module, "_figures", type(module._figures)())


def until(happened):
    """Wait, on a busy machine too, until something has happened."""
    end = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.01)


def nobody_beats():
    return not any(thread.name == "figures that wait" for thread in threading.enumerate())


def test_while_a_figure_is_computed_all_figures_hear_that_python_is_busy(alone):
    def slow(k, question):
        if k == 4:
            until(lambda: wire.kinds().count("busy") >= 5 and heard.kinds().count("busy") >= 4)
        return Note(k)

    widget, wire = figure(slow, timeout=0.2)
    other, heard = figure()
    ask(widget, [1, 0])
    assert module._often() == 0.05, "four times in the patience of the least patient"
    assert wire.kinds()[0] == "busy" and wire.kinds()[-1] == "answer"
    assert wire.kinds().count("busy") >= 5
    assert heard.kinds().count("busy") >= 4 and set(heard.kinds()) == {"busy"}
    until(nobody_beats)  # it rests when all is answered
    assert other.values["k"] == 1


def test_the_first_sign_of_life_comes_before_anything_is_computed(alone):
    seen = []

    def fn(k, question):
        seen.append(list(wires[0].kinds()) if wires else None)
        return Note(k)

    wires = []
    widget, wire = figure(fn)
    wires.append(wire)
    ask(widget, [1, 0])
    assert seen == [None, ["busy"]]


def test_a_function_that_fails_stops_the_signs_of_life_too(alone):
    def fails(k, question):
        if k == 4:
            raise KeyError(k)
        return Note(k)

    widget, wire = figure(fails, timeout=0.1)
    ask(widget, [1, 0])
    until(nobody_beats)
    assert wire[-1]["error"] == "KeyError: 4"


def test_signs_of_life_come_while_a_cell_runs_and_end_with_it(run_python):
    program = """
import threading, time
from IPython.core.interactiveshell import InteractiveShell
from s2b_lab.figures.heartbeat import beat_in_cells
shell, beats = InteractiveShell.instance(), []
shell.user_ns.update(time=time, beats=beats, beat_in_cells=beat_in_cells)
shell.run_cell("beat_in_cells(lambda: beats.append(1), lambda: 0.05)")
print(len(beats))
waits = "end = time.monotonic() + 60\\nwhile len(beats) < 5 and time.monotonic() < end: time.sleep(0.01)"
shell.run_cell("get_ipython().run_cell('pass')\\n" + waits)
print(len(beats) >= 5)
end = time.monotonic() + 60
alive = lambda: [thread for thread in threading.enumerate() if thread.name == "figures that wait"]
while alive() and time.monotonic() < end: time.sleep(0.01)
print(len(alive()))
"""
    assert run_python(program).stdout.split() == ["0", "True", "0"]


# --- what a notebook saves ---


def html(widget):
    return widget._repr_mimebundle_()[0]["text/html"]


def test_the_saved_picture_is_the_last_one_with_its_own_style_and_the_readers_question():
    widget, _ = figure()
    assert "k is 1: Why?" in html(widget)
    ask(widget, [1, 1])
    assert "k is 4: When?" in html(widget) and "k is 1" not in html(widget)
    assert "Question: <b>When?</b>" in html(widget) and "k: <b>4</b>" in html(widget)
    ask(widget, [0, 1], {"question": "<b>Mine?"})
    assert "Question: <b>&lt;b&gt;Mine?</b>" in html(widget) and "When?" not in html(widget)
    style = re.search("<style>(.*)</style>", html(widget), re.DOTALL)[1]
    assert ".s2b-surface" in style and "<" not in style
    assert not re.search(r"<script|src=|href=|url\(|@import", html(widget)), "nothing is asked for beside it"


def test_an_examples_own_list_is_kept_where_questions_depend_on_a_text():
    examples = {"A": ["a1", "a2"], "B": ["b1"]}
    widget = explore(lambda text, q: Note(q), text=Choice("Text", ["A", "B"]), q=Text("Question", examples, by="text"))
    Wire(widget)
    ask(widget, [1, 0])
    assert "Question: <b>b1</b>" in html(widget)
    ask(widget, [0, 1], {"q": "own"})
    assert "Question: <b>own</b>" in html(widget)


def test_a_failure_leaves_the_last_picture():
    def fails(k, question):
        if question == "When?":
            raise ValueError("no")
        return Note(f"fine {k}")

    widget, _ = figure(fails)
    ask(widget, [1, 0])
    ask(widget, [1, 1])
    assert "fine 4" in html(widget)
