"""Spans, sections, paragraphs, sentences and grapheme clusters."""

import re
import sys
import time
import unicodedata
from itertools import pairwise

import pytest
import regex
from hypothesis import example, given
from hypothesis import strategies as st

from s2b_lab.text import (
    Document,
    Section,
    Span,
    document,
    graphemes,
    is_blank,
    is_boundary,
    next_cut,
    paragraphs,
    sections,
    sentences,
)

EN7 = (
    "Alpha one is here. Bravo two is here. Charlie three is here. Delta four is here. Echo five is here. "
    "Foxtrot six is here. Golf seven is here."
)


def pieces(spans, text):
    return [span.of(text) for span in spans]


# --- spans -----------------------------------------------------------------------------------------------------------


def test_span_slices_measures_and_orders():
    assert Span(1, 3).of("abcd") == "bc"
    assert len(Span(1, 3)) == 2
    assert sorted([Span(2, 3), Span(0, 9), Span(0, 1)]) == [Span(0, 1), Span(0, 9), Span(2, 3)]
    assert hash(Span(1, 2)) == hash(Span(1, 2))


@pytest.mark.parametrize(("one", "other", "overlap"), [((0, 3), (2, 5), True), ((0, 3), (3, 5), False)])
def test_span_overlap_needs_a_shared_character(one, other, overlap):
    assert Span(*one).overlaps(Span(*other)) is overlap
    assert Span(*other).overlaps(Span(*one)) is overlap


def test_an_empty_span_overlaps_nothing():
    assert not Span(2, 2).overlaps(Span(0, 5))


def test_span_contains():
    assert Span(0, 5).contains(Span(0, 5))
    assert Span(0, 5).contains(Span(2, 3))
    assert not Span(0, 5).contains(Span(4, 6))


@pytest.mark.parametrize(("start", "end"), [(-1, 2), (3, 2)])
def test_bad_span_names_its_values(start, end):
    with pytest.raises(ValueError, match=f"start={start}, end={end}"):
        Span(start, end)


# --- sentences: examples ---------------------------------------------------------------------------------------------

