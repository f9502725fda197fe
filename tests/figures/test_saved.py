"""What a notebook holds of a figure: by whom its cells are run, how often it is shown, and in which boxes."""

import os
import re
import sys

import ipywidgets
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nbconvert import HTMLExporter
from running import one_kernel

from s2b_lab import Choice, Note, Slider, explore
from s2b_lab.figures import saved

VIEW = "application/vnd.jupyter.widget-view+json"
MAKE = """from ipywidgets import *
from s2b_lab import Note, Slider, explore
def make(name, says): return explore(lambda k: Note(f'{says} {k}'), name=name, k=Slider('k', [1, 4]))
f, g = make('f', 'k is'), make('g', 'and')
def ask(figure): figure._receive(figure, {'kind': 'ask', 'id': '1', 'position': [1], 'own': {}}, [])
def tell(kind): f._receive(f, {'kind': kind}, [])
"""
BOX = "VBox([Label('a < b'), HBox([VBox([f]), IntSlider(9, description='Mine'), g]), HTML('<i>well</i>')])"


PAGE = "import os; os.environ['JPY_SESSION_NAME'] = '/home/reader/one.ipynb'"
NO_PAGE = "import os; os.environ.pop('JPY_SESSION_NAME', None)"


@pytest.fixture(autouse=True)
def live(monkeypatch):
    """No book is built, and no server names a notebook."""
    monkeypatch.setenv("S2B_BUILD", "0")
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)


@pytest.fixture(scope="module")
def run():
    """Run cells in the kernel of this file, after those that make the figures f and g; gives the notebook."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("S2B_BUILD", "0")
        with one_kernel() as run_here:

            def run(*cells, named=False, **options):
                notebook = run_here(PAGE if named else NO_PAGE, MAKE, *cells, **options)
                del notebook.cells[:2]
                return notebook

            yield run


@pytest.fixture
def outputs(run):
    return lambda *cells, **options: [cell.outputs for cell in run(*cells, **options).cells]


def text(html):
    """What is left of HTML where neither style nor script nor attribute is let through, as on some hosts."""
    return re.sub(r"<[^>]*>", "", re.sub(r"<style>.*?</style>", "", html, flags=re.DOTALL))


# --- which output holds what ---


def test_a_reader_gets_a_view_and_once_the_page_is_heard_a_picture_in_every_output(outputs):
    cells = ("tell('keep')", "f", "f", "ask(f)", "f", BOX)
    never, first, second, _, third, box = outputs(*cells, watched=True)
    assert never == [], "what is shown nowhere is kept nowhere"
    assert all(VIEW in one.data and "k is 1" in one.data["text/html"] for (one,) in (first, second))
    for (one,) in (third, box):
        assert VIEW in one.data and "k is 4" in one.data["text/html"]
    (first,), (second,), (box,), _ = outputs("f", "display(f)", BOX, "ask(f)\ntell('keep')", watched=True)
    for one, names in ((first, "f"), (second, "f"), (box, "f, g")):
        assert VIEW not in one.data and "k is 4" in one.data["text/html"]
        assert one.data["text/plain"] == f"Figure: {names}"


def test_in_jupyters_pages_no_output_ever_holds_a_view_unless_the_page_turns_out_to_be_another(outputs):
    (first,), (box,), _ = outputs("f", BOX, "tell('keep')", watched=True, named=True)
    assert VIEW not in first.data and "k is 1" in first.data["text/html"]
    assert VIEW not in box.data and "and 1" in box.data["text/html"]
    cells = ("f", BOX, "g", "ask(f)\ntell('elsewhere')")
    (first,), (box,), (other,), _ = outputs(*cells, watched=True, named=True)
    assert all(VIEW in one.data and "k is 4" in one.data["text/html"] for one in (first, box))
    assert first.data[VIEW]["model_id"] != box.data[VIEW]["model_id"]
    assert VIEW not in other.data, "this figure has not said so"


def test_run_by_a_program_outputs_are_pictures_that_follow_the_values(outputs):
    fails = "explore(lambda k: Note(1 // (k - 4)), k=Slider('k', [1, 4]))"
    (one,), (box,), (failing,), _ = outputs(
        "f", BOX, f"h = {fails}\nh", "f.values = {'k': 4}\nh.values |= {'k': 4}\ng.values |= {'k': 1}"
    )
    assert not any(VIEW in shown.data for shown in (one, box, failing))
    assert "k: <b>4</b>" in one.data["text/html"] and "k is 4" in one.data["text/html"]
    assert "k is 4" in box.data["text/html"] and "and 1" in box.data["text/html"]
    assert "k: <b>1</b>" in failing.data["text/html"], "a function that fails leaves the last picture"


def test_a_box_without_figures_is_shown_as_ever(outputs):
    (box,), (nested,) = outputs("VBox([Label('none')])", "HBox([VBox(), IntSlider()])")
    for one in (box, nested):
        assert one.output_type == "execute_result" and VIEW in one.data and "text/html" not in one.data


def test_a_notebook_run_in_one_go_is_exported_with_its_pictures_and_without_its_views(run):
    notebook = run("f", BOX)
    html, _ = HTMLExporter(template_name="lab").from_notebook_node(notebook)
    assert html.count('class="s2b-twin') == 3 and html.count('s2b-note">k is 1') == 2
    assert VIEW not in str(notebook.cells)


def test_at_most_eight_outputs_of_one_figure_are_kept_up_to_date(outputs):
    _, *shown = outputs("ask(g)", *["f"] * 10, "ask(f)\ntell('keep')", watched=True)
    kept = ["k is 4" in one.data["text/html"] for (one,) in shown[:-1]]
    assert kept == [False] * 2 + [True] * 8


def test_a_picture_that_has_not_changed_is_not_sent_again(monkeypatch):
    sent = []
    monkeypatch.setattr("IPython.display.display", lambda *args, **options: sent.append(options))
    monkeypatch.setattr(saved, "needs_view", lambda: False)
    figure = explore(lambda k: Note(k), k=Slider("k", [1, 4]))
    figure._ipython_display_()
    for kinds in (["keep"], ["keep", "keep"]):
        for kind in kinds:
            figure._receive(figure, {"kind": kind}, [])
        assert len(sent) == 1
    figure._receive(figure, {"kind": "ask", "id": "1", "position": [1], "own": {}}, [])
    figure._receive(figure, {"kind": "keep"}, [])
    assert [options.get("update") for options in sent] == [None, True]
    assert len({options["display_id"] for options in sent}) == 1


# --- the picture ---


def figure(name="mood"):
    return explore(lambda mood: Note(f"The mood is {mood}."), name=name, mood=Choice("Mood", ["calm", "slow"]))


def test_a_picture_can_be_read_where_style_and_script_are_taken_out():
    one, box = saved.picture_of(figure()), saved.picture_of(ipywidgets.VBox([ipywidgets.Label("a < b"), figure()]))
    assert text(one) == "Mood: calmThe mood is calm."
    assert text(box) == "a &lt; bMood: calmThe mood is calm."
    for html in (one, box):
        assert html.index("The mood") < html.index("<style>"), "where a style is shown as text, the picture comes first"
        assert not re.search(r"<script|src=|href=|url\(|@import", html), "nothing is asked for beside it"


@pytest.mark.parametrize("kind", ["Box", "VBox", "HBox", "GridBox", "Tab", "Accordion", "Stack"])
def test_every_kind_of_box_shows_its_figures(kind):
    one, two = figure("one"), figure("two")
    box = getattr(ipywidgets, kind)([ipywidgets.Box([one]), two])
    html = saved.picture_of(box)
    assert f'data-saved="{one.token}" data-box="{box.model_id}"' in html
    assert html.count("The mood is calm.") == 2 and html.count("<style>") == 1


@st.composite
def boxes(draw, depth=3):
    """Boxes in boxes of labels and figures, as ids in a tree of lists."""
    if depth == 0 or draw(st.booleans()):
        return draw(st.sampled_from(["label", "figure"]))
    return draw(st.lists(boxes(depth=depth - 1), max_size=3))


@given(boxes())
def test_the_figures_in_a_box_are_found_in_their_order_at_any_depth(tree):
    made = []

    class Figure:
        def last_picture(self):
            return ""

    class Box:
        def __init__(self, children):
            self.children = tuple(children)

    def build(node):
        if isinstance(node, list):
            return Box(map(build, node))
        if node == "figure":
            made.append(Figure())
            return made[-1]
        return object()

    assert saved.figures_in(build(tree)) == made


# --- where a notebook runs ---


class Shell:
    """A kernel's shell that was asked to run a cell, or to hear a widget."""

    def __init__(self, stdin=True, kind="execute_request", **names):
        self.user_ns, self.kernel = names, self
        self.get_parent = lambda: {"header": {"msg_type": kind}, "content": {"allow_stdin": stdin}}


