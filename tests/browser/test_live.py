"""The same figure in JupyterLab, with a real kernel behind it that is asked, stopped and shut down."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest
from chat_server import ChatServer, without_settings
from playwright.sync_api import Browser, Locator, Page, expect

from .conftest import ROOT
from .test_explorer import control, shown

NEWS = {"fetchNews": "false", "checkForUpdates": False}
SECONDS = 1000
KERNEL_IS_IDLE = "window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'"
# Beside the figures of the book: one that is slow, and one that fails.
CELLS = [
    "from pathlib import Path\nimport os, time\nPath('kernel.pid').write_text(str(os.getpid()))",
    """def moody(mood):
    if mood == "slow":
        time.sleep(2)
    if mood == "thoughtful":
        time.sleep(8)
    if mood == "angry":
        raise ValueError("mood is angry, at most slow")
    return Note(f"The mood is {mood}.")

moody_figure = explore(moody, mood=Choice("Mood", ["calm", "slow", "angry", "thoughtful"]), timeout=3)
moody_figure""",
]
KERNEL = "jupyterapp.shell.currentWidget.sessionContext.session.kernel"
CACHE = ROOT / "_build/embeddings"


@dataclass
class Lab:
    """A JupyterLab in the browser, its notebook run, and the process of its kernel."""

    page: Page
    address: str
    folder: Path
    began: float = 0.0  # when it was told to run all cells, on time.monotonic()

    @property
    def kernel(self) -> int:
        return int((self.folder / "kernel.pid").read_text())

    def shut_down_kernels(self) -> None:
        with urllib.request.urlopen(f"{self.address}api/kernels") as answer:
            kernels = json.load(answer)
        for kernel in kernels:
            request = urllib.request.Request(f"{self.address}api/kernels/{kernel['id']}", method="DELETE")
            urllib.request.urlopen(request).close()

    def run(self, code: str) -> None:
        """Let the notebook's kernel run more code."""
        self.page.evaluate(f"code => {KERNEL}.requestExecute({{ code }}).done", code)

    def saved(self) -> list[dict]:
        """Save the notebook; gives what each output holds in the file, by type."""
        time.sleep(1)  # the picture is kept when a movement is over
        self.page.evaluate("jupyterapp.commands.execute('docmanager:save')")
        cells = nbformat.read(self.folder / "live.ipynb", as_version=4).cells
        return [output.data for cell in cells for output in cell.get("outputs", []) if "data" in output]

    def reopen(self) -> None:
        """Load the page anew, with the notebook as it was saved."""
        self.page.reload()
        self.page.locator(".jp-Notebook .jp-CodeCell").first.wait_for(timeout=90 * SECONDS)
        self.page.wait_for_function(KERNEL_IS_IDLE, timeout=90 * SECONDS)


def notebook() -> nbformat.NotebookNode:
    book = nbformat.read(ROOT / "tests/browser/minibook/intro.ipynb", as_version=4)
    for cell in book.cells:
        cell.source = cell.source.replace('name="Sentence windows"', 'name="Sentence windows", timeout=3')
    book.cells = [cell for cell in book.cells if cell.cell_type == "code" and "A bare" not in cell.source][:3]
    book.cells += [nbformat.v4.new_code_cell(source) for source in CELLS]
    return book


@contextlib.contextmanager
def jupyter(folder: Path, **settings: str) -> Iterator[str]:
    """A JupyterLab server of its own on a free port, with no one's settings; gives its address."""
    home = folder / "home"
    news = home / "settings/@jupyterlab/apputils-extension"
    news.mkdir(parents=True)
    (news / "notification.jupyterlab-settings").write_text(json.dumps(NEWS))
    places = {"CONFIG_DIR": "config", "DATA_DIR": "data", "RUNTIME_DIR": "runtime"}
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("S2B_", "JUPYTER"))}
    environment |= {f"JUPYTER_{key}": str(home / place) for key, place in places.items()}
    environment |= {
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "spaces"),
    }
    environment |= {"PYTHONPATH": str(ROOT), "IPYTHONDIR": str(home / "ipython"), **settings}
    options = [
        "--no-browser", "--allow-root", "--port=0", "--IdentityProvider.token=", "--ServerApp.disable_check_xsrf=True",
        "--LabApp.expose_app_in_browser=True", f"--ServerApp.root_dir={folder}",
    ]  # fmt: skip
    with (folder / "server.log").open("w") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *options], cwd=folder, env=environment, stdout=log, stderr=log
        )
        try:
            yield _address(server, home / "runtime" / f"jpserver-{server.pid}.json", folder / "server.log")
        finally:
            server.terminate()
            server.wait(timeout=30)


