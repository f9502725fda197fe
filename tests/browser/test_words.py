"""A figure in another language: the browser adds no word to those that Python sends, and each of them has its place."""

from __future__ import annotations

import itertools
import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from s2b_lab import Figure, Mark, Meter, Passages, Slider, Span, Stage, Stages, Table, Text, explore
from s2b_lab.figures.cut_points import CutPoints
from s2b_lab.figures.views import frame_of

from .conftest import ROOT, Visit, serving

# As in a notebook: nobody is behind the model at first; when the kernel wakes it says hello once, and no other word.
NOTEBOOK = """<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><div class="live"></div>
<script type="module">
import explorer from "./s2b/widget.js";
const traits = await (await fetch("data.json")).json();
const handlers = {};
const send = (message) => {
  if (globalThis.awake && message.kind === "hello") {
    globalThis.awake = false;
    handlers["msg:custom"]({ kind: "welcome", to: message.from, position: traits.spec.start, own: {} }, []);
  }
};
globalThis.traits = traits;
globalThis.wake = () => { globalThis.awake = true; handlers["comm_live_update"](); };
const model = { get: (name) => traits[name], on: (name, handle) => { handlers[name] = handle; }, off() {}, send };
explorer.render({ model, el: document.querySelector(".live") });
</script>"""
# All that a reader sees, hears, or is told at the pointer.
SHOWN = """root => [root, ...root.querySelectorAll('*')].flatMap(element => [
  ...[...element.childNodes].filter(node => node.nodeType === 3).map(node => node.data),
  ...['aria-label', 'aria-valuetext', 'title', 'placeholder'].map(name => element.getAttribute(name) ?? ''),
]).join('\\n')"""
CLIPBOARD = """allowed => {
  navigator.clipboard.writeText = async text => { if (!allowed) throw 0; globalThis.kept = text; };
}"""


def foreign(words: Any, number: Iterator[int]) -> Any:
    """The same words without a Latin letter: each has a number of its own and the {gaps} that it had."""
    if isinstance(words, str):
        return " ".join([f"词{next(number)}号", *re.findall(r"\{\w+\}", words)])
    if isinstance(words, dict):
        return {key: foreign(part, number) for key, part in words.items()}
    return [foreign(part, number) for part in words]


def marked(tree: Any) -> set[str]:
    """The numbers of the words in it."""
    return set(re.findall(r"词\d+号", json.dumps(tree, ensure_ascii=False)))


def views(width: int, question: str) -> list[Any]:
    """A view of every kind, without a title where one may be left out, and without a Latin letter or a voice."""
    # One character is left out before the delivered ones, many after them.
    left_out = Passages("。" + "一二三四" * 500, [Mark(Span(1, 5), "context", "1")], show="marked", lang="zh")
    kinds = ("chunk", "context", "hit", "unread", "gold", "lost")
    every = Passages("一二三四", [Mark(Span(1, 3), kind) for kind in kinds])
    table = Table(["列"], [[width]])
    stages = Stages([Stage("步", question, table, 1.5)])
    chart = Figure({"data": [{"x": [1], "y": [2]}], "layout": {}})
    folded = [Table(["列"], [[1]] * count, folded=True) for count in (1, 2)]
    parents, halves = [Span(0, 2), Span(2, 3)], [Span(0, 1), Span(1, 2)]
    chunkers = {"甲": halves, "乙": [Span(0, 3), Span(3, 4)]}
    cut = CutPoints("一二三四", [*halves, Span(2, 4)], [0.1, 0.2, None], chunkers, [parents, halves, halves[:1]])
    return [left_out, every, table, Meter("量", 1000, 2000, "字"), stages, chart, *folded, cut]


@pytest.fixture
def data() -> dict[str, Any]:
    """What the figure's module asks its model for, in no language: one recorded position of two."""
    controls = {"width": Slider("宽", [1, 2]), "question": Text("问", ["甲"])}
    spec = dict(explore(views, name="图", timeout=3, **controls).spec)
    number = itertools.count()
    frame = frame_of(views(1, "甲"))
    spec["words"] = foreign(spec["words"], number)
    of_passages = foreign(frame[0]["words"], number)
    frame = [view | {"words": of_passages} if "words" in view else view for view in frame]
    return {"spec": spec, "recording": {"pool": [], "frames": {"0,0": frame}}, "plotly_url": "gone.js"}


