"""The whole way of a question: rewrite, embed, search, fuse, expand; every step is kept in a trace."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any, Protocol, runtime_checkable

from .core.access import allow, is_readable
from .core.budget import within_budget
from .core.cards import Card, Rows, beginning, counted, first_few, shown_score
from .core.characters import is_blank
from .core.checks import check_filled, check_kind, check_whole, list_of
from .core.expand import parent_document
from .core.hits import Context, Hit
from .core.rank import reciprocal_rank_fusion
from .core.tree import Chunk, ChunkTree
from .embed import Embedder, text_tokens
from .hypothetical import chunk_id_of, key_of
from .models.copies import normalise
from .queries import best_of, query_rows


@runtime_checkable
class Searchable(Protocol):
    """What a Retriever needs of an index: `Index` has it, and so has anything with vectors of its own."""

    tree: ChunkTree
    embedder: Embedder

    def search(self, query: Any, k: int = 16, where: Mapping[str, Any] | None = None) -> list[Hit]:
        """Find the k chunks most like a question or a vector of `embedder`, best first; all where there are fewer."""


@dataclass(frozen=True, slots=True)
class Trace(Card):
    """What became of one query: its rewrites, the small hits, the big contexts, and milliseconds by stage.

    With several rewrites a hit's score is that of reciprocal rank fusion (the best of a parent's hits has that of the
    parent, which counts once in each list), otherwise a cosine similarity. `missing`
    counts hits for which this expansion has nothing to deliver, since the document store has lost what they grow to.
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

    def _card(self) -> tuple[str, Rows]:
        found = [f"{hit.rank}. {hit.chunk.id}: {shown_score(hit.score)}" for hit in self.hits]
        grown = [f"{number}. {_in_short(context)}" for number, context in enumerate(self.contexts, 1)]
        rows = {
            "rewrites": list(self.rewrites),
            "hits": first_few(found) or "none",
            "contexts": first_few(grown) or "none",
            "missing": f"{counted(self.missing, 'hit')} whose parents are lost" if self.missing else "",
            "milliseconds": ", ".join(f"{stage} {ms:.1f}" for stage, ms in self.timings.items()),
        }
        return f"Trace of a question: {self.query}", [(name, value) for name, value in rows.items() if value]


def pointed_to(hits: Iterable[Hit], tree: ChunkTree, where: Mapping[str, Any] | None = None) -> list[Hit]:
    """Follow hits among the questions of a `question_tree` to the chunks of `tree` that they are about.

    Each chunk comes once, with the score of its best question. Left out are questions whose chunk the tree lacks or
    has with another text, and chunks that `where`, the filter of `Index.search`, does not allow now. ValueError for
    another key or value in it; TypeError for what are no Hits or is no ChunkTree.
    """
    check_kind("tree", tree, ChunkTree)
    allowed, best = allow(where), {}
    for hit in sorted(list_of(Hit, "hits", hits), key=lambda hit: -hit.score):
        chunk_id = chunk_id_of(hit.chunk.doc_id)
        if chunk_id in tree and key_of(tree[chunk_id]) == hit.chunk.doc_id and _allowed(tree[chunk_id], tree, allowed):
            best.setdefault(chunk_id, hit)
    return [Hit(tree[chunk_id], hit.score, rank) for rank, (chunk_id, hit) in enumerate(best.items(), 1)]


def _allowed(chunk: Chunk, tree: ChunkTree, where: Mapping[str, Sequence[str]]) -> bool:
    document = tree.document(chunk)
    known = {"version": document.version, "doc_id": document.id}
    read = is_readable(chunk.span, document, where["access"])
    return read and all(value in where.get(key, (value,)) for key, value in known.items())


