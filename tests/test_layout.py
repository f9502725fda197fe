"""The rules of the module map, each read off the imports of the code, those inside functions included."""

import ast
import sys
from pathlib import Path

import pytest

import s2b_lab

PACKAGE = Path(s2b_lab.__file__).parent
BENCHMARKS = PACKAGE.parent / "benchmarks"
LONGEST = 300
# What runs in the page beside the core: the part of the figures that makes frames.
FRAMES = {
    f"figures.{name}"
    for name in (
        "controls",
        "cut_points",
        "cut_tables",
        "data",
        "languages",
        "passages",
        "views",
        "shown",
        "plain",
        "record",
        "page",
        "plot",
        "maps",
        "traces",
        "words",
    )
}


def modules(folder):
    """The files of a package by their names below it: "core.text"; a folder's own file is named as the folder."""
    names = {path: path.relative_to(folder).with_suffix("").parts for path in sorted(folder.rglob("*.py"))}
    return {".".join(parts).removesuffix(".__init__"): path for path, parts in names.items() if parts != ("__init__",)}


def imported(path, folder):
    """Every module that a file imports, wherever and however, by its full name."""
    package = [folder.name, *path.relative_to(folder).parts[:-1]] if path.is_relative_to(folder) else []
    tree = ast.parse(path.read_text(encoding="utf-8"))
    called = {folder.name}  # by what names the package itself is at hand
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
            called |= {alias.asname for alias in node.names if alias.name == folder.name and alias.asname}
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            # `from . import plot` names a module, `from .plot import bars` a part of one.
            yield from (f"{module}.{alias.name}" for alias in node.names)
            yield from [module] * (module != folder.name)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in called:
            yield f"{folder.name}.{node.attr}"  # `s2b.Index` is where `Index` is
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
            yield from (argument.value for argument in node.args if isinstance(argument, ast.Constant))


def exported(folder):
    """The home of each name that a package exports, as the mapping of its `__init__` says it."""
    root = folder / "__init__.py"
    for node in ast.parse(root.read_text(encoding="utf-8")).body if root.exists() else []:
        if isinstance(node, ast.Assign) and node.targets[0].id == "_EXPORTS":
            return {name: home for home, names in ast.literal_eval(node.value).items() for name in names}
    return {}


def own(path, folder):
    """The package's modules that a file imports, "" for the package as a whole."""
    known, homes = modules(folder), exported(folder)
    names = {
        name.removeprefix(f"{folder.name}.")
        for name in imported(path, folder)
        if f"{name}.".startswith(f"{folder.name}.")
    }
    whole = {""} if folder.name in names and path.is_relative_to(folder) else set()
    return whole | {found for name in names if known.get(found := homes.get(name, name), path) != path}


def outside(path, folder):
    """What a file imports beside its package and the standard library."""
    return {name.split(".")[0] for name in imported(path, folder)} - sys.stdlib_module_names - {folder.name}


def circle(needs):
    """A list of modules each of which needs the next and the last the first; [] where there is none."""
    done, path = set(), []

    def walk(name):
        if name in path:
            return path[path.index(name) :]
        if name in done:
            return []
        path.append(name)
        found = next(filter(None, map(walk, sorted(needs.get(name, ())))), [])
        path.pop()
        done.add(name)
        return found

    return next(filter(None, map(walk, sorted(needs))), [])


def needs(folder):
    return {name: own(path, folder) for name, path in modules(folder).items()}


def part(name):
    """The floor that a module stands on: core, figures, chapters, or the flat middle."""
    return name.split(".")[0] if name.split(".")[0] in ("core", "figures", "chapters") else "middle"


@pytest.fixture
def house(tmp_path):
    """A package of given files, to break a rule in."""

    def build(**files):
        folder = tmp_path / "house"
        for name, source in files.items():
            path = folder / f"{name if name.startswith('__') else name.replace('__', '/')}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(source)
        return folder

    return build


def test_the_reader_of_imports_sees_every_spelling(house):
    source = (
        "import house.text\nfrom house import chunk\nfrom . import rank\n"
        "def f():\n    from .expand import Hit\n    from .figures import page\n"
    )
    folder = house(corpus=source, text="", chunk="", rank="", expand="", figures__page="from .. import rank")
    assert own(folder / "corpus.py", folder) == {"text", "chunk", "rank", "expand", "figures.page"}
    assert own(folder / "figures/page.py", folder) == {"rank"}
    hidden = (
        "import os, numpy as np, importlib\ndef f():\n    import torch.nn\n    importlib.import_module('plotly.io')"
    )
    assert outside(house(x=hidden) / "x.py", folder) == {"numpy", "torch", "plotly"}


