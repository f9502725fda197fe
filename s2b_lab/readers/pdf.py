"""PDF files: their pages as lines of text, each with its place and its type size."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from itertools import pairwise
from typing import Any
from unicodedata import normalize

from .content import Content
from .pages import Line, flowing, without_running_lines

# A font may not say which characters its shapes are: the text is then marks of replacement, names or numbers of shapes.
_UNREADABLE = re.compile(r"[\ufffd\ue000-\uf8ff\x00-\x08\x0e-\x1f]|/g\d+|\(cid:\d+\)")
# Shapes for which a font names the wrong character: radicals that look like the whole word, and joined letters.
_RADICALS = dict(
    zip("⺠⻁⻄⻅⻆⻉⻋⻓⻔⻘⻚⻛⻜⻝⻢⻥⻦⻨⻩⻬⻮⻰⻳", "民虎西见角贝车长门青页风飞食马鱼鸟麦黄齐齿龙龟", strict=True)
)
_SHAPES = str.maketrans(
    {chr(code): normalize("NFKC", chr(code)) for code in (*range(0x2F00, 0x2FD6), *range(0xFB00, 0xFB07))} | _RADICALS
)
_BOLD = re.compile("bold|black|heavy|demi|medi(?!um)|cmbx|simhei|heiti", re.IGNORECASE)


def read_pdf(data: bytes, name: str) -> Content:
    """Read the text of a PDF, page after page, without the lines that repeat at the head or foot of its pages.

    Lines stay as they are printed. A file encrypted for permissions alone is read. ValueError for a broken file, one
    locked by a password, one without text, and one whose fonts do not say which characters they show; ImportError
    where the decryption needs a package that is not there.
    """
    pages = _pages(data, name)
    text = "".join(line.text for lines in pages for line in lines)
    solid = re.sub(r"\s", "", text)
    if not solid:
        raise ValueError(f"{name!r} holds no text; scanned pages need character recognition first")
    unreadable = sum(map(len, _UNREADABLE.findall(solid)))
    if 10 * unreadable > len(solid):
        raise ValueError(
            f"{name!r} holds no readable text: its fonts do not say which characters they show "
            f"({unreadable:,} of {len(solid):,} are replacement marks); it needs character recognition first"
        )
    return flowing(without_running_lines(pages))


def _pages(data: bytes, name: str) -> list[list[Line]]:
    from pypdf import PdfReader
    from pypdf.errors import DependencyError

    try:
        with _quiet("pypdf"):
            reader = PdfReader(BytesIO(data))
            if reader.is_encrypted and not reader.decrypt(""):
                raise ValueError("it is locked by a password; save a copy without one")
            return [list(_lines(page)) for page in reader.pages]
    except DependencyError as error:
        raise ImportError(
            f'{name!r} is encrypted, and the package that reads it is missing: pip install "s2b_lab[files]"'
        ) from error
    except Exception as error:  # pypdf raises a dozen kinds for the ways in which a file can be broken
        raise ValueError(f"{name!r} cannot be read as a PDF: {str(error) or type(error).__name__}") from error


@contextmanager
def _quiet(name: str) -> Iterator[None]:
    """Keep a library from telling of each small fault that it mends."""
    logger = logging.getLogger(name)
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)


def _lines(page: Any) -> Iterator[Line]:
    """The lines of a page, those with nothing to see left out."""
    pieces: list[tuple] = []
    page.extract_text(visitor_text=lambda *piece: pieces.append(piece))
    line: list[tuple] = []
    for text, *how in [*pieces, ("\n", None, None, None, 0)]:
        first, *others = text.split("\n")
        line.append((first, *how))
        for other in others:
            if any(piece[0].strip() for piece in line):
                yield _line(line)
            line = [(other, *how)]


def _line(pieces: list[tuple]) -> Line:
    seen = [piece for piece in pieces if piece[0].strip()]
    sizes: dict[float, int] = {}
    for piece in seen:
        size = round(_size(*piece[1:]), 1)
        sizes[size] = sizes.get(size, 0) + len(piece[0].strip())
    size = max(sizes, key=sizes.get)
    bold = all(_BOLD.search(str((piece[3] or {}).get("/BaseFont", ""))) for piece in seen)
    text = "".join(piece[0] for piece in pieces).rstrip().translate(_SHAPES)
    return Line(text, _place(*seen[0][1:3])[1], size, bold, _is_row(seen, size))


def _place(user: list[float], text: list[float]) -> tuple[float, float]:
    x, y = text[4], text[5]
    return x * user[0] + y * user[2] + user[4], x * user[1] + y * user[3] + user[5]


def _size(user: list[float], text: list[float], font: Any, size: float) -> float:
    # How tall the type is on the page: its size, by how far both matrices stretch upwards.
    across, up = text[2] * user[0] + text[3] * user[2], text[2] * user[1] + text[3] * user[3]
    return size * (across * across + up * up) ** 0.5


def _is_row(pieces: list[tuple], size: float) -> bool:
    """Tell whether the pieces of a line stand apart, as the cells of a table do; widths of letters are guessed."""
    for piece, after in pairwise(pieces):
        wide = sum(1 if letter > "\u2e7f" else 0.6 for letter in piece[0].strip())
        if _place(*after[1:3])[0] - _place(*piece[1:3])[0] > (wide + 2) * size:
            return True
    return False
