"""The reference of functions: a line `% functions core.text corpus` of a page gives way to the modules' docstrings."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

import s2b_lab

_QUOTED = re.compile(r'`[^`]+`|("[^"\s]+")')
_LINE = re.compile(r"^% functions ([\w. ]+)$", re.MULTILINE)


def fill(app: Sphinx, docname: str, source: list[str]) -> None:
    """Fill a page that has such lines; ExtensionError unless they name every module with public names once."""
    source[0] = filled(source[0], docname)


def filled(text: str, docname: str, exports: dict[str, tuple[str, ...]] = s2b_lab._EXPORTS) -> str:
    """The page with directives of autodoc for every public name, in the order of the package's own list."""
    named = [module for line in _LINE.findall(text) for module in line.split()]
    if named and sorted(named) != sorted(exports):
        wrong = {*named} ^ {*exports} or {module for module in named if named.count(module) > 1}
        raise ExtensionError(f"{docname} must name each module with public names once; wrong are {sorted(wrong)}")
    return _LINE.sub(lambda line: _block([name for module in line[1].split() for name in exports[module]]), text)


def _block(names: list[str]) -> str:
    directives = (_directive(name, getattr(s2b_lab, name)) for name in names)
    return "\n".join(["```{eval-rst}", *directives, "```"])


def _directive(name: str, thing: type | Callable) -> str:
    if not inspect.isclass(thing):
        return f".. autofunction:: s2b_lab.{name}\n"
    kind = "exception" if issubclass(thing, BaseException) else "class"
    return f".. auto{kind}:: s2b_lab.{name}\n   :members:\n"


def quoted(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Show a value in quotation marks, such as "few-shot", as code: a page's quotation marks are not Python's."""
    lines[:] = [_QUOTED.sub(lambda found: rf"\ ``{found[1]}``\ " if found[1] else found[0], line) for line in lines]


def plain(app: Sphinx, what: str, name: str, thing: Any, *_: object) -> tuple[str, None] | None:
    """Leave out the parentheses of a protocol, which nobody calls."""
    return ("", None) if getattr(thing, "_is_protocol", False) else None


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension, after autodoc, whose directives the page gets."""
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("source-read", fill)
    app.connect("autodoc-process-docstring", quoted)
    app.connect("autodoc-process-signature", plain)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
