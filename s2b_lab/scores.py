"""What a question got, and what many questions got on average."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean

from .core.cards import Card, Rows, counted
from .core.checks import list_of
from .corpus import Question
from .metrics import Overlap, dcg_at_k

METRICS = ("recall", "complete", "dcg", "graded_dcg", "span_recall", "span_precision", "iou", "tokens")


@dataclass(frozen=True, slots=True)
class Score(Card):
    """What one question got: for each passage of its evidence whether it arrived, and the tokens delivered.

    `ranks` has for each piece of evidence, once, the rank of the first context that holds it, and `overlap` how many
    characters were shared; a score that was made without them has no metric that needs them.
    """

    question: Question
    found: tuple[bool, ...]
    tokens: int
    ranks: tuple[int | None, ...] = ()
    overlap: Overlap | None = None

    @property
    def recall(self) -> float:
        """Share of the evidence delivered, 0 to 1; a passage named twice counts once."""
        found = {(doc_id, span): f for (doc_id, span), f in zip(self.question.answers, self.found, strict=True)}
        return sum(found.values()) / len(found)

    @property
    def complete(self) -> bool:
        """Whether all of the evidence was delivered."""
        return all(self.found)

    @property
    def dcg(self) -> float:
        """Discounted cumulative gain with binary gain, 0 to 1; ValueError for a score without ranks."""
        return dcg_at_k(self.ranks)

    @property
    def graded_dcg(self) -> float:
        """Discounted cumulative gain by the share of the evidence, 0 to 1; ValueError for a score without ranks."""
        return dcg_at_k(self.ranks, gain="graded")

    @property
    def span_recall(self) -> float:
        """Share of the evidence's characters delivered, 0 to 1; ValueError for a score without overlap."""
        return self._overlap().recall

    @property
    def span_precision(self) -> float:
        """Share of the delivered characters that are evidence, 0 to 1; ValueError for a score without overlap."""
        return self._overlap().precision

    @property
    def iou(self) -> float:
        """Intersection over union of both in characters, 0 to 1; ValueError for a score without overlap."""
        return self._overlap().iou

    def _overlap(self) -> Overlap:
        if self.overlap is None:
            raise ValueError(f"the score of {self.question.text!r} was made without the overlap of its spans")
        return self.overlap

    def _card(self) -> tuple[str, Rows]:
        found = f"{sum(self.found)} of {len(self.found)}"
        return self.question.text, [("evidence", found), ("tokens", f"{self.tokens:,}")]


@dataclass(frozen=True, slots=True)
class Evaluation(Card):
    """The scores of all questions, in their order.

    TypeError for what are no Scores.
    """

    scores: tuple[Score, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "scores", tuple(list_of(Score, "scores", self.scores)))

    @property
    def recall(self) -> float:
        """Mean over questions of the share of evidence delivered, 0 to 1."""
        return sum(s.recall for s in self.scores) / len(self.scores)

    @property
    def complete(self) -> float:
        """Share of questions whose evidence was delivered without a gap, 0 to 1."""
        return sum(s.complete for s in self.scores) / len(self.scores)

    @property
    def tokens(self) -> float:
        """Mean number of tokens delivered for a question."""
        return sum(s.tokens for s in self.scores) / len(self.scores)

    @property
    def dcg(self) -> float:
        """Mean discounted cumulative gain with binary gain, 0 to 1."""
        return fmean(s.dcg for s in self.scores)

    @property
    def graded_dcg(self) -> float:
        """Mean discounted cumulative gain by the share of the evidence, 0 to 1."""
        return fmean(s.graded_dcg for s in self.scores)

    @property
    def span_recall(self) -> float:
        """Mean share of the evidence's characters delivered, 0 to 1."""
        return fmean(s.span_recall for s in self.scores)

    @property
    def span_precision(self) -> float:
        """Mean share of the delivered characters that are evidence, 0 to 1."""
        return fmean(s.span_precision for s in self.scores)

    @property
    def iou(self) -> float:
        """Mean intersection over union of what is delivered and the evidence, in characters, 0 to 1."""
        return fmean(s.iou for s in self.scores)

    def _card(self) -> tuple[str, Rows]:
        title = f"Evaluation over {counted(len(self.scores), 'question')}"
        if not self.scores:
            return title, []
        tokens = f"{self.tokens:,.0f} for a question"
        return title, [("recall", f"{self.recall:.3f}"), ("complete", f"{self.complete:.3f}"), ("tokens", tokens)]
