"""What is to become of a document in an index: the vectors that its next version needs, and those that are there."""

from __future__ import annotations

import hashlib
import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field

from ..core.characters import is_blank
from ..core.embedded import Copies
from ..core.text import Document
from ..core.tree import Chunk
from ..embed import Embedder
from ..models.copies import normalise
from .committed import Labels, Stored, as_metadata

_SUFFIX = re.compile(r"(#[0-9a-f]{16})\.[0-9a-f]{8}(#\d+)?$")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A vector that a document needs, the text that it is made from ("" when it is there), and its labels.

    Its record's id is the chunk's id, "#", a hash of the text, ".", a hash of the labels and, for a piece of a chunk,
    "#" and a number: a record never changes its vector or labels.
    """

    record: str
    text: str
    labels: dict[str, str]

    @property
    def key(self) -> str:
        """Equal for equal embedded texts, whatever chunk or label they belong to."""
        return text_key(self.record)


@dataclass(frozen=True, slots=True)
class Change:
    """A document's committed version, the next one with the vectors that it needs, and the records that are there.

    `kept` grows by the records that are written while the change is carried out.
    """

    former: Stored | None
    planned: Stored
    wanted: list[Wanted]
    present: set[str]
    kept: set[str] = field(default_factory=set)

    @property
    def doc_id(self) -> str:
        """The document's id."""
        return self.planned.document.id

    @property
    def new(self) -> list[Wanted]:
        """The vectors that are not there."""
        return [one for one in self.wanted if one.record not in self.present]

    @property
    def old(self) -> set[str]:
        """The records that nobody will need."""
        return self.present - {one.record for one in self.wanted}


def text_key(record: str) -> str:
    """Equal for the records of equal embedded texts, whatever chunk or label they belong to."""
    found = _SUFFIX.search(record)
    return "".join(filter(None, found.groups())) if found else record


def plan(
    document: Document,
    chunks: Iterable[Chunk],
    indexed: set[str],
    former: Stored | None,
    present: set[str],
    model: Embedder,
    heading_path: bool = False,
) -> Change:
    """Plan a document's next version with its chunks, those in `indexed` (ids) to be found by a vector."""
    planned = Stored(former.order if former else 0, document, tuple(chunks), {}, heading_path)
    copies = Copies(document, heading_path)
    change = Change(former, planned, [], present)
    labels = planned.labels()
    for chunk in planned.chunks:
        if chunk.id in indexed and (wanted := _needed(chunk, labels(chunk), change, model, copies)):
            change.wanted.extend(wanted)
            planned.records[chunk.id] = tuple(one.record for one in wanted)
    return change


def _needed(chunk: Chunk, labels: Labels, change: Change, model: Embedder, copies: Copies) -> list[Wanted]:
    copy = normalise(copies.whole(chunk.span))
    if is_blank(copy):
        return []
    kept = as_metadata(labels)
    record = f"{chunk.id}#{_hash(copy)[:16]}.{_hash(chunk.level, *kept.values())[:8]}"
    known = change.former.records.get(chunk.id, ()) if change.former else ()
    if known and known[0].startswith(record) and change.present.issuperset(known):
        return [Wanted(piece, "", kept) for piece in known]
    texts = pieces(chunk, copy, model, copies)
    numbered = [record] if len(texts) == 1 else [f"{record}#{number}" for number in range(len(texts))]
    return [Wanted(one, text, kept) for one, text in zip(numbered, texts, strict=True)]


def pieces(chunk: Chunk, copy: str, model: Embedder, copies: Copies) -> list[str]:
    """The texts that a chunk is embedded in: its copy or, where that is longer than the model reads, pieces of it."""
    # A token is at least one byte: most chunks are short enough without counting.
    if len(copy.encode()) + len(model.passage_prefix.encode()) + 8 <= model.max_tokens:
        return [copy]
    size = model.count_tokens(copy)
    if size <= model.max_tokens:
        return [copy]
    texts = copies.parts(chunk.span, model.max_tokens, model.count_tokens)
    warnings.warn(
        f"chunk {chunk.id!r} has {size} tokens, {model.name} reads {model.max_tokens}: "
        f"it is embedded in {len(texts)} pieces",
        stacklevel=9,  # the caller of Index.add
    )
    return [text for part in texts if not is_blank(text := normalise(part))]


def _hash(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
