"""*Where would you cut?*: a reader sets cuts, by mouse and by keys, and compares them with those of chunkers."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from s2b_lab import Slider, Text
from s2b_lab.core.sentences import sentences
from s2b_lab.core.text import Span
from s2b_lab.figures.cut_points import CutPoints
from s2b_lab.figures.esm import joined
from s2b_lab.figures.record import positions, record, spec_of, values_at
from s2b_lab.figures.views import Note, frame_of

from .conftest import ROOT, Visit
from .test_explorer import contrast

sys.path.append(str(ROOT / "tests/chapters"))
from positions import Frame, figures

PAGE = "09-where-would-you-cut"
AXE = ROOT / "node_modules/axe-core/axe.min.js"
# The number of the sentence at the top of the list.
TOP = """list => {
  const top = list.getBoundingClientRect().top;
  return 1 + [...list.children].findIndex(row => row.getBoundingClientRect().bottom > top + 3);
}"""
SIZES = {"laptop": 1366, "phone": 390}


def awake(page: Page) -> Locator:
    page.locator(".s2b-host").first.scroll_into_view_if_needed()
    figure = page.locator(".s2b-explorer[data-name=where]")
    expect(figure).to_have_attribute("data-ready", "1", timeout=20_000)
    return figure


@pytest.fixture
def figure(visit: Callable[..., Visit], book: str) -> Locator:
    return awake(visit(book).open(f"book/{PAGE}.html"))


def frame(figure: Locator) -> Frame:
    """What was recorded for where the controls are."""
    recorded = figures(PAGE)["where"]
    at = [int(place) for place in figure.get_attribute("data-position").split(",")]
    labels = {name: recorded.labels(name)[place] for name, place in zip(recorded.controls, at, strict=True)}
    (found,) = recorded.where(**labels)
    return found


def button(figure: Locator, number: int) -> Locator:
    return figure.get_by_role("button", name=f"Cut after sentence {number}", exact=True)


def own(figure: Locator) -> list[int]:
    pressed = figure.locator(".s2b-cut[aria-pressed=true]")
    return pressed.evaluate_all("all => all.map(cut => +cut.dataset.after)")


def rows(figure: Locator) -> list[list[str]]:
    return figure.locator(".s2b-panel tbody tr").evaluate_all(
        "all => all.map(row => [...row.cells].map(cell => cell.textContent))"
    )


def expected(cuts: list[dict], mine: set[int]) -> list[list[str]]:
    """The rows of the comparison, by Python's own count."""

    def listed(numbers: set[int]) -> str:
        return ", ".join(map(str, sorted(numbers))) or "–"

    def counted(cut: dict) -> str:
        elsewhere = f" + {cut['elsewhere']} elsewhere" if cut["elsewhere"] else ""
        return f"{len(cut['after'])}{elsewhere}"

    return [
        [cut["name"], counted(cut), str(len(mine & its)), listed(mine - its), listed(its - mine)]
        for cut in cuts
        for its in [set(cut["after"])]
    ]


def move(figure: Locator, theta: int) -> None:
    figure.locator(".s2b-control[data-name=theta] input").fill(str(theta))
    expect(figure).to_have_attribute("data-position", re.compile(rf",{theta}$"))


def test_before_comparing_the_text_and_its_ends_are_all_there_is(figure: Locator) -> None:
    view = frame(figure).one("cuts")
    ends = figure.locator(".s2b-sentences > li .s2b-percent").all_inner_texts()
    assert ends == [end[0] if end else "nothing to choose" for end in view["ends"]]
    tracks = "all => all.map(t => t.firstChild.getBoundingClientRect().width / t.clientWidth)"
    widths = figure.locator(".s2b-track").evaluate_all(tracks)
    assert widths == pytest.approx([end[1] for end in view["ends"] if end], abs=0.02)
    expect(figure.locator(".s2b-cut")).to_have_count(len(view["sentences"]) - 1)
    hidden = (
        "figure => [...figure.querySelectorAll('.s2b-by, .s2b-brackets, .s2b-panel')].map(e => e.textContent).join('')"
    )
    assert figure.evaluate(hidden) == ""
    assert figure.locator(".s2b-bracket").count() == 0
    before = figure.locator(".s2b-cuts").inner_text()
    assert not [cut["name"] for cut in view["cuts"] if cut["name"] in before.split()]


