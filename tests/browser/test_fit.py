"""Figures of the built book fit a screen: what a control changes is seen beside it, on a laptop and on a phone."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from .chapter import PAGES, Chapter, hosts, opened, still
from .conftest import Visit

LAPTOP, PHONE = (1366, 768), (390, 844)
WITH_TEXT = {"intro": [0], "01-one-size": [0, 1], "02-parents-and-children": [0], "03-sentence-windows": [0, 1],
             "05-step-back": [0], "06-hyde-and-hypothetical-questions": [0], "07-full-pipeline": [2]}  # fmt: skip
STAGES = "Stage by stage"
# What is folded away below the figures of a page, each with the number of its rows; every other table is short.
FOLDED = {
    ("02-parents-and-children", 0): [r"Which child brings which parent: \d of \d parents wanted \((\d+) rows?\)"],
    ("05-step-back", 0): [STAGES], ("06-hyde-and-hypothetical-questions", 0): [STAGES],
    ("06-hyde-and-hypothetical-questions", 1): [r"The most similar questions \((\d+) rows?\)", STAGES],
    ("07-full-pipeline", 2): [STAGES],
    ("08-ablation", 0): [r"Recall, completeness and tokens of each way \((\d+) rows\)"],
    ("08-ablation", 1): [r"Questions that changed \((\d+) rows?\)"],
}  # fmt: skip
SHORT = 5  # rows

# Everything that follows measures in the window, below the bar at the top of the page.
TOP = "document.querySelector('.bd-header-article').getBoundingClientRect().bottom"
SCROLL = f"""async (figure, down) => {{
  document.documentElement.style.scrollBehavior = 'auto';
  scrollTo(0, figure.getBoundingClientRect().top + scrollY - {TOP} + down);
  for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame);
}}"""

FRAMES = "async count => { while (count--) await new Promise(requestAnimationFrame); }"

# What of a figure, scrolled to its top, is not wholly inside the window; of a text the first 120 pixels delivered.
OUTSIDE = f"""figure => {{
  const outside = [];
  const check = (name, {{ top, bottom }}, from = {TOP}, to = innerHeight) => {{
    const shown = `${{name}}: ${{Math.round(top)}} to ${{Math.round(bottom)}}`;
    if (top < from - 1 || bottom > to + 1) outside.push(shown);
  }};
  const whole = (name, element) => check(name, element.getBoundingClientRect());
  figure.querySelectorAll('.s2b-control').forEach(row => whole(row.dataset.name, row));
  figure.querySelectorAll('.s2b-view[data-kind=note]').forEach(note => whole('note', note));
  figure.querySelectorAll('.s2b-plot').forEach((plot, i) => whole(`plot ${{i + 1}}`, plot));
  figure.querySelectorAll('.s2b-text').forEach((box, i) => {{
    const best = box.querySelector('[data-best]') ?? box.querySelector('.s2b-context');
    if (!best) return;
    const [top, frame] = [best.getBoundingClientRect().top, box.getBoundingClientRect()];
    const bottom = Math.min(top + 120, (best.closest('.s2b-block') ?? best).getBoundingClientRect().bottom);
    const [from, to] = [Math.max({TOP}, frame.top), Math.min(innerHeight, frame.bottom)];
    check(`delivered passage ${{i + 1}}`, {{ top, bottom }}, from, to);
  }});
  return outside;
}}"""

# One figure of ten may reach beyond: its page and number.
BEYOND = {("03-sentence-windows", 1)}


@pytest.mark.parametrize("name", PAGES)
def test_a_figure_fits_a_laptop(visit: Callable[..., Visit], book: str, name: str) -> None:
    # On a page of its own: a best hit that is in sight already stays where it is, with less of its passage maybe.
    page, figures = opened(visit, book, name, width=LAPTOP[0])
    page.set_viewport_size({"width": LAPTOP[0], "height": LAPTOP[1]})
    for i, figure in enumerate(figures):
        figure.evaluate(SCROLL, -4)
        still(page)
        outside = figure.evaluate(OUTSIDE)
        assert bool(outside) == ((name, i) in BEYOND), f"figure {i + 1}: {outside}"


def test_nine_of_ten_figures_fit_a_laptop() -> None:
    assert len(BEYOND) <= sum(PAGES.values()) // 10


# ---------------------------------------------------------------- what is folded away

OPEN_ROWS = """figure => [...figure.querySelectorAll('.s2b-table')].filter(table => table.checkVisibility(
  { contentVisibilityAuto: true })).map(table => table.querySelectorAll('tbody tr').length)"""


def test_secondary_tables_are_folded_away_and_open_by_keyboard(chapter: Chapter) -> None:
    page = chapter.page
    chapter.sized(*LAPTOP)
    for i, figure in enumerate(chapter.figures):
        folds, wanted = figure.locator(".s2b-fold"), FOLDED.get((chapter.name, i), [])
        said = folds.locator("> summary").all_inner_texts()
        assert len(said) == len(wanted) and all(map(re.fullmatch, wanted, said)), said
        assert max(figure.evaluate(OPEN_ROWS), default=0) <= SHORT
        for fold, pattern, words in zip(folds.all(), wanted, said, strict=True):
            fold.locator("> summary").focus()
            page.keyboard.press("Enter")
            inside = fold.locator(".s2b-stages" if pattern == STAGES else "tbody tr").first
            expect(inside).to_be_visible()
            if pattern != STAGES:
                assert fold.locator("tbody tr").count() == int(re.fullmatch(pattern, words)[1]) > 0
        # What its reader has opened stays open when it is drawn anew.
        figure.evaluate(SET, [1])
        still(page)
        assert folds.evaluate_all("all => all.every(fold => fold.open)")


@pytest.mark.parametrize("script", [True, False], ids=["drawn", "without a script"])
def test_what_is_folded_opens_without_a_script_and_is_open_on_paper(visit, book, script):
    for name in ("02-parents-and-children", "08-ablation"):
        if script:
            page, _ = opened(visit, book, name)
        else:
            page = visit(book, script=False).open(f"book/{name}.html")
        fold = page.locator("details.s2b-fold").first
        row = fold.locator("tbody tr").last
        expect(row).to_be_hidden()
        page.emulate_media(media="print")
        assert fold.evaluate("f => f.getBoundingClientRect().height > 20 * f.querySelectorAll('tbody tr').length")
        page.emulate_media(media="screen")
        expect(row).to_be_hidden()
        fold.locator("summary").click()
        expect(row).to_be_visible()
        page.close()


# ---------------------------------------------------------------- on a phone

# The control that was moved last and the note, in a scrolled figure: whether each is seen, and how much they cover.
HELD = f"""figure => {{
  const held = [figure.querySelector('.s2b-control[data-moved]'), figure.querySelector('.s2b-top > .s2b-view')];
  if (!held[1] && !figure.querySelector('[data-kind=note]')) held.pop();
  const boxes = held.map(part => part.getBoundingClientRect());
  const seen = ({{ left, right, top, bottom }}, part) => top >= {TOP} - 2 && bottom <= innerHeight
    && part.contains(document.elementFromPoint((left + right) / 2, (top + bottom) / 2));
  const high = boxes.reduce((sum, box) => sum + box.height, 0);
  return {{ seen: boxes.map((box, i) => seen(box, held[i])), high }};
}}"""


def test_a_phone_keeps_the_note_and_the_moved_control_in_sight(phone: Chapter) -> None:
    for figure in phone.figures:
        control = figure.locator(".s2b-control").last.locator("input:not(.s2b-own), select")
        control.evaluate(MOVE, 0)
        control.evaluate(MOVE, 1)
        still(phone.page)
        end = int(figure.evaluate("figure => figure.clientHeight")) - 400
        for down in range(0, end, 300):
            figure.evaluate(SCROLL, down)
            held = figure.evaluate(HELD)
            assert held["high"] <= PHONE[1] / 3, f"{phone.name} at {down}: {held['high']} pixels are covered"
            assert all(held["seen"]), f"{phone.name} at {down} of {end}: {held}"


# ---------------------------------------------------------------- the best hit

# Set a control as its reader would, wherever it is on the page.
MOVE = """(control, i) => {
  if (control.type === 'checkbox') control.checked = i % 2 === 1;
  else if (control.type === 'range') control.value = i % (+control.max + 1);
  else control.selectedIndex = i % control.options.length;
  control.dispatchEvent(new Event('input', { bubbles: true }));
}"""
# Set the controls of a figure one after the other, each to a number, the last one when the others have been drawn.
SET = f"""async (figure, numbers) => {{
  const all = [...figure.querySelectorAll('.s2b-control :is(input:not(.s2b-own), select)')].slice(0, numbers.length);
  for (const [i, control] of all.entries()) {{
    if (i === all.length - 1) for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
    ({MOVE})(control, numbers[i]);
  }}
}}"""
BEST_IS_SEEN = """async figure => {
  for (let i = 0; i < 12; i++) await new Promise(requestAnimationFrame);
  return [...figure.querySelectorAll('.s2b-text')].every(box => {
    const best = box.querySelector('[data-best]') ?? box.querySelector('.s2b-context');
    const [mark, frame] = [best, box].map(part => part?.getBoundingClientRect());
    return !best || (mark.top >= frame.top - 1 && mark.top + 20 <= frame.bottom);
  });
}"""


@pytest.mark.parametrize("name", WITH_TEXT)
@pytest.mark.parametrize("size", [LAPTOP, PHONE], ids=["laptop", "phone"])
def test_the_best_hit_is_seen_at_any_position(visit: Callable[..., Visit], book: str, size: tuple, name: str) -> None:
    """Thirty positions by chance; a figure's first one is set before its text has ever been in view."""
    dice = random.Random(8)
    picks = sorted(dice.choices([(name, i) for name, places in WITH_TEXT.items() for i in places], k=30))
    moves = [(i, [dice.randrange(1000) for _ in range(9)]) for chosen, i in picks if chosen == name]
    assert moves
    page = visit(book, width=size[0]).open(f"book/{name}.html")
    page.set_viewport_size({"width": size[0], "height": size[1]})
    figures, missed = _unseen(page, PAGES[name]), []
    for at, numbers in moves:
        figure = figures[at]
        before = figure.get_attribute("data-position")
        figure.evaluate(SET, numbers)
        page.evaluate(FRAMES, 3)
        figure.locator(".s2b-text").last.scroll_into_view_if_needed()
        if not figure.evaluate(BEST_IS_SEEN):
            missed.append((at, before, figure.get_attribute("data-position")))
    assert missed == []


