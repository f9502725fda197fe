"""Files of word processors, slides, books and web pages as Markdown, by way of markitdown (the extra "files")."""

from __future__ import annotations

import re
import warnings
from io import BytesIO
from itertools import accumulate
from typing import Any

from .content import Content
from .encodings import decoded

_CONVERTERS = {".docx": "DocxConverter", ".html": "HtmlConverter", ".htm": "HtmlConverter", ".epub": "EpubConverter"}
_CONVERTERS |= {".pptx": "PptxConverter"}
# Words are what is searched and delivered: no targets of links, no marks of bold and italics, no backslashes.
_OPTIONS = {
    "strip": ["a", "b", "strong", "em", "i", "u"],
    "escape_asterisks": False,
    "escape_underscores": False,
    "escape_misc": False,
    "table_infer_header": True,
    "heading_style": "atx",
}
_DECLARED = re.compile(
    rb"""<meta[^>]{0,200}?charset\s*=\s*["']?([\w-]+)|<\?xml[^>]{0,100}?encoding=["']([\w-]+)""", re.I
)
_IMAGE = re.compile(r"!\[([^\]\n]*)\]\([^)\n]*\)")  # what it is said to show remains
_SLIDE = re.compile(r"\s*<!-- Slide number: \d+ -->\n?")
_ABOUT_BOOK = re.compile(
    r"\A\*\*(?:Title|Authors|Language):\*\* .*?^\*\*Identifier:\*\* [^\n]*\n*", re.DOTALL | re.MULTILINE
)


def read_office(data: bytes, name: str, suffix: str, encoding: str | None = None) -> Content:
    """Read a .docx, .pptx, .epub or .html file as Markdown: headings, lists and tables stay what they are.

    The slides of a .pptx are its pages. ValueError for a file that is broken, locked or without text; ImportError
    where the reader is not installed.
    """
    converter = _converter(name, suffix)
    if suffix in (".html", ".htm"):
        data = _web_text(data, name, encoding).encode()
    found = _converted(converter, data, name, suffix)
    text = _IMAGE.sub(r"\1", found.markdown.replace("\x0b", " "))
    title = " ".join((found.title or "").split()) or None
    if suffix == ".pptx":
        return _slides(text, name)
    text = _ABOUT_BOOK.sub("", text) if suffix == ".epub" else text
    return Content(_filled(text, name), title=title)


def _converter(name: str, suffix: str) -> Any:
    try:
        from markitdown import converters

        if suffix == ".docx":
            import mammoth  # noqa: F401
        if suffix == ".pptx":
            import pptx  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f'to read {name!r}, the reader of {suffix} files is needed: pip install "s2b_lab[files]"'
        ) from error
    return getattr(converters, _CONVERTERS[suffix])()


def _converted(converter: Any, data: bytes, name: str, suffix: str) -> Any:
    from markitdown import StreamInfo

    info = StreamInfo(extension=suffix, filename=name, charset="utf-8")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return converter.convert(BytesIO(data), info, **_OPTIONS)
    except Exception as error:  # each format's library raises kinds of its own
        locked = data.startswith(b"\xd0\xcf\x11\xe0")  # an old Office file, or a new one in the envelope of a password
        reason = "it is locked by a password or in an older format" if locked else str(error) or type(error).__name__
        raise ValueError(f"{name!r} cannot be read as a {suffix} file: {reason}") from error


def _web_text(data: bytes, name: str, encoding: str | None) -> str:
    declared = _DECLARED.search(data[:4096])
    if encoding is None and declared:
        try:
            return decoded(data, name, (declared[1] or declared[2]).decode())
        except ValueError:
            pass  # what a page says of itself is not always so
    return decoded(data, name, encoding)


def _slides(text: str, name: str) -> Content:
    slides = [part.strip() for part in _SLIDE.split(text)[1:]]
    _filled("".join(slides), name)
    pieces = [slide + "\n\n" * bool(slide) for slide in slides]
    text = "".join(pieces).rstrip()
    return Content(text, (0, *(min(end, len(text)) for end in accumulate(map(len, pieces[:-1])))))


def _filled(text: str, name: str) -> str:
    if not text.strip():
        raise ValueError(f"{name!r} holds no text; pictures of text need character recognition first")
    return text