def test_cuts_are_set_by_mouse_and_keys_and_counted_against_each_chunker(figure: Locator) -> None:
    button(figure, 3).click()
    button(figure, 4).focus()
    figure.page.keyboard.press("Enter")
    figure.page.keyboard.press("Tab")
    figure.page.keyboard.press("Space")
    assert own(figure) == [3, 4, 5]
    expect(button(figure, 5)).to_be_focused()
    figure.page.keyboard.press("Space")
    assert own(figure) == [3, 4]
    button(figure, 12).click()
    expect(figure.get_by_text("You have set 3 cuts.", exact=True)).to_be_visible()
    figure.get_by_role("button", name="Compare").press("Enter")
    view = frame(figure).one("cuts")
    assert rows(figure) == expected(view["cuts"], {3, 4, 12})
    for number in (3, 4, 5, 12):
        chips = figure.locator(f".s2b-between:has([data-after='{number}']) .s2b-by > *").all_inner_texts()
        mine = ["your cut"] if number in (3, 4, 12) else []
        assert chips == mine + [cut["name"] for cut in view["cuts"] if number in cut["after"]]
    # Who has compared may go on, and the counts follow.
    button(figure, 4).click()
    assert rows(figure) == expected(view["cuts"], {3, 12})
    figure.get_by_role("button", name="Hide the other cuts").click()
    assert own(figure) == [3, 12] and not rows(figure) and figure.locator(".s2b-bracket").count() == 0


def test_cuts_stay_while_theta_moves_each_text_has_its_own_and_reset_clears_them(figure: Locator) -> None:
    for number in (6, 21):
        button(figure, number).click()
    figure.get_by_role("button", name="Compare").click()
    list_of = figure.locator(".s2b-sentences")
    list_of.evaluate("list => { list.scrollTop = list.children[9].offsetTop; }")
    for theta in (0, 1, 3):
        move(figure, theta)
        view = frame(figure).one("cuts")
        assert own(figure) == [6, 21] and rows(figure) == expected(view["cuts"], {6, 21})
        assert figure.locator(".s2b-tree > li").count() == len(view["tree"][0])
        assert figure.locator(".s2b-brackets .s2b-first").count() == sum(map(len, view["tree"]))
        assert list_of.evaluate(TOP) == 10, "the sentence at the top stays there, whatever stands between others"
    figure.get_by_role("button", name="Hide the other cuts").click()
    assert list_of.evaluate(TOP) == 10
    figure.get_by_role("button", name="Compare").click()
    assert list_of.evaluate(TOP) == 10
    text = figure.locator(".s2b-control[data-name=text] select")
    text.select_option("1")
    expect(figure).to_have_attribute("data-position", "1,3")
    assert own(figure) == [] and not rows(figure), "another text is cut before it is compared"
    assert list_of.evaluate(TOP) == 1
    assert figure.locator(".s2b-words").first.get_attribute("lang") == "zh"
    text.select_option("0")
    expect(figure).to_have_attribute("data-position", "0,3")
    assert own(figure) == [6, 21] and rows(figure)
    figure.locator(".s2b-reset").click()
    expect(figure).to_have_attribute("data-position", "0,2")
    assert own(figure) == [] and not rows(figure)
    # Where the controls are at their start already, too.
    button(figure, 2).click()
    figure.locator(".s2b-reset").click()
    expect(figure.locator(".s2b-cut[aria-pressed=true]")).to_have_count(0)


@pytest.mark.parametrize(("size", "theme"), [("laptop", "dark"), ("phone", "light"), ("phone", "dark")])
def test_what_is_compared_is_readable_without_sideways_scrolling(visit, book, size, theme) -> None:
    page = visit(book, width=SIZES[size], theme=theme).open(f"book/{PAGE}.html")
    figure = awake(page)
    for number in (1, 3):
        button(figure, number).click()
    figure.get_by_role("button", name="Compare").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= SIZES[size]
    wide = "all => all.filter(box => box.scrollWidth > box.clientWidth + 1).map(box => box.className)"
    assert figure.locator(".s2b-sentences, .s2b-panel, .s2b-panel .s2b-scroll").evaluate_all(wide) == []
    for selector in (".s2b-percent", ".s2b-words", ".s2b-cut >> nth=0", ".s2b-cut >> nth=1", ".s2b-by b",
                     ".s2b-by span", ".s2b-tree li", ".s2b-panel td"):  # fmt: skip
        assert contrast(figure.locator(selector).first) >= 4.5, selector
    assert figure.locator(".s2b-cut").evaluate_all("all => Math.min(...all.map(cut => cut.offsetHeight))") >= 24
    page.add_script_tag(path=AXE)
    rules = (
        "axe.run('.s2b-explorer', { resultTypes: ['violations'] }).then(({ violations }) => violations.map(v => v.id))"
    )
    assert page.evaluate(rules) == []


def test_brackets_stand_beside_what_they_hold(figure: Locator) -> None:
    figure.get_by_role("button", name="Compare").click()
    parents = frame(figure).one("cuts")["tree"][0]
    lines = figure.locator(".s2b-sentences > li").evaluate_all(
        "all => all.map(row => row.querySelector('i').className.replace('s2b-bracket', '').trim())"
    )
    assert lines == [
        " ".join(["s2b-first"] * (number == first) + ["s2b-last"] * (number == last))
        for first, last, _ in parents
        for number in range(first, last + 1)
    ]


