"""A question longer than its model reads is searched in pieces."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import hit_list

from s2b_lab import corpus
from s2b_lab.core.build import sentence_tree
from s2b_lab.core.headings import document
from s2b_lab.embed import HashEmbedder, cached, text_tokens
from s2b_lab.index import Index
from s2b_lab.queries import best_of, query_pieces, query_rows
from s2b_lab.retrieve import Retriever

FILLER = {"en": "I hope that this finds you well and that the week has been kind to you.", "zh": "希望您一切都好。"}
ASKED = {"en": "How long may I keep a library book?", "zh": "图书馆的书可以借多久？"}
TEXT = {
    "en": "Books are lent for four weeks.\n\nA bread dough rises by its yeast.\n\nKettles can be brought back.\n\n"
    "All staff have an account.\n\nTrains are often late.\n\nThe canteen serves soup.\n\nHave a good week.",
    "zh": "图书借期为四周。\n\n面团靠酵母发起来。\n\n电水壶可以退货。\n\n员工都有账号。\n\n火车常常晚点。\n\n"
    "食堂供应汤。\n\n祝您一切顺利。",
}


# --- with the real models ---


@pytest.mark.parametrize("place", ["last", "first", "middle"])
@pytest.mark.parametrize(("language", "model"), [("en", "en"), ("zh", "zh")])
def test_the_asked_sentence_finds_its_passage_wherever_it_stands_H18(language, model, place, request, tmp_path):
    model = request.getfixturevalue(model)
    times = 36 if language == "en" else 120
    sentences = [FILLER[language]] * times
    sentences.insert({"last": times, "first": 0, "middle": times // 2}[place], ASKED[language])
    long = (" " if language == "en" else "").join(sentences)
    assert model.count_tokens(long) > model.max_tokens
    with Index.open(None, model) as index, Index.open(None, cached(model, tmp_path)) as kept:
        for one in (index, kept):
            one.add(sentence_tree(document("d", TEXT[language])))
        wanted = index.search(ASKED[language], 1)[0].chunk.text
        hits = index.search(long, 7)
        assert wanted in [hit.chunk.text for hit in hits[:2]], "only what the filler itself is like may stand before it"
        assert [hit.rank for hit in hits] == list(range(1, 8)) and len({hit.chunk.id for hit in hits}) == 7
        assert kept.search(long, 7) == hits
        assert Retriever(index, k=2)(long).hits[:2] == tuple(hits[:2])
        rewritten = Retriever(index, rewrite=lambda question: long, k=2)("anything")
        assert rewritten.hits[:2] == tuple(hits[:2])


@pytest.mark.parametrize("name", ["en", "zh"])
def test_a_piece_is_never_longer_than_the_model_reads(name, request):
    model = request.getfixturevalue(name)
    for text in (corpus.load("travel-en").text[:6000], corpus.load("travel-zh").text[:3000]):
        assert len(query_pieces(model, text)) > 4
    for text in (corpus.load("travel-en").text[:6000], "x" * 5000, "é" * 2000, "👩‍👩‍👧" * 900):
        assert max(map(model.count_tokens, query_pieces(model, text))) <= model.max_tokens


# --- how it is cut ---


def test_a_question_that_is_read_whole_stays_as_it_is():
    model, asked = HashEmbedder(max_tokens=10), []
    model.query = lambda text: asked.append(text) or HashEmbedder.query(model, text)
    whole = "One  two three.\nFour five six. Seven eight nine ten"
    assert query_pieces(model, whole) == [whole] and len(query_rows(model, whole)) == 1 and asked == [whole]
    assert len(query_pieces(model, whole + " eleven")) > 1


def test_the_prefix_of_questions_takes_room():
    text = "One two three. Four five six. Seven eight."
    assert len(query_pieces(HashEmbedder(max_tokens=8), text)) == 1
    assert len(query_pieces(HashEmbedder(max_tokens=8, query_prefix="ask: "), text)) > 1
    assert len(query_pieces(HashEmbedder(max_tokens=8, passage_prefix="tell: "), text)) > 1


def test_the_same_sentence_is_embedded_once():
    model, asked = HashEmbedder(max_tokens=12), []
    model.query = lambda text: asked.append(text) or HashEmbedder.query(model, text)
    rows = query_rows(model, "Have a good day. " * 36 + "When do trains go?")
    assert sorted(asked) == sorted(set(asked)) and len(rows) == len(asked) < 5
    assert any("trains" in piece for piece in asked)


def test_a_model_that_counts_nothing_and_a_vector_are_taken_as_they_are():
    silent = SimpleNamespace(name="silent", dimension=3, query=lambda text: np.ones(3, np.float32))
    assert [row.tolist() for row in query_rows(silent, "long " * 999)] == [[1, 1, 1]]
    assert [row.tolist() for row in query_rows(silent, [1, 2, 3])] == [[1, 2, 3]]


@pytest.mark.parametrize("vector", [[1.0, float("nan"), 0.0], np.array([1.0, np.inf, 0.0])])
def test_a_model_that_gives_no_numbers_is_named(vector):
    model = SimpleNamespace(name="broken", dimension=3, query=lambda text: vector)
    with pytest.raises(ValueError, match="broken gave"):
        query_rows(model, "tea")


WORDS = st.sampled_from(["one two. ", "三四。", "\n\n", "x", "\u200b", "five\0", "\u3000"])


@given(st.lists(WORDS, max_size=40), st.integers(1, 9))
def test_pieces_hold_every_word_and_fit(parts, most):
    model = HashEmbedder(max_tokens=most)
    text = "".join(parts) + "end"
    pieces = query_pieces(model, text)
    assert all(text_tokens(model, piece) <= most for piece in pieces)
    tokens = {"one", "two", "end", "三", "四", "five"}
    assert {t for t in tokens if t in text and "x" not in text} <= {t for t in tokens for p in pieces if t in p}


# --- what is found ---


def test_each_chunk_has_the_score_of_its_best_piece():
    chunks = sentence_tree(document("d", "One.\n\nTwo.\n\nThree.")).indexed
    first, second = hit_list(chunks, [0.9, 0.5, 0.1]), hit_list(chunks[::-1], [0.8, 0.6, 0.2])
    merged = best_of([first, second], 3)
    assert [(hit.chunk.text, hit.score, hit.rank) for hit in merged] == [
        ("One.", 0.9, 1),
        ("Three.", 0.8, 2),
        ("Two.", 0.6, 3),
    ]
    assert best_of([first, second], 2) == merged[:2] and best_of([first], 3) == first


def test_a_long_question_gets_as_many_parents_as_there_are():
    model = HashEmbedder(max_tokens=12)
    text = "\n\n".join(f"Rule {word} holds." for word in ("alpha", "bravo", "charlie", "delta", "echo"))
    with Index.open(None, model) as index:
        index.add(sentence_tree(document("d", text)))
        trace = Retriever(index, k=9)("And then there was something else. " * 9 + "What about charlie?")
    assert len(trace.contexts) == 5 and trace.contexts[0].text == "Rule charlie holds."
    assert trace.hits[0].score <= 1
