"""The built book itself: every page is whole, and every control of every figure does something."""

from __future__ import annotations

import gzip
import itertools
import json
import re

import pytest
from playwright.sync_api import Locator, expect

import s2b_lab as s2b

from .chapter import PAGES, POLICY, Chapter, Plain, Step, controls, opened, options, set_to, shown, value
from .conftest import BOOK
from .test_explorer import contrast

BLOUSE = "When did Einstein receive the patent for his blouse?"
RULES_ZH = "系统坏了,出差回来超过 30 天还能提交吗?"


def test_every_control_of_every_figure_changes_what_is_shown(chapter: Chapter, walk: list[list[Step]]) -> None:
    for figure, steps in zip(chapter.figures, walk, strict=True):
        pairs = list(itertools.pairwise(steps))
        for label, control in controls(figure):
            different = any(step.control == label and step.shown != before.shown for before, step in pairs)
            assert different or _some_question_shows(figure, control), f"{label} on {chapter.name} changes nothing"


def _some_question_shows(figure: Locator, control: Locator) -> bool:
    """A control may do nothing at one position (no windows to merge, say): some question must show it."""
    question = figure.locator(".s2b-control[data-name=question] select")
    for example in options(question) if question.count() else []:
        if value(question) != example:
            set_to(figure, question, example)
        before = shown(figure)
        for other in options(control):
            if other != value(control):
                set_to(figure, control, other)
                if shown(figure) != before:
                    return True
    return False


def test_a_figure_has_a_drawing_its_mode_and_a_reset(chapter: Chapter) -> None:
    for figure in chapter.figures:
        assert figure.locator(".s2b-view[data-kind=figure] .js-plotly-plot, .s2b-sentences").count() > 0
        if chapter.name in POLICY:
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


def test_the_best_match_is_in_view_wherever_the_controls_are(at_desk: Chapter, walk: list[list[Step]]) -> None:
    missed = [(at_desk.name, i, step.control, step.value) for i, steps in enumerate(walk) for step in steps
              if not step.best]  # fmt: skip
    assert missed == []


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_a_phone_reads_every_page_in_both_themes(phone: Chapter, theme: str) -> None:
    phone.themed(theme)
    assert phone.page.evaluate("document.documentElement.scrollWidth") <= 390
    for figure in phone.figures:
        assert figure.evaluate("f => f.scrollWidth <= f.clientWidth + 1")
        for selector in (".s2b-control label", ".s2b-badge", ".s2b-text", ".s2b-text mark", "td", "summary"):
            for element in figure.locator(selector).all()[:1]:
                assert contrast(element) >= 4.5, f"{selector} on {phone.name} in the {theme} theme"


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


def test_without_scripts_the_start_of_a_figure_is_there(plain: Plain) -> None:
    twins = plain.page.locator(".s2b-twin:has(.s2b-settings)")
    assert twins.count() == PAGES[plain.name]
    for twin in twins.all():
        expect(twin.locator("mark" if plain.name in POLICY else "mark, td, .s2b-note").first).to_be_visible()


def weights(requests: list[str], book: str) -> dict[str, int]:
    """The gzipped size of each file of the book that was asked for."""
    files = {url.split("?")[0].removeprefix(f"{book}/") for url in requests if url.startswith(book)}
    return {file: len(gzip.compress((BOOK / file).read_bytes())) for file in files if (BOOK / file).is_file()}


def test_a_first_visit_and_its_recordings_are_light(at_desk: Chapter, book: str) -> None:
    assert sum(weights(at_desk.first, book).values()) <= 300_000, "before anything is scrolled"
    sizes = weights(at_desk.asked, book)
    assert sum(sizes.values()) <= 1_100_000
    html = (BOOK / f"book/{at_desk.name}.html").read_text(encoding="utf-8")
    inline = re.findall(r'<script type="application/json">(.*?)</script>', html)
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