def _address(server: subprocess.Popen, info: Path, log: Path) -> str:
    for _ in range(600):
        assert server.poll() is None, log.read_text()
        with contextlib.suppress(OSError, json.JSONDecodeError):
            return json.loads(info.read_text())["url"].replace("localhost", "127.0.0.1")
        time.sleep(0.1)
    raise AssertionError(f"JupyterLab did not start: {log.read_text()}")


@contextlib.contextmanager
def run_in_lab(chromium: Browser, folder: Path, book: nbformat.NotebookNode, **settings: str) -> Iterator[Lab]:
    """Open a notebook in JupyterLab, with these variables of the environment, and run all of it."""
    nbformat.write(book, folder / "live.ipynb")
    with jupyter(folder, **settings) as address:
        context = chromium.new_context(viewport={"width": 1400, "height": 1000})
        page = context.new_page()
        page.goto(f"{address}lab/tree/live.ipynb?reset")
        page.locator(".jp-Notebook .jp-CodeCell").first.wait_for(timeout=90 * SECONDS)
        page.wait_for_function(KERNEL_IS_IDLE, timeout=90 * SECONDS)
        began = time.monotonic()
        page.evaluate("jupyterapp.commands.execute('notebook:run-all-cells')")
        yield Lab(page, address, folder, began)
        context.close()


@pytest.fixture
def lab(chromium: Browser, tmp_path: Path) -> Iterator[Lab]:
    with run_in_lab(chromium, tmp_path, notebook()) as lab:
        yield lab


def live(lab: Lab, name: str = "Sentence windows") -> Locator:
    explorer = lab.page.locator(f".s2b-explorer[data-name='{name}']")
    expect(explorer).to_have_attribute("data-mode", "live", timeout=90 * SECONDS)
    expect(explorer).to_have_attribute("data-ready", "1", timeout=30 * SECONDS)
    return explorer


def test_a_kernel_answers_is_missed_and_comes_back(lab: Lab) -> None:
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

    lab.shut_down_kernels()
    control(explorer, "width").fill("5")
    expect(explorer).to_have_attribute("data-mode", "dead", timeout=30 * SECONDS)
    expect(explorer.locator(".s2b-badge")).to_have_text("Python does not answer")
    explorer.locator(".s2b-reset").click()
    expect(explorer).to_have_attribute("data-position", "1,0,1,0")


def _a_typed_question_gets_its_answer(lab: Lab, explorer: Locator) -> None:
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


def _its_values_are_those_of_a_widget(lab: Lab) -> None:
    moody = live(lab, "moody")
    lab.run("moody_figure.observe(lambda change: Path('seen').write_text(str(change['new'])), 'values')")
    lab.run("moody_figure.values = {'mood': 'slow'}")
    expect(moody).to_have_attribute("data-position", "1", timeout=30 * SECONDS)
    expect(control(moody, "mood")).to_have_value("1")
    control(moody, "mood").select_option("0")
    expect(moody).to_have_attribute("data-position", "0", timeout=30 * SECONDS)
    assert (lab.folder / "seen").read_text() == "{'mood': 'calm'}"


def _what_takes_long_says_so_and_what_fails_says_why(lab: Lab) -> None:
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


