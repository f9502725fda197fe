"""From small hits to big contexts: parents, sentence windows, merging."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from statistics import fmean
from typing import Literal

from .access import PUBLIC, Access, as_labels, is_readable, readable
from .checks import check_choice, check_kind, check_number, check_whole, list_of
from .hits import Context, Hit
from .text import Span, merge_spans, trimmed
from .tree import Chunk, ChunkTree


def as_found(hits: Iterable[Hit], tree: ChunkTree, k: int | None = None, access: Access = PUBLIC) -> list[Context]:
    """Deliver the hits themselves, the best k: plain retrieval, to compare with.

    ValueError for a k below 1; TypeError for what are no Hits, no ChunkTree or no labels.
    """
    check_whole("k", 1 if k is None else k, 1)
    access = as_labels(access)
    sound = _sound(hits, tree, access)
    return [context for hit in sound[:k] for context in _contexts(hit.chunk.span, [hit], tree, access)]


def parent_document(
    hits: Iterable[Hit],
    tree: ChunkTree,
    k: int = 4,
    *,
    score: Literal["max", "mean"] = "max",
    level: Literal["section"] | None = None,
    access: Access = PUBLIC,
) -> list[Context]:
    """Deliver the parents of the hits, each once, the best k; level "section" climbs to the section.

    A parent is as good as its best hit (or as the mean of them); ties go by the order of the text. A hit or
    parent that is missing in the tree is skipped, so give more than k hits (4k) where children share parents.
    ValueError for a k below 1, another score or level; TypeError for what are no Hits, no ChunkTree or no labels.
    Source: Callan, "Passage-Level Evidence in Document Retrieval", SIGIR 1994, which scores a document by its best
    passage; with chunks for RAG, LangChain's ParentDocumentRetriever, August 2023.
    """
    check_whole("k", k, 1)
    check_choice("score", score, ("max", "mean"))
    check_choice("level", level, (None, "section"))
    access = as_labels(access)
    families: dict[str, list[Hit]] = {}
    for hit in _sound(hits, tree, access):
        for parent in _parents(hit.chunk, tree, level):
            families.setdefault(parent.id, []).append(hit)
    contexts = [c for key, family in families.items() for c in _contexts(tree[key].span, family, tree, access)]
    # The sort is stable, so the text's order, which comes first, decides ties.
    contexts.sort(key=_text_order(tree))
    return sorted(contexts, key=_mean if score == "mean" else _best, reverse=True)[:k]


def sentence_window(
    hits: Iterable[Hit],
    tree: ChunkTree,
    window_size: int = 1,
    within: Literal["section", "paragraph"] | None = "section",
    merge: bool = True,
    k: int | None = None,
    access: Access = PUBLIC,
) -> list[Context]:
    """Deliver each hit sentence with up to `window_size` sentences on both sides, clipped to `within`.

    Windows of one section (paragraph; document with within=None) that overlap or touch become one context,
    unless merge is False. Order: best hit first. k counts contexts after merging: hits are taken best first until
    there are k, so that a weak hit never makes a strong one's context longer. ValueError for a hit on no sentence, a k
    below 1, a window_size below 0, or another `within`; TypeError for what are no Hits, no ChunkTree or no labels.
    Source: LlamaIndex's SentenceWindowNodeParser, pull request 7211, August 2023.
    """
    check_whole("k", 1 if k is None else k, 1)
    check_whole("window_size", window_size, 0)
    check_choice("within", within, ("section", "paragraph", None))
    check_choice("merge", merge, (True, False))
    access = as_labels(access)
    sound = _sound(hits, tree, access)
    windows = partial(_windows, tree=tree, size=window_size, within=within, merge=merge, access=access)
    # With k, hits that are not needed for k contexts must not widen those that are.
    for needed in range(k, len(sound)) if k else ():
        if len(contexts := windows(sound[:needed])) >= k:
            return contexts[:k]
    return windows(sound)[:k]


def auto_merge(
    hits: Iterable[Hit], tree: ChunkTree, ratio: float = 0.5, k: int | None = None, access: Access = PUBLIC
) -> list[Context]:
    """Replace hits by their parent where at least `ratio` of its children are hit, again and again upwards.

    Hits whose parent is not reached are delivered as they are. Order: best hit first. ValueError for a k below 1 or a
    ratio outside 0 to 1; TypeError for what are no Hits, no ChunkTree or no labels.
    Source: LlamaIndex's AutoMergingRetriever, pull request 7420, August 2023, after an idea of Jason Liu.
    """
    check_whole("k", 1 if k is None else k, 1)
    check_number("ratio", ratio)
    if not 0 < ratio <= 1:
        raise ValueError(f"ratio must be above 0 and at most 1, not {ratio}")
    access = as_labels(access)
    groups = {hit.chunk.id: [hit] for hit in _sound(hits, tree, access)}
    while (merged := _merge_once(groups, tree, ratio)) != groups:
        groups = merged
    contexts = [c for key, family in groups.items() for c in _contexts(tree[key].span, family, tree, access)]
    return sorted(contexts, key=_best_hit_first)[:k]


# --- hits and what they lead to ---


def _sound(hits: Iterable[Hit], tree: ChunkTree, access: Access) -> list[Hit]:
    """The hits best first, each chunk once, without those that the tree lacks or the reader may not see."""
    check_kind("tree", tree, ChunkTree)
    found: dict[str, Hit] = {}
    for hit in sorted(list_of(Hit, "hits", hits), key=_best_first):
        if hit.chunk.id in tree and hit.chunk.id not in found:
            chunk = tree[hit.chunk.id]
            if is_readable(chunk.span, tree.document(chunk), access):
                found[chunk.id] = replace(hit, chunk=chunk)
    return list(found.values())


def _parents(chunk: Chunk, tree: ChunkTree, level: str | None) -> Iterator[Chunk]:
    """What to deliver for a chunk: one chunk, or none where the tree lacks it."""
    wanted = chunk.section_id if level == "section" else chunk.parent_id or chunk.id
    if wanted in tree:
        # What reaches beyond the section it begins in has another parent, or is its own.
        around = (tree[above] for above in (wanted, chunk.parent_id) if above in tree)
        yield next((above for above in around if above.span.contains(chunk.span)), chunk)


def _scope(chunk: Chunk, within: str | None) -> tuple[str | None, ...]:
    inner = {"section": chunk.section_id, "paragraph": chunk.parent_id or chunk.id, None: None}[within]
    return chunk.doc_id, inner


def _window(chunk: Chunk, tree: ChunkTree, size: int, within: str | None, access: Access) -> Span:
    """The hit's window as positions in the document's row of sentences: it stops where reading must stop."""
    if chunk.level != "sentence":
        raise ValueError(f"sentence_window needs hits on sentences, but {chunk.id!r} is a {chunk.level}")
    row, place, scope = tree.row(chunk), tree.position(chunk), _scope(chunk, within)
    low, high = max(0, place - size), min(len(row) - 1, place + size)
    around = readable(Span(row[low].span.start, row[high].span.end), tree.document(chunk), access)
    run = next(part for part in around if part.contains(chunk.span))
    inside = [_scope(row[i], within) == scope and run.contains(row[i].span) for i in range(low, high + 1)]
    return Span(low + inside.index(True), high + 1 - inside[::-1].index(True))


def _windows(
    hits: list[Hit], tree: ChunkTree, size: int, within: str | None, merge: bool, access: Access
) -> list[Context]:
    groups: dict[tuple[str | None, ...], list[tuple[Hit, Span]]] = {}
    for hit in hits:
        window = _window(hit.chunk, tree, size, within, access)
        groups.setdefault(_scope(hit.chunk, within), []).append((hit, window))
    join = partial(_joined, tree=tree, merge=merge)
    contexts = [c for windows in groups.values() for s, h in join(windows) for c in _contexts(s, h, tree, access)]
    return sorted(contexts, key=_best_hit_first)


def _joined(windows: list[tuple[Hit, Span]], tree: ChunkTree, merge: bool) -> Iterator[tuple[Span, list[Hit]]]:
    """Spans of text to deliver with their hits; windows are merged as positions, where neighbours touch."""
    row = tree.row(windows[0][0].chunk)
    if merge:
        runs = [
            (run, [hit for hit, window in windows if run.contains(window)])
            for run in merge_spans(w for _, w in windows)
        ]
    else:
        runs = [(window, [hit]) for hit, window in windows]
    for run, hits in runs:
        yield Span(row[run.start].span.start, row[run.end - 1].span.end), hits


def _merge_once(groups: dict[str, list[Hit]], tree: ChunkTree, ratio: float) -> dict[str, list[Hit]]:
    """One step up: every group whose parent is hit itself, or has enough of its children hit, joins it."""
    hit_children = Counter(tree[key].parent_id for key in groups)
    merged: dict[str, list[Hit]] = {}
    for key, family in groups.items():
        parent_id = tree[key].parent_id
        if parent_id in tree:
            enough = hit_children[parent_id] / len(tree.children(tree[parent_id])) >= ratio
            key = parent_id if enough or parent_id in groups else key
        merged.setdefault(key, []).extend(family)
    return merged


def _contexts(span: Span, hits: Iterable[Hit], tree: ChunkTree, access: Access) -> Iterator[Context]:
    """Deliver the readable runs of a span that hold a hit: the check after every expansion."""
    hits = sorted(hits, key=_best_first)
    document = tree.document(hits[0].chunk)
    for part in readable(span, document, access):
        inside = tuple(hit for hit in hits if part.contains(hit.chunk.span))
        if inside:
            part = trimmed(document.text, part)
            yield Context(document.id, part, part.of(document.text), inside)


# --- orders ---


def _best_first(hit: Hit) -> tuple[float, int]:
    return -hit.score, hit.rank


def _best_hit_first(context: Context) -> tuple[float, int]:
    return _best_first(context.hits[0])


def _best(context: Context) -> float:
    return context.score


def _mean(context: Context) -> float:
    return fmean(hit.score for hit in context.hits)


def _text_order(tree: ChunkTree) -> Callable[[Context], tuple[int, int, int]]:
    # As in a tree, what is around comes before what is inside.
    order = {doc_id: place for place, doc_id in enumerate(tree.documents)}
    return lambda context: (order[context.doc_id], context.span.start, -context.span.end)
