"""A server on loopback that speaks the OpenAI chat protocol, and every way in which such a server may fail."""

import json
import socket
import struct
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def without_settings(monkeypatch):
    """What the computer at hand has set must not reach a test."""
    for name in ("API_KEY", "BASE_URL", "MODEL", "ORG_ID", "PROJECT_ID"):
        monkeypatch.delenv(f"OPENAI_{name}", raising=False)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


def completion(content, finish_reason="stop", model="stand-in"):
    """What a server sends for one answer."""
    message = {"role": "assistant", "content": content}
    choice = {"index": 0, "message": message, "finish_reason": finish_reason}
    return {"id": "chat-1", "object": "chat.completion", "created": 0, "model": model, "choices": [choice]}


def failure(message, code):
    return {"error": {"message": message, "type": "error", "param": None, "code": code}}


class ChatServer:
    """Answers as `mode` says; `requests` keeps what was asked: (path, headers, body).

    `answer` is a function from the prompt and the system prompt to the text that is sent on success.
    """

    def __init__(self, answer=lambda prompt, system: f"You said: {prompt}", key=None):
        self.answer, self.key, self.mode = answer, key, "success"
        self.requests, self.released, self.asked = [], threading.Event(), threading.Event()
        server = self
        handler = type("Handler", (_Handler,), {"chat": property(lambda _: server)})
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._http.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._http.server_port}/v1"
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.released.set()
        self._http.shutdown()
        self._http.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.chat.requests.append((self.path, {name.lower(): value for name, value in self.headers.items()}, body))
        self.chat.asked.set()
        if self.path != "/v1/chat/completions":
            return self.send(404, failure(f"no such path: {self.path}", "not_found"))
        if self.chat.key and self.headers["authorization"] != f"Bearer {self.chat.key}":
            return self.unauthorised(body)
        return getattr(self, self.chat.mode)(body)

    def success(self, body):
        said = {message["role"]: message["content"] for message in body["messages"]}
        text = self.chat.answer(said["user"], said.get("system", ""))
        self.send(200, completion(text, model=body["model"]))

    def unauthorised(self, body):
        shown = self.headers["authorization"].removeprefix("Bearer ")
        self.send(401, failure(f"Incorrect API key provided: {shown[:-2]}**", "invalid_api_key"))

    def unknown_model(self, body):
        self.send(404, failure(f"model {body['model']!r} not found", "model_not_found"))

    def limited(self, body):
        self.send(429, failure("Rate limit reached", "rate_limit_exceeded"), retry_after="700")

    def limited_until(self, body):
        self.send(429, failure("Too many", "rate_limit_exceeded"), retry_after="Wed, 21 Oct 2026 07:28:00 GMT")

    def limited_once(self, body):
        if len(self.chat.requests) > 1:
            return self.success(body)
        return self.send(429, failure("Rate limit reached", "rate_limit_exceeded"), retry_after="0.01")

    def overloaded(self, body):
        self.send(503, failure("overloaded", None))

    def echoes_key(self, body):
        self.send(400, failure(f"bad header {self.headers['authorization']}", None))

    def slow(self, body):
        self.chat.released.wait(60)
        self.close_connection = True

    def dropped(self, body):
        # Linger 0: the other side sees a reset.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True

    def dropped_midway(self, body):
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", "1000")
        self.end_headers()
        self.wfile.write(b'{"choices": [{"message":')
        self.close_connection = True

    def malformed(self, body):
        self.send(200, raw=b'{"choices": [{"message": {"content": "half')

    def web_page(self, body):
        self.send(200, raw=b"<html>Welcome</html>", kind="text/html")

    def no_choices(self, body):
        self.send(200, {"id": "chat-1", "object": "chat.completion"})

    def a_list(self, body):
        self.send(200, [])

    def empty_choice(self, body):
        self.send(200, {**completion(""), "choices": []})

    def no_message(self, body):
        self.send(200, {**completion(""), "choices": [{"index": 0, "message": None, "finish_reason": "stop"}]})

    def empty_content(self, body):
        self.send(200, completion(" \n", finish_reason="length"))

    def null_content(self, body):
        self.send(200, completion(None, finish_reason="content_filter"))

    def only_thoughts(self, body):
        self.send(200, completion("<think>The user asks for", finish_reason="length"))

    def parts(self, body):
        thought = {"type": "thinking", "thinking": [{"type": "text", "text": "Let me see."}]}
        more = [{"type": "image_url", "image_url": {"url": "x"}}, {"type": "reasoning", "text": "hm"}, None, 5]
        self.send(
            200, completion([thought, {"type": "text", "text": "42 "}, *more, {"type": "output_text", "text": "[1]."}])
        )

    def parts_of_other_kinds(self, body):
        self.send(200, completion([{"text": "42 "}, "[1]", {"type": "text", "text": {"value": "."}}]))

    def only_thinking_parts(self, body):
        self.send(200, completion([{"type": "thinking", "thinking": "Let me see."}], finish_reason="length"))

    def refusal(self, body):
        answer = completion(None)
        answer["choices"][0]["message"]["refusal"] = "I cannot help with that."
        self.send(200, answer)

    def refusal_part(self, body):
        self.send(200, completion([{"type": "refusal", "refusal": "I cannot help with that."}]))

    def refusal_at_the_end(self, body):
        text = {"type": "text", "text": "Half [1]"}
        self.send(200, completion([text, {"type": "refusal", "refusal": "I cannot help with that."}]))

    def cut_by_length(self, body):
        self.cut(body, "length")

    def cut_by_filter(self, body):
        self.cut(body, "content_filter")

    def cut_by_something(self, body):
        self.cut(body, "insufficient_system_resource")

    def cut(self, body, reason):
        text = self.chat.answer(body["messages"][-1]["content"], "")
        self.send(200, completion(text, finish_reason=reason))

    def error_in_an_answer(self, body):
        self.send(200, failure("The model is loading", 502))

    def error_as_a_text(self, body):
        self.send(200, {"error": "The model is loading", "choices": []})

    def error_of_another_form(self, body):
        self.send(200, {"object": "error", "message": "The model is loading", "code": 40301})

    def error_in_a_choice(self, body):
        answer = completion(None, finish_reason="error")
        answer["choices"][0]["error"] = {"code": 502, "message": "The model is loading"}
        self.send(200, answer)

    def without_system(self, body, status=400, words="System role not supported"):
        if any(message["role"] == "system" for message in body["messages"]):
            return self.send(status, failure(words, "invalid_request"))
        return self.success(body)

    def without_system_500(self, body):
        self.without_system(body, 500, "Conversation roles must alternate user/assistant/user/assistant/...")

    def without_system_200(self, body):
        self.without_system(body, 200, "Developer instruction is not enabled for models/gemma")

    def of_another_age(self, body):
        # The first models that think took neither.
        if "max_tokens" in body:
            words = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
            return self.send(400, failure(words, "unsupported_parameter"))
        return self.without_system(body)

    def always_about_the_system(self, body):
        self.send(400, failure("The system is not in the mood", None))

    def send(self, status, answer=None, *, raw=None, kind="application/json", retry_after=None):
        raw = json.dumps(answer).encode() if raw is None else raw
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(raw)))
        if retry_after:
            self.send_header("retry-after", retry_after)
        self.end_headers()
        self.wfile.write(raw)