class Retriever:
    """Small-to-Big retrieval: search small chunks, 4k of them or more, and expand to k contexts.

    `rewrite` turns the question into one or several to search with; their hits, and those of `questions`, an index of
    a `question_tree` about the chunks of `index`, are fused by reciprocal rank. One longer than the model reads is
    searched in pieces, each chunk with the score of the piece that it is most like. `where` is the filter of
    `Index.search`; who may read is checked again after the expansion, which is called as expand(hits, tree, k=k,
    access=labels), once more where hits have lost something. What does not fit into `token_budget`, in the tokens of
    the text itself, is trimmed as by `within_budget`. TypeError or ValueError, naming it, for an argument of the wrong
    kind or a limit below 1.
    """

    def __init__(
        self,
        index: Searchable,
        expand: Callable[..., list[Context]] = parent_document,
        rewrite: Callable[[str], str | Sequence[str]] | None = None,
        k: int = 4,
        where: Mapping[str, Any] | None = None,
        token_budget: int | None = None,
        questions: Searchable | None = None,
    ):
        _check_searchable("index", index)
        if not callable(expand):
            raise TypeError(f"expand must be a function such as parent_document, not {expand!r}")
        if rewrite is not None and not callable(rewrite):
            raise TypeError(f"rewrite must be a function from a question to one or several, not {rewrite!r}")
        if questions is not None:
            _check_searchable("questions", questions)
        searched = (index, index if questions is None else questions)
        models = [(one.embedder.name, one.embedder.dimension) for one in searched]
        if models[0] != models[1]:
            raise ValueError(f"chunks and questions are embedded by different models: {models[0]} and {models[1]}")
        if token_budget is not None and not hasattr(index.embedder, "count_tokens"):
            raise TypeError(f"a token_budget needs a model that counts tokens; {index.embedder!r} has no count_tokens")
        check_whole("k", k, 1)
        check_whole("token_budget", 1 if token_budget is None else token_budget, 1)
        self.index, self.expand, self.rewrite, self.k, self.where = index, expand, rewrite, int(k), allow(where)
        self.token_budget, self.questions = token_budget, questions

    def __call__(self, query: str) -> Trace:
        """Retrieve for one question; ValueError when it is blank or its vector is not finite.

        TypeError when its rewrite is no text or list, and when the expansion gives no list of Contexts.
        """
        query = check_filled("query", query)
        clock = _Clock()
        with clock("rewrite"):
            rewrites = self._rewritten(query)
        with clock("embed"):
            asked = [query_rows(self.index.embedder, text) for text in rewrites or (query,)]
        size = 4 * self.k
        while True:
            with clock("search"):
                hits, exhausted = self._search(asked, size)
            with clock("expand"):
                found = self._expanded(hits, self.k)
                contexts = self._readable(found)
            if len(contexts) >= self.k or exhausted:
                break
            size *= 2
        if self.token_budget is not None:
            contexts = within_budget(contexts, self.token_budget, partial(text_tokens, self.index.embedder))
        with clock("expand"):
            missing = self._missing(hits, found)
        return Trace(query, rewrites, tuple(hits), tuple(contexts), clock.spent, missing)

    def _rewritten(self, query: str) -> tuple[str, ...]:
        if self.rewrite is None:
            return ()
        given = self.rewrite(query)
        given = () if given is None else given
        texts = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [given]
        if wrong := [text for text in texts if not isinstance(text, str)]:
            raise TypeError(f"rewrite must give a question or a list of questions, not {wrong[0]!r}")
        unique: dict[str, str] = {}
        for text in texts:
            unique.setdefault(normalise(text), text)
        # A rewrite that comes back empty leaves the question as it is.
        return tuple(text for copy, text in unique.items() if not is_blank(copy))

    def _search(self, asked: Sequence[Sequence[Any]], size: int) -> tuple[list[Hit], bool]:
        found = [_found(self.index, vectors, size, self.where) for vectors in asked]
        if self.questions is not None:
            # A question's document is its chunk, so a filter by document has to wait until the chunk is known.
            where = {key: values for key, values in self.where.items() if key != "doc_id"}
            others = [_found(self.questions, vectors, size, where) for vectors in asked]
            found += [(pointed_to(hits, self.index.tree, self.where), exhausted) for hits, exhausted in others]
        return _fused([hits for hits, _ in found]), all(exhausted for _, exhausted in found)

    def _expanded(self, hits: list[Hit], k: int) -> list[Context]:
        options: dict[str, Any] = {"k": k}
        if _takes(self.expand, "access"):
            options["access"] = self.where["access"]
        return list_of(Context, "what expand gives", self.expand(hits, self.index.tree, **options))

    def _readable(self, contexts: list[Context]) -> list[Context]:
        documents, access = self.index.tree.documents, self.where["access"]
        kept = [context for context in contexts if is_readable(context.span, documents[context.doc_id], access)]
        return kept[: self.k]

    def _missing(self, hits: list[Hit], contexts: list[Context]) -> int:
        # Only the expansion knows what it needs of a hit, so it is asked to deliver all that have lost something.
        tree = self.index.tree
        lost = [hit for hit in hits if _has_lost(hit.chunk, tree) and not _is_delivered(hit, contexts)]
        delivered = self._expanded(lost, len(lost)) if lost else []
        return sum(not _is_delivered(hit, delivered) for hit in lost)


