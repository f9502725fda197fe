"""Long lists in parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

SIZE = 2000  # vectors a request: a Chroma server accepts this many in one body

T = TypeVar("T")


def batches(items: Iterable[T], size: int = SIZE) -> Iterator[list[T]]:
    """Cut items into lists of at most `size`, as `itertools.batched` does from Python 3.12 on."""
    left = iter(items)
    while part := list(islice(left, size)):
        yield part
