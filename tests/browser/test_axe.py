"""axe-core on every page of the built book: light at two widths, dark at one, with every disclosure open."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from .conftest import ROOT, Visit, serving
from .test_book import BOOK

AXE = ROOT / "node_modules/axe-core/axe.min.js"
WIDTHS = (1366, 390)
# Rules that the theme breaks and that nothing of ours can mend, with the reason why; none that is no longer broken.
ALLOWED: dict[str, str] = {}
# A theme changes colours alone, at all widths alike: in the dark nothing else is looked at again.
RULES = {"light": {}, "dark": {"runOnly": ["color-contrast"]}}
LOOKS = [*(("light", width) for width in WIDTHS), ("dark", WIDTHS[0])]
RUN = """async rules => (await axe.run(document, { resultTypes: ['violations'], ...rules })).violations
  .map(({ id, impact, nodes }) => ({ id, impact, where: nodes.map(node => node.target.join(' ')).slice(0, 4) }))"""
# The theme makes code that has to be scrolled focusable a moment after the width has changed.
SETTLED = """() => [...document.querySelectorAll('pre')].every(pre =>
  pre.scrollWidth <= pre.clientWidth || pre.tabIndex === 0)"""


def pages() -> list[str]:
    """The pages of the book, those of the search and the index with them."""
    return [
        path.relative_to(BOOK).as_posix() for path in sorted([*BOOK.glob("book/*.html"), *BOOK.glob("[gs]e*.html")])
    ]


def wake(page: Page) -> None:
    """Bring all figures of a page to life, and open whatever can be opened."""
    for host in page.locator(".s2b-host").all():
        host.scroll_into_view_if_needed()
        expect(host.locator(".s2b-explorer")).to_have_attribute("data-ready", "1", timeout=20_000)
    page.evaluate("document.querySelectorAll('.s2b-surface details').forEach(details => { details.open = true; })")


def violations(page: Page, theme: str, width: int) -> list[dict]:
    page.evaluate("theme => { document.documentElement.dataset.theme = theme; }", theme)
    page.set_viewport_size({"width": width, "height": 900})
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_function(SETTLED)
    page.wait_for_timeout(300)  # colours change slowly in the theme
    return page.evaluate(RUN, RULES[theme])


def test_axe_finds_nothing_wrong_with_any_page(visit: Callable[..., Visit]) -> None:
    assert AXE.is_file(), "axe-core is not there: run `npm ci` (or `make site`) first"
    found = defaultdict(list)
    with serving(BOOK) as site:
        for name in pages():
            page = visit(site).open(name)
            wake(page)
            page.add_script_tag(path=AXE)
            for theme, width in LOOKS:
                for one in violations(page, theme, width):
                    found[one["id"]].append(f"{name}, {theme}, {width}: {one['impact']} at {one['where']}")
            page.close()
    assert {rule: places[:8] for rule, places in found.items() if rule not in ALLOWED} == {}
    assert sorted(ALLOWED) == sorted(rule for rule in found if rule in ALLOWED), "no longer needed"


def test_the_book_has_all_kinds_of_pages() -> None:
    assert {"book/01-one-size.html", "book/functions.html", "genindex.html", "search.html"} <= {*pages()}
    assert len(pages()) >= 12 and all(Path(BOOK / name).is_file() for name in pages())
