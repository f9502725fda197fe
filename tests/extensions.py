"""The files of _ext/, which is no package: loaded by their names, fresh each time."""

import importlib.util
from pathlib import Path
from types import ModuleType

FOLDER = Path(__file__).resolve().parents[1] / "_ext"


def extension(name: str) -> ModuleType:
    """Load _ext/<name>.py."""
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
