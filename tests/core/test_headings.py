"""Headings, and the sections between them."""

import pytest
from hypothesis import given
from samples import any_text

from s2b_lab.core.blocks import paragraphs
from s2b_lab.core.characters import is_blank
from s2b_lab.core.headings import document, heading_starts, sections
from s2b_lab.core.sentences import sentences
from s2b_lab.core.text import Span


def pieces(spans, text):
    return [span.of(text) for span in spans]


def titles(text):
    return [(section.title, section.level) for section in document("d", text).sections]


HEADINGS = {
    "markdown": ("# A\n\nx\n\n## B ##\n### C\ny", [("A", 1), ("B", 2), ("C", 3)]),
    "markdown after text": ("x\n# A\ny", [("", 0), ("A", 1)]),
    "markdown, two spaces before": ("  ## A\n\ny", [("A", 2)]),
    "byte order mark": ("\ufeff# A\n\ny", [("A", 1)]),
    "hash signs that are none": ("#A\n\n####### B\n\n#\n\n   # code\n", [("", 0)]),
    "underlined": ("A\n=\n\nTitle\n=====\n\nx\n\nPart\n----\n\ny", [("", 0), ("Title", 1), ("Part", 2)]),
    "underlined as in reStructuredText": (
        "Top\n***\n\nPart\n====\n\nx\n\nSub\n---\n\nDeep\n~~~~\n\ny",
        [("Top", 1), ("Part", 2), ("Sub", 3), ("Deep", 4)],
    ),
    "underlined by dashes alone": ("Part\n---\n\nx", [("Part", 2)]),
    "text above a rule": ("A sentence ends here.\n---\n\nTwo\nlines\n---\n", [("", 0)]),
    "front matter": ("---\ntitle: x\n---\n\n# A\n", [("", 0), ("A", 1)]),
    "number": ("3 Title\n\nx\n\n3.2 Second title\n\ny", [("3 Title", 1), ("3.2 Second title", 2)]),
    "number and stop": (
        "1. Scope\n\nx\n\n2. Lost, stolen or torn\n\ny",
        [("1. Scope", 1), ("2. Lost, stolen or torn", 1)],
    ),
    "number in Chinese": ("1 总则\n\n甲。\n\n2、范围\n\n乙。", [("1 总则", 1), ("2、范围", 1)]),
    "numbered list below a heading": ("3. Steps\n\n1. Go home.\n2. Wait.", [("3. Steps", 1)]),
    "heading after a list": (
        "1. Steps\n\n1. Go.\n\n2. More\n\nx",
        [("1. Steps", 1), ("2. More", 1)],
    ),
    "list of sentences": ("1. Submit the claim.\n\n2. Wait for it.\n\n3. Go.", [("", 0)]),
    "loose list": ("1. Apples\n\n2. Pears\n\n3. Plums\n\nAnd more.", [("", 0)]),
    "tight list": ("1. Apples\n2. Pears", [("", 0)]),
    "list of one sentence and words": ("1. Apples are red.\n\n2. Pears\n\nx", [("", 0)]),
    "sentence that starts with a number": ("3 people came.\n\n3 People came!\n\n30 Days or more:\n\nx", [("", 0)]),
    "amount, date and year": ("3 apples\n\n5 May\n\n2024 Report\n\n30 天\n\n5 个工作日\n\n3.14\n", [("", 0)]),
    "number not alone": ("3 Title\nand text", [("", 0)]),
    "number after text": ("text\n3 Title\n\nx", [("", 0)]),
    "long numbered line": ("3 Title " + "word " * 30 + "\n\nx", [("", 0)]),
    "一、": (
        "一、总则\n\n甲。\n\n（一）目的\n\n乙。\n\n二、附则\n\n丙。",
        [("一、总则", 1), ("（一）目的", 2), ("二、附则", 1)],
    ),
    "一、 without blank lines": (
        "一、总则\n甲。\n(一)目的\n乙。\n二、附则\n丙。",
        [("一、总则", 1), ("(一)目的", 2), ("二、附则", 1)],
    ),
    "一、 in a list": ("需要：\n一、发票\n二、车票", [("", 0)]),
    "一、 in a loose list": ("一、发票\n\n二、车票\n\n三、护照\n\n完。", [("", 0)]),
    "一、 in sentences": ("一、带上发票。\n二、带上车票。", [("", 0)]),
    "第一条": (
        "第一章 总则\n第一条 为了规范，制定本办法。\n第二条　本办法适用于员工。\n第二章 附则\n第三条 自今日起施行。",
        [("第一章 总则", 1), ("第一条", 3), ("第二条", 3), ("第二章 附则", 1), ("第三条", 3)],
    ),
    "第一条 in a sentence": ("第一条规定了期限。\n\n按照\n第二条 的规定办理。", [("", 0)]),
    "chapter without a space": ("第二章总则\n\n甲。", [("第二章总则", 1)]),
    "in a fence": ("```\n# A\n\n3 Title\n\n一、总则\n```\n", [("", 0)]),
    "in an unclosed fence": ("# A\n\n~~~\n# B\n", [("A", 1)]),
}


@pytest.mark.parametrize(("text", "expected"), HEADINGS.values(), ids=HEADINGS)
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
def test_headings(text, expected, newline):
    assert titles(text.replace("\n", newline)) == expected


def test_sections_partition_the_text_and_keep_white_space_on_the_left():
    text = "Before.\n\n# A \n\nx\n\n\n## B\ny\n"
    assert pieces(sections(text), text) == ["Before.\n\n", "# A \n\nx\n\n\n", "## B\ny\n"]


def test_blank_text_before_the_first_heading_is_no_section():
    assert sections("\n \n# A\nx") == [Span(0, 8)]


def test_an_article_keeps_its_sentences():
    text = "第一条 为了规范，制定本办法。自今日起施行。\n第二条 完。"
    assert pieces(paragraphs(text), text) == ["第一条 为了规范，制定本办法。自今日起施行。", "第二条 完。"]
    assert pieces(sentences(text), text) == ["第一条 为了规范，制定本办法。", "自今日起施行。", "第二条 完。"]


def ids(doc):
    return [section.id for section in doc.sections]


@given(any_text)
def test_sections_partition(text):
    spans = sections(text)
    assert "".join(pieces(spans, text)) == ("" if is_blank(text) else text)
    assert not any(is_blank(span.of(text)) for span in spans)


@given(any_text)
def test_document_sections_are_the_sections(text):
    doc = document("d", text)
    assert [section.span for section in doc.sections] == sections(text)
    assert len(set(ids(doc))) == len(doc.sections)
    assert doc.text == text


def test_headings_start_where_their_words_do():
    text = "Before.\n\n  # One\n\nBody.\n\nTwo\n---\n\n第一条 制定本办法。本办法适用于全体员工。\n"
    assert heading_starts(text) == {text.index("# One"), text.index("Two"), text.index("第一条")}
    assert heading_starts("No heading. None at all.") == set()
