"""The notebooks of the book: clean, thin, as wide as a page, with figures whose functions show their method."""

import ast
import json
from pathlib import Path

import pytest

BOOK = Path(__file__).resolve().parents[2] / "book"
CHAPTERS = sorted(BOOK.glob("*.ipynb"))
WIDEST = 80
# What figures are about, which a method needs to begin with; everything else in chapters/ draws.
MATERIAL = {"texts", "evidence"}

every_chapter = pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)


def cells_of(path, kind="code"):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == kind]


def sources(path):
    """The code of a chapter without the cell that installs the package on Colab, whose lines are not all Python."""
    shown = [cell for cell in cells_of(path) if "remove-cell" not in cell["metadata"].get("tags", [])]
    return ["".join(cell["source"]) for cell in shown]


@every_chapter
def test_a_chapter_is_clean_and_thin(path):
    text = path.read_text(encoding="utf-8")
    notebook = json.loads(text)
    assert text == json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
    assert set(notebook["metadata"]) == {"kernelspec", "language_info"}
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    for cell in cells_of(path):
        assert cell["outputs"] == [] and cell["execution_count"] is None
        assert len(cell["source"]) <= 7, "".join(cell["source"])
    assert sum(len(cell["source"]) for cell in cells_of(path)) <= 90


@every_chapter
def test_no_line_of_code_is_cut_off_at_the_edge_of_the_page(path):
    lines = [line for cell in cells_of(path) for line in "".join(cell["source"]).splitlines()]
    assert not [line for line in lines if len(line) > WIDEST]


# --- a figure's function shows the method ---


def functions(cells):
    """The functions that a chapter defines, by their names."""
    nodes = [node for cell in cells for node in ast.parse(cell).body]
    return {node.name: node for node in nodes if isinstance(node, ast.FunctionDef)}


def explored(cells):
    """The names of the functions that figures are made of."""
    for cell in cells:
        for node in ast.walk(ast.parse(cell)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "explore":
                yield node.args[0].id


def drawing(cells):
    """The names under which a chapter has what draws: modules of chapters/, or functions of theirs."""
    for node in (node for cell in cells for node in ast.walk(ast.parse(cell))):
        module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
        if f"{module}.".startswith("s2b_lab.chapters.") and module.split(".")[-1] not in MATERIAL:
            yield from (alias.asname or alias.name for alias in node.names if alias.name not in MATERIAL)


def draws(statement, names):
    """Whether a statement calls one of these names, or a function of one of these modules."""
    calls = [node.func for node in ast.walk(statement) if isinstance(node, ast.Call)]
    called = [call.value if isinstance(call, ast.Attribute) else call for call in calls]
    return any(isinstance(one, ast.Name) and one.id in names for one in called)


def faults(cells):
    """What keeps the figures of a chapter from showing their method."""
    known, names = functions(cells), set(drawing(cells))
    for name in explored(cells):
        if name not in known:
            yield f"{name} is no function of the chapter"
            continue
        *method, last = known[name].body
        if not isinstance(last, ast.Return) or len(method) < 2:
            yield f"{name} has {len(method)} statements before it returns views"
        if any(draws(statement, names) for statement in method):
            yield f"{name} draws before its last statement"


@every_chapter
def test_a_figure_is_a_function_of_the_chapter_that_computes_and_then_draws(path):
    cells = sources(path)
    calls = [cell for cell in cells if cell.startswith("explore(")]
    assert calls and len(calls) == len(list(explored(cells))), "a figure has a cell of its own"
    assert not list(faults(cells))


def test_a_function_that_hides_its_method_is_found():
    imported = "from s2b_lab.chapters import hyde, texts"
    call = "explore(f, k=1)"
    assert "no function" in next(faults([imported, call]))
    forwards = "def f(k):\n    return hyde.views(k)"
    assert "0 statements" in next(faults([imported, forwards, call]))
    early = "def f(k):\n    a = texts.examples_of(k)\n    b = hyde.views(a)\n    return b"
    assert "draws before" in next(faults([imported, early, call]))
    renamed = [early.replace("hyde", "h"), call, "from s2b_lab.chapters import hyde as h"]
    assert "draws before" in next(faults(renamed))
    taken = [early.replace("hyde.views", "views"), call, "from s2b_lab.chapters.hyde import views"]
    assert "draws before" in next(faults(taken))
    shown = "def f(k):\n    a = texts.examples_of(k)\n    b = sorted(a)\n    return hyde.views(b)"
    assert not list(faults([imported, shown, call]))