@pytest.fixture
def site(tmp_path: Path, data: dict[str, Any]) -> Iterator[str]:
    (tmp_path / "page.html").write_text(NOTEBOOK, encoding="utf-8")
    (tmp_path / "data.json").write_text(json.dumps(data), encoding="utf-8")
    shutil.copytree(ROOT / "s2b_lab/figures", tmp_path / "s2b", ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    with serving(tmp_path) as address:
        yield address


def test_all_words_are_those_of_python(visit: Callable[..., Visit], site: str, data: dict[str, Any]) -> None:
    words, frame = data["spec"]["words"], data["recording"]["frames"]["0,0"]
    one = visit(site)
    page = one.open("page.html")
    figure = page.locator(".s2b-explorer")
    width, error, copy = (figure.locator(name) for name in ("input[type=range]", ".s2b-error", ".s2b-copy"))
    expect(figure).to_have_attribute("data-ready", "1")
    seen = [shown(figure)]
    for press in (*figure.locator(".s2b-cut").all(), figure.locator(".s2b-compare")):
        press.click()
        seen.append(shown(figure))
    figure.locator(".s2b-view[data-kind=stages] summary").first.click()

    for allowed, kept in ((True, "copied"), (False, "press")):
        page.evaluate(CLIPBOARD, allowed)
        copy.click()
        expect(copy).to_have_text(words[kept])
        seen.append(shown(figure))
    copies = [page.evaluate("kept"), figure.locator(".s2b-json").input_value()]
    assert [json.loads(text) for text in copies] == [frame[4]["copy"]] * 2

    width.fill("1")
    expect(error).to_have_text(words["unrecorded"]["recorded"])
    seen.append(shown(figure))
    width.fill("0")
    expect(error).to_be_hidden()
    page.evaluate("wake()")
    expect(figure).to_have_attribute("data-mode", "live")
    seen.append(shown(figure))
    width.fill("1")
    expect(figure.locator(".s2b-clock")).to_be_visible()
    seen.append(shown(figure))
    expect(error).to_have_text(words["unrecorded"]["dead"])
    seen.append(shown(figure))

    # Whoever reads the browser's log is told that there is no plotly.js at its address, and that Python sent none.
    page.evaluate("traits.plotly_url = ''")
    with page.expect_console_message(lambda message: words["no_answer"] in message.text):
        width.fill("0")
    page.evaluate("globalThis.Plotly = { react: async () => {} }")
    for place in ("1", "0"):
        width.fill(place)
    expect(figure.locator(".s2b-plot")).to_have_attribute("aria-label", words["figure"])
    seen.append(shown(figure))
    told, one.faults[:] = "\n".join(one.faults), []
    assert marked(data) - marked([*seen, told]) == set()


def shown(figure: Locator) -> str:
    """Everything that a reader gets of the figure, which has no Latin letter."""
    text = figure.evaluate(SHOWN)
    assert re.findall(r".*[A-Za-z].*", text) == []
    return text


def test_a_recording_that_is_gone_is_told_in_words_of_the_page(visit: Callable[..., Visit], site: str) -> None:
    fault = "词1号 {problem}，词2号"
    missing = "词3号 {file} 词4号 {status}"
    host = f'<div class="s2b-host" data-recording="0.json" data-fault="{fault}" data-missing="{missing}"></div>'
    body = f'<!doctype html><meta charset="utf-8">{host}<script type="module" src="s2b/host.js"></script>'
    one = visit(site)
    one.page.route("**/told.html", lambda route: route.fulfill(body=body, content_type="text/html"))
    error = one.open("told.html").locator(".s2b-error")
    expect(error).to_have_text("词1号 词3号 0.json 词4号 404，词2号")
    one.faults.clear()
