"""A server with all its failures: each message says which model, what happened and what to do."""

import socket
import sys
import time

import pytest
from chat_server import ChatServer, without_settings

from s2b_lab.llm import ModelUnavailable, why_cut
from s2b_lab.models.servers import openai_model

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
    return openai_model("small", server.address, KEY, timeout=60, **options)("What is new?", "Be brief.")


def fault(server, mode, **options):
    with pytest.raises(ModelUnavailable) as caught:
        ask(server, mode, **options)
    message = str(caught.value)
    assert "'small'" in message and server.address in message, "the model and its address are named"
    assert KEY not in message
    return message


def test_rules_and_prompt_are_sent_as_two_messages(server):
    assert ask(server) == "You said: What is new?"
    ((_, headers, body),) = server.requests
    assert body == {
        "model": "small",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What is new?"}],
        "max_tokens": 512,
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


def test_a_wrong_key_is_told_without_any_part_of_it(server):
    server.key = "another"
    message = fault(server, "success")
    assert "401" in message and "OPENAI_API_KEY" in message and "sk-secret" not in message


def test_a_key_that_a_server_sends_back_is_masked(server):
    assert "Bearer ***" in fault(server, "echoes_key")


def test_a_rate_limit_tells_how_long_to_wait_and_does_not_wait(server):
    start = time.perf_counter()
    message = fault(server, "limited")
    assert "429" in message and "wait 700 s" in message and "Rate limit reached" in message
    assert len(server.requests) == 1 and time.perf_counter() - start < 60
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
        ("only_thoughts", ["empty answer", "'length'", "max_tokens="]),
        ("only_thinking_parts", ["empty answer", "'length'", "max_tokens="]),
        ("refusal", ["refuses to answer (I cannot help with that.)"]),
        ("refusal_part", ["refuses to answer (I cannot help with that.)"]),
        ("error_in_an_answer", ["sent an error in place of an answer (The model is loading)"]),
        ("error_as_a_text", ["sent an error in place of an answer (The model is loading)"]),
        ("error_of_another_form", ["sent an error in place of an answer (The model is loading)"]),
        ("error_in_a_choice", ["sent an error in place of an answer (The model is loading)"]),
    ],
)
def test_a_failure_says_what_happened_and_what_to_do(server, mode, words):
    message = fault(server, mode)
    assert not [word for word in words if word not in message], message
    assert len(server.requests) == 1


@pytest.mark.parametrize("mode", ["parts", "parts_of_other_kinds"])
def test_the_text_parts_of_a_content_are_the_answer(server, mode):
    said = ask(server, mode)
    assert said == "42 [1]." and why_cut(said) == ""


@pytest.mark.parametrize(
    ("mode", "why"),
    [
        ("success", ""),
        ("cut_by_length", "limit of tokens ('length'): pass a larger max_tokens="),
        ("cut_by_filter", "by a filter ('content_filter')"),
        ("cut_by_something", "it ended with 'insufficient_system_resource'"),
    ],
)
def test_what_cut_an_answer_short_is_told(server, mode, why):
    server.answer = lambda *_: "<think>hm</think>Half an answer [1]"
    said = ask(server, mode)
    assert said == "Half an answer [1]" and why in why_cut(said) and bool(why) == bool(why_cut(said))


def test_a_refusal_after_a_beginning_is_told(server):
    said = ask(server, "refusal_at_the_end")
    assert said == "Half [1]" and "refusal (I cannot help with that.)" in why_cut(said)


# --- what servers do not take ---


@pytest.mark.parametrize("mode", ["without_system", "without_system_500", "without_system_200"])
def test_a_server_without_a_system_role_gets_the_rules_before_the_prompt_from_then_on(server, mode):
    server.mode = mode
    model = openai_model("small", server.address, KEY)
    assert model("What is new?", "Be brief.") == "You said: Be brief.\n\nWhat is new?"
    assert len(server.requests) == 2
    assert model("And then?", "Be brief.") == "You said: Be brief.\n\nAnd then?"
    assert len(server.requests) == 3, "it is remembered"
    assert server.requests[-1][2]["messages"] == [{"role": "user", "content": "Be brief.\n\nAnd then?"}]


def test_a_server_that_wants_another_name_for_the_limit_and_no_system_role_is_taught_both(server):
    server.mode = "of_another_age"
    model = openai_model("small", server.address, KEY, max_tokens=99)
    assert model("What is new?", "Be brief.") == "You said: Be brief.\n\nWhat is new?"
    assert model("Hi") == "You said: Hi" and len(server.requests) == 4
    body = server.requests[-1][2]
    assert body["max_completion_tokens"] == 99 and "max_tokens" not in body


def test_a_refusal_that_stays_is_told_once_more_asked_and_not_remembered(server):
    server.mode = "always_about_the_system"
    model = openai_model("small", server.address, KEY)
    with pytest.raises(ModelUnavailable, match=r"status 400 \(The system is not in the mood\)"):
        model("What is new?", "Be brief.")
    assert len(server.requests) == 2
    with pytest.raises(ModelUnavailable):
        model("What is new?")
    assert len(server.requests) == 3, "without rules there is nothing to fold"
    server.mode = "success"
    assert model("What is new?", "Be brief.") == "You said: What is new?"
    assert [message["role"] for message in server.requests[-1][2]["messages"]] == ["system", "user"]


@pytest.mark.parametrize(
    ("options", "sent"),
    [
        ({}, {"max_tokens": 512}),
        ({"max_tokens": 7}, {"max_tokens": 7}),
        ({"max_tokens": None}, {}),
        ({"max_completion_tokens": 9}, {"max_completion_tokens": 9}),
    ],
)
def test_a_server_is_asked_for_so_many_tokens_at_most(server, options, sent):
    openai_model("small", server.address, KEY, **options)("Hello")
    body = server.requests[-1][2]
    assert {name: value for name, value in body.items() if name.startswith("max")} == sent


@pytest.mark.parametrize("max_tokens", [0, -1, 2.5, "9", True])
def test_a_limit_is_a_number_of_tokens(max_tokens):
    with pytest.raises(ValueError, match=f"max_tokens.*{max_tokens!r}"):
        openai_model("small", max_tokens=max_tokens)


def test_a_slow_server_is_given_up_in_time(server):
    server.mode = "slow"
    start = time.perf_counter()
    with pytest.raises(ModelUnavailable, match=r"within 0\.3 s.*timeout="):
        openai_model("small", server.address, KEY, timeout=0.3)("Hello")
    assert 0.2 < time.perf_counter() - start < 20, "the server would answer after a minute"
    server.asked.wait(60)  # it may read what it was asked after nobody waits any more
    assert len(server.requests) == 1


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
        "import sys; from s2b_lab.models import local, servers; servers.openai_model('m'); local.local_model(); "
        "print({'openai', 'torch', 'transformers'} & sys.modules.keys())"
    )
    assert done.stdout.strip() == "set()"


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
