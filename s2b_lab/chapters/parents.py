"""The figure of chapter 2: children that are searched, and the parents that they bring."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..core.hits import Context, Hit
from ..figures.views import Table
from .retrieval import retrieval_views

if TYPE_CHECKING:
    from ..index import Index


def family_views(
    index: Index, question: str, hits: Sequence[Hit], contexts: Sequence[Context], k: int
) -> tuple[Any, ...]:
    """The views of a retrieval by children, with a table of which child brings which of the k parents wanted."""
    seen: set[str] = set()
    rows = []
    for hit in hits:
        parent = index.tree.parent(hit.chunk).id
        fate = "already there" if parent in seen else "new" if len(seen) < k else "not needed"
        seen |= {parent} if fate == "new" else set()
        rows.append([hit.rank, round(hit.score, 3), hit.chunk.id, parent, fate])
    columns = ["rank", "similarity", "child", "parent", "its parent is"]
    caption = f"Which child brings which parent: {len(contexts)} of {k} parents wanted"
    return (*retrieval_views(index, question, hits, contexts), Table(columns, rows, caption=caption, folded=True))
