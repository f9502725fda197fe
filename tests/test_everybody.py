"""What the site's extension mends in the HTML of a page."""

import re
from pathlib import Path

import pytest
from extensions import extension
from hypothesis import given
from hypothesis import strategies as st

from s2b_lab.core.characters import language_of

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module", name="extension")
def loaded():
    return extension("s2b_everybody")


def test_chinese_in_prose_has_a_language_and_all_else_stays(extension):
    html = (
        '<h1 id="中">A &amp; 出差 &#8212; b</h1><p>Ask <em>谁来审批？</em> now<br/>or<img alt="图"></p><!-- 注 -->'
        '<script type="application/json">{"a": "<p>出差</p>"}</script><select><option>出差</option></select>'
    )
    spoken = extension.speaking(html)
    assert spoken.replace('<span lang="zh">', "").replace("出差</span>", "出差").replace("？</span>", "？") == html
    assert spoken.count('<span lang="zh">') == 2
    assert (
        '&amp; <span lang="zh">出差</span> &#8212;' in spoken and '<em><span lang="zh">谁来审批？</span></em>' in spoken
    )


def test_what_has_a_language_already_is_left_alone(extension):
    html = '<div lang="zh"><p>出差<br></p><mark>报销</mark></div><p>出差</p>'
    assert extension.speaking(html) == html.removesuffix("<p>出差</p>") + '<p><span lang="zh">出差</span></p>'


@given(words=st.lists(st.sampled_from(["<p>", "</p>", "<br>", "a", "出差", "&lt;", '<b lang="zh">', "</b>", "<i/>"])))
def test_only_spans_are_added(extension, words):
    html = "".join(words)
    spoken = extension.speaking(html)
    assert re.sub(r'<span lang="zh">(.*?)</span>', r"\1", spoken) == html
    assert language_of(html) == "zh" or spoken == html


def test_lists_heads_and_signatures_are_mended(extension):
    reference = (
        '<div role="list" class="citation-list"><div class="citation" id="id1" role="doc-biblioentry">x</div></div>'
    )
    assert 'id="id1" role="listitem"' in extension.mended(reference)
    head = '<th class="head"><p></p></th><th class="head"><p>w</p></th>'
    assert extension.mended(head) == '<td></td><th class="head"><p>w</p></th>'
    listed = "<dl>\n<dd><em>a</em>,</dd>\n<dd><em>b</em>,</dd>\n</dl>"
    signature = f'<dt><span class="sig-paren">(</span>\n\n{listed}\n\n<span>)</span></dt>'
    mended = extension.mended(signature)
    assert mended.count('<span class="sig-line">') == 2 and "<dl>" not in mended and "<dd>" not in mended
    described = "<dl><dt>term</dt><dd>what it is</dd></dl>"
    assert extension.mended(described) == described
