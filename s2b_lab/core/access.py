"""Who may read what: the rule that every search and every expansion asks."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from .checks import check_kind, list_of
from .text import PUBLIC, Document, Span, merge_spans
from .tree import Chunk, ChunkTree

Access = Iterable[str]
Allowed = Mapping[str, tuple[str, ...]]
_KEYS = ("access", "version", "doc_id")


def readable(span: Span, document: Document, access: Access = PUBLIC) -> list[Span]:
    """The parts of `span` in sections whose access label is one of `access`; no label, nothing.

    TypeError for what is no Span or Document, and for labels that are no collection of texts: of one text, each letter
    would be a label.
    """
    check_kind("span", span, Span)
    check_kind("document", document, Document)
    labels = as_labels(access)
    seen = (section.span for section in document.sections if section.access in labels)
    parts = (Span(max(s.start, span.start), min(s.end, span.end)) for s in seen if s.overlaps(span))
    return merge_spans(parts)


def as_labels(access: Access) -> frozenset[str]:
    """The labels as a set; TypeError for one text, whose letters would be labels, and for labels that are no texts."""
    if isinstance(access, str) or not isinstance(access, Iterable):
        raise TypeError(f"access must be a collection of labels such as ('public',), not {access!r}")
    return frozenset(list_of(str, "access", access))


def is_readable(span: Span, document: Document, access: Access = PUBLIC) -> bool:
    """Tell whether readers with one of these labels may read all of a span."""
    return span in readable(span, document, access)


def readable_chunks(tree: ChunkTree, access: Access = PUBLIC) -> list[Chunk]:
    """The indexed chunks that readers with one of these labels may read whole, in document order.

    TypeError for what is no ChunkTree, and for labels that are no collection of texts.
    """
    check_kind("tree", tree, ChunkTree)
    return [chunk for chunk in tree.indexed if is_readable(chunk.span, tree.document(chunk), access)]


def allow(where: Mapping[str, Any] | None) -> dict[str, tuple[str, ...]]:
    """Complete a filter to the values each key may have: "access" is always there, ("public",) when not given.

    Keys are "access", "version" and "doc_id"; a value is a text or a list of texts, None for none. ValueError for any
    other.
    """
    if where is not None and not isinstance(where, Mapping):
        raise ValueError(f"where is a mapping such as {{'access': ['public']}}, not {where!r}")
    unknown = [key for key in where or () if key not in _KEYS]
    if unknown:
        raise ValueError(f"unknown key {unknown[0]!r} in where; allowed are {', '.join(_KEYS)}")
    return {key: _texts(key, value) for key, value in {"access": PUBLIC, **(where or {})}.items()}


def _texts(key: str, value: Any) -> tuple[str, ...]:
    values = (value,) if isinstance(value, str) else () if value is None else value
    if not isinstance(values, Iterable) or isinstance(values, (Mapping, bytes)):
        raise ValueError(f"where[{key!r}] is a text or a list of texts, not {value!r}")
    values = tuple(values)
    if not all(isinstance(one, str) for one in values):
        raise ValueError(f"where[{key!r}] is a text or a list of texts, not {value!r}")
    return values


def public_text(document: Document) -> str:
    """The text up to the first section that not everybody may read; spans of it are spans of the document.

    TypeError for what is no Document.
    """
    check_kind("document", document, Document)
    return document.public_beginning()


def covered_text(document: Document) -> str:
    """The text at the same length, each character covered that not everybody may read.

    TypeError for what is no Document.
    """
    check_kind("document", document, Document)
    return _covered(document)


@lru_cache(maxsize=16)
def _covered(document: Document) -> str:
    text = document.text
    for section in document.sections:
        if not document.is_public(section.span):
            covered = "".join(c if c.isspace() else "▒" for c in section.span.of(text))
            text = text[: section.span.start] + covered + text[section.span.end :]
    return text
