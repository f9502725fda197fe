"""The theme's icons: each that a page shows is in the small fonts, and none of the thousands of others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from extensions import extension
from fontTools.ttLib import TTFont

from .conftest import Visit

FONTS = "_static/vendor/fontawesome/webfonts"
FILES = {"Font Awesome 6 Brands 400": "fa-brands-400", "Font Awesome 6 Free 400": "fa-regular-400"}
FILES["Font Awesome 6 Free 900"] = "fa-solid-900"
# Family with weight, and character, of whatever an icon font draws before or after an element, once each.
ICONS = r"""[...new Set([...document.querySelectorAll('*')].flatMap(e => ['::before', '::after'].map(side => {
  const { content, fontFamily, fontWeight } = getComputedStyle(e, side);
  const icon = content.match(/[\ue000-\uf8ff]/)?.[0];
  return icon && `${fontFamily.split(',')[0].replaceAll('"', '')} ${fontWeight}|${icon}`;
})).filter(Boolean))]"""


@pytest.fixture(scope="module")
def icons_of() -> Callable[..., set[int]]:
    return extension("s2b_icons").icons_of


def test_icons_are_those_of_names_in_use_and_of_all_other_rules(icons_of: Callable[..., set[int]]) -> None:
    style = (
        '.fa-bars:before,.fa-navicon:before{content:"\\f0c9"}.fa-ghost:before{content:"\\f6e2"}.fa-lg{font-size:2em}'
        ':root{--pst-icon-bell:"\uf0f3"}@media print{.toggle::after{content:"\\f107"}}.quote{content:"\\201c"}'
    )
    assert icons_of([style], {"fa-navicon", "fa-lg"}) == {0xF0C9, 0xF0F3, 0xF107}
    assert icons_of([style, '.fa-ghost:before{content:"\\e000"}'], {"fa-ghost"}) == {0xF6E2, 0xE000, 0xF0F3, 0xF107}


@pytest.mark.parametrize("name", ["book/traces.html", "book/speed.html", "search.html", "genindex.html"])
def test_every_icon_of_a_page_is_in_its_font(visit: Callable[..., Visit], site: str, minibook: Path, name: str) -> None:
    shown = visit(site).open(name).evaluate(ICONS)
    assert len(shown) > 8
    for icon in shown:
        family, character = icon.split("|")
        assert ord(character) in TTFont(minibook / FONTS / f"{FILES[family]}.woff2").getBestCmap(), icon


def test_the_fonts_are_small(minibook: Path) -> None:
    fonts = list((minibook / FONTS).glob("*.woff2"))
    assert len(fonts) == 3 and sum(font.stat().st_size for font in fonts) < 10_000
