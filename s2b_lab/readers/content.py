"""What a reader gets out of a file."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Content:
    """A text, where its pages (or slides) begin in it if it has any, and the title that the file names."""

    text: str
    pages: tuple[int, ...] = ()
    title: str | None = None
