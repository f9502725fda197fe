"""A document is cut stretch by stretch of one label: spans are its own, and nobody's words are in another's chunk."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from parrot import Says
from rules import check_cover
from strategies import documents
from wishes import Wishes

from s2b_lab import HashEmbedder
from s2b_lab.chunkers.labels import by_label
from s2b_lab.chunkers.logits import logits
from s2b_lab.chunkers.lumber import lumber
from s2b_lab.chunkers.semantic import semantic
from s2b_lab.core.access import readable_chunks
from s2b_lab.core.build import flat_tree
from s2b_lab.core.headings import document
from s2b_lab.core.split import recursive
from s2b_lab.core.text import Span

TEXT = "# A\n\nTea is green. Tea is hot.\n\n# B\n\nThe code is 4711.\n\n# C\n\nTea is black.\n\n# D\n\nTea is cold."
MODEL = HashEmbedder()
CHUNKERS = {
    "recursive": lambda text: recursive(text, 40, 10),
    "logits": lambda text: logits(text, Wishes(), 12),
    "semantic": lambda text: semantic(text, MODEL, 12, amount=50),
    "lumber": lambda text: lumber(text, Says("ID 2"), 12, "word"),
}


@pytest.mark.parametrize("name", CHUNKERS)
@settings(max_examples=30)
@given(docs=documents(("public", "staff")))
def test_no_chunk_lies_in_two_labels_and_nothing_is_lost(name, docs):
    for doc in docs:
        spans = by_label(doc, CHUNKERS[name])
        assert all(len(doc.labels(span)) == 1 for span in spans)
        if name != "recursive":  # whose chunks overlap
            check_cover(doc.text, spans)


@settings(max_examples=40)
@given(documents(), st.integers(4, 60))
def test_a_document_of_one_label_is_cut_as_its_text_is(docs, size):
    for doc in docs:
        found = by_label(doc, lambda text: recursive(text, size, 0))
        begin = len(doc.text) - len(doc.text.lstrip())
        assert found == recursive(doc.text, size, 0) or begin


def test_each_stretch_is_read_by_itself_and_neighbours_of_one_label_together():
    doc, read = document("d", TEXT, section_access={2: "hr"}), []

    def cut(text):
        read.append(text)
        return iter([Span(0, 3), Span(5, 8)])

    spans = by_label(doc, cut)
    assert read == [
        TEXT[: TEXT.index("\n\n# B")],
        TEXT[TEXT.index("# B") : TEXT.index("\n\n# C")],
        TEXT[TEXT.index("# C") :],
    ]
    assert [span.of(TEXT) for span in spans] == ["# A", "Tea", "# B", "The", "# C", "Tea"]


def test_a_reader_finds_public_words_that_a_chunk_over_two_labels_would_hide():
    doc = document("d", TEXT, section_access={2: "hr"})

    def found(spans):
        return [chunk.text for chunk in readable_chunks(flat_tree(doc, spans))]

    whole = [Span(0, len(TEXT))]
    assert found(whole) == []
    assert found(by_label(doc, lambda text: [Span(0, len(text))])) == [
        TEXT[: TEXT.index("\n\n# B")], TEXT[TEXT.index("# C") :],
    ]  # fmt: skip


def test_front_matter_is_given_to_no_chunker():
    doc = document("d", "---\ntitle: Mine\n---\n\n" + TEXT)
    read = []
    by_label(doc, lambda text: read.append(text) or [])
    assert read == [TEXT]


def test_an_empty_document_has_no_chunk():
    assert by_label(document("d", ""), CHUNKERS["recursive"]) == []


def test_what_is_no_document_no_cut_and_no_span_is_refused():
    doc = document("d", TEXT)
    for wrong, cut in ((TEXT, len), (doc, None), (doc, lambda text: None), (doc, lambda text: [(0, 3)])):
        with pytest.raises(TypeError):
            by_label(wrong, cut)
    with pytest.raises(ValueError, match=r"span .*end=200\) ends after the text that cut was given, which has"):
        by_label(doc, lambda text: [Span(0, 200)])
