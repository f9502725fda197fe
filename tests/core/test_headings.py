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
    "front matter": ("---\ntitle: x\n---\n\n# A\n", [("A", 1)]),
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
    "in a fence that an indented mark does not close": ("# A\n\n```\n    ```\n# B\n```\n## C\n", [("A", 1), ("C", 2)]),
    "in a comment": ("# A\n\n<!--\n# B\n-->\n\n<pre>\n# C\n</pre>\n\n## D\n", [("A", 1), ("D", 2)]),
    "indented by a tab": ("# A\n\n\t# B\n", [("A", 1)]),
    "H2": (
        "第一章 总则\n第一条 为了规范员工出差管理，合理控制差旅费用，提高工作效率，结合公\n司实际情况，制定本办法。\n"
        "第二条 本办法适用于全体员工。",
        [("第一章 总则", 1), ("第一条", 3), ("第二条", 3)],
    ),
    "H2 without a comma": (
        "第一条 本办法适用于公司全体员工以及外聘专\n家。\n第二条 目的\n为了规范。",
        [("第一条", 3), ("第二条 目的", 3)],
    ),
    "wrapped 一、": ("一、为了规范员工出差管理合理控制差旅费用提高工作效率\n制定本办法。", [("", 0)]),
    "H5 English": (
        "1. Introduction\nThis sets the rules.\n2. Travel\nStaff must ask.\n2.1 Hotels\nAt most 120 euros.\n"
        "3. Training\nFive days.",
        [("1. Introduction", 1), ("2. Travel", 1), ("2.1 Hotels", 2), ("3. Training", 1)],
    ),
    "H5 Chinese": ("1、总则\n本办法适用于全体员工。\n2、出差\n须经主管批准。", [("1、总则", 1), ("2、出差", 1)]),
    "H5 list": ("## Install\n\n1. Clone it\n\n2. Run make\n\nDone.", [("Install", 2)]),
    "tight, but the first of none": ("1. Introduction\nThis sets the rules.\nThe end.", [("", 0)]),
    "tight, after a colon": ("You need:\n1. Pens\nBlue ones.\n2. Ink\nBlack.", [("", 0)]),
    "tight, wrapped": ("1. Ask the manager who\nknows.\n2. Go to the office\nof staff.", [("", 0)]),
    "H6 articles": (
        "Article 1\n\nThe purpose is clear.\n\nArticle 2 Definitions\n\nWords have meaning.\n\n"
        "Section 3. Scope\n\nAll.",
        [("Article 1", 3), ("Article 2 Definitions", 3), ("Section 3. Scope", 4)],
    ),
    "H6 title below": (
        "CHAPTER I\nGENERAL PROVISIONS\n\nArticle 1\nSubject matter\n\nRules.",
        [("CHAPTER I GENERAL PROVISIONS", 1), ("Article 1 Subject matter", 3)],
    ),
    "H6 Roman": (
        "I. INTRODUCTION\n\nWe study.\n\nII. METHODS\n\nWe measure.",
        [("I. INTRODUCTION", 1), ("II. METHODS", 1)],
    ),
    "title below in Chinese": ("第一章\n总则\n第一条 为了规范。", [("第一章 总则", 1), ("第一条", 3)]),
    "text of an article on its line": (
        "Article 1. This law applies to all\nMembers of the union.\nArticle 2. It ends.",
        [("Article 1", 3), ("Article 2", 3)],
    ),
    "text below an article": ("Article 1\nThis law applies to all of the\nUnion.\n", [("Article 1", 3)]),
    "articles and sections in sentences": (
        "Section 3 applies.\n\nSee\nArticle 7 Rules.\n\nPart of it.\n\nChapter x",
        [("", 0)],
    ),
    "words for numbers": ("PART ONE\n\nx\n\nPart Two: More\n\ny", [("PART ONE", 1), ("Part Two: More", 1)]),
    "initials": ("I. Newton\n\nx\n\nC. Darwin\n\ny\n\nV. Woolf", [("", 0)]),
    "parts above chapters": (
        "第一编 总则\n\n第一章 目的\n\n第一条 完。\n\n第二章 范围\n\n第二编 分则\n",
        [("第一编 总则", 1), ("第一章 目的", 2), ("第一条", 3), ("第二章 范围", 2), ("第二编 分则", 1)],
    ),
    "一、 in a chapter": (
        "第一章 总则\n\n一、目的\n\n甲。\n\n第二章 附则\n",
        [("第一章 总则", 1), ("一、目的", 2), ("第二章 附则", 1)],
    ),
    "H7": (
        "目录\n\n第一章 总则 ........ 1\n第二章 出差 ........ 3\n\n第一章 总则\n\n第一条 制定本办法。\n\n"
        "第二章 出差\n\n第二条 须审批。",
        [("", 0), ("第一章 总则", 1), ("第一条", 3), ("第二章 出差", 1), ("第二条", 3)],
    ),
    "contents without pages": (
        "目录\n\n第一章 总则\n第二章 出差\n\n第一章 总则\n\n甲。\n\n第二章 出差\n\n乙。",
        [("", 0), ("第一章 总则", 1), ("第二章 出差", 1)],
    ),
    "contents with tabs": (
        "CONTENTS\n\n1 Scope\t1\n2 Terms\t2\n\n1 Scope\n\nAll.\n\n2 Terms\n\nx",
        [("", 0), ("1 Scope", 1), ("2 Terms", 1)],
    ),
    "contents with Roman pages": (
        "Article 1 Scope . . . . iv\n\nArticle 1 Scope\n\nAll.",
        [("", 0), ("Article 1 Scope", 3)],
    ),
    "contents with page numbers alone": (
        "第一章 总则 1\n第二章 出差 3\n\n第一章 总则\n\n甲。\n\n第二章 出差\n",
        [("", 0), ("第一章 总则", 1), ("第二章 出差", 1)],
    ),
    "a section named so": ("Contents\n\n1 Scope\n\nAll.\n\n2 Terms\n\nx", [("", 0), ("1 Scope", 1), ("2 Terms", 1)]),
    "H24": (
        "# Staff\n\n## Private\n\nHome of the CEO:\n\n12 Main Street\n\nThe alarm code is 4711.",
        [("Staff", 1), ("Private", 2)],
    ),
    "address in a text of numbers": (
        "1 Private\n\nx\n\n2 Main Street\n\ny\n\n2 Public\n\nz",
        [("1 Private", 1), ("2 Public", 1)],
    ),
    "address before numbers": (
        "12 Elm\n\nDear all\n\n1 Scope\n\nx\n\n2 Terms\n\ny",
        [("", 0), ("1 Scope", 1), ("2 Terms", 1)],
    ),
    "numbers below a title": ("# T\n\n1. Scope\n\nx\n\n2. Terms\n\ny", [("T", 1), ("1. Scope", 2), ("2. Terms", 2)]),
    "numbers, and # further down": (
        "1. Scope\n\nx\n\n2. Terms\n\ny\n\n# A\n\nz\n\n## B",
        [("", 0), ("A", 1), ("B", 2)],
    ),
    "numbers, and a line below further down": ("1 Scope\n\nx\n\nPart\n----\n\ny", [("", 0), ("Part", 2)]),
    "a number with a line below": ("# T\n\n3 Scope\n-------\n\nx", [("T", 1), ("3 Scope", 2)]),
    "all kinds in a text with #": (
        "## A\n\n1 Scope\n\n一、总则\n\n第一章 总则\n\nArticle 1\n\nI. A\n\nII. B\n\nKey\n***\n\n## B",
        [("A", 2), ("B", 2)],
    ),
    "one line below, then #": ("Part\n----\n\nTop\n===\n\n### C", [("Part", 2), ("Top", 1), ("C", 3)]),
}