def _unseen(page: Page, count: int) -> list[Locator]:
    """The figures of a page, alive, with the page scrolled back to its top before their texts can be seen."""
    figures = []
    for i in range(count):
        host = hosts(page).nth(i)
        # Near enough to come to life, too far to be seen.
        host.evaluate("""host => { document.documentElement.style.scrollBehavior = 'auto';
          scrollTo(0, host.getBoundingClientRect().top + scrollY - innerHeight - 250); }""")
        figure = host.locator(".s2b-explorer")
        expect(figure).to_have_attribute("data-ready", "1")
        figures.append(figure)
    page.evaluate("scrollTo(0, 0)")
    return figures


# ---------------------------------------------------------------- words and tables

# Each option, chosen, in the select's own letters: its width, and the room for it; and what stands below the select.
CHOSEN = f"""row => {{
  const [select, full] = [row.querySelector('select'), row.querySelector('.s2b-full')];
  const style = getComputedStyle(select);
  const room = select.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight) - 20;
  const probe = document.body.appendChild(document.createElement('span'));
  probe.style.cssText = `position: absolute; white-space: nowrap; font: ${{style.font}}`;
  const chosen = [];
  for (let i = 0; i < select.options.length; i++) {{
    ({MOVE})(select, i); // the row follows at once, the picture with the next frame
    const text = probe.textContent = select.selectedOptions[0].textContent;
    const width = probe.getBoundingClientRect().width;
    const whole = full.textContent === text && full.scrollWidth <= full.clientWidth;
    const below = full.getClientRects().length > 0;
    chosen.push({{ text, cut: width > room + 1, spare: width < room - 8, below, whole }});
  }}
  probe.remove();
  return chosen;
}}"""


