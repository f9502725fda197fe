"""What a search finds and what is delivered for it: hits and contexts."""

import math
from dataclasses import dataclass

from .cards import Card, Rows, abridged, beginning, counted, first_few, shown_score
from .text import Span
from .tree import Chunk


@dataclass(frozen=True, slots=True)
class Hit(Card):
    """A chunk that matched: its similarity (higher is better) and its rank, from 1.

    `score` is a cosine similarity, -1 to 1, or what a fusion of lists made of the ranks. ValueError for one that is no
    number.
    """

    chunk: Chunk
    score: float
    rank: int

    def __post_init__(self) -> None:
        if math.isnan(self.score):  # it is neither higher nor lower than any other
            raise ValueError(f"the score of a hit must be a number, not {self.score}: {self.chunk.id!r}")

    def _card(self) -> tuple[str, Rows]:
        title = f"Hit {self.rank}: {self.chunk.id}, score {shown_score(self.score)}"
        return title, [("text", beginning(self.chunk.text))]


@dataclass(frozen=True, slots=True)
class Context(Card):
    """What the reader gets: `text` is exactly `span` of its document; `hits`, best first, caused it."""

    doc_id: str
    span: Span
    text: str
    hits: tuple[Hit, ...]

    @property
    def score(self) -> float:
        """Similarity of the best hit."""
        return max(hit.score for hit in self.hits)

    def _card(self) -> tuple[str, Rows]:
        size = counted(len(self.text), "character")
        rows: Rows = [("span", f"{self.span.start} to {self.span.end}, {size}")]
        if self.hits:
            found = [f"{hit.chunk.id}: {shown_score(hit.score)}" for hit in self.hits]
            rows += [("score", shown_score(self.score)), ("hits", first_few(found))]
        return f"Context of {self.doc_id}", [*rows, ("text", abridged(self.text))]
