"""The functions that the chapters define, so that tests run what readers read."""

import ast
import json
import types
from pathlib import Path

import pytest
from chat_server import without_settings

import s2b_lab as s2b

BOOK = Path(__file__).resolve().parents[2] / "book"


def code_cells(path):
    """The code cells of a notebook, as text; the cell that installs the package on Colab is none of them."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    return ["".join(cell["source"]) for cell in code if "remove-cell" not in cell["metadata"].get("tags", [])]


def wanted(statement, names):
    """Whether a statement only defines something, or gives one of these names or a CONSTANT its value."""
    if isinstance(statement, ast.Assign):
        targets = [target.id for target in statement.targets if isinstance(target, ast.Name)]
        return any(name in names or name.isupper() for name in targets)
    return isinstance(statement, (ast.Import, ast.ImportFrom, ast.FunctionDef))


@pytest.fixture
def chapter(monkeypatch):
    """chapter("05-step-back", "found") gives the chapter's functions, CONSTANTS and `found`, freshly defined."""
    monkeypatch.chdir(BOOK)

    def get(stem, *names):
        (path,) = BOOK.glob(f"{stem}*.ipynb")
        module = types.ModuleType(path.stem)
        for cell in code_cells(path):
            tree = ast.parse(cell)
            tree.body = [statement for statement in tree.body if wanted(statement, names)]
            exec(compile(tree, str(path), "exec"), module.__dict__)
        return module

    return get


@pytest.fixture
def quick(monkeypatch):
    """A model that needs no time, for the chapter's functions; no other model is configured."""
    model = s2b.HashEmbedder()
    monkeypatch.setattr(s2b, "embedder", lambda name: model)
    without_settings(monkeypatch)
    return model