@pytest.mark.parametrize(("text", "expected"), HEADINGS.values(), ids=HEADINGS)
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
def test_headings(text, expected, newline):
    assert titles(text.replace("\n", newline)) == expected


def labels(text, **labels):
    return [section.access for section in document("d", text, section_access=labels).sections]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1. Hr\n\n1. Go\n\nNow.\n\n2. Enter\n\nThere.\n\n2. Open\n\nx", ["hr", "hr", "public"]),
        ("1. Hr\n\nx\n\n2. Who asks?\n\nz\n\n3. Lists\n\ny", ["hr", "hr"]),
        ("2. Hr\n\nx\n\n2.1 Low\n\ny\n\n3. Open\n\nz", ["hr", "hr", "public"]),
        ("1. Hr\n\nx\n\n2 Elm Close\n\ny", ["hr", "hr"]),
        (
            "第一条 Hr\n\n甲。\n\n第七条 的规定除外。\n\n第八条 的规定除外。\n\n第二条 乙。",
            ["hr", "hr", "hr", "public"],
        ),
        ("第一条 Hr\n\n甲。\n\n第二条 规定的除外。\n\n第二条 乙。", ["hr", "hr", "public"]),
        ("第一章 Hr\n\n第一节 甲\n\n一、乙\n\n丙。\n\n第二章 丁\n", ["hr", "hr", "hr", "public"]),
        ("PART I\nHr\n\nChapter 1 A\n\nx\n\nPART II\nB\n\ny", ["hr", "hr", "public"]),
        ("# Hr\n\n1. Scope\n\nx\n\n2. Terms\n\ny", ["hr", "hr", "hr"]),
        ("## Hr\n\n- Run:\n\n  # now\n\nKey\n\n## Open\n\nx", ["hr", "hr", "public"]),
        ("Hr\n---\n\nLow\n===\n\nx\n\nOpen\n----\n", ["hr", "hr", "public"]),
    ],
)
def test_a_label_ends_at_a_sure_heading_of_its_rank_alone(text, expected):
    title = next(section.title for section in document("d", text).sections if section.title.endswith("Hr"))
    assert labels(text, **{title: "hr"}) == expected


