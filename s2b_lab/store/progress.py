"""How far a long job is: one line that moves, in a terminal or a notebook, or a function of the caller's."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

Teller = Callable[[int, int], Any] | bool | None
_DELAY = 2  # seconds: what is done sooner says nothing


class Progress:
    """Counts what is done of a total, and tells it.

    `report` is None for the line, False for nothing, or a function of (done, total), called after each step.
    """

    def __init__(self, what: str, total: int, report: Teller = None):
        if not (report is None or isinstance(report, bool) or callable(report)):
            raise TypeError(f"progress is None for a line, False for silence or a function, not {report!r}")
        self.what, self.done, self.total = what, 0, total
        self._report = report if callable(report) else None
        # In a notebook a line is made of widgets, which are saved with it: none is made for what is done at once.
        self._due = None if report is False or self._report or _is_silenced() else time.monotonic() + _DELAY
        self._line: Any = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._line is not None:
            self._line.close()

    def advance(self, done: int = 1) -> None:
        """Tell that so much more is done."""
        self.done += done
        if self._line is not None:
            self._line.update(done)
        elif self._report and done:
            self._report(self.done, self.total)
        elif self._due is not None and time.monotonic() >= self._due:
            self._line = _line(self.what, self.done, self.total)

    def grow(self, more: int) -> None:
        """Tell that there is more, or less, to do than was thought."""
        self.total += more
        if self._line is not None:
            self._line.total = self.total


def _is_silenced() -> bool:
    return os.environ.get("TQDM_DISABLE", "") not in ("", "0")  # tqdm itself overlooks it in a notebook


def _line(what: str, done: int, total: int) -> Any:
    from tqdm.auto import tqdm

    # A log file would keep each state of the line; in a notebook it is a widget, and goes when all is done.
    in_notebook = any(kind.__module__ == "tqdm.notebook" for kind in tqdm.__mro__)
    options = {} if in_notebook else {"disable": None}
    return tqdm(total=total, initial=done, desc=what, unit=" vectors", leave=False, **options)
