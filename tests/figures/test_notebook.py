"""A bare figure at the end of a cell, in a real kernel: while the book is built, live, and without us."""

import pytest
from running import run_cells

FIRST = "import plotly.graph_objects as go\nfrom s2b_lab import Note, Slider, explore, plot"
LIVE = "moved = explore(lambda size: Note(size), size=Slider('Size', [1, 2]))"
BUILD = "from s2b_lab.figures.notebook import show_figures\nshow_figures()"
OURS, THEIRS = "plot.bars(['a'], [1], 'tokens', alt='One bar.')", "go.Figure(go.Bar(x=[1]))"
WIDGET, PLOTLY = "application/vnd.jupyter.widget-view+json", "application/vnd.plotly.v1+json"


@pytest.fixture
def shown(monkeypatch):
    """What our figure and a Plotly figure show after a cell, each as one output."""

    def run(before, build):
        monkeypatch.setenv("S2B_BUILD", build)
        monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
        notebook = run_cells(FIRST, before, OURS, THEIRS, watched=True)
        (ours,), (theirs,) = (cell.outputs for cell in notebook.cells[2:])
        return ours.data, theirs.data

    return run


def test_while_the_book_is_built_our_host_draws_both(shown):
    for bundle in shown(BUILD, "1"):
        assert '<div class="s2b-host" data-fault="This figure stays still: {problem}."' in bundle["text/html"]
        assert PLOTLY not in bundle


def test_live_a_figure_is_a_widget_after_the_first_explore_and_plotly_shows_itself(shown):
    ours, theirs = shown(LIVE, "0")
    assert WIDGET in ours and "One bar." in ours["text/html"]
    assert WIDGET not in theirs and PLOTLY in theirs


def test_without_any_set_up_a_figure_is_what_plotly_draws(shown):
    ours, _ = shown("", "0")
    assert ours[PLOTLY]["data"][0]["type"] == "bar"
    assert ours["text/plain"] == "One bar."


def test_outside_a_notebook_nothing_happens(run_python):
    program = "import sys; from s2b_lab.figures.notebook import show_figures; show_figures()\n"
    assert run_python(f"{program}print('IPython' in sys.modules)").stdout.strip() == "False"
    run_python(f"import IPython; {program}")