@pytest.mark.parametrize(
    "line",
    [
        "from house import Index",
        "from .. import Index",
        "import house\n    house.Index",
        "import house as h\n    h.Index",
        "from house.index import Index",
    ],
)
def test_a_name_that_the_package_exports_leads_to_its_home(house, line):
    exports = '_EXPORTS = {"index": ("Index",)}'
    folder = house(__init__=exports, index="from .core.hits import Hit", core__hits=f"def f():\n    {line}")
    assert "index" in own(folder / "core/hits.py", folder)
    assert circle(needs(folder)) == ["core.hits", "index"]


def test_a_circle_made_on_purpose_inside_a_function_is_found(house):
    folder = house(a="from . import b", b="from .sub.c import x", sub__c="def f():\n    from ..a import y")
    assert circle(needs(folder)) == ["a", "b", "sub.c"]
    assert circle(needs(house(sub__c="x = 1"))) == []


def test_no_module_needs_itself_by_way_of_others():
    assert circle(needs(PACKAGE)) == []


@pytest.mark.parametrize("name", modules(PACKAGE))
def test_no_module_imports_the_package_as_a_whole(name):
    assert "" not in own(modules(PACKAGE)[name], PACKAGE)


@pytest.mark.parametrize("name", [name for name in modules(PACKAGE) if part(name) == "core"])
def test_the_core_needs_the_standard_library_and_itself_alone(name):
    path = modules(PACKAGE)[name]
    assert outside(path, PACKAGE) == set()
    assert {part(other) for other in own(path, PACKAGE)} <= {"core"}


@pytest.mark.parametrize("name", sorted(FRAMES))
def test_what_makes_frames_needs_the_standard_library_the_core_and_itself_alone(name):
    path = modules(PACKAGE)[name]
    assert outside(path, PACKAGE) == set()
    assert {other for other in own(path, PACKAGE) if part(other) != "core"} <= FRAMES | {"figures"}


@pytest.mark.parametrize("name", [name for name in modules(PACKAGE) if name.startswith("chunkers")])
def test_chunkers_need_the_core_numpy_and_what_a_model_is_but_no_model(name):
    path = modules(PACKAGE)[name]
    assert outside(path, PACKAGE) <= {"numpy"}
    others = {other for other in own(path, PACKAGE) if part(other) != "core" and not other.startswith("chunkers")}
    assert others <= {"llm", "embed"}


@pytest.mark.parametrize("name", [name for name in modules(PACKAGE) if part(name) == "figures"])
def test_figures_know_no_chapter_index_or_model(name):
    assert {part(other) for other in own(modules(PACKAGE)[name], PACKAGE)} <= {"core", "figures"}


@pytest.mark.parametrize("name", [name for name in modules(PACKAGE) if part(name) != "chapters"])
def test_chapters_stand_on_top(name):
    assert not [other for other in own(modules(PACKAGE)[name], PACKAGE) if part(other) == "chapters"]


@pytest.mark.parametrize("path", sorted(BENCHMARKS.rglob("*.py")), ids=lambda path: path.stem)
def test_benchmarks_measure_without_figures_and_chapters(path):
    assert not [name for name in own(path, PACKAGE) if part(name) in ("figures", "chapters")]


def test_a_module_is_short_enough_to_read():
    files = [path for pattern in ("*.py", "*.js") for path in PACKAGE.rglob(pattern)]
    long = {path.name: lines for path in files if (lines := len(path.read_text("utf-8").splitlines())) > LONGEST}
    assert not long, f"split these: {long}"


def test_no_name_has_two_meanings():
    homes = {}
    for name, path in modules(PACKAGE).items():
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(name)
    assert {name: found for name, found in homes.items() if len(found) > 1} == {}


def test_no_public_function_can_be_hidden_by_its_module():
    hidden = {name for name in s2b_lab.__all__ if (PACKAGE / f"{name}.py").exists() or (PACKAGE / name).is_dir()}
    assert not hidden, f"importing these modules would replace the functions: {hidden}"
