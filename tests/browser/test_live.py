"""The same figure in JupyterLab, with a real kernel behind it that is asked, stopped and shut down."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from chat_server import ChatServer
from playwright.sync_api import Browser, Locator, expect

from .conftest import ROOT
from .lab import CURRENT, LAB, NOTEBOOK, SECONDS, Opened, Server, serving_jupyter
from .test_explorer import control, shown

# Beside the figures of the book: one that is slow, and one that fails.
CELLS = [
    """import time

def moody(mood):
    if mood == "slow":
        time.sleep(2)
    if mood == "thoughtful":
        time.sleep(4.5)
    if mood == "angry":
        raise ValueError("mood is angry, at most slow")
    return Note(f"The mood is {mood}.")

moody_figure = explore(moody, mood=Choice("Mood", ["calm", "slow", "angry", "thoughtful"]), timeout=3)
moody_figure""",
]
CACHE = ROOT / "_build/embeddings"


def notebook() -> nbformat.NotebookNode:
    book = nbformat.read(ROOT / "tests/browser/minibook/intro.ipynb", as_version=4)
    for cell in book.cells:
        cell.source = cell.source.replace('name="Sentence windows"', 'name="Sentence windows", timeout=3')
    book.cells = [cell for cell in book.cells if cell.cell_type == "code" and "A bare" not in cell.source][:3]
    book.cells += [nbformat.v4.new_code_cell(source) for source in CELLS]
    return book


@pytest.fixture(scope="module")
def jupyter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving_jupyter(tmp_path_factory.mktemp("jupyter")) as server:
        yield server


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Those of the built book, in a copy: a test changes nothing that was built."""
    assert (CACHE / "embeddings.sqlite3").is_file(), "the book has to be built first: make site"
    return str(shutil.copytree(CACHE, tmp_path_factory.mktemp("vectors") / "embeddings"))


@pytest.fixture
def lab(chromium: Browser, jupyter: Server) -> Iterator[Opened]:
    with jupyter.running(chromium, notebook()) as lab:
        yield lab


def live(lab: Opened, name: str = "Sentence windows") -> Locator:
    explorer = lab.page.locator(f".s2b-explorer[data-name='{name}']")
    expect(explorer).to_have_attribute("data-mode", "live", timeout=90 * SECONDS)
    expect(explorer).to_have_attribute("data-ready", "1", timeout=30 * SECONDS)
    return explorer


def test_a_kernel_answers_is_missed_and_comes_back(lab: Opened) -> None:
    explorer = live(lab)
    expect(explorer.locator(".s2b-badge")).to_have_text("live Python")
    expect(explorer.locator(".s2b-plot .scatterlayer").first).to_be_attached()

    _a_typed_question_gets_its_answer(lab, explorer)
    _its_values_are_those_of_a_widget(lab)
    _what_takes_long_says_so_and_what_fails_says_why(lab)

    os.kill(lab.kernel, signal.SIGSTOP)
    before = shown(explorer)
    control(explorer, "width").fill("3")
    expect(explorer.locator(".s2b-progress")).to_be_visible()
    expect(explorer).to_have_attribute("data-mode", "dead", timeout=15 * SECONDS)
    expect(explorer.locator(".s2b-badge")).to_have_text("Python does not answer")
    expect(explorer.locator(".s2b-error")).to_contain_text("Python does not answer")
    assert shown(explorer) == before
    os.kill(lab.kernel, signal.SIGCONT)
    expect(explorer).to_have_attribute("data-mode", "live", timeout=30 * SECONDS)
    expect(explorer).to_have_attribute("data-position", "3,0,1,own")
    expect(explorer.locator(".s2b-error")).to_be_hidden()

    lab.server.shut_down_kernels()
    control(explorer, "width").fill("5")
    expect(explorer).to_have_attribute("data-mode", "dead", timeout=30 * SECONDS)
    expect(explorer.locator(".s2b-badge")).to_have_text("Python does not answer")
    explorer.locator(".s2b-reset").click()
    expect(explorer).to_have_attribute("data-position", "1,0,1,0")