# `|` marks where one sentence ends and the next begins; white space around it belongs to the text.
CASES = {
    "C3 second occurrence": "A.\n|Same.\n|B.\n|Same.",
    "C6": "Alpha one here. |Bravo two here.",
    "C7": "Yes. |No. |Yes. |No.",
    "EN7": EN7.replace(". ", ". |"),
    "D1": "今天下雨。|我们在家。|明天会晴吗？|会的！",
    "D2": "今天下雨了我们在家。|明天会晴吗我们出门。",
    "D3 source": "今天下雨我们在家。|" * 29 + "今天下雨我们在家。",
    "D4": 'Dr. Lane paid $3.50 e.g. for tea. |He left at 5 p.m. today. |"Stop!" she said.',
    "D6": "见 v1.2.3 与 a@b.com。|圆周率3.14。|See x.io/y.html now. |好",
    "D8 lf": "A.\n\n|B.\n\n|C.",
    "D8 crlf": "A.\r\n\r\n|B.\r\n\r\n|C.",
    "D8 cr": "A.\r\r|B.\r\r|C.",
    "D10": "s1.s2.s3.",
    "D12 one": "One.",
    "D12 two": "One. |Two.",
}
ENGLISH = {
    "titles": "Mr. and Mrs. Hill met Prof. Wu. |They left.",
    "title at a line end": "He met Dr.\nLane there. |They left.",
    "initials": "J. K. Rowling wrote it. |A. Einstein did not.",
    "middle initial": "It was George W. Bush who came. |Then he left.",
    "initials after a word": "The paper by A. Einstein is short. |It is good.",
    "hyphenated initials": "Ask J.-P. Sartre about it. |He knows.",
    "letter ends a sentence": "We need plan B. |Everyone agrees.",
    "letter and starter": "Take vitamin C. |It helps.",
    "the pronoun I": "He is as tall as I. |Nobody knew.",
    "i.e. and cf.": "The core, i.e. The middle, cf. Figure 2, is hot. |Beware.",
    "e.g. before a capital": "Some cities, e.g. Paris, are old. |Some are not.",
    "etc. inside": "Bring pens, paper, etc. to class. |Thanks.",
    "etc. at the end": "Bring pens, paper, etc. |Thanks.",
    "vs.": "It was Spain vs. Italy again. |Spain won.",
    "numbered things": "See Fig. 3 and No. 5, p. 12, Sec. IV, Eq. (2). |Then stop.",
    "the answer no": "Did he? |No. |He did not.",
    "no. before I": "No. |I did not.",
    "time and a new sentence": "It opens at 9 a.m. |Bring water.",
    "time goes on": "It opens at 9 a.m. on Mondays. |Bring water.",
    "country goes on": "The U.S. Army came. |It left.",
    "country ends": "He lives in the U.S. |The house is big.",
    "company goes on": "Acme Inc. Chairman Lee spoke. |All left.",
    "company ends": "He works for Acme Inc. |The pay is good.",
    "street": "On Main St. Louis met us. |We left.",
    "month": "It was on Jan. 5 at noon. |We came.",
    "decimals and versions": "Pay 3.50 for v2.10.1 now. |Good.",
    "sentence ends with a number": "There are 42. |Good.",
    "sentence ends with a year": "He came in 2019. |Then he left.",
    "urls": "Read https://a.example/b?c=d.e!f and x.io/q.html. |Then write to a.b@c.org. |Thanks.",
    "dotted names": "Call os.path.join() or obj.run now. |Fine.",
    "apostrophes": "It's the dogs' bowl. |Don't touch.",
    "exclamations": "Wow!!! |Really?! |Yes.",
    "quoted question goes on": '"Why?" he asked. |"Because." |Silence.',
    "closing quote and bracket": "(It rained.) |He said “no.” |She said 'yes.' |End.",
    "question in quotes ends": "Did he say “go”? |Yes.",
    "dots go on": "Well... maybe. |Wait... |No.",
    "spaced dots": "Well . . . maybe so. |No.",
    "single ellipsis sign": "Well… maybe. |Wait… |No.",
    "before a lower-case letter": "The file end. with dots. ok. |Ok",
    "lower case beyond ASCII": "Das ist z.B. über. émigré too. |Ende.",
    "footnote mark": "He held a patent.[1][12] |It was his.",
    "bold and code": "This is **important.** |Next one. |Use `x.` |Done.",
    "wrapped line": "This sentence goes\non here. |And this\none too.",
    "wrapped at a number": "There were about\n12. |More came\n3) later.",
    "list marker": "1. Submit the claim. |2. Wait.",
    "inline list": "Steps: 1. Submit the claim. |2. Wait.",
    "total": "The total is this: 15. |Then stop.",
    "deep list marker": "2.1. Submit the claim. |It is 2.1. |Good.",
    "letter marker": "a. First thing. |Second thing.",
    "no space after": "One.Two.",
    "dash after": "One.—Two.",
    "tab and wide spaces": "One.\t|Two.\u00a0|Three.\u2003|Four.",
    "other scripts": "Das Auto fährt. |Été. |Да. |Нет! |Ё моё.",
}
CHINESE = {
    "semicolon": "第一，要快；|第二，要准。",
    "dots": "他走了……|我们没走。",
    "dots inside": "他说……，然后走了。|好。",
    "one ellipsis sign": "等等…|好。",
    "closing quotes": "他问：“会吗？”|我说：「会。」|『好！』|《走。》|（完。）|[好。]|结束",
    "quote goes on": "“会吗？”，他问。|好。",
    "quote and dash": "他说“好。”|然后走了。",
    "several marks": "真的吗？！|不会吧？？？|好！！！",
    "mark after a closing quote": "真的“会吗？”！|好。",
    "ascii marks before Chinese": "他用 Python.|很好!|真的?|是",
    "straight quotes": '他说。|"好。"|我说。|"不好。"|结束',
    "bold": "今天下雨。|**明天**会晴。|**真的。**|好。",
    "latin after": "好。|Then we go. |再见。",
    "space after": "今天下雨。 |明天会晴。\u3000|好。",
    "wrapped line": "今天下雨，\n我们在家。|\n明天会晴。",
    "numbers": "圆周率是3.14，版本是2.0。|３．１４也是。|好",
    "halfwidth stop": "はい｡|いいえ｡",
    "full-width ascii stop": "である．|次に進む．",
    "japanese": "今日は雨です。|「本当？」|はい！",
    "korean": "비가 옵니다. |집에 있어요. |좋아요!",
    "colon and comma": "他说：好，走，再见。|好",
    "no mark": "今天下雨",
}


