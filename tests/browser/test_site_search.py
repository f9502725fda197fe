"""The search page: Chinese words of two characters, and English ones as ever."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from extensions import extension
from playwright.sync_api import expect

from .conftest import Visit

SAMPLES = [
    "出差", "出差回来 30天", "系统坏了,怎么办?", "差", "see 命中hit命中 twice", "Rule_7 holds; naïve café",
    "𠀀𠀁𠀂 beyond", "豈更", "ひらがな kana", "", "  ", "§4.2—x", "a中b文字c",
]  # fmt: skip


@pytest.fixture(scope="module")
def language() -> type:
    return extension("s2b_search").EnglishAndChinese


def test_a_query_is_cut_as_the_pages_are(language: type) -> None:
    program = f"{language.js_splitter_code}console.log(JSON.stringify({json.dumps(SAMPLES)}.map(splitQuery)))"
    node = shutil.which("node", path=str(Path(sys.executable).parent)) or shutil.which("node")
    done = subprocess.run([node, "-e", program], capture_output=True, text=True, check=True)
    cut = [language({}).split(sample) for sample in SAMPLES]
    assert json.loads(done.stdout) == cut
    assert cut[:2] == [["出差"], ["出差", "差回", "回来", "30", "天"]]
    assert cut[4] == ["see", "命中", "hit", "命中", "twice"]


@pytest.mark.parametrize(
    ("query", "pages"),
    [
        ("出差", ["intro", "traces"]),
        ("报销", ["traces"]),
        ("出差回来以后", ["traces"]),
        ("销报", []),
        ("teacher", ["traces"]),
        ("keeping", ["speed", "traces"]),
    ],
)
def test_the_search_page_finds(visit: Callable[..., Visit], site: str, query: str, pages: list[str]) -> None:
    page = visit(site).open(f"search.html?q={query}")
    expect(page.locator(".search-summary")).to_contain_text("found" if pages else "did not match")
    links = page.locator("ul.search > li > a")
    found = {link.get_attribute("href").split("?")[0].split("#")[0] for link in links.all()}
    assert found == {f"book/{name}.html" for name in pages}


def test_the_page_that_was_found_shows_the_word(visit: Callable[..., Visit], site: str) -> None:
    page = visit(site).open("search.html?q=报销")
    expect(page.locator("ul.search > li p.context")).to_contain_text("提交报销单")
