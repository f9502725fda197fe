"""The tables of GutenQA, from the Hugging Face hub or from files of the same shape, put together by book."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

# Where the questions and the chunks of each method are on the hub.
HUB = {
    "questions": ("LumberChunker/GutenQA", "questions.parquet"),
    "LumberChunker": ("LumberChunker/GutenQA", "GutenQA.parquet"),
    "paragraph": ("LumberChunker/GutenQA_Paragraphs", None),
    "recursive": ("LumberChunker/GutenQA_Recursive", None),
    "semantic": ("LumberChunker/GutenQA_Semantic", None),
}
_KINDS = {".parquet": "parquet", ".csv": "csv", ".json": "json", ".jsonl": "json", ".xlsx": "xlsx"}
# How files of each table are named: as here, on the hub, or in the example of the authors' own repository.
_FILES = {
    "questions": r"questions|questions_-_.+",
    "LumberChunker": r"lumberchunker|gutenqa|gemini_chunks_-_.+",
    "paragraph": r"paragraph|gutenqa_paragraphs|.+_paragraph",
    "recursive": r"recursive|gutenqa_recursive|.+_langchain",
    "semantic": r"semantic|gutenqa_semantic|.+_semantic",
}
_WANTED = {"questions": ("Question", "Chunk Must Contain")}  # of all other tables it is "Chunk"
_BOOK = "Book Name"
_WHOLE = {"paragraph", "LumberChunker"}  # the tables that hold all of a book
BETWEEN = "\n\n"  # paragraphs of a text

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Book:
    """A book: its questions, each with the words that what is delivered must contain, and its chunks by method."""

    name: str
    questions: tuple[tuple[str, str], ...]
    chunks: Mapping[str, tuple[str, ...]]

    @cached_property
    def text(self) -> str:
        """The book as it was before anyone cut it: its paragraphs, or else all chunks of LumberChunker."""
        return BETWEEN.join(self.chunks.get("paragraph") or self.chunks["LumberChunker"])


def from_hub() -> dict[str, list[Row]]:
    """Load the tables of GutenQA from the hub."""
    return {name: _loaded(f"{name} of GutenQA", repo, file) for name, (repo, file) in HUB.items()}


def from_folder(folder: Path) -> dict[str, list[Row]]:
    """Read the tables that a folder has, as files such as `questions.csv` and `LumberChunker.parquet`.

    The names of the hub's files are known, too, and those of the authors' example, as `Questions_-_Emma.xlsx`. Without
    a table of questions they are those in the rows of LumberChunker. SystemExit where something needed is not there.
    """
    files: dict[str, Path] = {}
    for path in sorted(path for path in folder.iterdir() if path.suffix.lower() in _KINDS):
        for name in (name for name, form in _FILES.items() if re.fullmatch(form, path.stem, re.IGNORECASE)):
            if name in files:
                raise SystemExit(f"{folder} has two tables of {name}: {files[name].name} and {path.name}")
            files[name] = path
    if not _WHOLE & {*files} or not {"questions", "LumberChunker"} & {*files}:
        wanted = f"questions and LumberChunker or paragraph, as {', '.join(_KINDS)}"
        raise SystemExit(f"{folder} must hold {wanted}; it has {', '.join(files) or 'none of them'}")
    with TemporaryDirectory() as cache:  # the rows are in memory then
        tables = {name: _read(path, cache) for name, path in files.items()}
    if "questions" not in tables:
        tables["questions"] = tables["LumberChunker"]
    return tables


def _read(path: Path, cache: str) -> list[Row]:
    kind = _KINDS[path.suffix.lower()]
    return _sheet(path) if kind == "xlsx" else _loaded(str(path), kind, str(path), cache)


def _sheet(path: Path) -> list[Row]:
    import pandas  # datasets needs it anyway

    try:
        return pandas.read_excel(path, dtype=object).to_dict("records")
    except Exception as error:  # of openpyxl, and of the archive that such a file is
        raise SystemExit(f"{path} cannot be loaded ({type(error).__name__}: {error})") from error


def _loaded(what: str, source: str, file: str | None, cache: str | None = None) -> list[Row]:
    try:
        import datasets
    except ImportError as error:
        raise SystemExit("GutenQA is loaded with the package datasets: pip install 's2b-lab[gutenqa]'") from error
    try:
        found = datasets.load_dataset(source, data_files=file, split="train", cache_dir=cache)
        return [dict(row) for row in found]
    except Exception as error:  # the hub, the network and each file format have errors of their own
        raise SystemExit(f"{what} cannot be loaded ({type(error).__name__}: {error})") from error


def books(tables: Mapping[str, Sequence[Row]], unnamed: str = "book") -> list[Book]:
    """Put the tables together by book, in the order of the questions; tables that name one book at most are one book.

    One that no table names is called `unnamed`. Questions with nothing that must be contained are left out: every chunk
    would be right.
    """
    titles = {row[_BOOK] for rows in tables.values() for row in rows if row.get(_BOOK)}
    for name, rows in tables.items():
        _check(name, rows, (*_WANTED.get(name, ("Chunk",)), *((_BOOK,) if len(titles) > 1 else ())))
    only = None if len(titles) > 1 else next(iter(titles), unnamed)
    by_book = {name: _grouped(rows, only) for name, rows in tables.items()}
    return [_book(title, rows, by_book) for title, rows in by_book["questions"].items()]


def _book(title: str, rows: Sequence[Row], by_book: Mapping[str, Mapping[str, list[Row]]]) -> Book:
    filled = [row for row in rows if all(_filled(row, column) for column in _WANTED["questions"])]
    asked = tuple((row["Question"], row["Chunk Must Contain"].strip()) for row in filled)
    chunks = {
        name: tuple(row["Chunk"] for row in found.get(title, ()) if _filled(row, "Chunk"))
        for name, found in by_book.items()
        if name != "questions"
    }
    chunks = {name: texts for name, texts in chunks.items() if texts}
    if not _WHOLE & {*chunks}:
        raise SystemExit(f"there are questions about {title!r}, but no chunks of it")
    return Book(title, asked, chunks)


def _check(name: str, rows: Sequence[Row], wanted: Iterable[str]) -> None:
    columns = [*rows[0]] if rows else []
    if missing := [column for column in wanted if column not in columns]:
        raise SystemExit(f"the table {name} has no column {missing[0]!r}; it has {', '.join(columns) or 'no rows'}")


def _grouped(rows: Iterable[Row], only: str | None) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(only or str(row[_BOOK]), []).append(row)
    return found


def _filled(row: Row, column: str) -> bool:
    return isinstance(row[column], str) and bool(row[column].strip())