ALL_CASES = (
    CASES | {f"en {key}": case for key, case in ENGLISH.items()} | {f"zh {key}": case for key, case in CHINESE.items()}
)


@pytest.mark.parametrize("marked", ALL_CASES.values(), ids=ALL_CASES)
def test_sentences(marked):
    text = marked.replace("|", "")
    assert pieces(sentences(text), text) == [part.strip() for part in marked.split("|")]


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\r\n \t\r\n", "\u3000\u00a0\u2028"], ids=repr)
def test_blank_text_has_no_parts(text):
    assert sentences(text) == paragraphs(text) == sections(text) == []


def test_second_occurrence_has_its_own_span():
    assert sentences("A.\nSame.\nB.\nSame.") == [Span(0, 2), Span(3, 8), Span(9, 11), Span(12, 17)]


LISTS = {
    "dashes": "We need:\n|- a pen\n|- paper and\n  ink\n|* tea\n|+ milk",
    "bullets": "• a pen\n|•ink\n|◦ tea",
    "numbers": "We need:\n|1. a pen\n|2. ink\n|10) tea",
    "brackets": "We need:\n|(1) a pen\n|(2) ink\n|(a) tea",
    "indented": "We need:\n|  - a pen\n|  - ink",
    "circled": "需要：\n|①发票\n|②车票",
    "chinese brackets": "需要：\n|（1）发票\n|（2）车票",
    "chinese numbers": "需要：\n|一、发票\n|二、车票",
    "several sentences": "- Go. |Stay.\n|- Wait",
    "not a list": "The range is -5 to\n-3 and costs\n12. |Fine",
}


@pytest.mark.parametrize("marked", LISTS.values(), ids=LISTS)
def test_list_items_start_a_sentence_but_no_paragraph(marked):
    text = marked.replace("|", "")
    assert pieces(sentences(text), text) == [part.strip() for part in marked.split("|")]
    assert pieces(paragraphs(text), text) == [text]


# --- paragraphs ------------------------------------------------------------------------------------------------------

# `¶` marks where one paragraph ends and the next begins.
PARAGRAPHS = {
    "blank lines": "One.\nStill one.\n\n¶Two.\n \t\n\n¶Three.",
    "ideographic space": "一。\n\u3000\n¶二。",
    "indentation": "   One.\n\n¶   Two.   \n",
    "heading": "One.\n¶# Two\n¶Three.",
    "fence": "One.\n¶```python\nx = 1. \n\n# no heading. Nor this!\n```\n¶Two.",
    "tilde fence": "One.\n¶~~~\n```\n\nA. B!\n~~~~\n¶Two.",
    "longer fence": "````\n```\n\n````\n¶Two.",
    "indented fence": "- item\n¶  ```\n  a. B\n\n  ```\n¶Two.",
    "unclosed fence": "One.\n¶```\nTwo. Three.\n\n# Four",
    "fence of another kind does not close": "```\n~~~\n\nA.",
    "code in a line is no fence": "``` is a mark ``` in text.\n\n¶Two.",
    "table": "One:\n¶| a. B | c |\n|---|---|\n| 1. X | 2 |\n¶Two.",
    "table without outer bars": "One:\n¶a. B | c\n--- | ---\n1. X | 2\n¶Two.",
    "grid table": "+---+---+\n| a. B | c |\n+===+===+\n| 1 | 2 |\n+---+---+\n\n¶Two.",
    "rule under text": "Some text. More of it.\n---\nstill.",
}


