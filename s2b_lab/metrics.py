"""What retrieval is worth: ranks of the evidence, shares of its characters, and words that an answer shares."""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import log2
from statistics import fmean

from .core.cards import Card, Rows
from .core.characters import HAN_AND_KANA
from .core.checks import check_choice, check_str, check_whole, list_of
from .core.hits import Context
from .core.text import Span, merge_spans

# A piece of evidence: the places, document id and span, where its words stand; one of them is enough.
Gold = tuple[tuple[str, Span], ...]


# --- ranks -----------------------------------------------------------------------------------------------------------


def without_repeats(contexts: Iterable[Context]) -> list[Context]:
    """Leave out each context that lies whole in one before it, since it brings nothing new.

    TypeError for what are no Contexts.
    """
    kept: list[Context] = []
    for context in list_of(Context, "contexts", contexts):
        if not any(one.doc_id == context.doc_id and one.span.contains(context.span) for one in kept):
            kept.append(context)
    return kept


def gold_ranks(contexts: Iterable[Context], gold: Iterable[Gold]) -> list[int | None]:
    """Get for each piece of evidence the rank, from 1, of the first context that holds it whole; None where none does.

    `gold` is that of a Question: for each piece the places where it stands, pairs of document id and Span. Contexts
    come best first, and one that lies whole in one before it has no rank. ValueError for no evidence, a piece without a
    place and an empty span; TypeError for what are no Contexts or no such pairs.
    """
    delivered = without_repeats(contexts)
    return [
        next((rank for rank, context in enumerate(delivered, 1) if _holds(context, places)), None)
        for places in _checked(gold)
    ]


def _holds(context: Context, places: Gold) -> bool:
    return any(context.doc_id == doc_id and context.span.contains(span) for doc_id, span in places)


def _checked(gold: Iterable[Gold]) -> list[Gold]:
    checked = list_of(tuple, "gold", gold)
    if not checked or not all(checked):
        raise ValueError(f"gold must have at least 1 piece of evidence, each with at least 1 place, not {checked}")
    for place in (place for places in checked for place in places):
        if not isinstance(place, tuple) or [type(part) for part in place] != [str, Span]:
            raise TypeError(f"a place of evidence is a pair of document id and Span, not {place!r}")
        if not len(place[1]):
            raise ValueError(f"evidence in {place[0]!r} is empty: {place[1]}")
    return checked


def recall_at_k(ranks: Iterable[int | None], k: int | None = None) -> float:
    """Share of the evidence among the first k contexts (all without k), 0 to 1, from its ranks.

    ValueError for no ranks, and for a rank or a k below 1; TypeError for ranks that are no list.
    """
    return fmean(rank is not None for rank in _within(ranks, k))


def dcg_at_k(ranks: Iterable[int | None], k: int | None = None, gain: str = "binary") -> float:
    """Discounted cumulative gain of the first k contexts (all without k), 0 to 1, from the ranks of the evidence.

    With "binary" gain the first context that holds any of the evidence counts, once, as 1 / log2(1 + rank): the
    protocol of GutenQA. With "graded" gain each context counts by the share of the evidence that it is the first to
    hold. With a single piece of evidence both are the same. ValueError for no ranks, a rank or a k below 1, and another
    gain; TypeError for ranks that are no list.
    Source: Järvelin and Kekäläinen, "Cumulated Gain-Based Evaluation of IR Techniques", ACM TOIS 2002; binary as in
    Duarte et al., "LumberChunker", arXiv:2406.17526.
    """
    check_choice("gain", gain, ("binary", "graded"))
    gains = [0.0 if rank is None else 1 / log2(1 + rank) for rank in _within(ranks, k)]
    return max(gains) if gain == "binary" else fmean(gains)


def _within(ranks: Iterable[int | None], k: int | None) -> list[int | None]:
    check_whole("k", 1 if k is None else k, 1)
    found = list_of(object, "ranks", ranks)
    if not found:
        raise ValueError("there are 0 ranks: give one, or None, for each piece of evidence")
    for rank in found:
        check_whole("a rank", 1 if rank is None else rank, 1)
    return [rank if rank is not None and (k is None or rank <= k) else None for rank in found]


