"""Files from disk as documents: one, a list of them, or a folder."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from .core.checks import check_str, list_of
from .core.headings import document
from .core.text import Document
from .readers.content import Content

_TEXT, _OFFICE = (".txt", ".md"), (".docx", ".pptx", ".epub", ".html", ".htm")
_SUFFIXES = (*_TEXT, ".pdf", *_OFFICE)


def read_file(
    path: str | Path,
    id: str | None = None,
    *,
    title: str | None = None,
    version: str = "1",
    access: str = "public",
    encoding: str | None = None,
) -> Document:
    """Read a file as a document whose id is the file's name without suffix unless one is given.

    Read are .txt and .md, .pdf, and with the extra "files" .docx, .pptx, .epub and .html. The document knows its file
    (`source`) and, of a PDF or slides, where its pages begin (`page_of`). Text is UTF-8, with or without a byte order
    mark, or in another encoding where that leaves no doubt; `encoding` says it. Line ends stay as they are.
    ValueError for another suffix, for no file, and for one that is broken, locked, binary, without text or in an
    encoding that cannot be told; TypeError for what is no path; ImportError where its reader is not installed.
    """
    path = _checked_path(path)
    return _read(path, id or path.stem, title=title, version=version, access=access, encoding=encoding)


def read_files(
    paths: Iterable[str | Path], *, version: str = "1", access: str = "public", encoding: str | None = None
) -> list[Document]:
    """Read several files as documents, in the order given, each with its path below their common folder for its id.

    So two files of one name in two folders are two documents. The first file that cannot be read ends it with an error
    that names it, as for `read_file`. TypeError for a single path; ValueError for no path, or one that comes twice.
    """
    if isinstance(paths, str | Path):
        raise TypeError(f"read_files takes a list of paths, not {paths!r}: use read_file or read_folder")
    found = [_absolute(_checked_path(path)) for path in list_of(object, "paths", paths)]
    if not found:
        raise ValueError("read_files needs at least one path")
    if twice := [path for path, count in Counter(found).items() if count > 1]:
        raise ValueError(f"the file {str(twice[0])!r} is given twice")
    folder = Path(os.path.commonpath([path.parent for path in found]))
    return [_read(path, _id(path, folder), version=version, access=access, encoding=encoding) for path in found]


def read_folder(
    folder: str | Path,
    pattern: str = "**/*",
    *,
    version: str = "1",
    access: str = "public",
    encoding: str | None = None,
) -> list[Document]:
    """Read the files of a folder and those below it as documents, sorted by their paths, which are their ids.

    `pattern` says which, as in "**/*.md" or "*.pdf" (this folder alone). Hidden files and folders are left out. A file
    that cannot be read does not end it: a warning names each, with the reason, and those of other kinds. ValueError
    for no such folder, for a pattern that is absolute, and where nothing can be read; TypeError for what is no path or
    pattern; ImportError where a reader is not installed.
    """
    folder = _checked_path(folder)
    check_str("pattern", pattern)
    if Path(pattern).is_absolute():
        raise ValueError(f"a pattern is what lies below the folder, as in '**/*.md', not {pattern!r}")
    if not folder.is_dir():
        raise ValueError(f"there is no folder at {str(folder)!r}")
    documents, faults = [], []
    for path in _listed(folder, pattern):
        try:
            documents.append(_read(path, _id(path, folder), version=version, access=access, encoding=encoding))
        except (ValueError, OSError) as error:
            faults.append(str(error))
    if faults:
        told = f"{len(faults):,} of {len(faults) + len(documents):,} files in {str(folder)!r} were not read: "
        warnings.warn(told + "; ".join(faults), stacklevel=2)
    if not documents:
        raise ValueError(f"no file in {str(folder)!r} that fits {pattern!r} can be read")
    return documents


def _checked_path(path: Any) -> Path:
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"a path must be a text or a Path, not {type(path).__name__}")
    return Path(path)


def _absolute(path: Path) -> Path:
    # The file keeps the name it is given by, also where that is a link.
    return path.parent.resolve() / path.name


def _listed(folder: Path, pattern: str) -> list[Path]:
    found = {path for path in folder.glob(pattern) if path.is_file()}
    seen = [path for path in found if not any(part.startswith(".") for part in path.relative_to(folder).parts)]
    return sorted(seen, key=lambda path: path.relative_to(folder).parts)


def _id(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix()


def _read(path: Path, id: str, *, encoding: str | None, title: str | None = None, **labels: str) -> Document:
    suffix = path.suffix.lower()
    if suffix not in _SUFFIXES:
        raise ValueError(f"cannot read {path.name!r}: the suffix must be one of {', '.join(_SUFFIXES)}")
    if not path.is_file():
        raise ValueError(f"there is no file at {str(path)!r}")
    content = _content(path.read_bytes(), path.name, suffix, encoding)
    found = document(id, content.text, title=title if title is not None else content.title, **labels)
    return replace(found, pages=content.pages, source=str(path.resolve()))


def _content(data: bytes, name: str, suffix: str, encoding: str | None) -> Content:
    from .readers import encodings, office, pdf  # their libraries are loaded when a file is read

    if suffix in _TEXT:
        return Content(encodings.decoded(data, name, encoding))
    if suffix == ".pdf":
        return pdf.read_pdf(data, name)
    return office.read_office(data, name, suffix, encoding)
