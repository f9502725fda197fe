"""Files of results that the chapters read, and their settings in words."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any


def read_results(path: str | Path, parts: Callable[[Any], dict[str, Any]], what: str, command: str) -> dict[str, Any]:
    """The `parts` of a file of results, which raises for another one; ValueError that names the command to run."""
    try:
        return parts(json.loads(Path(path).read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"{str(path)!r} holds no {what} ({type(error).__name__}: {error}): run {command}") from error


def in_words(value: Any) -> str:
    """A setting as a table shows it."""
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {in_words(part)}" for name, part in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