# --- characters ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Overlap(Card):
    """How many characters were delivered, how many are evidence, and how many of these were among those.

    What is delivered twice counts twice, evidence once. ValueError for a number below 0, no evidence, and for more
    shared than there is.
    """

    shared: int
    delivered: int
    gold: int

    def __post_init__(self) -> None:
        check_whole("shared characters of an overlap", self.shared, 0)
        check_whole("delivered characters of an overlap", self.delivered, self.shared)
        check_whole("gold characters of an overlap", self.gold, max(1, self.shared))

    @property
    def recall(self) -> float:
        """Share of the evidence's characters that were delivered, 0 to 1."""
        return self.shared / self.gold

    @property
    def precision(self) -> float:
        """Share of the delivered characters that are evidence, 0 to 1; 0 where nothing was delivered."""
        return self.shared / self.delivered if self.delivered else 0.0

    @property
    def iou(self) -> float:
        """Intersection over union: the shared characters among all that were delivered or are evidence, 0 to 1."""
        return self.shared / (self.delivered + self.gold - self.shared)

    def _card(self) -> tuple[str, Rows]:
        shares = ("recall", "precision", "iou")
        title = f"Overlap of {self.delivered:,} characters with {self.gold:,} of evidence"
        return title, [(name, f"{getattr(self, name):.3f}") for name in shares]


def span_overlap(contexts: Iterable[Context], gold: Iterable[Gold]) -> Overlap:
    """Count the characters of the evidence that contexts deliver, in whole or in pieces.

    Of evidence that stands in several places the one counts of which most is delivered. ValueError and TypeError as
    with `gold_ranks`.
    Source: Smith and Troynikov, "Evaluating Chunking Strategies for Retrieval", Chroma 2024, there in tokens.
    """
    contexts = list_of(Context, "contexts", contexts)
    delivered = _united((context.doc_id, context.span) for context in contexts)
    chosen = [max(places, key=lambda place: _share(*place, delivered)) for places in _checked(gold)]
    wanted = _united(chosen)
    shared = sum(_shared(doc_id, span, delivered) for doc_id, spans in wanted.items() for span in spans)
    gold_size = sum(len(span) for spans in wanted.values() for span in spans)
    return Overlap(shared, sum(len(context.span) for context in contexts), gold_size)


def _united(places: Iterable[tuple[str, Span]]) -> dict[str, list[Span]]:
    spans: dict[str, list[Span]] = {}
    for doc_id, span in places:
        spans.setdefault(doc_id, []).append(span)
    return {doc_id: merge_spans(found) for doc_id, found in spans.items()}


def _shared(doc_id: str, span: Span, delivered: Mapping[str, list[Span]]) -> int:
    return sum(max(0, min(one.end, span.end) - max(one.start, span.start)) for one in delivered.get(doc_id, ()))


def _share(doc_id: str, span: Span, delivered: Mapping[str, list[Span]]) -> float:
    return _shared(doc_id, span, delivered) / len(span)


# --- answers ---------------------------------------------------------------------------------------------------------

# Marks inside words and numbers go without a trace; others part what is around them.
_GONE = {*string.punctuation, *"‘’“”‐‑‒–"}
_TOKEN = re.compile(rf"[{HAN_AND_KANA}]|[^\s{HAN_AND_KANA}]+")
_ARTICLES = {"a", "an", "the"}


def answer_f1(answer: str, references: str | Iterable[str]) -> float:
    """Harmonic mean of the precision and the recall of an answer's words, 0 to 1: the best over all right answers.

    Case, marks and English articles do not count, and each Chinese character is a word. Where nothing of a text is
    left, only an answer of which nothing is left is like it. ValueError for no reference, TypeError for what is no
    text.
    Source: Rajpurkar et al., SQuAD, arXiv:1606.05250; with characters, Lewis et al., MLQA, arXiv:1910.07475.
    """
    check_str("answer", answer)
    right = [references] if isinstance(references, str) else list_of(str, "references", references)
    if not right:
        raise ValueError("there are 0 references: give at least 1 right answer")
    return max(_f1(_words(answer), _words(reference)) for reference in right)


def _f1(words: Counter[str], wanted: Counter[str]) -> float:
    if not words or not wanted:
        return float(words == wanted)
    return 2 * (words & wanted).total() / (words.total() + wanted.total())


def _words(text: str) -> Counter[str]:
    parted = "".join(" " if _parts(character) else character for character in text)
    plain = unicodedata.normalize("NFKC", parted).lower()
    found = _TOKEN.findall("".join(character for character in plain if not _is_gone(character)))
    return Counter(word for word in found if word not in _ARTICLES)


def _parts(character: str) -> bool:
    return not _is_gone(character) and unicodedata.category(character).startswith("P")


def _is_gone(character: str) -> bool:
    return character in _GONE or unicodedata.category(character) == "Cf"  # what joins, shapes or directs
