"""The theme's icon fonts with the icons that the site shows: a few of thousands, a hundredth of the bytes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pydata_sphinx_theme
from sphinx.application import Sphinx

FONTS = Path(pydata_sphinx_theme.__file__).parent / "theme/pydata_sphinx_theme/static/vendor/fontawesome/webfonts"
_NAME = re.compile(r"\bfa-[a-z0-9]+(?:-[a-z0-9]+)*")
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
# Fonts have icons where Unicode has no characters; a style sheet holds them as they are or as \f107.
_ICON = re.compile(r"\\([ef][0-9a-f]{3})|([\ue000-\uf8ff])")


def icons_of(styles: Iterable[str], names: set[str]) -> set[int]:
    """The characters of the icons with these names, and of all that a style sheet shows by another rule."""
    found = set()
    for selectors, body in (rule for style in styles for rule in _RULE.findall(style)):
        named = set(_NAME.findall(selectors))
        if not named or named & names:
            found |= {int(code, 16) if code else ord(plain) for code, plain in _ICON.findall(body)}
    return found


def lighten(app: Sphinx, problem: Exception | None) -> None:
    """Put the small fonts in place of the theme's."""
    if problem is not None or app.builder.format != "html":
        return
    out = Path(app.outdir)
    texts = [path.read_text(encoding="utf-8") for kind in ("*.html", "*.js") for path in out.rglob(kind)]
    names = {name for text in texts for name in _NAME.findall(text)}
    icons = icons_of((path.read_text(encoding="utf-8") for path in out.rglob("*.css")), names)
    for font in FONTS.glob("*.woff2"):
        _subset(font, icons, out / "_static/vendor/fontawesome/webfonts" / font.name)


def _subset(font: Path, icons: set[int], target: Path) -> None:
    from fontTools import subset

    options = subset.Options(flavor="woff2", layout_features=[], notdef_outline=True)
    whole = subset.load_font(str(font), options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=icons)
    subsetter.subset(whole)
    subset.save_font(whole, str(target), options)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension."""
    # After the rest of the site is in its place.
    app.connect("build-finished", lighten, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
