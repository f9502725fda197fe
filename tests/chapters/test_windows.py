"""Chapter 3: a window around a sentence beside a chunk of as many sentences."""

import pytest

from s2b_lab import HashEmbedder, Index, corpus, flat_tree, sentence_tree
from s2b_lab.chapters.windows import beside_views
from s2b_lab.core.expand import as_found, sentence_window
from s2b_lab.core.split import by_sentence
from s2b_lab.core.text import Span

POLICY = corpus.load("travel-en")
RULES = corpus.questions("travel-en")[0]


@pytest.mark.parametrize(
    ("size", "overlap", "expected"),
    [
        (3, 0, [(0, 3), (3, 6), (6, 7)]),
        (3, 1, [(0, 3), (2, 5), (4, 7)]),
        (3, 2, [(0, 3), (1, 4), (2, 5), (3, 6), (4, 7)]),
    ],
)
def test_overlapping_chunks_share_so_many_sentences(size, overlap, expected):
    text = "A b. C d. E f. G h. I j. K l. M n."  # five characters a sentence, with the space behind it
    spans = by_sentence(text, size, overlap, unit="sentence")
    assert [(s.start // 5, (s.end + 1) // 5) for s in spans] == expected


def test_overlap_must_be_below_the_size():
    with pytest.raises(ValueError, match=r"overlap must be smaller than size 3, not 3"):
        by_sentence("A b.", 3, 3, unit="sentence")


def test_a_window_and_a_chunk_are_compared_by_what_they_embed_find_and_deliver():
    text, model = POLICY.text, HashEmbedder(max_tokens=2000)
    (_, first), (_, second), _ = RULES.answers
    with Index.open(embedder=model) as small, Index.open(embedder=model, name="large") as large:
        small.add(sentence_tree(POLICY))
        large.add(flat_tree(POLICY, [Span(0, first.start), Span(first.start, second.end)]))
        hits = [next(h for h in small.search(first.of(text), k=4) if h.chunk.span.contains(first))]
        around = sentence_window(hits, small.tree, 0)
        chunks = as_found(large.search(second.of(text), k=1), large.tree)
        window, chunk, table, _ = beside_views(RULES.text, small, around, large, chunks)
    assert [row[0] for row in table.rows] == ["sentence window", "overlapping chunks"]
    sentences = [c for c in sentence_tree(POLICY).indexed if c.span.end <= POLICY.sections[-1].span.start]
    assert [row[1] for row in table.rows] == [len(sentences), 2]
    assert table.rows[0][2] == sum(model.count_tokens(c.text) for c in sentences)
    assert table.rows[1][2] == model.count_tokens(text[: second.end])
    assert [row[3] for row in table.rows] == [round(hits[0].score, 3), round(chunks[0].score, 3)]
    assert [row[4] for row in table.rows] == [model.count_tokens(c.text) for c in (around[0], chunks[0])]
    assert [row[5] for row in table.rows] == ["1 of 3", "2 of 3"]
    assert [m.span for m in window.marks if m.kind == "gold"] == [first] and window.show == "marked"
    assert [m.span for m in chunk.marks if m.kind == "context"] == [Span(first.start, second.end)]


def test_nothing_found_is_no_error():
    with Index.open(embedder=HashEmbedder()) as index:
        index.add(sentence_tree(POLICY))
        table = beside_views(RULES.text, index, [], index, [])[2]
    assert [row[3:] for row in table.rows] == [[None, 0, "0 of 3"]] * 2