# Labels and values of controls that are wider than their place.
WIDER = """figure => [...figure.querySelectorAll('.s2b-control :is(label, output)')]
  .filter(e => e.getClientRects().length && getComputedStyle(e).display !== 'inline')
  .filter(e => e.scrollWidth > e.clientWidth + 1)
  .map(e => e.textContent)"""


# Pages on which some question is longer than its select at these widths, so that it stands below in full.
LONG = {"04-why-retrieval-misses", "05-step-back", "06-hyde-and-hypothetical-questions"}


def test_all_that_is_chosen_can_be_read_and_is_not_said_twice(chapter: Chapter) -> None:
    widths = (1366, 1024, 768, 390)
    cut = {(kind, width): 0 for kind in ("text", "choice") for width in widths}
    for width in widths:
        chapter.sized(width, 844)
        assert [words for figure in chapter.figures for words in figure.evaluate(WIDER)] == [], width
        for row in chapter.page.locator(".s2b-control:has(select)").all():
            for shown in row.evaluate(CHOSEN):
                assert shown["below"] or not shown["cut"], (width, shown)
                assert not (shown["below"] and shown["spare"]), (width, shown)
                assert shown["whole"] or not shown["below"], (width, shown)
                cut[row.get_attribute("data-kind"), width] += shown["cut"]
    assert chapter.name not in LONG or (cut["text", 390] and cut["text", 768])
    assert not cut["choice", 1366] and not cut["choice", 1024], "a choice is as wide as its longest option"


