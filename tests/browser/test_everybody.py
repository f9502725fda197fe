"""Figures for everybody: by ear, by keyboard, in forced colours, on paper, and without JavaScript."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from s2b_lab.figures.passages import KINDS
from s2b_lab.figures.words import WORDS

from .chapter import PAGES, VOICES, Chapter, Plain, Step, awake, controls, hosts, options, set_to, still, value
from .conftest import BOOK, Visit, serving
from .test_explorer import contrast


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    assert (BOOK / "index.html").is_file(), "the book is not built: run `make site` first (`make test` does)"
    with serving(BOOK) as address:
        yield address


def figures(page: Page, name: str) -> list[Locator]:
    """The figures with controls of a page, painted."""
    found = [awake(host) for host in hosts(page).all()]
    assert len(found) == PAGES[name]
    return found


def move(figure: Locator, name: str | None = None) -> None:
    """Put a control, or the first of all, on another value."""
    _, control = next((n, c) for n, c in controls(figure) if name in (None, n))
    set_to(figure, control, next(option for option in options(control) if option != value(control)))


# --- by ear ---

# What a screen reader comes to, outside of the controls: texts, and names of what has no text.
HEARD = """figure => {
  const heard = [];
  const walk = node => {
    if (node.nodeType === 3) heard.push(node.data);
    if (node.nodeType !== 1 || node.ariaHidden === 'true' || getComputedStyle(node).display === 'none') return;
    if (node.role === 'img') heard.push(node.ariaLabel);
    else node.childNodes.forEach(walk);
  };
  walk(figure.querySelector('.s2b-views'));
  return heard.join(' ');
}"""


def test_one_voice_a_figure_says_what_each_position_shows(chapter: Chapter, walk: list[list[Step]]) -> None:
    for figure, steps in zip(chapter.figures, walk, strict=True):
        assert len(figure.evaluate(VOICES)) == 1
        voice = figure.locator("[aria-live=polite]")
        note = figure.locator(".s2b-view[data-kind=note]")
        assert voice.evaluate("(v, note) => v === note", note.first.element_handle() if note.count() else None) or (
            not note.count() and "s2b-alt" in voice.get_attribute("class")
        )
        seen = {step.said for step in steps}
        assert len(seen) > 2 and all(len(said) > 20 for said in seen)
        assert {step.voices for step in steps} == {1}


# What is heard of a figure that has neither a note nor a chart with a sentence, at two positions.
SPOKEN = {
    "text": ["A short text. hit: 1. One fish.", "A short text. hit: 1. Two birds."],
    "table": ["Animals (1 row). fish, 1.", "Animals (2 rows). fish, 2."],
    "folded": ["Birds (1 row). bird, 1.", "Birds (1 row). bird, 2."],
    "meter": ["Read: 1 of 1,000 words.", "Read: 2 of 1,000 words."],
    "chart": ["Data of this chart (2 rows). fish, 1.", "Data of this chart (2 rows). fish, 2."],
    "stages": ["Step by step. search.", "Step by step. search, search."],
    "two": [
        "A short text. hit: 1. One fish. Animals (1 row). fish, 1.",
        "A short text. hit: 1. Two birds. Animals (2 rows). fish, 2.",
    ],
    "note": ["There are 1 of them.", "There are 2 of them."],
}


def test_a_figure_without_note_or_sentence_says_what_comes_first(visit: Callable[..., Visit], minibook: Path) -> None:
    with serving(minibook) as address:
        page = visit(address).open("book/voices.html")
        figure = page.locator(".s2b-explorer")
        page.locator(".s2b-host").scroll_into_view_if_needed()
        expect(figure).to_have_attribute("data-ready", "1")
        (_, kind), (_, number) = controls(figure)
        heard = {}
        for place, name in enumerate(SPOKEN):
            kind.select_option(str(place))
            for n in ("0", "1"):
                number.fill(n)
                expect(figure).to_have_attribute("data-position", f"{place},{n}")
                assert len(figure.evaluate(VOICES)) == 1
                voice = figure.locator("[aria-live=polite]")
                heard.setdefault(name, []).append(voice.text_content())
                assert (voice.bounding_box()["width"] > 10) == (name == "note"), "it is heard, not seen"
        assert heard == SPOKEN


def test_every_chart_has_a_sentence_that_is_heard_once_and_a_table(chapter: Chapter) -> None:
    page = chapter.page
    every = page.locator(".s2b-host").all()
    assert len(every) >= PAGES[chapter.name]
    for host in every:
        heard = awake(host).evaluate(HEARD)
        for chart in host.locator(".s2b-view[data-kind=figure]").all():
            said = chart.locator(".s2b-alt").text_content()
            assert len(said) > 20 and re.search(r"\d", said) and heard.count(said) == 1
            fold = chart.locator("details.s2b-data")
            assert fold.locator("tr").count() == 0
            fold.locator("summary").focus()
            page.keyboard.press("Enter")
            expect(fold.locator("summary")).to_have_text(WORDS["en"]["data"])
            expect(fold.locator("tbody tr")).not_to_have_count(0)
            cells = fold.locator("tbody tr").first.locator("td").all_inner_texts()
            assert len(cells) == fold.locator("thead").locator("th, td").count() > 1 and any(map(str.strip, cells))


def test_the_table_of_a_chart_follows_its_bars(visit: Callable[..., Visit], site: str) -> None:
    figure = figures(visit(site).open("book/01-one-size.html"), "01-one-size")[0]
    chart = figure.locator(".s2b-view[data-kind=figure]").first
    chart.locator("summary").click()
    for _ in range(2):
        drawn = chart.locator(".js-plotly-plot").evaluate("plot => plot.data[0].y.map(y => y.toLocaleString('en'))")
        assert chart.locator("tbody tr td:nth-child(2)").all_inner_texts() == drawn
        before = chart.locator(".s2b-alt").text_content()
        move(figure, "question")
        expect(chart.locator(".s2b-alt")).not_to_have_text(before)


# Texts with a Chinese character whose nearest language is another.
UNTOLD = """root => {
  const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT), found = [];
  while (walk.nextNode()) {
    const { data, parentElement: at } = walk.currentNode;
    if (!/\\p{Script=Han}/u.test(data) || at.closest('script, style, svg, [aria-hidden=true], title')) continue;
    if (!at.closest('[lang]').lang.startsWith('zh')) found.push(data);
  }
  return found;
}"""


def test_chinese_says_that_it_is_chinese(chapter: Chapter) -> None:
    assert chapter.page.locator("article").evaluate(UNTOLD) == []
    told = 0
    for figure in chapter.figures:
        for row in ("language", "text"):
            control = figure.locator(f".s2b-control[data-name={row}] select")
            if control.count():
                set_to(figure, control, options(control)[-1])
        figure.evaluate("f => f.querySelectorAll('details').forEach(details => { details.open = true; })")
        still(chapter.page)
        assert figure.evaluate(UNTOLD) == []
        told += figure.locator("[lang=zh]").count()
        # No English word is read with a Chinese voice.
        runs = figure.locator("span[lang=zh]").all_text_contents()
        assert [run for run in runs if re.search(r"[A-Za-z]{4}", run)] == []
    assert told > 0 or chapter.name == "08-ablation"


# --- by keyboard ---

FOCUSABLE = """figure => [...figure.querySelectorAll('input, select, button, summary, textarea, [tabindex="0"]')]
  .filter(element => element.checkVisibility({ contentVisibilityAuto: true, visibilityProperty: true })).length"""
FOCUSED = """figure => {
  const at = document.activeElement;
  if (!figure.contains(at)) return null;
  at.s2bSeen = true;
  const style = getComputedStyle(at);
  return parseFloat(style.outlineWidth) >= 1 && style.outlineStyle !== 'none' || at.outerHTML.slice(0, 90);
}"""


def test_every_control_and_disclosure_is_reached_and_shows_that_it_is(chapter: Chapter) -> None:
    for figure in chapter.figures:
        wanted = figure.evaluate(FOCUSABLE)
        figure.locator("input, select").first.focus()
        reached = []
        while (focused := figure.evaluate(FOCUSED)) is not None:
            reached.append(focused)
            chapter.page.keyboard.press("Tab")
            assert len(reached) <= wanted + 5
        assert [shown for shown in reached[1:] if shown is not True] == []  # the first was not focused by a key
        assert len(reached) == wanted


# --- colours ---

MARKS = """box => {
  const kinds = %s, line = (classes, words) => {
    const mark = document.createElement('mark');
    mark.className = classes;
    mark.textContent = words;
    return mark;
  };
  const sets = kinds.reduce((all, kind) => [...all, ...all.map(one => [...one, kind])], [[]]).slice(1);
  const tinted = sets.flatMap(set => set.includes('chunk') ? [0, 1, 2, 3].map(i => [...set, `t${i}`]) : [set]);
  box.replaceChildren(...tinted.flatMap(set => [line(set.map(one => `s2b-${one}`).join(' '), 'word'), ' ']));
  for (const kind of kinds) {
    const tag = document.createElement('span');
    tag.className = `s2b-tag s2b-tag-${kind}`;
    tag.textContent = '1';
    box.append(tag);
  }
}""" % list(KINDS)  # noqa: UP031 (braces are JavaScript's)
SMALL = ".s2b-text :is(mark, .s2b-tag), .s2b-legend :is(mark, .s2b-tag, .s2b-badges), .s2b-hint, .s2b-badge, .s2b-aside"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_mark_tag_and_small_text_has_contrast(visit: Callable[..., Visit], site: str, theme: str) -> None:
    figure = figures(visit(site, theme=theme).open("book/01-one-size.html"), "01-one-size")[0]
    figure.locator(".s2b-text").evaluate(MARKS)
    elements = [element for element in figure.locator(SMALL).all() if element.is_visible()]
    assert len(elements) > 100
    low = [element.get_attribute("class") for element in elements if contrast(element) < 4.5]
    assert low == []


@pytest.fixture(params=["light", "dark"])
def forced(request: pytest.FixtureRequest, chromium: Browser, site: str) -> Iterator[Page]:
    """Chapter 1 with the reader's own colours; the page's own theme is the other one, as may well be."""
    context = chromium.new_context(
        viewport={"width": 1366, "height": 900}, forced_colors="active", color_scheme=request.param
    )
    other = {"light": "dark", "dark": "light"}[request.param]
    context.add_init_script(f"localStorage.setItem('mode', '{other}'); localStorage.setItem('theme', '{other}')")
    page = context.new_page()
    page.goto(f"{site}/book/01-one-size.html")
    yield page
    context.close()


# How a mark looks to who sees no colours.
LOOK = """mark => {
  const style = getComputedStyle(mark);
  return JSON.stringify(['borderBottomStyle', 'borderBottomWidth', 'borderTopStyle', 'outlineStyle', 'fontWeight',
    'textDecorationLine', 'textDecorationStyle'].map(name => style[name]));
}"""


def test_forced_colours_leave_every_mark_and_legend_readable_and_told_apart(forced: Page) -> None:
    figure = figures(forced, "01-one-size")[0]
    assert figure.locator(".s2b-legend mark").count() >= 2
    figure.locator(".s2b-text").evaluate(MARKS)
    for element in figure.locator(SMALL).all():
        if element.is_visible():
            assert contrast(element) >= 4.5, element.evaluate("e => e.outerHTML")
    looks = [figure.locator(f".s2b-text mark[class^='s2b-{kind}']").first.evaluate(LOOK) for kind in KINDS]
    assert [
        pair for pair in itertools.combinations(zip(KINDS, looks, strict=True), 2) if pair[0][1] == pair[1][1]
    ] == []


def test_forced_colours_reach_the_words_of_a_drawing(forced: Page) -> None:
    figure = figures(forced, "01-one-size")[0]
    canvas = figure.evaluate("f => getComputedStyle(f).backgroundColor")
    dark = sum(map(int, re.findall(r"\d+", canvas)[:3])) < 380
    for text in figure.locator(".s2b-plot text").all()[:40]:
        ink = text.evaluate("t => getComputedStyle(t).fill")
        assert (sum(map(int, re.findall(r"\d+", ink)[:3])) > 380) == dark


# --- on paper ---

# What is cut off by a box that would have to be scrolled, and what stands beyond the edge of the paper.
CUT = """() => [...document.querySelectorAll('.s2b-surface :is(.s2b-text, .s2b-scroll, .s2b-part), article pre')]
  .filter(box => box.getClientRects().length && !box.closest('details:not([open])'))
  .filter(box => getComputedStyle(box).overflow !== 'visible' && box.scrollHeight > box.clientHeight + 1
    || box.scrollWidth > box.clientWidth + 1)
  .map(box => box.outerHTML.slice(0, 90))"""
BEYOND = """() => [...document.querySelectorAll('.s2b-surface :is(mark, td, svg.main-svg, select, .s2b-table)')]
  .filter(element => element.getBoundingClientRect().right > innerWidth + 1)
  .map(element => element.outerHTML.slice(0, 90))"""
# Words of drawings that are no ink.
PALE = """figure => [...figure.querySelectorAll('.s2b-plot text')]
  .filter(text => getComputedStyle(text).fill.match(/\\d+/g).slice(0, 3).reduce((sum, part) => sum + +part, 0) >= 380)
  .map(text => text.outerHTML)"""


def test_paper_shows_the_whole_figure_in_ink(chapter: Chapter) -> None:
    page = chapter.page
    chapter.themed("dark")
    page.emulate_media(media="print")
    chapter.sized(718, 1000)  # A4 without its margins
    assert page.evaluate(CUT) == [] and page.evaluate(BEYOND) == []
    for figure in chapter.figures:
        assert figure.evaluate("f => getComputedStyle(f).backgroundColor") == "rgb(255, 255, 255)"
        drawn = figure.locator(".s2b-plot svg.main-svg, .s2b-sentences").first
        assert drawn.evaluate("drawn => drawn.getBoundingClientRect().width") > 300
        assert figure.evaluate(PALE) == []
        for box in figure.locator(".s2b-text:has(.s2b-context)").all():
            assert box.locator(".s2b-context").first.is_visible()
            far = box.locator(".s2b-paragraph:not(:has(mark:not([class='s2b-chunk']))):visible").count()
            assert far == 0 or not box.locator(".s2b-hit, .s2b-gold, .s2b-lost, .s2b-context").count()
    ink = page.locator("article pre span").first.evaluate("s => getComputedStyle(s).color")
    assert sum(map(int, re.findall(r"\d+", ink)[:3])) < 380


def test_a_figure_that_has_not_been_seen_is_printed_with_its_numbers(visit: Callable[..., Visit], site: str) -> None:
    page = visit(site).open("book/03-sentence-windows.html")
    last = page.locator(".s2b-host").last
    page.emulate_media(media="print")
    if last.locator(".s2b-twin").count():
        expect(last.locator(".s2b-twin .s2b-data tbody tr").first).to_be_visible()
        assert page.evaluate(CUT) == []


# --- without JavaScript ---

# Where the first mark of a text box is, and the box itself, at one moment.
FIRST_MARK = """box => {
  const frame = box.getBoundingClientRect();
  return [box.querySelector('mark:is(.s2b-context, .s2b-hit)').getBoundingClientRect().top, frame.top, frame.bottom];
}"""


def test_without_a_script_charts_are_tables_and_texts_begin_where_something_is(plain: Plain) -> None:
    twins = plain.page.locator(".s2b-twin")
    assert twins.count() >= PAGES[plain.name]
    for twin in twins.all():
        for said in twin.locator(".s2b-alt").all():
            assert re.search(r"\d", said.inner_text())
            expect(said.locator("xpath=following-sibling::details[1]//tbody/tr").first).to_be_visible()
        for box in twin.locator(".s2b-text:has(mark:is(.s2b-context, .s2b-hit))").all():
            box.scroll_into_view_if_needed()
            first, top, bottom = box.evaluate(FIRST_MARK)
            assert top <= first < bottom - 10
            assert box.locator(".s2b-gap").count() > 0


def test_on_paper_without_a_script_nothing_is_cut_off(visit: Callable[..., Visit], site: str) -> None:
    page = visit(site, width=718, script=False).open("book/07-full-pipeline.html")
    page.emulate_media(media="print")
    assert page.evaluate(CUT) == [] and page.evaluate(BEYOND) == []