def test_on_paper_and_without_a_script_everything_is_there(visit, book, figure) -> None:
    button(figure, 3).click()
    figure.page.emulate_media(media="print")
    whole = "list => list.scrollHeight <= list.clientHeight + 1"
    assert figure.locator(".s2b-sentences").evaluate(whole)
    expect(button(figure, 3)).to_be_visible()
    expect(figure.locator("[data-after='4']")).to_be_hidden()
    twin = visit(book, width=390, script=False).open(f"book/{PAGE}.html").locator(".s2b-twin").first
    view = figures(PAGE)["where"].start.one("cuts")
    tables = twin.locator("table")
    counts = [len(view["sentences"]), len(view["cuts"]), len(view["tree"][0])]
    assert [table.locator("tbody tr").count() for table in tables.all()] == counts
    third = tables.first.locator("tbody tr").nth(2).inner_text()
    assert view["ends"][2][0] in third and "LumberChunker" in third


# --- a text of the reader's own, where Python answers ---

# A model of the widget whose Python is this test.
LIVE = """async () => {
  const [data, source] = [await s2bData(), await s2bSource()];
  const { default: explorer } = await import(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
  const heard = [];
  const answer = async ({ kind, from, id, position, own }) => {
    if (kind === "hello") return { kind: "welcome", to: from, position: data.spec.start, own: {} };
    return { kind: "answer", id, position, own, views: await s2bAnswer(position, own) };
  };
  const send = message => answer(message).then(reply => heard.forEach(hear => hear(reply)));
  const on = (event, hear) => { if (event === "msg:custom") heard.push(hear); };
  explorer.render({ model: { get: name => data[name], on, off: () => {}, send }, el: document.body });
}"""


def cut(text: str, theta: int) -> list[object]:
    spans = sentences(text)
    halves = [Span(spans[0].start, spans[0].end), Span(spans[0].end, spans[-1].end)] if len(spans) > 1 else spans
    return [Note(f"{len(spans)} sentences"), CutPoints(text, spans, [theta / 10] * len(spans), {"first": halves})]


CONTROLS = {"text": Text("Text", ["One. Two."], long=True), "theta": Slider("Theta", [1, 2])}


@pytest.fixture
def live(visit: Callable[..., Visit], tmp_path: Path) -> Iterator[Locator]:
    data = {"spec": spec_of(CONTROLS, "live", 20.0), "recording": record(cut, CONTROLS, positions(CONTROLS)),
            "token": "t", "plotly_url": ""}  # fmt: skip
    (tmp_path / "empty.html").write_text(
        '<!DOCTYPE html><html lang="en"><title>Live</title><link rel="icon" href="data:,">'
    )
    page = visit(f"file://{tmp_path}").page
    page.expose_function("s2bData", lambda: data)
    page.expose_function("s2bSource", joined)
    page.expose_function("s2bAnswer", lambda at, own: frame_of(cut(**values_at(CONTROLS, at, own))))
    page.goto(f"file://{tmp_path}/empty.html")
    page.evaluate(LIVE)
    figure = page.locator(".s2b-explorer")
    expect(figure).to_have_attribute("data-mode", "live")
    expect(figure).to_have_attribute("data-ready", "1")
    yield figure


def test_a_text_of_ones_own_is_cut_where_python_answers(live: Locator) -> None:
    typed = "A first.\n\nA second with <b>marks</b>.\nA third 🧭.\n" + "And more. " * 60
    box = live.get_by_role("textbox", name="Text: type your own")
    box.fill(typed)
    box.press("End")
    box.press("Enter")  # a line of the text, no answer yet
    live.get_by_role("button", name="Ask").click()
    expect(live).to_have_attribute("data-position", "own,0")
    rows = live.locator(".s2b-words")
    expect(rows).to_have_count(63)
    assert rows.nth(1).inner_text() == "A second with <b>marks</b>."
    assert rows.nth(2).inner_text() == "A third 🧭."
    option = live.locator("select option").first.inner_text()
    assert option.endswith("…") and len(option) < 220, "a list of options shows the beginning of a text"
    button(live, 1).click()
    button(live, 2).click()
    live.locator("input[type=range]").fill("1")
    expect(live).to_have_attribute("data-position", "own,1")
    expect(live.locator(".s2b-percent").first).to_have_text("20%")
    assert own(live) == [1, 2], "cuts of one's own text stay, too"
    live.get_by_role("button", name="Compare").click()
    assert live.locator(".s2b-panel tbody tr").first.inner_text().split() == ["first", "1", "1", "2", "–"]