# Boxes of the words that are shown over a point, for the points at the edges of a chart: those that leave the window.
HOVERED = """async plot => {
  const { Plotly } = globalThis;
  const out = [];
  for (const [c, trace] of plot.data.entries()) {
    if (!trace.hovertext) continue;
    const [from, to] = [Math.min(...trace.x), Math.max(...trace.x)];
    const ends = new Set([trace.x.indexOf(from), trace.x.indexOf(to), Math.floor(trace.x.length / 2)]);
    for (const i of ends) {
      Plotly.Fx.hover(plot, [{ curveNumber: c, pointNumber: i }]);
      await new Promise(requestAnimationFrame);
      for (const text of plot.querySelectorAll('.hovertext')) {
        const { left, right } = text.getBoundingClientRect();
        if (left < 0 || right > innerWidth) out.push(text.textContent);
      }
    }
  }
  return out;
}"""


# Whether the whole legend of a chart is inside the chart, both at the same moment.
LEGEND_INSIDE = """plot => {
  const [legend, box] = [plot.querySelector('.legend'), plot].map(element => element?.getBoundingClientRect());
  return !legend || (box.left <= legend.left && legend.right <= box.right + 1
    && box.top <= legend.top && legend.bottom <= box.bottom + 1);
}"""


def charts_stay_inside(chapter: Chapter) -> None:
    for plot in chapter.page.locator(".s2b-host:has(.s2b-control) .js-plotly-plot").all():
        plot.scroll_into_view_if_needed()
        still(chapter.page)
        assert plot.evaluate(HOVERED) == []
        assert plot.evaluate(LEGEND_INSIDE)


def test_hover_texts_and_legends_of_charts_stay_on_a_phone(phone: Chapter) -> None:
    charts_stay_inside(phone)


def test_hover_texts_and_legends_of_charts_stay_on_a_wide_page(chapter: Chapter) -> None:
    chapter.sized(1366, 900)
    charts_stay_inside(chapter)


# Of a table on a phone: whether nothing is scrolled, the width of its first row's first cell, and of each cell after it
# the words before it and how far below the first one's end it begins.
STACKED = """table => {
  const [first, ...others] = table.querySelector('tbody tr').querySelectorAll('td');
  const box = first.getBoundingClientRect(), around = table.parentElement;
  return { fits: around.scrollWidth <= around.clientWidth, width: box.width, others: others.map(cell =>
    [getComputedStyle(cell, '::before').content, cell.getBoundingClientRect().y - box.bottom]) };
}"""


def test_a_phone_shows_each_row_of_a_table_below_its_first_cell(phone: Chapter) -> None:
    tables = phone.page.locator(".s2b-table.s2b-stacks:visible").all()
    assert tables or phone.name not in ("02-parents-and-children", "08-ablation")
    for table in tables:
        columns = table.locator("thead tr").first.locator("th, td").all_text_contents()
        stacked = table.evaluate(STACKED)
        assert stacked["fits"] and stacked["width"] > 250, "the first cell has the row's whole width"
        assert [words for words, _ in stacked["others"]] == [f'"{column}: "' for column in columns[1:]]
        assert all(below >= -1 for _, below in stacked["others"])


def test_a_table_that_scrolls_sideways_has_a_shadow_where_it_goes_on(visit, book):
    page, _ = opened(visit, book, "08-ablation", width=700)
    scroller = page.locator(".s2b-scroll:visible:has(th:nth-child(5))").first
    # 300 pixels, as in a narrow part of a notebook: the shadow is in the scroller, so no cell may paint over it.
    scroller.evaluate("box => { box.style.width = '300px'; }")
    assert scroller.evaluate("box => box.scrollWidth > box.clientWidth")
    layers = scroller.evaluate("box => getComputedStyle(box).backgroundAttachment").split(", ")
    assert layers.count("local") == 2 and layers.count("scroll") >= 2
    cells = "box => [...box.querySelectorAll('td, th')].map(cell => getComputedStyle(cell).backgroundColor)"
    assert set(scroller.evaluate(cells)) == {"rgba(0, 0, 0, 0)"}