def _a_typed_question_gets_its_answer(lab: Opened, explorer: Locator) -> None:
    expect(explorer.locator(".s2b-hint")).to_be_hidden()
    before = explorer.locator(".s2b-text").inner_text()
    explorer.locator(".s2b-own").fill("Is a question that nobody recorded answered?")
    lab.page.keyboard.press("Enter")
    expect(explorer).to_have_attribute("data-position", "1,0,1,own", timeout=30 * SECONDS)
    expect(explorer.locator(".s2b-view[data-kind=note]")).to_contain_text("that nobody recorded answered?")
    assert explorer.locator(".s2b-text").inner_text() != before
    # It stays while sliders move, by keys too, which JupyterLab would take; choosing an example ends it.
    control(explorer, "width").focus()
    lab.page.keyboard.press("ArrowRight")
    expect(explorer).to_have_attribute("data-position", "2,0,1,own", timeout=30 * SECONDS)
    expect(explorer.locator(".s2b-view[data-kind=note]")).to_contain_text("that nobody recorded")
    control(explorer, "question").select_option("1")
    expect(explorer).to_have_attribute("data-position", "2,0,1,1", timeout=30 * SECONDS)
    expect(explorer.locator(".s2b-view[data-kind=note]")).to_contain_text("Who signs?")
    explorer.locator(".s2b-own").fill("And this one?")
    explorer.locator(".s2b-ask").click()
    expect(explorer).to_have_attribute("data-position", "2,0,1,own", timeout=30 * SECONDS)


def _its_values_are_those_of_a_widget(lab: Opened) -> None:
    moody = live(lab, "moody")
    lab.run("moody_figure.observe(lambda change: Path('seen').write_text(str(change['new'])), 'values')")
    lab.run("moody_figure.values = {'mood': 'slow'}")
    expect(moody).to_have_attribute("data-position", "1", timeout=30 * SECONDS)
    expect(control(moody, "mood")).to_have_value("1")
    control(moody, "mood").select_option("0")
    expect(moody).to_have_attribute("data-position", "0", timeout=30 * SECONDS)
    assert (lab.folder / "seen").read_text() == "{'mood': 'calm'}"


def _what_takes_long_says_so_and_what_fails_says_why(lab: Opened) -> None:
    moody = live(lab, "moody")
    control(moody, "mood").select_option("slow")
    expect(moody.locator(".s2b-progress")).to_be_visible()
    expect(moody.locator(".s2b-badge")).to_contain_text("Python is computing")
    expect(moody).to_have_attribute("data-position", "1", timeout=30 * SECONDS)
    expect(moody.locator(".s2b-badge")).to_have_text("live Python")
    control(moody, "mood").select_option("angry")
    expect(moody.locator(".s2b-error")).to_have_text("mood is angry, at most slow", timeout=30 * SECONDS)
    expect(moody.locator(".s2b-view")).to_have_text("The mood is slow.")
    # Longer than the figure has patience for silence, but a Python that computes is not silent.
    moody.evaluate(
        "figure => { figure.modes = []; new MutationObserver(() => figure.modes.push(figure.dataset.mode))"
        ".observe(figure, { attributes: true, attributeFilter: ['data-mode'] }); }"
    )
    control(moody, "mood").select_option("thoughtful")
    expect(moody).to_have_attribute("data-position", "3", timeout=30 * SECONDS)
    assert "dead" not in moody.evaluate("figure => figure.modes")
    control(moody, "mood").select_option("calm")
    expect(moody.locator(".s2b-error")).to_be_hidden(timeout=30 * SECONDS)


# A figure in boxes beside another widget, a box that holds no figure, and a cell that lets no figure be heard for as
# long as the test wants.
BOXED = """from ipywidgets import HBox, IntSlider, Label, VBox

boxed_figure = explore(moody, name="boxed", mood=Choice("Mood", ["calm", "slow"]), timeout=3)
VBox([Label("Two of a kind"), HBox([VBox([boxed_figure]), IntSlider(description="Beside")])])"""
PLAIN_BOX = "VBox([IntSlider(description='Alone')])"
BLOCKED = "while not Path('go').exists():\n    time.sleep(0.02)"
VIEW = "application/vnd.jupyter.widget-view+json"


