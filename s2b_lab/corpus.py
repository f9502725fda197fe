"""The texts of the lab with their questions, files from disk, and the prose of the Python documentation."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from .text import Document, Span, document

_LAST_COMMON_ROW = 0xD7  # GB 2312 keeps its everyday characters in the rows up to this lead byte
_SENTENCE_END = tuple(".!?:;。！？：；…”’\"')）")


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the spans that a good answer rests on: pairs of document id and span, in order."""

    text: str
    answers: tuple[tuple[str, Span], ...]
    kind: str = ""


# --- our own texts ---------------------------------------------------------------------------------------------------


def names() -> list[str]:
    """List the names that `load` knows."""
    return list(_catalog())


@cache
def load(name: str) -> Document:
    """Load one of our own texts by its name."""
    if name not in _catalog():
        raise ValueError(f"unknown text {name!r}; known are {', '.join(_catalog())}")
    entry = _catalog()[name]
    return document(
        entry["id"],
        _data(entry["file"]),
        title=entry["title"],
        version=entry["version"],
        access=entry["access"],
        section_access={int(ordinal): label for ordinal, label in entry["section_access"].items()},
    )


def questions(name: str, more: bool = False) -> list[Question]:
    """List the questions about a text; those of a translation have the same order and kinds.

    With `more` come those that only measurements need, since a table of them all would be too long to read.
    """
    doc = load(name)
    entries = [entry for entry in _questions() if name in entry and (more or not entry.get("more"))]
    if not entries:
        known = sorted({key for entry in _questions() for key in entry if key not in ("kind", "more")})
        raise ValueError(f"there are no questions about {name!r}; there are some about {', '.join(known)}")
    return [_question(doc, entry["kind"], **entry[name]) for entry in entries]


def _question(doc: Document, kind: str, text: str, evidence: list[dict]) -> Question:
    return Question(text, tuple((doc.id, _evidence(doc, **item)) for item in evidence), kind)


def _evidence(doc: Document, section: int, quote: str, to: str | None = None) -> Span:
    """Find a passage by its section and words: one quotation, or the stretch from one to another."""
    start = _only(doc, section, quote)
    return start if to is None else Span(start.start, _only(doc, section, to).end)


def _only(doc: Document, section: int, quote: str) -> Span:
    spans = [part.span for part in doc.sections if part.id == f"{doc.id}/{section}"]
    count = sum(span.of(doc.text).count(quote) for span in spans)
    if count != 1:
        raise ValueError(f"evidence must occur once in section {section} of {doc.id}, found {count} times: {quote!r}")
    start = doc.text.index(quote, spans[0].start)
    return Span(start, start + len(quote))


@cache
def _catalog() -> dict[str, dict]:
    return {entry["id"]: entry for entry in json.loads(_data("catalog.json"))}


@cache
def _questions() -> list[dict]:
    return json.loads(_data("questions.json"))


def _data(name: str) -> str:
    return files("s2b_lab").joinpath("data", name).read_text(encoding="utf-8")


# --- files -----------------------------------------------------------------------------------------------------------


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
        try:
            text = path.read_bytes().decode("gb18030")
        except UnicodeDecodeError:
            raise error from None
        if not _looks_chinese(text):
            raise error
        return text


def _looks_chinese(text: str) -> bool:
    """Tell Chinese from another encoding misread: GB18030 accepts nearly any bytes, but yields rare characters."""
    codes = [char.encode("gb18030") for char in text if not char.isascii()]
    common = sum(len(code) == 2 and code[0] <= _LAST_COMMON_ROW for code in codes)
    return 2 * common > len(codes)


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


# --- the documentation that comes with Python ------------------------------------------------------------------------


def python_docs() -> list[Document]:
    """Collect the help topics of the running Python as documents `python/<topic>`, each text once, by topic.

    Where several topics share a text, the one that its title names stands for all. The version is Python's.
    """
    from pydoc_data.topics import topics

    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    shared: dict[str, list[str]] = {}
    for topic, text in sorted(topics.items()):
        shared.setdefault(text.strip("\n") + "\n", []).append(topic)
    found = {_speaker(keys, text): text for text, keys in shared.items() if text.strip()}
    return [
        document(f"python/{topic}", text, title=text.split("\n", 1)[0], version=version)
        for topic, text in sorted(found.items())
    ]


def _speaker(topics: list[str], text: str) -> str:
    title = text.split("\n", 1)[0].lower()
    return min(topics, key=lambda topic: (topic.lower() not in title, topic))
