"""From a moved control to the redrawn figure, on the pages of the built book in headless Chromium."""

import functools
import http.server
import os
import shutil
import threading
from collections.abc import Sequence
from pathlib import Path
from statistics import median, quantiles

from playwright.sync_api import Locator, Page, sync_playwright

from .report import Result, Row, Target

BOOK = Path(__file__).resolve().parents[1] / "_build" / "html"
_MOVES = """async figure => {
  const spent = [];
  for (const control of figure.querySelectorAll('.s2b-control input:not(.s2b-own), .s2b-control select')) {
    const start = control.type === 'checkbox' ? control.checked : control.value;
    const values = control.type === 'range' ? [...Array(+control.max + 1).keys()]
      : control.type === 'checkbox' ? [!start] : [...control.options].map(option => option.value);
    for (const value of [...values, start]) {
      if (String(value) === String(control.type === 'checkbox' ? control.checked : control.value)) continue;
      if (control.type === 'checkbox') control.checked = value; else control.value = value;
      const before = figure.dataset.position;
      delete figure.dataset.figureMs;
      control.dispatchEvent(new Event('input', { bubbles: true }));
      control.dispatchEvent(new Event('change', { bubbles: true }));
      const patience = performance.now() + 2000;
      while (figure.dataset.position === before && performance.now() < patience)
        await new Promise(done => setTimeout(done, 5));
      const what = control.type === 'select-one' ? 'language or question' : 'slider or switch';
      if (figure.dataset.figureMs !== undefined) spent.push([what, +figure.dataset.textMs, +figure.dataset.figureMs]);
      await new Promise(done => setTimeout(done, 30));
    }
  }
  return spent;
}"""


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


def run(book: Path = BOOK) -> Result:
    """Move every control of every figure through all its values, and take the 95th percentiles.

    The targets are about sliders and switches, which are dragged; a new language or question brings a new text.
    """
    if not (book / "index.html").is_file():
        raise SystemExit(f"{book.name} holds no built book: run `make site` first")
    spent = _visited(book)
    groups = {what: [move[1:] for move in spent if move[0] == what] for what in sorted({move[0] for move in spent})}
    texts, maps = zip(*groups["slider or switch"], strict=True)
    targets = (
        Target("ms from a slider to the text, 95th percentile", "<= 50", _late(texts)),
        Target("ms from a slider to the map, 95th percentile", "<= 150", _late(maps)),
    )
    rows = tuple(row for what, moves in groups.items() for row in _rows(what, moves))
    how = f"{len(spent)} moves; from the input event to the painted frame"
    return Result("redraw", "Slider to redraw", "ms", "lower", how, rows, targets, ("plotly", "playwright"))


def _visited(book: Path) -> list[tuple[str, float, float]]:
    handler = functools.partial(_Quiet, directory=str(book))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, ("chromium", "google-chrome"))))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        chapters = sorted((book / "book").glob("*.html"))
        address = f"http://127.0.0.1:{server.server_port}/book"
        spent = [move for chapter in chapters for move in _moved(page, f"{address}/{chapter.name}")]
        browser.close()
    server.shutdown()
    return spent


def _moved(page: Page, address: str) -> list[tuple[str, float, float]]:
    page.goto(address)
    return [tuple(move) for figure in _figures(page) for move in figure.evaluate(_MOVES)]


def _figures(page: Page) -> list[Locator]:
    hosts = page.locator(".s2b-host:has(.s2b-settings)").element_handles()
    for host in hosts:
        host.scroll_into_view_if_needed()
        host.wait_for_selector(".s2b-explorer[data-ready='1']")
    return page.locator(".s2b-explorer[data-ready='1']:has(.s2b-control)").all()


def _rows(name: str, moves: list[tuple[float, float]]) -> list[Row]:
    texts, figures = zip(*moves, strict=True)
    return [
        Row(name, f"{what}, {which}", round(pick(values), 1))
        for what, values in (("text", texts), ("map", figures))
        for which, pick in (("median", median), ("95th percentile", _late))
    ]


def _late(values: Sequence[float]) -> float:
    return round(quantiles(values, n=20)[-1], 1)
