"""A headless browser and a server of static files for the tests that look at pages."""

from __future__ import annotations

import contextlib
import functools
import http.server
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    Response,
    expect,
    sync_playwright,
)

from .chapter import PAGES, Chapter, Plain, Step, walked

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "_build" / "html"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-component-update",
]  # fmt: skip
DESK, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
# On a machine that does much else a page may take long to do what it does at once.
expect.set_options(timeout=30_000)
BUILD = ["-c", "from jupyter_book.cli.main import main; main()", "build", ".", "-W", "--keep-going"]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """A headless Chromium: the one CHROMIUM names, or the first found on the path."""
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    assert found, f"no browser: none of {', '.join(NAMES)} is on the path and CHROMIUM is not set"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
        yield browser
        browser.close()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


class _Below(_Quiet):
    # As on a project page of a host: the site is not at the root, and nothing else answers.
    prefix = ""

    def translate_path(self, path: str) -> str:
        if not path.startswith(f"{self.prefix}/"):
            return os.path.join(self.directory, "no such file")
        return super().translate_path(path.removeprefix(self.prefix))


@contextlib.contextmanager
def serving(folder: Path, prefix: str = "") -> Iterator[str]:
    """Serve a folder's files on a free port of this machine, at `prefix`; gives the address without a last slash."""
    handler = type("Handler", (_Below,), {"prefix": prefix})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(handler, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}{prefix}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass
class Visit:
    """A page and everything that went wrong or was asked for on it."""

    page: Page
    site: str
    faults: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        self.page.on("request", self._request)
        self.page.on("requestfailed", self._failed)
        self.page.on("response", self._response)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.faults.append(f"console {message.type}: {message.text}")

    def _request(self, request: Request) -> None:
        self.requests.append(request.url)
        if not request.url.startswith((self.site, "blob:", "data:")):
            self.faults.append(f"off-host: {request.url}")

    def _failed(self, request: Request) -> None:
        # Aborted is what a page left early, or a script preloaded for a browser without scripts, is called.
        if request.failure not in ("net::ERR_ABORTED", "csp"):
            self.faults.append(f"failed ({request.failure}): {request.url}")

    def _response(self, response: Response) -> None:
        if response.status >= 400:
            self.faults.append(f"{response.status}: {response.url}")

    def open(self, path: str) -> Page:
        self.page.goto(f"{self.site}/{path}")
        return self.page


def _context(chromium: Browser, size: dict[str, int], theme: str, script: bool = True) -> BrowserContext:
    context = chromium.new_context(viewport=size, java_script_enabled=script)
    context.add_init_script(f"localStorage.setItem('mode', '{theme}'); localStorage.setItem('theme', '{theme}')")
    return context


@pytest.fixture
def visit(chromium: Browser) -> Iterator[Callable[..., Visit]]:
    """Open pages of a site: visit(address, width=1280, theme="light", script=True).

    The test fails if a page asked another host for anything, missed a file or logged an error.
    """
    opened: list[tuple[BrowserContext, Visit]] = []

    def start(site: str, width: int = 1280, theme: str = "light", script: bool = True) -> Visit:
        context = _context(chromium, {"width": width, "height": 900}, theme, script)
        opened.append((context, Visit(context.new_page(), site)))
        return opened[-1][1]

    yield start
    for context, _ in opened:
        context.close()
    assert [fault for _, one in opened for fault in one.faults] == []


def build_book(folder: Path, *chapters: str) -> subprocess.CompletedProcess[str]:
    """Build a book of the notebooks in a folder's `book`, intro.ipynb first, configured as the real one is."""
    shutil.copytree(ROOT / "book/_static", folder / "book/_static")
    for name in ("_config.yml", "book/references.bib"):
        shutil.copy(ROOT / name, folder / name)
    (folder / "_ext").symlink_to(ROOT / "_ext")
    listed = "".join(f"- file: book/{chapter}\n" for chapter in chapters)
    (folder / "_toc.yml").write_text("format: jb-book\nroot: book/intro\n" + (listed and f"chapters:\n{listed}"))
    environment = {key: value for key, value in os.environ.items() if not key.startswith("S2B_")}
    return subprocess.run([sys.executable, *BUILD], cwd=folder, capture_output=True, text=True, env=environment)


@pytest.fixture(scope="session")
def minibook(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The HTML of a small book of four notebooks."""
    folder = tmp_path_factory.mktemp("minibook")
    shutil.copytree(ROOT / "tests/browser/minibook", folder / "book")
    done = build_book(folder, "speed", "traces", "voices")
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "_build/html"


@pytest.fixture(scope="session")
def site(minibook: Path) -> Iterator[str]:
    """The address of the small book."""
    with serving(minibook) as address:
        yield address


@pytest.fixture(scope="session")
def book() -> Iterator[str]:
    """The address of the built book, below a path of its own as on a project page."""
    assert (BOOK / "index.html").is_file(), "the book is not built: run `make site` first (`make test` does)"
    with serving(BOOK, "/small-to-big-lab") as address:
        yield address


# ---------------------------------------------------------------- chapters that many tests look at in turn


def _alive(chromium: Browser, site: str, name: str, size: dict[str, int], theme: str) -> Iterator[Chapter]:
    with contextlib.closing(_context(chromium, size, theme)) as context:
        chapter = Chapter(name, Visit(context.new_page(), site), size)
        chapter.wake()
        yield chapter


@pytest.fixture(scope="session", params=PAGES)
def at_desk(request: pytest.FixtureRequest, chromium: Browser, book: str) -> Iterator[Chapter]:
    """Each chapter in turn, visited once for all tests that ask for `chapter` or `walk`."""
    yield from _alive(chromium, book, request.param, DESK, "light")


@pytest.fixture(scope="session", params=PAGES)
def at_phone(request: pytest.FixtureRequest, chromium: Browser, book: str) -> Iterator[Chapter]:
    yield from _alive(chromium, book, request.param, PHONE, "dark")


@pytest.fixture(scope="session", params=PAGES)
def without_scripts(request: pytest.FixtureRequest, chromium: Browser, book: str) -> Iterator[tuple[str, Visit]]:
    with contextlib.closing(_context(chromium, DESK, "light", script=False)) as context:
        seen = Visit(context.new_page(), book)
        seen.open(f"book/{request.param}.html")
        yield request.param, seen


@pytest.fixture
def plain(without_scripts: tuple[str, Visit]) -> Iterator[Plain]:
    """A chapter in a browser without scripts."""
    name, seen = without_scripts
    yield Plain(name, seen.page)
    assert seen.faults == []


@pytest.fixture
def chapter(at_desk: Chapter) -> Iterator[Chapter]:
    """A chapter on a desk, light, as it is at first; the test fails if anything went wrong on its page meanwhile."""
    with at_desk.lent():
        yield at_desk


@pytest.fixture
def phone(at_phone: Chapter) -> Iterator[Chapter]:
    """A chapter on a phone, dark, as it is at first."""
    with at_phone.lent():
        yield at_phone


@pytest.fixture(scope="session")
def walk(at_desk: Chapter) -> list[list[Step]]:
    """Of each figure of the chapter every value of every control, gone through once for all who look at them."""
    with at_desk.lent():
        return [walked(figure) for figure in at_desk.figures]