@pytest.mark.parametrize(
    ("session", "shell", "variables", "view"),
    [
        ("/a.ipynb", Shell(), {}, False),
        ("/a-jvsc-3f2a.ipynb", Shell(), {}, True),  # VS Code by a server
        ("/a.ipynb", Shell(__vsc_ipynb_file__="a.ipynb"), {}, True),
        (None, Shell(), {}, True),  # VS Code, a console
        (None, None, {}, True),
        (None, Shell(stdin=False), {}, False),  # nbconvert
        ("/a.ipynb", Shell(stdin=False), {}, False),
        (None, Shell(stdin=False, kind="comm_msg"), {}, True),
        (None, Shell(stdin=False), {"VOILA_PREHEAT": "False"}, True),
        (None, object(), {}, True),  # a shell without a kernel
    ],
)
def test_a_view_is_shown_where_nothing_else_comes_to_life(monkeypatch, session, shell, variables, view):
    if shell is not None and not isinstance(shell, Shell):
        shell = type("Bare", (), {"user_ns": {}})()
    monkeypatch.setattr(saved, "_shell", lambda: shell)
    for name, value in {**variables, **({"JPY_SESSION_NAME": session} if session else {})}.items():
        monkeypatch.setenv(name, value)
    assert saved.needs_view() is view


def test_in_colab_a_view_is_always_shown(monkeypatch):
    monkeypatch.setattr(saved, "_shell", Shell)
    monkeypatch.setenv("JPY_SESSION_NAME", "/a.ipynb")
    monkeypatch.setitem(sys.modules, "google.colab", os)
    assert saved.needs_view() is True
