"""Numbers that are given as arrays: real and finite, or refused by name."""

from __future__ import annotations

import reprlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np


def finite_array(name: str, values: Any, dtype: str = "float32") -> np.ndarray:
    """Give numbers as an array of `dtype`.

    TypeError for what are no real numbers or make no array; ValueError, naming its place, for one that is not finite,
    or that `dtype` cannot hold.
    """
    import numpy as np

    with np.errstate(over="ignore"):  # what is too large becomes infinite, and is refused below
        array = real_array(name, values).astype(dtype)
    first = first_not_finite(array)
    if first is not None:
        place = ", ".join(map(str, first))
        raise ValueError(f"{name} must hold finite numbers, not {array[first]}{f' at [{place}]' if place else ''}")
    return array


def first_not_finite(array: np.ndarray) -> tuple[int, ...] | None:
    """The place of the first NaN or infinity; None where all numbers are finite."""
    import numpy as np

    wrong = np.argwhere(~np.isfinite(array))
    return tuple(map(int, wrong[0])) if len(wrong) else None


def real_array(name: str, values: Any) -> np.ndarray:
    """Give numbers as the array that they are; TypeError for what are no real numbers or make no array."""
    import numpy as np

    try:
        array = np.asarray(values)
    except (TypeError, ValueError) as error:  # rows of different lengths, and what is no data
        raise TypeError(f"{name} must be numbers, not {_shown(values)}: {error}") from error
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{name} must be numbers, not {_shown(values)}")
    return array


def _shown(values: Any) -> str:
    return f"{type(values).__name__} {reprlib.repr(values)}"