def _found(index: Searchable, vectors: Sequence[Any], size: int, where: Mapping[str, Any]) -> tuple[list[Hit], bool]:
    """The hits of a question's vectors, and whether there are no more."""
    lists = [index.search(vector, size, where) for vector in vectors]
    return best_of(lists, size), all(len(hits) < size for hits in lists)


def _has_lost(chunk: Chunk, tree: ChunkTree) -> bool:
    above = {chunk.id, chunk.parent_id or chunk.id, chunk.section_id or chunk.id}
    return any(name not in tree for name in above)


def _is_delivered(hit: Hit, contexts: list[Context]) -> bool:
    return any(
        hit.chunk.id in {one.chunk.id for one in context.hits}
        or (context.doc_id == hit.chunk.doc_id and context.span.contains(hit.chunk.span))
        for context in contexts
    )


class _Clock:
    # Adds up the milliseconds that a stage took, over all the times it ran.

    def __init__(self) -> None:
        self.spent: dict[str, float] = {}

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        start = perf_counter()
        try:
            yield
        finally:
            self.spent[stage] = self.spent.get(stage, 0.0) + 1000 * (perf_counter() - start)


def _check_searchable(name: str, given: object) -> None:
    missing = [part for part in ("tree", "search", "embedder") if not _has(given, part)]
    if isinstance(given, type) or missing:
        what = "is a class" if isinstance(given, type) else f"has no {', '.join(missing)}"
        raise TypeError(f"{name} must be an Index, or another with tree, search and embedder; {given!r} {what}")
    if not callable(given.search):
        raise TypeError(f"{name}.search must be a method, not {given.search!r}")
    if lost := [part for part in ("name", "dimension", "query") if not hasattr(given.embedder, part)]:
        raise TypeError(f"{name}.embedder must be a model; {given.embedder!r} has no {lost[0]}")


def _has(given: object, name: str) -> bool:
    # The tree of an index is not built just to see that there is one.
    return inspect.getattr_static(given, name, None) is not None or hasattr(given, name)


def _takes(function: Callable, name: str) -> bool:
    parameters = inspect.signature(function).parameters.values()
    return any(p.name == name or p.kind is p.VAR_KEYWORD for p in parameters)


def _fused(lists: list[list[Hit]]) -> list[Hit]:
    if len(lists) == 1:
        return lists[0]
    chunks = {hit.chunk.id: hit.chunk for hits in lists for hit in hits}
    # A parent with many hits in a list must not push others down it.
    parents = dict(reciprocal_rank_fusion([_family(hit.chunk) for hit in hits] for hits in lists))
    fused = reciprocal_rank_fusion([hit.chunk.id for hit in hits] for hits in lists)
    # Of a parent's hits the best stands for it, which `pop` lets be only one; the others keep their order behind it.
    scored = [(chunks[chunk_id], parents.pop(_family(chunks[chunk_id]), score)) for chunk_id, score in fused]
    scored.sort(key=lambda found: found[1], reverse=True)
    return [Hit(chunk, score, rank) for rank, (chunk, score) in enumerate(scored, 1)]


def _family(chunk: Chunk) -> str:
    return chunk.parent_id or chunk.id


def _in_short(context: Context) -> str:
    size = counted(len(context.text), "character")
    return f"{context.doc_id} {context.span.start} to {context.span.end}, {size}: {beginning(context.text)}"


def _hit_frame(hit: Hit) -> dict[str, Any]:
    chunk, place = hit.chunk, {"doc": hit.chunk.doc_id, "span": [hit.chunk.span.start, hit.chunk.span.end]}
    score = round(float(hit.score), 6)
    return {"chunk": chunk.id, **place, "parent": chunk.parent_id, "score": score, "rank": hit.rank}


def _context_frame(context: Context) -> dict[str, Any]:
    place = {"doc": context.doc_id, "span": [context.span.start, context.span.end]}
    return {**place, "score": round(float(context.score), 6), "hits": [hit.chunk.id for hit in context.hits]}
