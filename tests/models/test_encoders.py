"""The two real models, and any other that sentence-transformers knows."""

import json
import os
import shutil
import threading

import numpy as np
import pytest

from s2b_lab import embed
from s2b_lab.embed import embedder, text_tokens
from s2b_lab.models import encoders

DEADLINE = "Travellers must submit their claim within 30 calendar days after the trip."
DEADLINE_ZH = "出差人应当在出差结束后30个自然日内提交报销申请。"
LUNCH = "The canteen serves soup and bread at noon."
LUNCH_ZH = "食堂中午供应汤和面包。"


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
    read = en._model._model.tokenizer(embed.normalise(long), verbose=False)["input_ids"]
    assert en.count_tokens(long) == len(read) > 900
    assert zh.count_tokens("") == zh._model._model.token_count("") >= 4  # the prefix counts


def test_no_model_reads_beyond_its_limit(en, zh):
    for model, word, other in ((en, "tea ", "train "), (zh, "茶 ", "车 ")):
        start = word * (model.max_tokens + 5)
        for embed_one in (model.query, lambda text, model=model: model.passages([text])[0]):
            assert np.allclose(embed_one(start + other * 50), embed_one(start + word * 50), atol=1e-5)


def test_the_multilingual_model_is_given_as_much_as_it_can_read(zh):
    for text in ("a", "x " * 5000, "报销" * 300, "🜀" * 9000, "Donaudampfschiff" * 999):
        for is_query in (False, True):
            copy = embed.normalise(text)
            cut = zh._model._cut(copy, is_query)
            assert copy.startswith(cut) and zh._model._model.token_count(cut, is_query) <= 512
            assert cut == copy or zh._model._model.token_count(copy[: len(cut) + 1], is_query) > 512


def test_many_texts_of_mixed_length_come_back_in_their_order(en):
    texts = [f"Rule {i}: " + "travellers keep the receipt, " * (i * 7 % 23) for i in range(70)]
    together = en.passages(texts)
    assert together.shape == (70, en.dimension)
    for i in (0, 1, 31, 32, 33, 68, 69):
        assert together[i] @ en.passages([texts[i]])[0] > 0.9999
        assert together[i] @ together[(i + 5) % 70] < 0.9999


# --- any other model ---


@pytest.fixture(scope="module")
def prompted(tmp_path_factory):
    """The English weights in a folder that defines prompts."""
    folder = tmp_path_factory.mktemp("models") / "prompted"
    shutil.copytree(encoders.packaged_folder(), folder)
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
    assert text_tokens(prompted, LUNCH) == text_tokens(en, LUNCH) == en.count_tokens(LUNCH) - 2


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


# --- loading ---


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


# --- threads ---

# Says how waiting threads are told to behave at the moment when a library that reads it is loaded, and afterwards.
WATCH = """
import importlib.abc, os, sys
class Watch(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            print(name, os.environ.get("OMP_WAIT_POLICY"))
sys.meta_path.insert(0, Watch())
"""
USES = {
    "embedding": "from s2b_lab.embed import embedder; embedder('en').query('x')",
    "another model": "from s2b_lab.models.encoders import SentenceEmbedder, packaged_folder\n"
    "SentenceEmbedder('any', packaged_folder())",
    "a language model": "from s2b_lab.models.local import local_model\n"
    "try: local_model('no-such-model')('x')\nexcept Exception: pass",
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize(("own", "told"), [(None, "passive"), ("active", "active")])
def test_threads_are_told_to_sleep_before_torch_loads_unless_the_user_says_otherwise(
    run_python, monkeypatch, use, own, told
):
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    program = f"{WATCH}\n{USES[use]}\nprint('then', os.environ.get('OMP_WAIT_POLICY'))"
    printed = run_python(program, **({"OMP_WAIT_POLICY": own} if own else {})).stdout.split("\n")
    # It is looked for before it is loaded, as well.
    assert set(printed[:-2]) == {f"torch {told}"} and printed[-2:] == [f"then {own}", ""]


def test_two_models_that_load_at_once_both_find_patient_threads(monkeypatch):
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    inside, both, left, seen = threading.Event(), threading.Event(), threading.Event(), []

    def first():
        with encoders.patient_threads():
            inside.set()
            both.wait(0.3)  # the other one has to wait for its turn, or must not lose what it found
        left.set()

    def second():
        inside.wait()
        with encoders.patient_threads():
            both.set()
            left.wait(60)
            seen.append(os.environ.get("OMP_WAIT_POLICY"))

    threads = [threading.Thread(target=work) for work in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == ["passive"] and "OMP_WAIT_POLICY" not in os.environ
