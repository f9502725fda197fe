"""Two wheels from the same sources: the package, and what of it runs in a page, which needs Python alone.

usage: python _ext/wheels.py FOLDER. Both are imported as `s2b_lab`, so only one of them can be installed.
"""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# The part of the figures that makes frames and imports nothing but the standard library and the core.
FRAMES = (
    "controls", "cut_points", "cut_tables", "data", "languages", "maps", "page", "passages", "plain", "plot", "record",
    "shown", "traces", "views", "words",
)  # fmt: skip
_PROJECT = ("pyproject.toml", "requirements.txt", "README.md", "LICENSE")
_SETTINGS = """[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "s2b-lab-core"
version = {version}
description = "The part of Small-to-Big Lab that runs in a page: its core, and what makes the frames of figures."
license = {license}
license-files = ["LICENSE"]
requires-python = {python}

[tool.setuptools]
packages = ["s2b_lab", "s2b_lab.core", "s2b_lab.figures"]
"""
_INIT = '''"""The part of Small-to-Big Lab that runs in a page: its core, and what makes the frames of figures."""

import importlib

_HOME = {homes}
__all__ = sorted(_HOME)
__version__ = {version}


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(importlib.import_module(f"{{__name__}}.{{_HOME[name]}}"), name)
    raise AttributeError(f"module {{__name__!r}} has no attribute {{name!r}}")
'''


def build(out: Path) -> None:
    """Put both wheels into a folder; CalledProcessError where one cannot be built."""
    for gather in (_whole, _core):
        # Away from the tree: setuptools leaves folders beside its sources, and finds old files in them again.
        with tempfile.TemporaryDirectory() as folder:
            gather(Path(folder))
            command = ["pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-index"]
            command += ["--no-build-isolation", "--wheel-dir", str(out), folder]
            subprocess.run([sys.executable, "-m", *command], check=True)


def _whole(folder: Path) -> None:
    for name in _PROJECT:
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / "s2b_lab", folder / "s2b_lab", ignore=shutil.ignore_patterns("__pycache__"))


def _core(folder: Path) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    version, terms, python = (json.dumps(project[key]) for key in ("version", "license", "requires-python"))
    settings = _SETTINGS.format(version=version, license=terms, python=python)
    (folder / "pyproject.toml").write_text(settings, encoding="utf-8")
    shutil.copy(ROOT / "LICENSE", folder)
    for name in files():
        target = folder / "s2b_lab" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "s2b_lab" / name, target)
    (folder / "s2b_lab/__init__.py").write_text(_INIT.format(homes=_homes(), version=version), encoding="utf-8")


def files() -> list[str]:
    """The files of the package that both wheels have, by their names below it."""
    core = sorted(f"core/{path.name}" for path in (ROOT / "s2b_lab/core").glob("*.py"))
    return [*core, "figures/__init__.py", *(f"figures/{name}.py" for name in FRAMES)]


def _homes() -> dict[str, str]:
    # The names that the whole package exports from these files.
    tree = ast.parse((ROOT / "s2b_lab/__init__.py").read_text(encoding="utf-8"))
    exports = next(
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_EXPORTS"
    )
    known = {name.removesuffix(".py").replace("/", ".") for name in files()}
    return {name: module for module, names in exports.items() if module in known for name in names}


if __name__ == "__main__":
    build(Path(sys.argv[1]))