@pytest.mark.parametrize("marked", PARAGRAPHS.values(), ids=PARAGRAPHS)
def test_paragraphs(marked):
    text = marked.replace("¶", "")
    assert pieces(paragraphs(text), text) == [part.strip() for part in marked.split("¶")]


@pytest.mark.parametrize(
    "block",
    [
        "```\nA b. C d.\n\nE f!\n```",
        "~~~ text\nA b. C d.\n~~~",
        "| A b. C d. | E? F |\n|---|---|\n| x. Y | z |",
        "A b. C | d\n-----|----\nx. Y | z",
        "# What? A title. Yes!",
        "What? A title\n=============",
    ],
)
def test_an_opaque_block_is_one_paragraph_and_one_sentence(block):
    text = f"Before it. Here.\n\n{block}\n\nAfter it. There."
    assert pieces(paragraphs(text), text) == ["Before it. Here.", block, "After it. There."]
    assert pieces(sentences(text), text) == ["Before it.", "Here.", block, "After it.", "There."]


# --- sections --------------------------------------------------------------------------------------------------------


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


# --- documents -------------------------------------------------------------------------------------------------------


def ids(doc):
    return [section.id for section in doc.sections]


def test_an_opening_title_is_section_0_and_names_the_document():
    doc = document("travel-en", "# Policy\n\nIntro.\n\n## 1 Scope\nx\n\n## 2 Terms\ny\n")
    assert doc.title == "Policy"
    assert ids(doc) == ["travel-en/0", "travel-en/1", "travel-en/2"]
    assert [(s.title, s.level) for s in doc.sections] == [("Policy", 1), ("1 Scope", 2), ("2 Terms", 2)]
    assert (doc.version, doc.access) == ("1", "public")


def test_two_top_headings_are_ordinary_sections():
    doc = document("d", "# A\nx\n\n# B\ny")
    assert ids(doc) == ["d/1", "d/2"]
    assert doc.title == "d"


def test_text_before_the_first_heading_is_section_0():
    doc = document("d", "Hello.\n\n# A\nx", title="T", version="7", access="staff")
    assert ids(doc) == ["d/0", "d/1"]
    assert (doc.title, doc.version, doc.access) == ("T", "7", "staff")
    assert {s.access for s in doc.sections} == {"staff"}


def test_text_without_headings_is_one_section_and_blank_text_none():
    assert ids(document("d", "Hello.")) == ["d/0"]
    assert document("d", " \n").sections == ()


@pytest.mark.parametrize("key", [2, "Annex"])
def test_section_access_holds_for_the_sections_below(key):
    text = "# T\n\n## Open\nx\n\n## Annex\ny\n\n### Detail\nz\n\n## Open again\nx"
    doc = document("d", text, section_access={key: "finance"})
    assert [s.access for s in doc.sections] == ["public", "public", "finance", "finance", "public"]


def test_a_section_below_may_have_its_own_access():
    text = "## Annex\ny\n\n### Detail\nz\n\n### More\nz"
    doc = document("d", text, section_access={1: "finance", 2: "public"})
    assert [s.access for s in doc.sections] == ["finance", "public", "finance"]


def test_the_label_of_the_title_section_is_its_own():
    doc = document("d", "# T\nx\n\n## A\ny", section_access={0: "staff"})
    assert [s.access for s in doc.sections] == ["staff", "public"]