@pytest.mark.parametrize("app", [LAB, NOTEBOOK])
def test_a_saved_notebook_shows_the_last_picture_and_two_displays_follow_each_other(
    chromium: Browser, jupyter: Server, app: str
) -> None:
    book = notebook()
    book.cells += [nbformat.v4.new_code_cell(cell) for cell in ("moody_figure", BOXED, PLAIN_BOX, BLOCKED)]
    with jupyter.running(chromium, book, app) as lab:
        _what_is_saved_before_python_is_heard(lab)
        explorer, boxed, two = live(lab), live(lab, "boxed"), lab.page.locator(".s2b-explorer[data-name='moody']")
        expect(two).to_have_count(2)
        for display in two.all():
            expect(display).to_have_attribute("data-mode", "live", timeout=90 * SECONDS)
        _a_box_is_as_live_as_any(lab, boxed)
        for by, other, mood in ((0, 1, "slow"), (1, 0, "calm")):
            control(two.nth(by), "mood").select_option(mood)
            expect(two.nth(other).locator(".s2b-view")).to_have_text(f"The mood is {mood}.", timeout=30 * SECONDS)
            assert control(two.nth(other), "mood").locator("option:checked").inner_text() == mood
        control(explorer, "width").fill("4")
        expect(explorer).to_have_attribute("data-position", "4,0,1,0", timeout=30 * SECONDS)
        # The picture is kept when a movement is over.
        expect(lab.page.locator("[data-saved]").first).to_contain_text(
            "Window width: 4 sentences", timeout=30 * SECONDS
        )
        outputs = [output for output in lab.saved() if "text/html" in output]
        assert len(outputs) == 4 and not any(VIEW in output for output in outputs)
        assert "Window width: <b>4 sentences</b>" in outputs[0]["text/html"]

        _a_restart_is_seen_without_a_touch(lab, [explorer, *two.all(), boxed])
        lab.server.shut_down_kernels()
        lab.reopen()
        pictures = lab.page.locator(".jp-OutputArea-output .s2b-twin")
        expect(pictures).to_have_count(4)
        _is_the_last_picture(pictures.first)
        expect(lab.page.locator("[data-box]")).to_contain_text("Two of a kind")
        expect(pictures.last).to_contain_text("The mood is slow.")
        # Only of the box without a figure, which is none of ours.
        expect(lab.page.get_by_text("Error displaying widget")).to_have_count(1)
        expect(explorer).to_have_count(0)
        page = _converted(lab.folder, "--template", "basic", "live.ipynb")
    with _offline(chromium, page) as picture:
        _is_the_last_picture(picture)


def _what_is_saved_before_python_is_heard(lab: Opened) -> None:
    expect(lab.page.locator(".s2b-explorer")).to_have_count(4, timeout=90 * SECONDS)
    expect(lab.page.locator(".s2b-explorer[data-mode='recorded']")).to_have_count(4)
    outputs = [output for output in lab.saved() if "text/html" in output]
    assert len(outputs) == 4 and not any(VIEW in output for output in outputs)
    assert "Window width: <b>1 sentence</b>" in outputs[0]["text/html"]
    assert "Two of a kind" in outputs[3]["text/html"] and "The mood is calm." in outputs[3]["text/html"]
    (lab.folder / "go").touch()


def _a_box_is_as_live_as_any(lab: Opened, boxed: Locator) -> None:
    control(boxed, "mood").select_option("slow")
    expect(boxed.locator(".s2b-view")).to_have_text("The mood is slow.", timeout=30 * SECONDS)
    expect(lab.page.locator(".widget-label", has_text="Two of a kind")).to_be_visible()
    for name in ("Beside", "Alone"):
        expect(lab.page.locator(".widget-slider", has_text=name)).to_be_visible()


def test_a_notebook_that_is_run_in_one_go_shows_pictures_without_a_network(chromium: Browser, tmp_path: Path) -> None:
    book = notebook()
    book.cells += [nbformat.v4.new_code_cell(cell) for cell in (BOXED, "boxed_figure.values = {'mood': 'slow'}")]
    nbformat.write(book, tmp_path / "run.ipynb")
    with _offline(chromium, _converted(tmp_path, "--execute", "run.ipynb")) as picture:
        expect(picture).to_contain_text("Window width: 1 sentence")
        pictures = picture.page.locator(".s2b-twin")
        expect(pictures).to_have_count(3)
        expect(pictures.last).to_contain_text("The mood is slow.")
        expect(picture.page.locator("[data-box]")).to_contain_text("Two of a kind")


def _converted(folder: Path, *options: str) -> str:
    """A notebook as HTML by nbconvert, with no one's settings."""
    done = [sys.executable, "-m", "nbconvert", "--to", "html", "--output", "page", *options]
    environment = {
        **os.environ,
        "HOME": str(folder),
        "JUPYTER_CONFIG_DIR": str(folder / "none"),
        "PYTHONPATH": str(ROOT),
    }
    subprocess.run(done, cwd=folder, env=environment, check=True, capture_output=True)
    return (folder / "page.html").read_text(encoding="utf-8")


