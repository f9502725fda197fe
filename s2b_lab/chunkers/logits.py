"""Logits-guided chunking: a small language model says after which sentence it would rather stop."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from ..core.checks import check_callable, check_number, check_str, list_of
from ..core.sizes import Unit
from ..core.split import Cuts, check_size
from ..core.text import Span
from .whole import after_block, headed_sentences, in_size

_MOST = 1 + 1e-5  # a sum of many tokens' shares in single precision


class CausalModel(Protocol):
    """A language model that tells how likely a text ends here, instead of going on."""

    name: str

    def end_probabilities(self, text: str, places: Sequence[int]) -> list[float]:
        """The probability that an end of sequence follows text[:place], for each place, of one forward pass."""


@dataclass(frozen=True, slots=True)
class ScoredBlock:
    """One block as a model saw it: where sentences end, how likely the text ends there, and where it is cut.

    `probabilities` are empty where there was nothing to choose, and no model was asked.
    """

    span: Span
    ends: tuple[int, ...]
    probabilities: tuple[float, ...]
    cut: int


def logits(
    text: str,
    model: CausalModel,
    theta: int = 200,
    unit: Unit = "word",
    length: Callable[[str], int] | None = None,
) -> list[Span]:
    """Cut after the sentence of each block of `theta` words that the model would most likely end with.

    A block is as many whole sentences as fit, one forward pass scores all of their ends, and what is behind the
    cut joins the next block. A heading goes with what follows. What is left in the end, and a sentence alone in its
    block, is a chunk without a question. A sentence larger than `theta` is cut as `recursive` does, so that no chunk
    is larger. ValueError for a theta below 1, another unit, and a model that does not give a probability, 0 to 1, for
    each end; TypeError for what is no text or model.
    Source: Logits-Guided Chunker, arXiv:2501.09940.
    """
    cuts = _checked(text, model, theta, unit, length)
    return [
        part
        for block in blocks_of(cuts, model, theta, 0, len(text))
        for part in in_size(cuts, Span(block.span.start, block.cut), theta)
    ]


def logits_blocks(
    text: str,
    model: CausalModel,
    theta: int = 200,
    unit: Unit = "word",
    length: Callable[[str], int] | None = None,
) -> list[ScoredBlock]:
    """The blocks that `logits` goes through, with the probability at each end of a sentence.

    ValueError for a theta below 1, another unit, and what are no probabilities; TypeError for what is no text or model.
    """
    return list(blocks_of(_checked(text, model, theta, unit, length), model, theta, 0, len(text)))


def blocks_of(cuts: Cuts, model: CausalModel, theta: int, start: int, stop: int) -> Iterator[ScoredBlock]:
    """The blocks of text[start:stop] one after the other; a sentence larger than theta is a block."""
    sentences = headed_sentences(cuts, start, stop)
    first = 0
    while first < len(sentences):
        begin = sentences[first].start
        after = after_block(cuts, sentences, first, theta)
        ends = tuple(sentence.end for sentence in sentences[first:after])
        if len(ends) == 1 or after == len(sentences):
            yield ScoredBlock(Span(begin, ends[-1]), ends, (), ends[-1])
            first = after
            continue
        found = end_probabilities(cuts.text, begin, ends, model)
        # Of equals the last one, which leaves the largest chunk.
        best = max(range(len(ends)), key=lambda place: (found[place], place))
        yield ScoredBlock(Span(begin, ends[-1]), ends, found, ends[best])
        first += best + 1


def end_probabilities(text: str, begin: int, ends: Sequence[int], model: CausalModel) -> tuple[float, ...]:
    """Ask a model for the block from `begin` to the last end; ValueError unless it gives a probability for each end."""
    places = [end - begin for end in ends]
    given = model.end_probabilities(text[begin : ends[-1]], places)
    found = tuple(list_of(object, f"what {model.name} gives", given))
    if len(found) != len(places):
        raise ValueError(f"{model.name} gave {len(found)} probabilities for {len(places)} places")
    for value in found:
        check_number(f"a probability that {model.name} gives", value, 0)
        if value > _MOST:
            raise ValueError(f"a probability that {model.name} gives must be at most 1, not {value}")
    return found


def _checked(text: str, model: CausalModel, theta: int, unit: Unit, length: Callable[[str], int] | None) -> Cuts:
    check_size(theta, 0, "theta")
    check_causal(model)
    return Cuts(text, unit, length)


def check_causal(model: CausalModel) -> None:
    """Refuse what is no CausalModel (TypeError)."""
    check_str("name of the model", getattr(model, "name", None))
    check_callable("end_probabilities of the model", getattr(model, "end_probabilities", None), "of text and places")