@pytest.mark.parametrize("key", [5, "Anex"])
def test_access_of_an_unknown_section_is_an_error(key):
    with pytest.raises(ValueError, match=str(key)):
        document("d", "# T\nx\n\n## Annex\ny", section_access={key: "finance"})


def test_a_document_needs_an_id():
    with pytest.raises(ValueError, match="id"):
        document("", "x")


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: document(5, "x"), "id of document 5 must be a str, not int"),
        (lambda: document("d", None), "text must be a str, not NoneType"),
        (lambda: document("d", "x", title=5), "title of document 'd' must be a str, not int"),
        (lambda: document("d", "", version=2025), "version of document 'd' must be a str, not int"),
        (lambda: document("d", "", access=["x"]), "access of document 'd' must be a str, not list"),
        (lambda: document("d", "x", access=None), "access of section 'd/0' must be a str, not NoneType"),
        (lambda: document("d", "x", section_access={0: None}), "access of section 'd/0' must be a str, not NoneType"),
        (lambda: document("d", "x", section_access=["x"]), "section_access must be a mapping of labels, not list"),
        (lambda: sentences(None), "text must be a str, not NoneType"),
        (lambda: paragraphs(b"x"), "text must be a str, not bytes"),
        (lambda: sections(["x"]), "text must be a str, not list"),
    ],
    ids=[f"A9-{n}" for n in range(11)],
)
def test_what_is_no_text_is_refused_at_once(call, says):
    with pytest.raises(TypeError, match=re.escape(says)):
        call()


def test_a_document_made_by_hand_is_one_section():
    made = Document("d", "T", "One.\n\n# Two\n", "1", "staff")
    assert made.sections == (Section("d/0", "", 0, Span(0, 12), "staff"),)
    assert Document("d", "T", " \n", "1", "staff").sections == ()


@pytest.mark.parametrize("ends", [[(0, 3)], [(1, 4)], [(0, 2), (3, 4)], [(0, 3), (2, 4)], [(2, 4), (0, 2)], [(0, 9)]])
def test_sections_made_by_hand_cover_the_text(ends):
    parts = tuple(Section(f"d/{n}", "", 1, Span(*pair), "public") for n, pair in enumerate(ends))
    with pytest.raises(ValueError, match="sections of document 'd' must"):
        Document("d", "T", "One.", "1", "public", parts)


# --- what cannot be seen ---------------------------------------------------------------------------------------------


def test_blank_is_white_space_and_what_unicode_calls_control_or_format():
    # Some format characters are signs that are drawn around or before letters.
    drawn = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD, *range(0x13430, 0x13440)}
    for code in range(sys.maxunicode + 1):
        unseen = unicodedata.category(chr(code)) in ("Cc", "Cf") or chr(code).isspace()
        assert not unseen or is_blank(chr(code)) == (code not in drawn), hex(code)
    assert not is_blank("\u200bx\ufeff") and is_blank("\u200bx\ufeff", 0, 1) and is_blank("\u200bx\ufeff", 2)
    assert not any(map(is_blank, ".·一😀\u0301\u2800\ud800"))


@pytest.mark.parametrize("unseen", ["\ufeff", "\u200b", "\0\0", "\u200d \u2060"], ids=ascii)
def test_what_cannot_be_seen_is_no_sentence_and_no_paragraph(unseen):
    for cut in (sections, paragraphs, sentences):
        assert cut(unseen) == cut(f"\n{unseen}\n") == []
        assert not any(is_blank(piece) for piece in pieces(cut(f"A.\n\n{unseen}\n\n# B"), f"A.\n\n{unseen}\n\n# B"))
    text = f"Hello. {unseen}\n\n{unseen}\n- Bye."
    assert pieces(sentences(text), text) == pieces(paragraphs(text), text) == [f"Hello. {unseen}", "- Bye."]
    titled = document("d", f"{unseen}\n\n# Title\nx")
    assert (titled.title, len(titled.sections)) == ("Title", 1)


