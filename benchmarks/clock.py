"""Interleaved rounds: every contender runs once a round, so that a slow minute of the machine hits all alike."""

import gc
import time
from collections.abc import Callable, Mapping


def interleaved(
    contenders: Mapping[str, Callable[[], object]], rounds: int, clock: Callable[[], float] = time.perf_counter
) -> dict[str, list[float]]:
    """Give the seconds of each contender by round; the order turns by one place a round."""
    names, spent = list(contenders), {name: [] for name in contenders}
    for turn in range(rounds):
        at = turn % len(names)
        for name in names[at:] + names[:at]:
            gc.collect()
            start = clock()
            contenders[name]()
            spent[name].append(clock() - start)
    return spent
