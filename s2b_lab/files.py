"""Files from disk as documents: text, Markdown and PDF."""

from __future__ import annotations

import re
from pathlib import Path

from charset_normalizer import from_bytes

from .core.headings import document
from .core.text import Document

# A guess among all encodings takes most short Chinese lines for Korean or Big5, so that only GB18030 is judged, by the
# mess it makes: 0.07 at most of a Chinese line, whose full-width marks would count as mess and are left out.
_MOST_MESS = 0.1
_MARKS = re.compile("[，。：；？！、（）《》“”‘’…—·　]")
_SENTENCE_END = tuple(".!?:;。！？：；…”’\"')）")


def read_file(
    path: str | Path,
    id: str | None = None,
    *,
    title: str | None = None,
    version: str = "1",
    access: str = "public",
) -> Document:
    """Read a .txt, .md or .pdf file as a document whose id is the file's name without suffix unless one is given.

    Text is UTF-8, with or without a byte order mark; a .txt file may also be Chinese in GB18030. Line ends stay
    as they are. Anything else (other suffix, no such file, undecodable bytes, a PDF without text) is a ValueError.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in _READERS:
        raise ValueError(f"cannot read {path.name!r}: the suffix must be one of {', '.join(_READERS)}")
    if not path.is_file():
        raise ValueError(f"there is no file at {str(path)!r}")
    return document(id or path.stem, _READERS[suffix](path), title=title, version=version, access=access)


def _utf8(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path.name!r} is not UTF-8 text: {error.reason} at byte {error.start}") from error


def _utf8_or_chinese(path: Path) -> str:
    try:
        return _utf8(path)
    except ValueError as error:
        text = _chinese(path.read_bytes())
        if text is None:
            raise error
        return text


def _chinese(data: bytes) -> str | None:
    """Decode GB18030; None for what it does not allow, and for another encoding that it makes a mess of."""
    try:
        text = data.decode("gb18030")
    except UnicodeDecodeError:
        return None
    judged = _MARKS.sub(" ", text).encode("gb18030")
    return text if from_bytes(judged, cp_isolation=["gb18030"], threshold=_MOST_MESS).best() else None


def _pdf(path: Path) -> str:
    from pypdf import PdfReader
    from pypdf.errors import DependencyError, PyPdfError

    try:
        pages = [page.extract_text().strip() for page in PdfReader(path).pages]
    except (PyPdfError, DependencyError, ValueError, KeyError) as error:
        raise ValueError(f"{path.name!r} cannot be read as a PDF: {error}") from error
    if not any(pages):
        raise ValueError(f"{path.name!r} holds no text; scanned pages need character recognition first")
    return "".join(_with_break(page) for page in pages if page).rstrip("\n")


def _with_break(page: str) -> str:
    """End a page so that a sentence that runs on to the next one stays whole."""
    return page + ("\n\n" if page.endswith(_SENTENCE_END) else "\n")


_READERS = {".txt": _utf8_or_chinese, ".md": _utf8, ".pdf": _pdf}