# --- properties ------------------------------------------------------------------------------------------------------

LINES = [
    "", "", " ", "# Title", "## 2 Part", "3 Title", "3.2 Title", "1. Apples", "2. Pears.", "一、总则",
    "（一）目的", "第一条 完。", "```", "~~~", "````python", "| a. B | c |", "|---|---|", "a | b",
    "--- | ---", "---", "====", "- item. Two", "(1) x", "①甲。乙", "Mr. Hill left. He",
    "said “no.” Then", "it was 3.14. Good", "今天下雨。明天晴", "他说：“好！”我说……", "etc. The", "J. K.",
    "e\u0301a. \u0301", "👩‍👩‍👧. 🇫🇷🇩🇪！", "- ", "-", "*", "#", "\ufeff# T", "1.", "\u3000缩进。", "A.",
    '他说。"好。"**对。**', "Title", "~~~~~~",
]  # fmt: skip
structured = st.lists(st.sampled_from(LINES), max_size=14).map("\n".join)
loose = st.text(
    st.sampled_from(
        [*" \n\n\t.!?…。！？；，,:\"'”“’」「)(*_`#|-~=123一、章第条AbcTXé今天好\u0301\u200d\u3000\ufeff", "👩", "🇫"]
    ),
    max_size=60,
)
any_text = st.one_of(structured, loose, st.text(max_size=60))


@given(any_text)
@example('。"\u3000好。" ')
@example("\ufeff\n")
def test_sentences_cover_everything_but_white_space_once_and_in_order(text):
    spans = sentences(text)
    place = 0
    for span in spans:
        assert is_blank(text, place, span.start)
        assert place <= span.start < span.end
        assert span.of(text) == span.of(text).strip()
        assert not is_blank(span.of(text))
        place = span.end
    assert is_blank(text, place)


@given(any_text)
def test_sentences_lie_in_paragraphs_and_paragraphs_in_sections(text):
    whole, blocks, parts = sections(text), paragraphs(text), sentences(text)
    assert all(any(block.contains(part) for block in blocks) for part in parts)
    assert all(any(section.contains(block) for section in whole) for block in blocks)
    assert all(block.of(text) == block.of(text).strip() != "" for block in blocks)
    assert all(left.end <= right.start for left, right in pairwise(blocks))


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


@given(any_text.filter(lambda text: "\r" not in text), st.sampled_from(["\r\n", "\r"]))
@pytest.mark.parametrize("cut", [sentences, paragraphs, sections])
def test_the_kind_of_newline_changes_nothing(cut, text, newline):
    other = text.replace("\n", newline)
    assert [part.replace(newline, "\n") for part in pieces(cut(other), other)] == pieces(cut(text), text)


@given(
    st.lists(
        st.sampled_from(["Alpha beta gamma. ", "今天下雨。", "“Is it?” ", "（完。）", "Dr. Lane paid 3.50. "]),
        max_size=9,
    )
)
def test_sentences_of_a_text_are_those_of_its_parts(parts):
    text = "".join(parts)
    assert pieces(sentences(text), text) == [part.strip() for part in parts]


# --- the fast splitter beside a slow one -----------------------------------------------------------------------------

SOFT, HARD, SHUT = ".!?…", "。！？；", "”’」』）)"


def slow_sentences(text):
    """Follow the rules one character at a time, for one paragraph without abbreviations, initials and list marks."""
    found, start, i = [], 0, 0
    while i < len(text):
        stop, hard = slow_end(text, i)
        after = stop + len(text[stop:]) - len(text[stop:].lstrip())
        if stop and after < len(text) and slow_new(text, hard, stop, after):
            found.append(text[start:stop].strip())
            start = i = after
        else:
            i = max(i + 1, stop)
    rest = text[start:].strip()
    return found + [rest] * bool(rest)