def test_a_saved_notebook_shows_the_last_picture_and_two_displays_follow_each_other(
    chromium: Browser, tmp_path: Path
) -> None:
    book = notebook()
    book.cells.append(nbformat.v4.new_code_cell("moody_figure"))
    with run_in_lab(chromium, tmp_path, book) as lab:
        explorer, two = live(lab), lab.page.locator(".s2b-explorer[data-name='moody']")
        expect(two).to_have_count(2)
        for display in two.all():
            expect(display).to_have_attribute("data-mode", "live", timeout=90 * SECONDS)
        # The view gives way to HTML that can be saved, and the figure stays one that is moved.
        expect(lab.page.locator(".jupyter-widgets-view, .jupyter-widgets")).to_have_count(0, timeout=30 * SECONDS)
        for by, other, mood in ((0, 1, "slow"), (1, 0, "calm")):
            control(two.nth(by), "mood").select_option(mood)
            expect(two.nth(other).locator(".s2b-view")).to_have_text(f"The mood is {mood}.", timeout=30 * SECONDS)
            assert control(two.nth(other), "mood").locator("option:checked").inner_text() == mood
        control(explorer, "width").fill("4")
        expect(explorer).to_have_attribute("data-position", "4,0,1,0", timeout=30 * SECONDS)
        outputs = [output for output in lab.saved() if "text/html" in output]
        assert len(outputs) == 3 and not any("widget-view" in kind for output in outputs for kind in output)
        assert "Window width: <b>4 sentences</b>" in outputs[0]["text/html"]

        _a_restart_is_seen_without_a_touch(lab, [explorer, *two.all()])
        lab.shut_down_kernels()
        lab.reopen()
        pictures = lab.page.locator(".jp-OutputArea-output .s2b-twin")
        expect(pictures).to_have_count(3)
        _is_the_last_picture(pictures.first)
        expect(lab.page.get_by_text("Error displaying widget")).to_have_count(0)
        expect(explorer).to_have_count(0)
    done = [sys.executable, "-m", "nbconvert", "--to", "html", "--template", "basic", "live.ipynb"]
    environment = {**os.environ, "HOME": str(tmp_path), "JUPYTER_CONFIG_DIR": str(tmp_path / "none")}
    subprocess.run(done, cwd=tmp_path, env=environment, check=True, capture_output=True)
    with contextlib.closing(chromium.new_context(offline=True)) as context:
        page = context.new_page()
        page.set_content((tmp_path / "live.html").read_text(encoding="utf-8"))
        _is_the_last_picture(page.locator(".s2b-twin").first)


def _a_restart_is_seen_without_a_touch(lab: Lab, figures: list[Locator]) -> None:
    lab.page.evaluate(f"{KERNEL}.restart()")
    for figure in figures:
        expect(figure).to_have_attribute("data-mode", "dead", timeout=30 * SECONDS)
        expect(figure.locator(".s2b-badge")).to_have_text("Python does not answer")


def _is_the_last_picture(picture: Locator) -> None:
    expect(picture).to_be_visible()
    expect(picture.locator(".s2b-settings")).to_contain_text("Window width: 4 sentences")
    hit = picture.locator("mark.s2b-hit").first
    assert hit.evaluate("mark => getComputedStyle(mark).borderBottomWidth") == "3px", "it has its style with it"


def test_a_chapter_is_live_within_ten_seconds_where_the_book_has_been_built(chromium: Browser, tmp_path: Path) -> None:
    command = subprocess.run(["make", "--dry-run", "lab"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert f'S2B_EMBEDDING_CACHE="${{S2B_EMBEDDING_CACHE:-{CACHE}}}"' in command, "make lab uses the book's vectors"
    assert (CACHE / "embeddings.sqlite3").is_file(), "the book has to be built first: make site"
    chapter = nbformat.read(ROOT / "book/05-step-back.ipynb", as_version=4)
    first = next(i for i, cell in enumerate(chapter.cells) if cell.source.startswith("explore("))
    chapter.cells = chapter.cells[: first + 1]
    copy = shutil.copytree(CACHE, tmp_path / "embeddings")  # a test changes nothing that was built
    with run_in_lab(chromium, tmp_path, chapter, S2B_EMBEDDING_CACHE=str(copy)) as lab:
        live(lab, "back")
        assert time.monotonic() - lab.began < 10


def test_a_chapter_of_the_book_answers_a_question_of_ones_own(chromium: Browser, tmp_path: Path) -> None:
    chapter = nbformat.read(ROOT / "book/intro.ipynb", as_version=4)
    with run_in_lab(chromium, tmp_path, chapter) as lab:
        explorer = live(lab, "small to big")
        before = shown(explorer)
        explorer.locator(".s2b-own").fill("Who pays for the minibar?")
        lab.page.keyboard.press("Enter")
        expect(explorer).to_have_attribute("data-position", re.compile("own"), timeout=60 * SECONDS)
        assert "minibar" in explorer.locator(".s2b-text mark.s2b-hit").inner_text()
        assert shown(explorer) != before
        expect(explorer.locator(".s2b-badge")).to_have_text("live Python")


def test_a_typed_question_is_rewritten_by_the_configured_model(
    chromium: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chapter = nbformat.read(ROOT / "book/05-step-back.ipynb", as_version=4)
    figure = next(i for i, cell in enumerate(chapter.cells) if cell.source.startswith("explore("))
    chapter.cells = chapter.cells[: figure + 1]
    without_settings(monkeypatch)
    with ChatServer(lambda prompt, system: "What animals did Einstein keep?") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.address)
        monkeypatch.setenv("OPENAI_MODEL", "stand-in")
        with run_in_lab(chromium, tmp_path, chapter) as lab:
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
