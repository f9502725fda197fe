"""axe-core on every page of the built book: light at two widths, dark at one, with every disclosure open."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from .chapter import PAGES, Chapter, awake, still
from .conftest import BOOK, ROOT, Visit

AXE = ROOT / "node_modules/axe-core/axe.min.js"
WIDTHS = (1366, 390)
# A theme changes colours alone, at all widths alike: in the dark nothing else is looked at again.
RULES = {"light": {}, "dark": {"runOnly": ["color-contrast"]}}
LOOKS = [*(("light", width) for width in WIDTHS), ("dark", WIDTHS[0])]
RUN = """async rules => (await axe.run(document, { resultTypes: ['violations'], ...rules })).violations
  .map(({ id, impact, nodes }) => ({ id, impact, where: nodes.map(node => node.target.join(' ')).slice(0, 4) }))"""
# The theme makes code that has to be scrolled focusable a moment after the width has changed.
SETTLED = """() => [...document.querySelectorAll('pre')].every(pre =>
  pre.scrollWidth <= pre.clientWidth || pre.tabIndex === 0)"""


OTHERS = sorted(
    path.relative_to(BOOK).as_posix()
    for path in [*BOOK.glob("book/*.html"), *BOOK.glob("[gs]e*.html")]
    if path.stem not in PAGES
)


def violations(page: Page) -> list[str]:
    """What axe finds in each theme at each width; no rule is broken, not even by the theme of the site."""
    assert AXE.is_file(), "axe-core is not there: run `npm ci` (or `make site`) first"
    page.add_script_tag(path=AXE)
    page.evaluate("document.querySelectorAll('.s2b-surface details').forEach(details => { details.open = true; })")
    found = []
    for theme, width in LOOKS:
        page.evaluate("theme => { document.documentElement.dataset.theme = theme; }", theme)
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate("scrollTo(0, 0)")
        page.wait_for_function(SETTLED, timeout=30_000)
        still(page)
        found += [f"{theme}, {width}: {one}" for one in page.evaluate(RUN, RULES[theme])]
    return found


def test_axe_finds_nothing_wrong_with_a_chapter(chapter: Chapter) -> None:
    assert violations(chapter.page) == []


@pytest.mark.parametrize("name", OTHERS)
def test_axe_finds_nothing_wrong_with_any_other_page(visit: Callable[..., Visit], book: str, name: str) -> None:
    page = visit(book).open(name)
    for host in page.locator(".s2b-host").all():
        awake(host)
    assert violations(page) == []


def test_the_book_has_all_kinds_of_pages() -> None:
    assert {"book/functions.html", "genindex.html", "search.html"} <= {*OTHERS}
    assert all((BOOK / f"book/{name}.html").is_file() for name in PAGES)
