"""The package reads top to bottom: what a module needs stands above it."""

import ast
import sys
from pathlib import Path

import pytest

import s2b_lab

PACKAGE = Path(s2b_lab.__file__).parent
# File order is teaching order; modules of one row are one part and may need each other.
ROWS = [
    *("text", "chunk", "expand", "rank", "corpus", "embed", "store", "index", "llm", "rewrite", "semantic"),
    *("retrieve", "rerank", "answer", "evaluate", "project", "plot", "interact explore widgets", "show"),
    *("levers", "distances", "journey", "effects"),
]
PLACE = {name: place for place, row in enumerate(ROWS) for name in row.split()}
CORE = ("text", "chunk", "expand", "rank")
FILES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def part(path):
    """`widgets` for everything in that folder, else the module's own name."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imports(path):
    """Every imported module by its full name, also those inside functions and for type checking."""
    package = ["s2b_lab", *path.relative_to(PACKAGE).parts[:-1]]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            yield from [module] if module.count(".") else (f"{module}.{alias.name}" for alias in node.names)


def needed(path):
    """The package's own parts that a file imports, however it spells it."""
    own = {name.split(".")[1] for name in imports(path) if name.startswith("s2b_lab.")}
    return {name for name in own if name in PLACE or (PACKAGE / f"{name}.py").exists()} - {part(path)}


def test_the_reader_of_imports_sees_every_spelling(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "PACKAGE", tmp_path)
    source = (
        "import s2b_lab.text\nfrom s2b_lab import chunk\nfrom . import rank\ndef f():\n    from .expand import Hit\n"
    )
    (tmp_path / "corpus.py").write_text(source)
    assert needed(tmp_path / "corpus.py") == {"text", "chunk", "rank", "expand"}
    (tmp_path / "widgets").mkdir()
    (tmp_path / "widgets" / "page.py").write_text(
        "from ..interact import Figure\nfrom .. import plot\nfrom . import twin\n"
    )
    assert needed(tmp_path / "widgets" / "page.py") == {"interact", "plot"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_up(path):
    here = part(path)
    assert here in PLACE, f"{here}.py has no row in the table: give it one"
    below = {name for name in needed(path) if PLACE.get(name, len(ROWS)) > PLACE[here]}
    assert not below, f"{here} needs {sorted(below)}, which stand below it"


@pytest.mark.parametrize("name", CORE)
def test_the_core_needs_the_standard_library_alone(name):
    outside = {module.split(".")[0] for module in imports(PACKAGE / f"{name}.py")} - sys.stdlib_module_names
    assert outside <= {"s2b_lab"}
