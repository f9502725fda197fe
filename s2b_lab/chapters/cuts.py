"""The figure of chapter 9: a text whose reader cuts it, then sees where chunkers do, and the tree of LGMGC."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..chunkers.logits import CausalModel, ScoredBlock, end_probabilities
from ..chunkers.whole import headed_sentences
from ..core.cards import counted
from ..core.characters import language_of
from ..core.sizes import count
from ..core.split import Cuts
from ..core.text import Document, Span
from ..core.tree import Chunk, ChunkTree
from ..figures import plot
from ..figures.cut_points import CutPoints
from ..figures.views import Figure, Note
from ..llm import ModelUnavailable


def cut_views(
    document: Document,
    model: CausalModel,
    blocks: Sequence[ScoredBlock],
    tree: ChunkTree,
    chunks: Mapping[str, Sequence[Span] | None],
) -> tuple[Note, CutPoints]:
    """A text with the probability of each end in the block that kept it, the tree of LGMGC, the cuts of all chunkers.

    The last block has no choice to make, but its ends are shown as well, where the model has a word on them. A chunker
    without chunks, None, could not be asked: it is left out, and the note says so.
    """
    text = document.text
    sentences = headed_sentences(Cuts(text, "word"), 0, len(text))
    asked = kept_probabilities(blocks) | rest_of(text, blocks, model)
    levels = levels_of(tree)
    known = {name: spans for name, spans in chunks.items() if spans is not None}
    probabilities = [asked.get(sentence.end) for sentence in sentences]
    title, lang = document.title or document.id, language_of(text)
    told = _told(text, len(sentences), levels, [name for name in chunks if name not in known])
    return Note(told), CutPoints(text, sentences, probabilities, known, levels, title, lang)


def kept_probabilities(blocks: Sequence[ScoredBlock]) -> dict[int, float]:
    """The probability at each end up to the cut of its block; what stands behind it is asked again in the next one."""
    return {
        end: probability
        for block in blocks
        for end, probability in zip(block.ends, block.probabilities, strict=False)
        if end <= block.cut
    }


def rest_of(text: str, blocks: Sequence[ScoredBlock], model: CausalModel) -> dict[int, float]:
    """The probability at each end of the last block, which was not needed to cut it; of a single sentence none."""
    if not blocks or len(blocks[-1].ends) < 2:
        return {}
    last = blocks[-1]
    try:
        return dict(zip(last.ends, end_probabilities(text, last.span.start, last.ends, model), strict=True))
    except ModelUnavailable:
        return {}


def levels_of(tree: ChunkTree) -> list[list[Span]]:
    """The parents of LGMGC, the halves and the quarters; a piece that is both stands among the halves alone."""
    parts: dict[str, list[Span]] = {"": [], "h": [], "q": []}
    for chunk in tree.indexed:
        parts[_level(chunk)].append(chunk.span)
    return [sorted(spans, key=lambda span: span.start) for spans in parts.values()]


def _level(chunk: Chunk) -> str:
    # Halves and quarters both have the parent as parent: their ids end in h1, h2, … and q1, q2, …
    return "" if chunk.parent_id is None else chunk.id.rsplit("/", 1)[1][0]


def _told(text: str, sentences: int, levels: Sequence[Sequence[Span]], missing: Sequence[str]) -> str:
    if not sentences:
        return "The text is empty: there is nothing to cut."
    parents, *smaller = levels
    words = [count(span.of(text), "word") for span in parents]
    inside = sum(map(len, smaller))
    least, most = min(words), max(words)
    sizes = f"{least} to {most}" if least < most else f"{most}"
    lost = f" {', '.join(missing)}: no answer is recorded for this text, and no model gave one." if missing else ""
    return (
        f"{counted(sentences, 'sentence')}, {count(text, 'word')} words. "
        f"LGMGC makes {counted(len(parents), 'parent')} of {sizes} words, "
        f"with {counted(inside, 'smaller piece')} inside: "
        f"{counted(len(parents) + inside, 'vector')} to search.{lost}"
    )


# --- how weak the signal is ---


def areas(found: Mapping[str, Any]) -> Figure:
    """How often a paragraph end is likelier than another end, text by text, as the results in a file say it."""
    names, kinds = list(found["areas"]), {"prose": "ends of prose", "all": "all ends"}
    series = {label: [found["areas"][name][kind]["area"] for name in names] for kind, label in kinds.items()}
    return plot.grouped_bars(names, series, "area under the curve", level=(0.5, "chance"))
