"""The widget as one module, since anywidget loads it from an address that has nothing beside it."""

from __future__ import annotations

import re
from pathlib import Path

# What is imported stands before what imports it.
MODULES = ("element", "sight", "chart", "cuts", "draw", "controls", "speech", "picture", "kernel", "saved", "widget")
_RELATIVE = re.compile(r'^import \{ \w+(?:, \w+)* \} from "\./\w+\.js";\n', re.MULTILINE)


def joined() -> str:
    """The JavaScript modules of a figure in one text, without the lines in which they import each other.

    Lines of one form are left out, `import { a, b } from "./c.js";`, since no name changes in them.
    """
    folder = Path(__file__).parent
    texts = [(folder / f"{name}.js").read_text(encoding="utf-8") for name in MODULES]
    return "\n".join(_RELATIVE.sub("", text) for text in texts)
