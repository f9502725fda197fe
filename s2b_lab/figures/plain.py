"""Whatever a figure holds as plain JSON: arrays as lists, numbers no longer than a picture needs."""

from __future__ import annotations

import base64
import json
import math
import reprlib
from collections.abc import Mapping, Sequence
from typing import Any

# Plotly's names of the types of packed numbers, and those of Python's memoryview.
_CODES = {"i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I", "f4": "f", "f8": "d"}


def plain_json(value: Any) -> Any:
    """Plain JSON of numbers, texts, dates, arrays of any library, and lists and mappings of them.

    Numbers that are not finite are None; what is nothing of these is its text. ValueError for a packed array of
    Plotly's whose type is unknown.
    """
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return _short(value)
    if isinstance(value, Mapping):
        return _unpacked(value) if "bdata" in value else {key: plain_json(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_json(part) for part in value]
    if getattr(getattr(value, "dtype", None), "kind", "") == "M":
        value = value.astype("datetime64[us]")  # finer ones become bare numbers, and JavaScript has no finer ones
    return plain_json(value.tolist()) if hasattr(value, "tolist") else str(value)


def checked_json(data: Any) -> dict[str, Any]:
    """A copy of a mapping of plain JSON; ValueError for anything else."""
    try:
        if isinstance(data, Mapping):
            return json.loads(json.dumps(dict(data), allow_nan=False), object_pairs_hook=_without_places)
    except (TypeError, ValueError, RecursionError):  # what JSON does not know, infinity, or a circle
        pass
    raise ValueError(f"data of Stages is a mapping of plain JSON, not {reprlib.repr(data)}")


def _without_places(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # A recording says by this key where a part of it stands.
    if any(key == "$" for key, _ in pairs):
        raise ValueError
    return dict(pairs)


def _short(number: float) -> float | None:
    # Four digits below one, as for similarities; else eight, and three decimals however large the number.
    if not math.isfinite(number):
        return None
    if abs(number) < 1:
        return float(f"{number:.4g}")
    return round(number, max(3, 7 - math.floor(math.log10(abs(number)))))


def _unpacked(packed: Mapping[str, Any]) -> list[Any]:
    # Plotly packs arrays as base64, which neither compresses nor compares well.
    if packed["dtype"] not in _CODES:
        raise ValueError(f"a packed array is of {', '.join(_CODES)}, not of {reprlib.repr(packed['dtype'])}")
    flat = memoryview(base64.b64decode(packed["bdata"])).cast(_CODES[packed["dtype"]]).tolist()
    # Its shape is a text: "2,3".
    lengths = [int(length) for length in str(packed.get("shape") or len(flat)).split(",")]
    return plain_json(_shaped(flat, lengths))


def _shaped(flat: list[Any], lengths: Sequence[int]) -> list[Any]:
    if len(lengths) == 1:
        return flat
    size = math.prod(lengths[1:])
    return [_shaped(flat[i * size : (i + 1) * size], lengths[1:]) for i in range(lengths[0])]
