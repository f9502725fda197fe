"""Signs of life from a Python that computes, so that no figure that waits takes it for one that is gone."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any


@contextlib.contextmanager
def beating(beat: Callable[[], None], seconds: float) -> Iterator[None]:
    """Call `beat` every so many seconds, from a thread of its own, until the block ends."""
    stop = _start(beat, seconds)
    try:
        yield
    finally:
        stop()


def beat_in_cells(beat: Callable[[], None], seconds: Callable[[], float]) -> None:
    """Beat while a cell runs too, in a notebook: where messages wait for the end of a cell, so do questions."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is None:
        return
    running: list[Callable[[], None]] = []  # a cell can run another

    def began(_: Any) -> None:
        running.append(_start(beat, seconds()))

    def ended(_: Any) -> None:
        if running:  # the cell that calls this has not been seen to begin
            running.pop()()

    shell.events.register("pre_run_cell", began)
    shell.events.register("post_run_cell", ended)


def _start(beat: Callable[[], None], seconds: float) -> Callable[[], None]:
    done = threading.Event()

    def run() -> None:
        while not done.wait(seconds):
            beat()

    threading.Thread(target=run, name="figures that wait", daemon=True).start()
    return done.set
