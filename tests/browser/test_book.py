"""The built book itself: every page is whole, and every control of every figure does something."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

import s2b_lab as s2b

from .conftest import BOOK, Visit
from .test_explorer import contrast

POLICY = {"intro": 1, "01-one-size": 2, "02-parents-and-children": 1, "03-sentence-windows": 2}
QUESTIONS = {
    "04-why-retrieval-misses": 2,
    "05-step-back": 1,
    "06-hyde-and-hypothetical-questions": 2,
    "07-full-pipeline": 3,
    "08-ablation": 2,
}
# The number of figures with controls on each page.
PAGES = POLICY | QUESTIONS
BLOUSE = "When did Einstein receive the patent for his blouse?"
RULES_ZH = "系统坏了,出差回来超过 30 天还能提交吗?"


def opened(visit: Callable[..., Visit], book: str, name: str, **options: object) -> tuple[Page, list[Locator]]:
    page = visit(book, **options).open(f"book/{name}.html")
    figures = []
    for _ in range(PAGES[name]):
        host = page.locator(".s2b-host:has(.s2b-control), .s2b-host:has(.s2b-settings)").nth(len(figures))
        host.scroll_into_view_if_needed()
        figure = host.locator(".s2b-explorer")
        expect(figure).to_have_attribute("data-ready", "1", timeout=20_000)
        figures.append(figure)
    return page, figures


# What a reader sees, without the ids that plotly.js makes up: the points of its figures, and all other views.
SHOWN = """views => JSON.stringify([...views.querySelectorAll('.s2b-view')].map(view =>
  [...view.querySelectorAll('.js-plotly-plot')].map(plot => plot.data).concat(
    view.dataset.kind === 'figure' ? [] : view.innerHTML)))"""


def shown(figure: Locator) -> str:
    return figure.locator(".s2b-views").evaluate(SHOWN)


def options(control: Locator) -> list[str]:
    """Every value that a native control can take, as what `set_to` takes."""
    kind = control.evaluate("c => c.type")
    if kind == "range":
        return [str(value) for value in range(int(control.get_attribute("max")) + 1)]
    if kind == "checkbox":
        return ["off", "on"]
    return control.locator("option").evaluate_all("all => all.map(o => o.value)")


def value(control: Locator) -> str:
    return control.evaluate("c => c.type === 'checkbox' ? (c.checked ? 'on' : 'off') : c.value")


def set_to(figure: Locator, control: Locator, wanted: str) -> None:
    before = figure.get_attribute("data-position")
    if control.evaluate("c => c.type") == "range":
        control.fill(wanted)
    elif control.evaluate("c => c.type") == "checkbox":
        control.set_checked(wanted == "on")
    else:
        control.select_option(wanted)
    expect(figure).not_to_have_attribute("data-position", before)


def controls(figure: Locator) -> Iterator[tuple[str, Locator]]:
    """The name and the native control of each row."""
    for row in figure.locator(".s2b-control").all():
        yield row.get_attribute("data-name"), row.locator("input:not(.s2b-own), select").first


@pytest.mark.parametrize("name", PAGES)
def test_every_control_of_every_figure_changes_what_is_shown(visit, book, name):
    _, figures = opened(visit, book, name)
    for figure in figures:
        for label, control in controls(figure):
            # A control may do nothing at one position (no windows to merge, say): some question must show it.
            question = figure.locator(".s2b-control[data-name=question] select")
            for example in options(question) if question.count() else [None]:
                if example is not None and value(question) != example:
                    set_to(figure, question, example)
                start, before = value(control), shown(figure)
                different = False
                for other in options(control):
                    if other != value(control):
                        set_to(figure, control, other)
                        different = different or shown(figure) != before
                if value(control) != start:
                    set_to(figure, control, start)
                if different:
                    break
            assert different, f"{label} of a figure on {name} changes nothing"


@pytest.mark.parametrize("name", PAGES)
def test_a_figure_has_a_drawing_its_mode_and_a_reset(visit, book, name):
    _, figures = opened(visit, book, name)
    for figure in figures:
        assert figure.locator(".s2b-view[data-kind=figure] .js-plotly-plot").count() > 0
        if name in POLICY:
            assert figure.locator(".s2b-view[data-kind=passages] mark").count() > 0
        expect(figure.locator(".s2b-badge")).to_have_text(re.compile("recorded"))
        start, position = shown(figure), figure.get_attribute("data-position")
        question = figure.locator(".s2b-control[data-name=question] select")
        control = question if question.count() else figure.locator(".s2b-control select").last
        set_to(figure, control, next(option for option in options(control)[::-1] if option != value(control)))
        assert shown(figure) != start
        figure.locator(".s2b-reset").click()
        expect(figure).to_have_attribute("data-position", position)
        assert shown(figure) == start


# Whether the best match, where there is one, is inside its box, once what comes into view has been laid out.
BEST_IS_SEEN = """async figure => {
  for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame);
  return [...figure.querySelectorAll('.s2b-text')].every(box => {
    const [best, frame] = [box.querySelector('[data-best]')?.getBoundingClientRect(), box.getBoundingClientRect()];
    return !best || (best.bottom > frame.top && best.top < frame.bottom);
  });
}"""


@pytest.mark.parametrize("name", PAGES)
def test_the_best_match_is_in_view_wherever_the_controls_are(visit, book, name):
    _, figures = opened(visit, book, name)
    for figure in figures:
        for label, control in controls(figure):
            for other in options(control):
                if other != value(control):
                    set_to(figure, control, other)
                    assert figure.evaluate(BEST_IS_SEEN), f"{name}: {label} at {other}"


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_a_phone_reads_every_page_in_both_themes(visit, book, name, theme):
    page, figures = opened(visit, book, name, width=390, theme=theme)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for figure in figures:
        assert figure.evaluate("f => f.scrollWidth <= f.clientWidth + 1")
        for selector in (".s2b-control label", ".s2b-badge", ".s2b-text", ".s2b-text mark", "td", "summary"):
            for element in figure.locator(selector).all()[:1]:
                assert contrast(element) >= 4.5, f"{selector} on {name} in the {theme} theme"


def test_the_chinese_question_is_answered_by_all_three_rules_in_order(visit, book):
    _, (figure,) = opened(visit, book, "02-parents-and-children")
    set_to(figure, figure.locator(".s2b-control[data-name=language] select"), "1")
    assert RULES_ZH in figure.locator(".s2b-control[data-name=question] select").inner_text()
    expect(figure.locator(".s2b-view[data-kind=note]")).to_contain_text("3 of 3")
    delivered = "".join(figure.locator(".s2b-text mark.s2b-context").all_text_contents())
    places = [delivered.find(rule) for rule in ("30 个自然日", "登记工单", "停止计时")]
    assert -1 < places[0] < places[1] < places[2]


def annex_pieces(name: str) -> list[str]:
    """What stands in the annex alone, in pieces shorter than any hover text."""
    document = s2b.load(name)
    start, size = document.sections[-1].span.start, 12 if name.endswith("zh") else 30
    before, annex = document.text[:start], document.text[start:]
    cuts = (annex[i : i + size] for i in range(len(annex.splitlines()[0]) + 1, len(annex) - size, 5))
    pieces = [piece for piece in cuts if "\n" not in piece and '"' not in piece and piece not in before]
    assert len(pieces) > 20
    return pieces


def test_the_annex_is_on_no_page_and_in_no_recording():
    pieces = [piece for name in ("travel-en", "travel-zh") for piece in annex_pieces(name)]
    files = [*BOOK.rglob("*.html"), *BOOK.rglob("*.json"), *BOOK.rglob("*.ipynb"), BOOK / "searchindex.js"]
    for path in files:
        text = path.read_text(encoding="utf-8")
        assert not [piece for piece in pieces if piece in text], path.name


@pytest.mark.parametrize("name", PAGES)
def test_without_scripts_the_start_of_a_figure_is_there(visit, book, name):
    page = visit(book, script=False).open(f"book/{name}.html")
    twins = page.locator(".s2b-twin:has(.s2b-settings)")
    assert twins.count() == PAGES[name]
    for twin in twins.all():
        expect(twin.locator("mark" if name in POLICY else "mark, td, .s2b-note").first).to_be_visible()


def weights(seen: Visit, book: str) -> dict[str, int]:
    """The gzipped size of each file of the book that was asked for."""
    files = {url.split("?")[0].removeprefix(f"{book}/") for url in seen.requests if url.startswith(book)}
    return {file: len(gzip.compress((BOOK / file).read_bytes())) for file in files if (BOOK / file).is_file()}


@pytest.mark.parametrize("name", PAGES)
def test_a_first_visit_and_its_recordings_are_light(visit, book, name):
    seen = visit(book)
    page = seen.open(f"book/{name}.html")
    page.wait_for_load_state("networkidle")
    assert sum(weights(seen, book).values()) <= 300_000, "before anything is scrolled"
    for host in page.locator(".s2b-host").all():
        host.scroll_into_view_if_needed()
        expect(host.locator(".s2b-explorer")).to_have_attribute("data-ready", "1", timeout=20_000)
    sizes = weights(seen, book)
    assert sum(sizes.values()) <= 1_100_000
    inline = re.findall(r'<script type="application/json">(.*?)</script>', (BOOK / f"book/{name}.html").read_text())
    recordings = sum(size for file, size in sizes.items() if "/recordings/" in file)
    assert 0 < recordings + sum(len(gzip.compress(text.encode())) for text in inline) <= 200_000


def test_tables_of_a_chapter_are_tables(visit, book):
    page = visit(book).open("book/03-sentence-windows.html")
    boards = page.locator("table.s2b-table").filter(has=page.locator("caption", has_text="Evidence delivered"))
    board = boards.filter(has=page.locator("th", has_text="w = 5"))
    assert board.locator("tbody tr").count() == 12
    assert board.locator("thead th").all_inner_texts() == ["question", "w = 0", "w = 1", "w = 2", "w = 5"]


def test_the_stages_of_the_pipeline_open_and_are_copied_as_json(visit, book):
    page, figures = opened(visit, book, "07-full-pipeline")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    pipeline = figures[-1]
    search = pipeline.locator("details[data-name=search]")
    expect(search).to_be_hidden()
    pipeline.locator("summary", has_text="Stage by stage").click()
    expect(search.locator("table").last).to_be_hidden()
    search.locator("summary").click()
    expect(search.locator("tbody tr")).to_have_count(16)
    pipeline.locator(".s2b-copy").click()
    expect(pipeline.locator(".s2b-copy")).to_have_text("Copied")
    copied = json.loads(page.evaluate("navigator.clipboard.readText()"))
    # What is copied is the trace, and what is shown is the same.
    assert list(copied) == ["query", "rewrites", "hits", "contexts", "timings", "missing"]
    assert len(copied["hits"]) == 16 and len(copied["contexts"]) == 4 and copied["query"] == BLOUSE
    assert all({"rank", "score", "chunk", "span"} < set(row) for row in copied["hits"])
    shown_hits = [row.locator("td").all_text_contents() for row in search.locator("tbody tr").all()]
    assert shown_hits == [
        [str(hit["rank"]), f"{hit['score']:.3f}".rstrip("0"), hit["chunk"], "-".join(map(str, hit["span"]))]
        for hit in copied["hits"]
    ]
    names = pipeline.locator(".s2b-stages details").evaluate_all("all => all.map(one => one.dataset.name)")
    assert names == ["rewrite", "embed", "search", "expand", "prompt", "answer"]
    prompt = pipeline.locator("details[data-name=prompt] .s2b-part").last
    assert prompt.text_content().endswith(f"Question: {BLOUSE}")
    set_to(pipeline, pipeline.locator(".s2b-control[data-name=k] input"), "0")
    expect(search.locator("tbody tr")).to_have_count(4)
    expect(search).to_have_attribute("open", "")


def test_without_a_clipboard_the_stages_are_selected_to_be_copied_by_hand(visit, book):
    page, figures = opened(visit, book, "07-full-pipeline")
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    figures[-1].locator("summary", has_text="Stage by stage").click()
    figures[-1].locator(".s2b-copy").click()
    area = figures[-1].locator("textarea.s2b-json")
    expect(area).to_be_visible()
    assert len(json.loads(area.input_value())) == 6
    assert page.evaluate("getSelection().toString() || document.activeElement.value").startswith("{")


def test_the_blouse_is_found_and_its_date_delivered(visit, book):
    _, figures = opened(visit, book, "07-full-pipeline")
    pipeline = figures[-1]
    expect(pipeline.locator(".s2b-view[data-kind=note]")).to_contain_text("1 of 1")
    assert any("October 27, 1936" in text for text in pipeline.locator("mark.s2b-context").all_text_contents())


def test_the_reference_has_every_public_name_and_fits_a_phone(visit, book):
    page = visit(book, width=390).open("book/functions.html")
    ids = page.evaluate("[...document.querySelectorAll('dt.sig')].map(line => line.id)")
    assert [name for name in s2b.__all__ if ids.count(f"s2b_lab.{name}") != 1] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert contrast(page.locator("dt.sig .sig-name").first) >= 4.5


def test_launch_buttons_point_at_notebooks():
    for name in PAGES:
        html = (BOOK / f"book/{name}.html").read_text(encoding="utf-8")
        assert f"book/{name}.ipynb" in html and "colab.research.google.com" in html and "mybinder.org" in html
        source = json.loads((BOOK / f"_sources/book/{name}.ipynb").read_text(encoding="utf-8"))
        assert source["nbformat"] == 4
