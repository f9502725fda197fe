"""The evidence marked by hand: where it is, how much of it is delivered, how near a question is to it."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .. import corpus
from ..core.access import covered_text, is_readable, public_text
from ..core.hits import Context
from ..core.sentences import sentences
from ..core.text import Document, Span
from ..corpus import Question
from ..evaluation import Evaluation, Score, evidence_found
from ..figures import plot
from ..figures.passages import Mark
from ..figures.views import Figure, Note, Table

if TYPE_CHECKING:
    from ..embed import Embedder

# What stands in the place of a count where the evidence is for some readers alone, who are not these.
HIDDEN = "not for this reader"


def evidence(document: Document, question: str) -> tuple[Span, ...]:
    """The gold evidence of one of our questions in this document; none for a question of one's own."""
    known = next((q for q in _questions(document.id) if q.text == question), None)
    return tuple(span for doc_id, span in known.answers if doc_id == document.id) if known else ()


def public_evidence(document: Document, question: str) -> tuple[Span, ...]:
    """The evidence that everyone may read: no other may be quoted."""
    return tuple(span for span in evidence(document, question) if is_readable(span, document))


def first_piece(model: Embedder, document: Document, question: str) -> Span:
    """The first piece of evidence that everyone may read; where there is none, the sentence most like the question."""
    if proof := public_evidence(document, question):
        return proof[0]
    spans = sentences(public_text(document))
    return spans[int(np.argmax(model.passages([span.of(document.text) for span in spans]) @ model.query(question)))]


@functools.cache
def is_hidden(question: Question) -> bool:
    """Whether not everyone may read the evidence of a question about our texts: it is left out of what is counted."""
    return any(not is_readable(span, doc) for doc_id, span in question.answers if (doc := _ours(doc_id)))


def _ours(doc_id: str) -> Document | None:
    try:
        return corpus.load(doc_id)
    except ValueError:  # a text of the reader's own
        return None


@functools.cache
def _questions(doc_id: str) -> tuple[Question, ...]:
    try:
        return tuple(corpus.questions(doc_id, more=True))
    except ValueError:  # a text without questions of ours
        return ()


def evidence_marks(document: Document, question: str, spans: Sequence[Span]) -> list[Mark]:
    """Each piece that everyone may read, marked as gold where it lies whole within one of the spans, else as lost."""
    gold = public_evidence(document, question)
    return [Mark(g, "gold" if any(s.contains(g) for s in spans) else "lost") for g in gold]


def share(document: Document, question: str, spans: Sequence[Span]) -> str:
    """How many pieces of evidence lie whole within the spans, in words; a dash where none is marked."""
    kinds = [mark.kind for mark in evidence_marks(document, question, spans)]
    if kinds:
        return f"{kinds.count('gold')} of {len(kinds)}"
    return HIDDEN if evidence(document, question) else "–"


def verdict(document: Document, question: str, spans: Sequence[Span], what: str = "what is delivered") -> Note:
    """One sentence: how many pieces of evidence lie whole within the spans, or why that cannot be said."""
    if unmarked := no_evidence(document, question):
        return Note(unmarked)
    alone = len(evidence_marks(document, question, spans)) == 1
    return Note(
        f"{share(document, question, spans)} {'piece of evidence is' if alone else 'pieces of evidence are'} in {what}."
    )


def no_evidence(document: Document, question: str) -> str:
    """Why no evidence is marked, in a sentence; "" where some is."""
    if public_evidence(document, question):
        return ""
    if evidence(document, question):
        return "Not for this reader: the answer stands where only some may read, so none of it is found or marked."
    return "This question has no evidence marked by hand: judge for yourself what is delivered."


def closeness(model: Embedder, document: Document, spans: Sequence[Span], texts: Sequence[str]) -> float | None:
    """The mean cosine similarity of the evidence to the nearest of some texts to search with."""
    if not spans:
        return None
    proof = model.passages([span.of(document.text) for span in spans])
    asked = np.stack([model.query(text) for text in texts])
    return float((proof @ asked.T).max(axis=1).mean())


def scoreboard(evaluations: Mapping[str, Evaluation]) -> Table:
    """One row a question: how much of its evidence each strategy delivered, or that it is not for this reader."""
    rows = [
        [scores[0].question.text, *map(_counted, scores)]
        for scores in zip(*(e.scores for e in evaluations.values()), strict=True)
    ]
    return Table(["question", *evaluations], rows, caption="Evidence delivered")


def _counted(score: Score) -> str:
    return HIDDEN if is_hidden(score.question) else f"{sum(score.found)} of {len(score.found)}"


def price_chart(series: Mapping[str, Sequence[Evaluation]]) -> Figure:
    """What evidence costs, one line a strategy, over the questions whose evidence everyone may read."""
    evaluations = [one for line in series.values() for one in line]
    left_out = max(sum(is_hidden(score.question) for score in one.scores) for one in evaluations)
    readable = {name: [_readable(one) for one in line] for name, line in series.items()}
    return plot.tradeoff(readable, more=f"{left_out} more is {HIDDEN}" if left_out else "")


def _readable(evaluation: Evaluation) -> Evaluation:
    return Evaluation(tuple(score for score in evaluation.scores if not is_hidden(score.question)))


def checklist(document: Document, question: Question, contexts: Sequence[Context]) -> Table:
    """Each piece of a question's evidence, where it stands, and whether it was delivered or is not for this reader."""
    rows = []
    for (_, span), found in zip(question.answers, evidence_found(contexts, question), strict=True):
        section = next(s for s in document.sections if s.span.contains(span))
        quoted = plot.shorten(span.of(covered_text(document)), 80)
        public = document.is_public(section.span)
        rows.append([quoted, section.title if public else "–", found if public else HIDDEN])
    return Table(["evidence", "section", "delivered"], rows, caption=question.text)
