"""Probabilities of ends that a model gave for our own texts, so that their figures need no model."""

from __future__ import annotations

import functools
import hashlib
import json
import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import chain

_FOLDER = files("s2b_lab").joinpath("data", "ends")
_LEAST = 1e-30
_STEP = 1000  # a recorded whole number is this many times the negative logarithm


@dataclass(frozen=True, slots=True)
class RecordedEnds:
    """What `author`, a model, answered on `date` to `prompt` and one text: a recording, which computes nothing.

    `ends` are the ends of the text's sentences, and `rows` has for the start of a block the probabilities at the ends
    that follow, for as long as they were recorded, None at one that was not asked for.
    """

    author: str
    date: str
    prompt: str
    name: str
    text: str
    ends: tuple[int, ...]
    rows: Mapping[int, tuple[float | None, ...]]

    def find(self, block: str, places: Sequence[int]) -> list[float] | None:
        """The probabilities at places of a block, which is a part of the text; None where they are not recorded."""
        start = self.text.find(block)
        while start >= 0:
            row = dict(zip(self.ends[bisect_right(self.ends, start) :], self.rows.get(start, ()), strict=False))
            found = [row.get(start + place) for place in places]
            if None not in found:
                return found
            start = self.text.find(block, start + 1)  # the same words stand there, too
        return None


@functools.cache
def shipped_ends() -> tuple[RecordedEnds, ...]:
    """The recordings that come with the package; one of a text that has changed since is left out."""
    if not _FOLDER.is_dir():
        return ()
    held = (json.loads(path.read_text(encoding="utf-8")) for path in sorted(_FOLDER.iterdir(), key=str))
    return tuple(chain.from_iterable(map(_recordings, held)))


def _recordings(held: dict) -> list[RecordedEnds]:
    from ..corpus import load

    text = load(held["text"]).text
    if sha256(text) != held["sha256"]:
        return []
    rows = {int(start): tuple(map(_probability, row)) for start, row in held["rows"].items()}
    names = ("author", "date", "prompt")
    return [RecordedEnds(*(held[key] for key in names), held["text"], text, tuple(held["ends"]), rows)]


def written(author: str, date: str, prompt: str, name: str, text: str, rows: Mapping[int, Mapping[int, float]]) -> str:
    """Write a recording as JSON: `rows` has for the start of each block the probabilities by the ends that follow."""
    ends = sorted({end for row in rows.values() for end in row})
    numbers = {
        start: [_number(row.get(end)) for end in ends if start < end <= max(row)] for start, row in sorted(rows.items())
    }
    head = {
        "what": "a recording of the end-of-sequence probabilities that the author, a model, gave",
        "author": author, "date": date, "prompt": prompt, "text": name, "sha256": sha256(text),
        "unit": f"-{_STEP} ln p", "ends": ends,
    }  # fmt: skip
    lines = [f"{json.dumps(key)}: {json.dumps(value, separators=(',', ':'))}" for key, value in head.items()]
    table = ",\n".join(f'"{start}": {json.dumps(row, separators=(",", ":"))}' for start, row in numbers.items())
    return "{\n" + ",\n".join(lines) + ',\n"rows": {\n' + table + "\n}\n}\n"


def as_recorded(probability: float) -> float:
    """A probability as a recording gives it back."""
    return _probability(_number(probability))


def _number(probability: float | None) -> int | None:
    return None if probability is None else round(-_STEP * math.log(max(probability, _LEAST)))


def _probability(number: int | None) -> float | None:
    return None if number is None else math.exp(-number / _STEP)


def sha256(text: str) -> str:
    """The hash of a text, in hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