def slow_end(text, i):
    """Where the marks that begin at i end, closing quotes included (0: no sentence ends), and if they always do."""
    if text[i] not in SOFT + HARD or (i and text[i - 1] in SOFT + HARD):
        return 0, False
    run = i
    while run < len(text) and text[run] in SOFT + HARD:
        run += 1
    hard = any(mark in HARD for mark in text[i:run]) or text[i:run].startswith("……")
    stop = run
    while stop < len(text) and text[stop] in SHUT + (SOFT + HARD if hard else SOFT):
        stop += 1
    if hard or stop == len(text):
        return stop, hard
    free = text[stop].isspace() or text[stop] in "“「（" or "\u4e00" <= text[stop] <= "\u9fff"
    return (stop if free else 0), False


def slow_new(text, hard, stop, after):
    if after == stop and text[after] in "，,：:":
        return False
    return hard or not (text[after].islower() or text[after] in ".!?…,;:)”’")


words = st.sampled_from(
    ["alpha", "Beta", "Gamma-x", "今天", "说", "3.14", "x.io", "élan", "don't", "“", "「", "（", "("]
)
marks = st.sampled_from([*SOFT, *HARD, *SHUT, " ", " ", ". ", "。", "，", ", ", "……", "?! ", ".” ", "。」"])
plain = st.lists(st.one_of(words, marks), max_size=24).map("".join)


@given(plain)
@example("会吗？！”，好。")
@example(".。」。alpha")
def test_fast_and_slow_splitter_agree(text):
    text = "Start " + text
    assert pieces(sentences(text), text) == slow_sentences(text)


# --- speed grows with the text, whatever the text --------------------------------------------------------------------

HOSTILE = [
    " ", ".", "!", "。", '"', "'", "”", "#", "|", "\n", "\r", "\r\n", "a", "…", "-", "=", "~", "`",
    "1", "一", "第", "(", "[", ". ", ".)", ".) ", '."', '。"', '。"好', "。**", "a. ", "A. ", "Mr.\n",
    "Mr. ", "1. ", "1.\n", "1. A\n\n", "1 A b\n", "1.2", "3. A\n", "# a\n", "```\n", "``` `\n",
    "~~~~\n", "a\n~~~~\n", "---\n", "a\n---\n", "-|-\n", "a|b\n-|-\n", "| a\n", "|\n\n", "- ",
    "- a\n", "一、\n", "一、甲\n", "第一条 甲\n", "第一条\n\n", " \n", "\t\n ", "\u3000", ". \n", "[1]", ".[1]",
    "...a", ".\u0301", "e.g. ", "U.S. ", "\ufeff",
]  # fmt: skip


def seconds(function, text):
    begin = time.process_time()
    function(text)
    return time.process_time() - begin


def in_proportion(function, small, large, factor):
    """Is the large text done within so many times the small one's time? On a busy machine, at one of several tries."""
    return any(seconds(function, large) < factor * seconds(function, small) + 0.02 for _ in range(6))


