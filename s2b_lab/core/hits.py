"""What a search finds and what is delivered for it: hits and contexts."""

from dataclasses import dataclass

from .cards import Card, Rows, abridged, beginning, counted, first_few, shown_score
from .checks import check_kind, check_number, check_str, check_whole, list_of
from .text import Span
from .tree import Chunk


@dataclass(frozen=True, slots=True)
class Hit(Card):
    """A chunk that matched: its similarity (higher is better) and its rank, from 1.

    `score` is a cosine similarity, -1 to 1, or what a fusion of lists made of the ranks. ValueError for one that is no
    finite number, and for a rank below 1; TypeError for what is no Chunk.
    """

    chunk: Chunk
    score: float
    rank: int

    def __post_init__(self) -> None:
        check_kind("the chunk of a hit", self.chunk, Chunk)
        # NaN is neither higher nor lower than any other.
        check_number(f"the score of a hit on {self.chunk.id!r}", self.score)
        check_whole(f"the rank of a hit on {self.chunk.id!r}", self.rank, 1)

    def _card(self) -> tuple[str, Rows]:
        title = f"Hit {self.rank}: {self.chunk.id}, score {shown_score(self.score)}"
        return title, [("text", beginning(self.chunk.text))]


@dataclass(frozen=True, slots=True)
class Context(Card):
    """What the reader gets: `text` is exactly `span` of its document; `hits`, best first, caused it.

    TypeError for a text, span or hits of another kind.
    """

    doc_id: str
    span: Span
    text: str
    hits: tuple[Hit, ...]

    def __post_init__(self) -> None:
        check_str("doc_id of a context", self.doc_id)
        check_kind(f"the span of a context of {self.doc_id!r}", self.span, Span)
        check_str(f"the text of a context of {self.doc_id!r}", self.text)
        object.__setattr__(self, "hits", tuple(list_of(Hit, f"hits of a context of {self.doc_id!r}", self.hits)))

    @property
    def score(self) -> float:
        """Similarity of the best hit; ValueError where no hit caused it."""
        if not self.hits:
            raise ValueError(f"a context of {self.doc_id!r} without hits has no score")
        return max(hit.score for hit in self.hits)

    def _card(self) -> tuple[str, Rows]:
        size = counted(len(self.text), "character")
        rows: Rows = [("span", f"{self.span.start} to {self.span.end}, {size}")]
        if self.hits:
            found = [f"{hit.chunk.id}: {shown_score(hit.score)}" for hit in self.hits]
            rows += [("score", shown_score(self.score)), ("hits", first_few(found))]
        return f"Context of {self.doc_id}", [*rows, ("text", abridged(self.text))]