@contextlib.contextmanager
def _offline(chromium: Browser, html: str) -> Iterator[Locator]:
    """The first picture of a page that is opened without a network."""
    with contextlib.closing(chromium.new_context(offline=True)) as context:
        page = context.new_page()
        page.set_content(html, wait_until="domcontentloaded")
        yield page.locator(".s2b-twin").first


def _a_restart_is_seen_without_a_touch(lab: Opened, figures: list[Locator]) -> None:
    lab.page.evaluate(f"{CURRENT}.restart()")
    for figure in figures:
        expect(figure).to_have_attribute("data-mode", "dead", timeout=30 * SECONDS)
        expect(figure.locator(".s2b-badge")).to_have_text("Python does not answer")


def _is_the_last_picture(picture: Locator) -> None:
    expect(picture).to_be_visible()
    expect(picture.locator(".s2b-settings")).to_contain_text("Window width: 4 sentences")
    hit = picture.locator("mark.s2b-hit").first
    assert hit.evaluate("mark => getComputedStyle(mark).borderBottomWidth") == "3px", "it has its style with it"


def test_a_chapter_is_live_within_ten_seconds_where_the_book_has_been_built(
    chromium: Browser, jupyter: Server, vectors: str
) -> None:
    command = subprocess.run(["make", "--dry-run", "lab"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert f'S2B_EMBEDDING_CACHE="${{S2B_EMBEDDING_CACHE:-{CACHE}}}"' in command, "make lab uses the book's vectors"
    with jupyter.running(chromium, to_the_first_figure("05-step-back"), S2B_EMBEDDING_CACHE=vectors) as lab:
        live(lab, "back")
        assert time.monotonic() - lab.began < 10


def to_the_first_figure(chapter: str) -> nbformat.NotebookNode:
    book = nbformat.read(ROOT / f"book/{chapter}.ipynb", as_version=4)
    first = next(i for i, cell in enumerate(book.cells) if cell.source.startswith("explore("))
    book.cells = book.cells[: first + 1]
    return book


def test_a_chapter_of_the_book_answers_a_question_of_ones_own(chromium: Browser, jupyter: Server, vectors: str) -> None:
    chapter = nbformat.read(ROOT / "book/intro.ipynb", as_version=4)
    with jupyter.running(chromium, chapter, S2B_EMBEDDING_CACHE=vectors) as lab:
        explorer = live(lab, "small to big")
        before = shown(explorer)
        explorer.locator(".s2b-own").fill("Who pays for the minibar?")
        lab.page.keyboard.press("Enter")
        expect(explorer).to_have_attribute("data-position", re.compile("own"), timeout=60 * SECONDS)
        assert "minibar" in explorer.locator(".s2b-text mark.s2b-hit").inner_text()
        assert shown(explorer) != before
        expect(explorer.locator(".s2b-badge")).to_have_text("live Python")


def test_a_typed_question_is_rewritten_by_the_configured_model(
    chromium: Browser, jupyter: Server, vectors: str
) -> None:
    with ChatServer(lambda prompt, system: "What animals did Einstein keep?") as server:
        settings = {"OPENAI_BASE_URL": server.address, "OPENAI_MODEL": "stand-in", "S2B_EMBEDDING_CACHE": vectors}
        with jupyter.running(chromium, to_the_first_figure("05-step-back"), **settings) as lab:
            explorer = live(lab, "back")
            note = explorer.locator(".s2b-view[data-kind=note]")
            expect(note).to_contain_text("recorded 2026-11-30")
            explorer.locator(".s2b-own").fill("Did Einstein own a dog?")
            lab.page.keyboard.press("Enter")
            expect(explorer).to_have_attribute("data-position", re.compile("own"), timeout=60 * SECONDS)
            expect(note).to_have_text("“What animals did Einstein keep?” (stand-in)")
            (request,) = [body for _, _, body in server.requests if "dog" in str(body)]
            assert "Do not answer the question" in request["messages"][0]["content"]
            server.mode = "unauthorised"
            explorer.locator(".s2b-own").fill("Did Einstein own a cat?")
            lab.page.keyboard.press("Enter")
            expect(note).to_contain_text("used as it is", timeout=60 * SECONDS)
            expect(note).to_contain_text("401")