def test_a_label_by_number_counts_no_list_items():
    text = "# Handbook\n\n## Rules\n\n1. Ask first\n\nx\n\n2. Pay later\n\ny\n\n## Salaries\n\n4711\n"
    doc = document("d", text, section_access={2: "hr"})
    assert [(section.title, section.access) for section in doc.sections][2:] == [("Salaries", "hr")]


def test_a_label_on_a_doubtful_heading_holds_as_long_as_that_of_a_heading():
    text = "一、甲\n\n子。\n\n二、乙\n\n（一）丙\n\n一、带上。\n二、交上。\n\n三、丁\n\n戊。\n\n（一）己\n\n庚。"
    assert labels(text, **{"三、丁": "hr"}) == ["public", "public", "public", "hr", "hr"]


FRONT = {
    "H8": ("---\ntitle: My Document\n---\n\n# Real Heading\n\nBody.", "My Document", 0),
    "quoted": ('---\ntags:\n- a\ntitle: "My: Document" # new\n...\n# A\n\nBody.', "My: Document", 0),
    "folded": ("---\ntitle: >-\n  My Document\n---\nBody.", "My Document", 0),
    "TOML": ("+++\ntitle = 'My Document'\n[x]\ny = 1\n+++\nBody.", "My Document", 0),
    "byte order mark": ("\ufeff---\ntitle: My Document\n---\nBody.", "My Document", 0),
    "no title": ("---\ndate: 2026\n\n# comment\n---\n# A\n\nBody.", "A", 0),
    "not at the start": ("Body.\n\n---\ntitle: x\n---\n", "d", 0),
    "never closed": ("---\ntitle: x\n\nBody.", "d", 0),
    "between two lines": ("---\nBody.\n---\n\nMore.", "d", 0),
}


@pytest.mark.parametrize(("text", "title", "first"), FRONT.values(), ids=FRONT)
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
def test_front_matter_gives_a_title_and_nothing_else(text, title, first, newline):
    text = text.replace("\n", newline)
    doc = document("d", text)
    assert (doc.title, doc.sections[0].id, len(doc.sections)) == (title, f"d/{first}", 1)
    assert document("d", text, title="Given").title == "Given"
    seen = any("title" in sentence for sentence in pieces(sentences(text), text))
    assert seen == (title == "d" and "title" in text)


def test_text_of_front_matter_alone_is_a_section_without_a_sentence():
    text = "---\ntitle: x\n---\n"
    assert pieces(sections(text), text) == [text] and sentences(text) == paragraphs(text) == []


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
    text = "Before.\n\n  # One\n\nBody.\n\nTwo\n---\n\nMore.\n"
    assert heading_starts(text) == {text.index("# One"), text.index("Two")}
    text = "总则。\n\n  第一条 制定本办法。本办法适用于全体员工。\n"
    assert heading_starts(text) == {text.index("第一条")}
    assert heading_starts("No heading. None at all.") == set()


@pytest.mark.parametrize("leader", [" ........ {}", " . . . . . {}", "…………{}", "\t........\t{}", " ____ {}"])
@pytest.mark.parametrize(
    "titles", [("1. Travel", "2. Pay"), ("一、差旅", "二、工资"), ("I. TRAVEL", "II. PAY"), ("1.1 Travel", "1.2 Pay")]
)
def test_a_table_of_contents_right_above_the_first_heading(titles, leader):
    entries = [title + leader.format(n) for n, title in enumerate(titles, 2)]
    text = "\n".join(["Contents", *entries, titles[0], "All of it is here.", "", titles[1], "On the last day."])
    doc = document("d", text)
    assert [section.title for section in doc.sections] == ["", *titles]
    assert [span.of(text) for span in sentences(text)][:3] == ["Contents", *entries]


def test_a_list_item_is_no_title_of_the_article_above():
    for item in ("(1) Scope", "- Scope", "a) Scope", "• Scope", "① Scope", "A. Scope"):
        text = f"Article 1\n{item}\n\nText.\n\nArticle 2\nTerms\n\nText."
        assert [section.title for section in document("d", text).sections] == ["Article 1", "Article 2 Terms"]


def test_a_heading_may_have_a_list_of_letters_below_it():
    text = "1. Pay\na) Clerk\nb) Chief\n\n2. Leave\na. Summer\nb. Winter"
    assert [section.title for section in document("d", text).sections] == ["1. Pay", "2. Leave"]
