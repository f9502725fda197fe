"""The whole way of a question: rewrite, embed, search, fuse, expand; every step is kept in a trace."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from .chunk import ChunkTree
from .expand import Context, Hit, parent_document, readable, within_budget
from .index import Index, allow
from .rank import reciprocal_rank_fusion


@dataclass(frozen=True, slots=True)
class Trace:
    """What became of one query: its rewrites, the small hits, the big contexts, and milliseconds by stage.

    With several rewrites a hit's score is that of reciprocal rank fusion, otherwise a cosine similarity. `missing`
    counts hits that could not grow, since the document store has lost their parents.
    """

    query: str
    rewrites: tuple[str, ...]
    hits: tuple[Hit, ...]
    contexts: tuple[Context, ...]
    timings: Mapping[str, float]
    missing: int = 0

    def to_frame(self) -> dict[str, Any]:
        """Give plain JSON: texts are spans of their documents, and contexts name their hits by chunk id."""
        return {
            "query": self.query,
            "rewrites": list(self.rewrites),
            "hits": [_hit_frame(hit) for hit in self.hits],
            "contexts": [_context_frame(context) for context in self.contexts],
            "timings": {stage: round(ms, 3) for stage, ms in self.timings.items()},
            "missing": self.missing,
        }


class Retriever:
    """Small-to-Big retrieval: search small chunks, 4k of them or more, and expand to k contexts.

    `rewrite` turns the question into one or several to search with. `where` is the filter of `Index.search`; who may
    read is checked again after the expansion, which is called as expand(hits, tree, k=k, access=labels).
    """

    def __init__(
        self,
        index: Index,
        expand: Callable[..., list[Context]] = parent_document,
        rewrite: Callable[[str], str | Sequence[str]] | None = None,
        k: int = 4,
        where: Mapping[str, Any] | None = None,
        token_budget: int | None = None,
    ):
        for name, value in {"k": k, "token_budget": 1 if token_budget is None else token_budget}.items():
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"{name} must be a whole number of at least 1, not {value!r}")
        self.index, self.expand, self.rewrite, self.k, self.where = index, expand, rewrite, k, where
        self.token_budget, self._access = token_budget, allow(where)["access"]

    def __call__(self, query: str) -> Trace:
        """Retrieve for one question; ValueError when it is blank."""
        if not isinstance(query, str) or not query.strip():
            raise ValueError(f"the query is blank: {query!r}")
        clock = _Clock()
        rewrites = clock("rewrite", self._rewritten, query)
        vectors = clock("embed", lambda: [self.index.embedder.query(text) for text in rewrites or (query,)])
        size = 4 * self.k
        while True:
            hits, exhausted = clock("search", self._search, vectors, size)
            contexts = clock("expand", self._expanded, hits)
            if len(contexts) >= self.k or exhausted:
                break
            size *= 2
        if self.token_budget is not None:
            contexts = within_budget(contexts, self.token_budget, self.index.embedder.count_tokens)
        return Trace(query, rewrites, tuple(hits), tuple(contexts), clock.spent, self._missing(hits))

    def _rewritten(self, query: str) -> tuple[str, ...]:
        if self.rewrite is None:
            return ()
        texts = self.rewrite(query)
        # A rewrite that comes back empty leaves the question as it is.
        return tuple(text for text in ([texts] if isinstance(texts, str) else texts or ()) if text.strip())

    def _search(self, vectors: Sequence[Any], size: int) -> tuple[list[Hit], bool]:
        lists = [self.index.search(vector, size, self.where) for vector in vectors]
        return _fused(lists), all(len(hits) < size for hits in lists)

    def _expanded(self, hits: list[Hit]) -> list[Context]:
        tree, options = self.index.tree, {"k": self.k}
        if _takes(self.expand, "access"):
            options["access"] = self._access
        found = self.expand(hits, tree, **options)
        return [context for context in found if self._may_be_read(context, tree)][: self.k]

    def _may_be_read(self, context: Context, tree: ChunkTree) -> bool:
        parts = readable(context.span, tree.documents[context.doc_id], self._access)
        return any(part.contains(context.span) for part in parts)

    def _missing(self, hits: list[Hit]) -> int:
        tree = self.index.tree
        return sum(hit.chunk.parent_id is not None and hit.chunk.parent_id not in tree for hit in hits)


class _Clock:
    # Runs a stage and adds up the milliseconds it took, over all the times it ran.

    def __init__(self) -> None:
        self.spent: dict[str, float] = {}

    def __call__(self, stage: str, step: Callable, *arguments: Any) -> Any:
        start = perf_counter()
        try:
            return step(*arguments)
        finally:
            self.spent[stage] = self.spent.get(stage, 0.0) + 1000 * (perf_counter() - start)


def _takes(function: Callable, name: str) -> bool:
    parameters = inspect.signature(function).parameters.values()
    return any(p.name == name or p.kind is p.VAR_KEYWORD for p in parameters)


def _fused(lists: list[list[Hit]]) -> list[Hit]:
    if len(lists) == 1:
        return lists[0]
    chunks = {hit.chunk.id: hit.chunk for hits in lists for hit in hits}
    fused = reciprocal_rank_fusion([hit.chunk.id for hit in hits] for hits in lists)
    return [Hit(chunks[chunk_id], score, rank) for rank, (chunk_id, score) in enumerate(fused, 1)]


def _hit_frame(hit: Hit) -> dict[str, Any]:
    chunk, place = hit.chunk, {"doc": hit.chunk.doc_id, "span": [hit.chunk.span.start, hit.chunk.span.end]}
    return {"chunk": chunk.id, **place, "parent": chunk.parent_id, "score": round(hit.score, 6), "rank": hit.rank}


def _context_frame(context: Context) -> dict[str, Any]:
    place = {"doc": context.doc_id, "span": [context.span.start, context.span.end]}
    return {**place, "score": round(context.score, 6), "hits": [hit.chunk.id for hit in context.hits]}