@pytest.mark.parametrize("unit", HOSTILE, ids=repr)
@pytest.mark.parametrize("lead", ["", "a", "Title\n"], ids=["", "letter", "line"])
def test_time_grows_in_proportion_to_a_hostile_text(unit, lead):
    small = lead + unit * (5_000 // len(unit)) + "x"
    large = lead + unit * (40_000 // len(unit)) + "x"

    def both(text):
        sentences(text)
        sections(text)

    # 8 times the text: 8 times the time if linear, 64 times if quadratic; 20 ms of grace for a busy machine
    assert in_proportion(both, small, large, 24)


@pytest.mark.parametrize(
    ("lead", "unit"), [("", "Mr.\n"), ("A b c.\nd e\n", "---\n")], ids=["abbreviation", "underline"]
)
def test_looking_back_stops_early(lead, unit):
    small, large = lead + unit * 25_000, lead + unit * 200_000
    assert in_proportion(sentences, small, large, 14)


@pytest.mark.parametrize("unit", ["\U0001f1eb", "\u0301", "👩\u200d", "\u1100", "क्", "\r\n"], ids=ascii)
def test_time_of_cluster_cuts_grows_in_proportion(unit):
    def cut(text):
        list(graphemes(text))
        start = 0
        while start < len(text):
            start = next_cut(text, min(start + 50, len(text)), start)

    small, large = unit * 1000, unit * 8000
    assert in_proportion(cut, small, large, 24)


# --- grapheme clusters -----------------------------------------------------------------------------------------------

SCRIPTS = [
    "a", "é", "e\u0301", "n\u0303\u0301", "👩", "👩\u200d👩\u200d👧", "👍🏽", "❤\ufe0f", "❤",
    "🏳\ufe0f\u200d🌈", "👩🏽\u200d🚀", "🇫", "🇩🇪", "1\ufe0f\u20e3", "한", "\u1112\u1161\u11ab", "\u1100",
    "\u1161", "가\u11a8", "\r\n", "\r", "\n", "\t", " ", "中", "。", "が", "か\u3099", "ｶﾞ", "น้ำ",
    "ที่", "க்", "नि", "क्षि", "עִ", "لَا", "\u0600", "\u200d", "\u200c", "\u200b", "\u00ad",
    "\ufeff", "🏴\U000e0067\U000e007f", "👩\u200d❤\ufe0f\u200d👨", "♀", "✈\ufe0f",
]  # fmt: skip
assigned = st.characters(exclude_categories=["Cn", "Cs"])
clusters = st.lists(st.one_of(st.sampled_from(SCRIPTS), assigned), max_size=12).map("".join)


def unicode_bounds(text):
    return {0, *(match.end() for match in regex.finditer(r"\X", text))}


@given(clusters)
def test_clusters_end_only_where_unicode_allows(text):
    assert {span.end for span in graphemes(text)} <= unicode_bounds(text)


@given(st.lists(st.sampled_from([unit for unit in SCRIPTS if unit != "\u200d"]), max_size=12).map("".join))
def test_clusters_of_common_scripts_are_those_of_unicode(text):
    assert {0, *(span.end for span in graphemes(text))} == unicode_bounds(text)


@given(st.integers(0, sys.maxunicode).map(chr).filter(lambda c: unicodedata.category(c) not in ("Cn", "Cs")))
def test_every_character_between_letters_is_cut_only_where_unicode_allows(char):
    text = f"a{char}b"
    assert {span.end for span in graphemes(text)} <= unicode_bounds(text)


@given(clusters)
def test_clusters_partition_the_text(text):
    spans = list(graphemes(text))
    assert "".join(pieces(spans, text)) == text
    assert all(spans)


@given(clusters, st.data())
def test_cuts_are_the_nearest_cluster_ends(text, data):
    position = data.draw(st.integers(0, len(text)))
    bounds = [0, *(span.end for span in graphemes(text))]
    assert is_boundary(text, position) == (position in bounds)
    assert next_cut(text, position) == min(bound for bound in bounds if bound >= position)


@given(clusters, st.data())
def test_a_known_cut_gives_the_same_answer(text, data):
    bounds = [0, *(span.end for span in graphemes(text))]
    start = data.draw(st.sampled_from(bounds))
    position = data.draw(st.integers(start, len(text)))
    assert is_boundary(text, position, start) == is_boundary(text, position)
    assert next_cut(text, position, start) == next_cut(text, position)


def test_a_range_of_clusters():
    text = "ae\u0301👍🏽b"
    assert pieces(graphemes(text, 1, 5), text) == ["e\u0301", "👍🏽"]


def test_a_run_of_flags_is_cut_in_pairs():
    assert [len(span) for span in graphemes("🇫🇷" * 200 + "🇩")] == [2] * 200 + [1]
    assert not is_boundary("🇫🇷" * 200, 201)
    assert next_cut("🇫🇷" * 200, 201) == 202
