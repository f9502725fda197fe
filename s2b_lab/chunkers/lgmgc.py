"""LGMGC: parents where a language model would end, halves and quarters of them to search."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ..core.build import HEADING_PATH, multi_granular
from ..core.sizes import Unit
from ..core.split import Cuts, check_size
from ..core.text import Document, Span
from ..core.tree import ChunkTree
from .labels import stretches
from .logits import CausalModel, blocks_of, check_causal


def lgmgc(
    docs: Document | Iterable[Document],
    model: CausalModel,
    theta: int = 200,
    unit: Unit = "word",
    length: Callable[[str], int] | None = None,
    heading_path: bool = HEADING_PATH,
) -> ChunkTree:
    """Parents cut by `logits`, and in each of them the halves and quarters of `multi_granular`; all are indexed.

    No sentence is cut, so one larger than `theta` stands alone. A parent ends where the label of who may read it
    changes; it may hold several sections, since headings are left to the model, while halves and quarters stay inside
    one. ValueError for a theta below 1, another unit, and a model that does not give a probability, 0 to 1, for each
    end; TypeError for what is no Document or model.
    Source: logits-guided multi-granular chunking (LGMGC), arXiv:2501.09940.
    """
    check_size(theta, 0, "theta")
    check_causal(model)

    def parents(doc: Document) -> Iterator[Span]:
        cuts = Cuts(doc.text, unit, length)
        for stretch in stretches(doc):
            for block in blocks_of(cuts, model, theta, stretch.start, stretch.end):
                yield Span(block.span.start, block.cut)

    return multi_granular(docs, theta, unit, length, heading_path, parents)
