"""Figures of built pages: kinds of traces beyond the small plotly.js, and pages that are opened from a folder."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from .conftest import BOOK, Visit, build_book

# What plotly.js makes of each kind of trace, and how much of it there is.
DRAWN = {"histogram": (".bars .point", 4), "box": (".boxes path.box", 1), "heatmap": (".hm image", 1)}
DRAWN["violin"] = (".violins path.violin", 1)


def figure_of(page: Page, name: str) -> Locator:
    figure = page.locator(f".s2b-explorer[data-name='{name}']")
    page.locator(".s2b-host").nth(["Kinds", "Bars"].index(name)).scroll_into_view_if_needed()
    expect(figure).to_have_attribute("data-ready", "1")
    expect(figure.locator(".s2b-view[data-kind=figure]")).to_have_attribute("data-drawn", "1")
    return figure


def bundles(one: Visit) -> list[str]:
    return [url.rsplit("/", 1)[1] for url in one.requests if "plotly" in url]


def test_histograms_boxes_heatmaps_and_violins_are_drawn(visit: Callable[..., Visit], site: str) -> None:
    figure = figure_of(visit(site).open("book/traces.html"), "Kinds")
    for place, (kind, (selector, least)) in enumerate(DRAWN.items()):
        figure.locator("select").select_option(str(place))
        expect(figure).to_have_attribute("data-position", str(place))
        expect(figure.locator(selector).first).to_be_visible()
        shapes = figure.locator(selector)
        assert shapes.count() >= least, kind
        sizes = shapes.evaluate_all(
            "all => all.map(e => { const b = e.getBoundingClientRect(); return [b.width, b.height]; })"
        )
        assert any(width > 20 and height > 20 for width, height in sizes), kind
        assert figure.locator(".scatterlayer .trace").count() == 0, f"{kind} is drawn as a line"


def test_each_figure_loads_the_plotly_it_needs_and_both_work_on_one_page(
    visit: Callable[..., Visit], site: str
) -> None:
    one = visit(site)
    page = one.open("book/traces.html")
    kinds = figure_of(page, "Kinds")
    assert bundles(one) == ["plotly-cartesian.min.js"]
    bars = figure_of(page, "Bars")
    assert bundles(one) == ["plotly-cartesian.min.js", "plotly-basic.min.js"]
    tall = "[...document.querySelectorAll('[data-name=Bars] .bars .point')].map(b => b.getBoundingClientRect().height)"
    assert page.evaluate(tall)[0] < page.evaluate(tall)[1]
    bars.locator("input[type=range]").fill("1")
    expect(bars).to_have_attribute("data-position", "1")
    assert page.evaluate(tall)[0] > page.evaluate(tall)[1] > 10
    # The first one still draws what the library that came last knows nothing of.
    kinds.locator("select").select_option("2")
    expect(kinds.locator(".hm image")).to_be_visible()
    assert len(bundles(one)) == 2


def test_pages_without_such_a_trace_never_load_the_larger_plotly(visit: Callable[..., Visit], site: str) -> None:
    one = visit(site)
    page = one.open("book/speed.html")
    for host in page.locator(".s2b-host").all():
        host.scroll_into_view_if_needed()
        expect(host.locator(".s2b-explorer")).to_have_attribute("data-ready", "1")
    assert bundles(one) == ["plotly-basic.min.js"]


def test_a_book_with_a_trace_that_no_page_draws_is_not_built(tmp_path: Path) -> None:
    source = [
        "import plotly.graph_objects as go\n", "from s2b_lab import Slider, explore\n",
        "explore(lambda n: go.Figure(go.Scatter3d(x=[n], y=[1], z=[1])), n=Slider('N', [1]))",
    ]  # fmt: skip
    cells = [
        {"cell_type": "markdown", "id": "a", "metadata": {}, "source": ["# Space"]},
        {"cell_type": "code", "id": "b", "metadata": {}, "execution_count": None, "outputs": [], "source": source},
    ]
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    (tmp_path / "book").mkdir()
    notebook = {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "book/intro.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    done = build_book(tmp_path)
    assert done.returncode != 0
    assert "a page cannot draw a trace of type scatter3d" in done.stdout + done.stderr


# --- opened from a folder ---


def test_pages_that_are_opened_from_a_folder_are_as_alive_as_served_ones(
    visit: Callable[..., Visit], minibook: Path
) -> None:
    one = visit(f"file://{minibook}")
    page = one.open("book/speed.html")
    assert page.evaluate("location.protocol") == "file:"
    page.locator(".s2b-host[data-recording]").first.scroll_into_view_if_needed()
    figure = page.locator(".s2b-host[data-recording] .s2b-explorer").first
    expect(figure).to_have_attribute("data-ready", "1")
    expect(figure.locator(".s2b-badge")).to_have_text(re.compile("recorded"))
    before = figure.locator(".s2b-text").inner_text()
    figure.locator("input[type=range]").fill("0")
    expect(figure).to_have_attribute("data-position", re.compile("^0,"))
    assert figure.locator(".s2b-text").inner_text() != before
    expect(figure.locator(".s2b-view[data-kind=figure]")).to_have_attribute("data-drawn", "1")
    assert figure.locator(".scatterlayer .trace").count() == 1


def test_a_chapter_that_is_opened_from_a_folder_is_alive(visit: Callable[..., Visit]) -> None:
    page = visit(f"file://{BOOK}").open("book/01-one-size.html")
    for host in page.locator(".s2b-host").all():
        host.scroll_into_view_if_needed()
        expect(host.locator(".s2b-explorer")).to_have_attribute("data-ready", "1")


def test_a_recording_that_is_missing_in_the_folder_is_told(visit: Callable[..., Visit], minibook: Path) -> None:
    one = visit(f"file://{minibook}")
    one.page.route("**/*.json.js", lambda route: route.abort())
    page = one.open("book/speed.html")
    page.locator(".s2b-host[data-recording]").first.scroll_into_view_if_needed()
    expect(page.locator(".s2b-host > .s2b-error").first).to_contain_text(
        re.compile(r"stays still: the recording \w+\.json")
    )
    expect(page.locator(".s2b-host:has(> .s2b-error) .s2b-twin").first).to_be_visible()
    one.faults.clear()
