"""Pages that everybody can read: Chinese says that it is Chinese, and what the theme gets wrong in HTML is mended."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config

from s2b_lab.core.characters import language_of
from s2b_lab.figures.languages import CHINESE_RUN

_RUN = re.compile(CHINESE_RUN)
_VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
# A text in there is no text to read, or cannot hold a span.
_CLOSED = {"script", "style", "textarea", "option", "title", "svg"}
_MENDED = [
    # A list has items; the role that the theme gives them is deprecated, and not for a div.
    (re.compile(r'(<div class="citation" id="[^"]*") role="doc-biblioentry"'), r'\1 role="listitem"'),
    # An empty corner of a table is no head.
    (re.compile(r'<th class="[^"]*"><p></p></th>'), "<td></td>"),
    # Parameters stand in a list of definitions that defines nothing, inside a term, where no list may be.
    (re.compile(r"(?<=<span class=\"sig-paren\">\(</span>)\s*<dl>\s*(<dd>.*?)</dl>", re.DOTALL), None),
]


class _Speaking(HTMLParser):
    """Copies HTML, with each run of Chinese that has no language yet in a span that says so."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.parts: list[str] = []
        self._open: list[tuple[str, bool]] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.parts.append(self.get_starttag_text())
        if tag not in _VOID:
            known = tag in _CLOSED or any(name == "lang" for name, _ in attributes)
            self._open.append((tag, known or bool(self._open and self._open[-1][1])))

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.parts.append(self.get_starttag_text())

    def handle_endtag(self, tag: str) -> None:
        self.parts.append(f"</{tag}>")
        if tag in (name for name, _ in self._open):
            while self._open.pop()[0] != tag:
                pass

    def handle_data(self, data: str) -> None:
        known = self._open and self._open[-1][1]
        self.parts.append(data if known else _RUN.sub(r'<span lang="zh">\g<0></span>', data))

    def handle_entityref(self, name: str) -> None:
        self.parts.append(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self.parts.append(f"&#{name};")

    def handle_comment(self, data: str) -> None:
        self.parts.append(f"<!--{data}-->")


def speaking(html: str) -> str:
    """HTML in which every run of Chinese outside of scripts and options has a language."""
    if language_of(html) == "en":
        return html
    parser = _Speaking()
    parser.feed(html)
    parser.close()
    return "".join(parser.parts)


def mended(html: str) -> str:
    """HTML without the mistakes of the theme and of Sphinx that readers of the screen stumble over."""
    for pattern, better in _MENDED:
        html = pattern.sub(better if better is not None else _lines, html)
    return html


def _lines(found: re.Match[str]) -> str:
    lines = found[1].replace("<dd>", '<span class="sig-line">').replace("</dd>", "</span>")
    return f'<span class="sig-lines">{lines}</span>'


def finish_body(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document) -> None:
    """Mend the body of a page before it is put into the theme's frame."""
    if context.get("body"):
        context["body"] = speaking(mended(context["body"]))


def add_templates(app: Sphinx, config: Config) -> None:
    """Put our own templates before those of the theme."""
    config.templates_path.insert(0, str(Path(__file__).resolve().with_name("templates")))


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension, after what else changes a page."""
    app.connect("config-inited", add_templates)
    app.connect("html-page-context", finish_body, priority=950)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
