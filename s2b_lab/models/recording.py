"""Answers that were written down earlier, and say by whom, when and under which rules."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from ..core.characters import is_blank
from ..llm import ModelUnavailable

_RECORDINGS = files("s2b_lab").joinpath("data", "recordings")


class NotRecorded(ModelUnavailable, LookupError):
    """A recording holds no answer to this prompt."""


@dataclass(frozen=True, slots=True)
class Recording:
    """Answers written down earlier by `author` (a model or a person) under the rules `prompt`; it invents none.

    `date` is YYYY-MM-DD. White space makes no difference between inputs. ValueError for a field of another kind.
    """

    author: str
    date: str
    prompt: str
    answers: Mapping[str, str]
    file: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.answers, Mapping):
            raise ValueError(f"answers must map inputs to outputs, not be a {type(self.answers).__name__}")
        for text in (self.author, self.prompt, *self.answers, *self.answers.values()):
            if not isinstance(text, str):
                raise ValueError(f"author, prompt and answers must be texts, not {text!r}")
        if is_blank(self.author):
            raise ValueError("the author must be named: a recording says who wrote it")
        if not isinstance(self.date, str) or not re.fullmatch(r"\d{4}-\d{2}-\d{2}", self.date):
            raise ValueError(f"the date must be YYYY-MM-DD, not {self.date!r}")
        date.fromisoformat(self.date)
        plain = {_plain(key): text for key, text in self.answers.items()}
        if len(plain) < len(self.answers):
            raise ValueError("two inputs differ in white space alone: a recording has one answer to each")
        object.__setattr__(self, "answers", plain)

    @property
    def name(self) -> str:
        """Who wrote the answers, and when."""
        return f"{self.author}, recorded {self.date}"

    def __call__(self, prompt: str, system: str = "") -> str:
        """Give the recorded answer; NotRecorded when there is none, or when it was given under other rules."""
        where = f"the recording {self.file!r} by {self.author}"
        if not is_blank(system) and _plain(system) != _plain(self.prompt):
            raise NotRecorded(f"{where} was made with another prompt: {_plain(self.prompt)[:80]!r}")
        if _plain(prompt) not in self.answers:
            asked = _plain(prompt)[:80]
            raise NotRecorded(f"{where} holds no answer to {asked!r}; a live model answers anything: openai_model()")
        return self.answers[_plain(prompt)]


def recordings() -> list[str]:
    """List the names of the recordings that come with the package."""
    return sorted(path.name.removesuffix(".json") for path in _RECORDINGS.iterdir() if path.name.endswith(".json"))


def recorded(path: str | Path) -> Recording:
    """Read a recording: JSON {"author", "date", "prompt", "answers": {input: output}}; ValueError for another file.

    Instead of a path it may be the name of one that comes with the package, out of `recordings()`.
    """
    try:
        found = json.loads((_shipped(path) or Path(path)).read_text(encoding="utf-8"))
        fields = {key: found[key] for key in ("author", "date", "prompt", "answers")}
        return Recording(**fields, file=Path(path).name)
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"{str(path)!r} is not a recording ({type(error).__name__}: {error})") from error


def _shipped(name: str | Path) -> Traversable | None:
    return _RECORDINGS / f"{name}.json" if isinstance(name, str) and name in recordings() else None


def _plain(text: str) -> str:
    return " ".join(text.split())
