"""How well a model's wish to end tells the ends of paragraphs from those of other sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from ..core.split import Cuts, check_size
from ..core.text import Document, as_documents
from .logits import CausalModel, check_causal, end_probabilities
from .whole import after_block, headed_sentences

_MARK = re.compile(r"[.!?…。！？；][\"'”’」』）)\]]*\Z")


@dataclass(frozen=True, slots=True)
class EndSignal:
    """How often an end of a paragraph is likelier than another end of a sentence: 0.5 is chance, 1 is always."""

    area: float | None
    paragraph_ends: int
    other_ends: int


def end_signal(
    docs: Document | Iterable[Document], model: CausalModel, theta: int = 200, prose: bool = True
) -> EndSignal:
    """Measure the area under the ROC curve of the end-of-sequence probability, ends of paragraphs against others.

    Each sentence is scored once, in blocks of at most `theta` words that follow each other; the last end of a text,
    which always ends a paragraph, and sentences larger than a block are left out. `prose` leaves out ends without a
    mark that ends a sentence, too: code, rows of tables, and lines like "as follows:" end many paragraphs of a
    reference, and there every model goes on. `area` is None where there is no end of one kind. ValueError for a theta
    below 1, and what are no probabilities; TypeError for what is no Document or model.
    """
    check_size(theta, 0, "theta")
    check_causal(model)
    scores: dict[bool, list[float]] = {True: [], False: []}
    for doc in as_documents(docs):
        for end, is_paragraph_end, score in _scores(doc.text, model, theta):
            if not prose or _MARK.search(doc.text, max(0, end - 4), end):
                scores[is_paragraph_end].append(score)
    both = scores[True], scores[False]
    return EndSignal(area_under_curve(*both) if all(both) else None, *map(len, both))


def area_under_curve(positive: Sequence[float], negative: Sequence[float]) -> float:
    """The share of pairs in which the positive has the higher score, where equals count half.

    ValueError where there is none of one kind.
    """
    if not len(positive) or not len(negative):
        raise ValueError(f"an area needs scores of both kinds, got {len(positive)} and {len(negative)}")
    ranked = sorted([(score, True) for score in positive] + [(score, False) for score in negative])
    won, below = 0.0, 0
    for _, group in groupby(ranked, key=lambda pair: pair[0]):
        alike = [is_positive for _, is_positive in group]
        won += sum(alike) * (below + alike.count(False) / 2)
        below += alike.count(False)
    return won / (len(positive) * len(negative))


def _scores(text: str, model: CausalModel, theta: int) -> Iterator[tuple[int, bool, float]]:
    cuts = Cuts(text, "word")
    paragraph_ends = {*cuts.ends("paragraph")}
    sentences = headed_sentences(cuts, 0, len(text))
    first = 0
    while first < len(sentences):
        after = after_block(cuts, sentences, first, theta)
        block = sentences[first:after]
        if cuts.fits(block[0].start, block[-1].end, theta):
            ends = [sentence.end for sentence in block]
            found = end_probabilities(text, block[0].start, ends, model)
            yield from (
                (end, end in paragraph_ends, score)
                for end, score in zip(ends, found, strict=True)
                if end != sentences[-1].end
            )
        first = after
