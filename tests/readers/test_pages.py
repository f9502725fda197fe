"""Which lines of pages run at their heads and feet, against every other way in which lines repeat."""

from hypothesis import given
from hypothesis import strategies as st

from s2b_lab.core.headings import document
from s2b_lab.core.sentences import sentences
from s2b_lab.core.text import Span, page_of
from s2b_lab.readers.pages import Line, flowing, without_running_lines

WORDS = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot"]


def page(number, *lines, head=None, foot=None, top=700):
    held = [Line(head.format(n=number), 760)] if head else []
    held += [Line(text, top - 14 * n) for n, text in enumerate(lines)]
    return held + ([Line(foot.format(n=number), 40)] if foot else [])


def kept(*pages):
    return [[line.text for line in lines] for lines in without_running_lines(list(pages))]


def prose(number):
    return f"{WORDS[number % 6]} goes on", f"to {WORDS[(number + 2) % 6]} and {WORDS[(number + 3) % 6]}"


def test_heads_and_feet_are_left_out_whatever_they_are():
    for edge in (
        "Title",
        "{n}",
        "- {n} -",
        "Page {n} of 9",
        "第 {n} 页 共 9 页",
        "Annual Report 2025 | {n}",
        "Draft {n}.0",
    ):
        for where in ("head", "foot"):
            pages = [page(n, *prose(n), **{where: edge}) for n in range(1, 7)]
            assert kept(*pages) == [list(prose(n)) for n in range(1, 7)], edge


def test_heads_and_feet_are_left_out_where_there_are_but_two_pages():
    assert kept(*(page(n, *prose(n), head="Title", foot="{n}") for n in (1, 2))) == [list(prose(1)), list(prose(2))]


def test_left_and_right_pages_may_have_heads_of_their_own():
    pages = [page(n, *prose(n), head=("The Handbook {n}", "{n} Chapter of Rules")[n % 2]) for n in range(1, 9)]
    assert kept(*pages) == [list(prose(n)) for n in range(1, 9)]


def test_heads_and_feet_of_pages_of_unequal_length_are_left_out_wherever_they_stand():
    bodies = [prose(1), prose(2) + prose(3), prose(4)[:1]]
    pages = [
        [Line(text, 720 - 14 * n) for n, text in enumerate(["Title", *body, f"Page {number} of 3 - Confidential"])]
        for number, body in enumerate(bodies, 1)
    ]
    assert kept(*pages) == [list(body) for body in bodies]


def test_a_foot_that_is_the_last_line_on_one_page_alone_is_left_out_there_too():
    bodies = [[f"{WORDS[(n + m) % 6]} is line {n * m}" for m in range(6 + n % 2)] for n in range(1, 6)]
    feet = [[Line("Confidential", 60), *[Line(f"{n}", 40)] * (n > 1)] for n in range(1, 6)]
    pages = [[*page(n, *body), *foot] for n, (body, foot) in enumerate(zip(bodies, feet, strict=True), 1)]
    assert kept(*pages) == bodies


def test_roman_numbers_and_heads_that_change_with_the_chapter_are_left_out():
    romans = ["i", "ii", "iii", "iv", "v", "vi"]
    pages = [page(n, *prose(n), head=("Travel", "Training")[n > 3], foot=romans[n - 1]) for n in range(1, 7)]
    assert kept(*pages) == [list(prose(n)) for n in range(1, 7)]


def test_a_first_page_may_have_a_head_of_its_own():
    title = [Line("The Handbook", 730, 20), *page(1, *prose(1), foot="{n}")]
    others = [page(n, *prose(n), head="The Handbook", foot="{n}") for n in (2, 3, 4)]
    assert kept(title, *others)[0] == ["The Handbook", *prose(1)]


def test_chapters_that_begin_pages_stay():
    for label in ("Chapter {n}", "Article {n}", "第{n}章 总则", "Week {n}", "Annex {n}"):
        pages = [page(n, label.format(n=n), *prose(n)) for n in range(1, 6)]
        assert kept(*pages) == [[label.format(n=n), *prose(n)] for n in range(1, 6)], label


def test_a_chapter_that_is_the_head_of_its_pages_goes_though_it_has_a_number():
    pages = [page(n, *prose(n), head=f"Chapter 2: Rules {n}") for n in range(1, 5)]
    assert kept(*pages) == [list(prose(n)) for n in range(1, 5)]


def test_what_repeats_elsewhere_stays():
    def form(n):
        return page(n, f"{WORDS[n]} signs", "Name:", "Date:", "Place:", "Name:", f"{WORDS[n]} again")

    assert kept(form(1), form(2), form(3)) == [[line.text for line in form(n)] for n in (1, 2, 3)]
    # the same words at another height, or numbers that do not count with the pages
    moved = [page(n, f"{100 - 7 * n} days", *prose(n), top=700 - 10 * n) for n in (1, 2, 3)]
    assert kept(*moved) == [[line.text for line in lines] for lines in moved]
    # twice in a long text is chance
    long = [page(n, "Notes" if n in (4, 5) else f"{WORDS[n % 6]} {n * n}", *prose(n)) for n in range(1, 12)]
    assert kept(*long) == [[line.text for line in lines] for lines in long]


def test_pages_on_which_nothing_else_stands_keep_their_lines():
    same = [page(n, "Blank form", "Name:") for n in (1, 2)]
    assert kept(*same) == [["Blank form", "Name:"]] * 2
    assert kept(page(1, "One page", "alone")) == [["One page", "alone"]]
    assert kept() == [] and kept([], []) == [[], []]


@given(
    st.lists(st.lists(st.sampled_from([*WORDS, "第一条 总则", "A.", "1. One", "# x"]), max_size=5), max_size=6),
    st.sampled_from([0, 11, 20]),
)
def test_every_line_is_in_the_text_on_its_own_page(texts, size):
    pages = [
        [Line(f"{word} {n}", 700 - 14 * n, size if n == 1 else 11, n == 3) for n, word in enumerate(words)]
        for words in texts
    ]
    found = flowing(pages)
    doc = document("d", found.text)
    doc = type(doc)(doc.id, doc.title, doc.text, "1", "public", doc.sections, found.pages)
    assert len(doc.pages) == len(pages)
    start = 0
    for number, lines in enumerate(pages, 1):
        for line in lines:
            start = doc.text.index(line.text, start)
            assert page_of(doc, Span(start, start + len(line.text))) == (number, number)
            start += len(line.text)


def test_chinese_titles_in_larger_type_are_headings_and_join_without_a_blank():
    lines = [
        Line("员工出差管理办法", 740, 20), Line("与报销细则", 718, 20),
        Line("总则", 690, 14), Line("本手册适用于全体员工，出差须经主", 670, 11), Line("管批准。", 656, 11),
        Line("附则", 630, 14), Line("本办法自发布之日起施行，由财务部负责解", 610, 11), Line("释。", 596, 11),
        Line("请在三十天内提交发票。", 582, 11), Line("系统坏了，先登记工单。", 568, 11), Line("完。", 554, 11),
        Line("以下无正文。", 540, 11), Line("二〇二五年。", 526, 11),
    ]  # fmt: skip
    text = flowing([lines]).text
    assert text.startswith(
        "# 员工出差管理办法与报销细则\n\n## 总则\n\n本手册适用于全体员工，出差须经主\n管批准。\n\n## 附则\n\n"
    )
    doc = document("d", text)
    assert (doc.title, [part.title for part in doc.sections][1:]) == ("员工出差管理办法与报销细则", ["总则", "附则"])


def test_the_second_column_goes_on_with_the_first():
    left = [Line("The sentence of the", 700), Line("left column goes", 686)]
    right = [Line("on in the right", 700), Line("column.", 686)]
    assert flowing([left + right]).text == "The sentence of the\nleft column goes\non in the right\ncolumn."
    whole = [Line("A sentence ends", 700), Line("here.", 686), Line("Another begins", 700), Line("there.", 686)]
    assert flowing([whole]).text == "A sentence ends\nhere.\n\nAnother begins\nthere."


def test_a_gap_in_mid_sentence_ends_no_paragraph():
    lines = [
        Line("It is paid, as in", 700),
        Line("the case of meals,", 660),
        Line("at once.", 646),
        Line("Then on.", 632),
    ]
    assert flowing([lines]).text == "It is paid, as in\nthe case of meals,\nat once.\nThen on."


def headings(*lines):
    return [line for line in flowing([list(lines)]).text.split("\n") if line.startswith("#")]


BODY = [Line("The staff member submits every claim within thirty days.", 500 - 14 * n, 11) for n in range(9)]


def test_sizes_that_hardly_differ_are_of_one_level():
    found = headings(
        Line("Rules", 740, 20), Line("One", 700, 14), Line("Two", 650, 14.4), Line("Three", 600, 12.8), *BODY
    )
    assert found == ["# Rules", "## One", "## Two", "### Three"]


def test_the_bold_head_of_a_table_is_no_heading():
    body = BODY[2:]
    assert headings(*BODY[:2], Line("Item Limit", 450, 11, bold=True), *body) == ["# Item Limit"]
    assert headings(*BODY[:2], Line("Item Limit", 450, 11, bold=True, row=True), *body) == []


def test_where_most_is_large_size_says_nothing():
    assert (
        headings(Line("The first point", 700, 40), Line("A second point", 600, 30), Line("The third points", 500, 20))
        == []
    )


def test_articles_with_their_text_on_the_line_are_left_to_the_text_itself():
    texts = ["第一条 为了规范员工出差管理，合理控制差旅费用，提高工作效率，结合公", "司实际情况，制定本办法。"]
    texts += ["第二条 本办法适用于全体员工。", "第三条 员工出差须经主管批准，并填写申请单。"]
    lines = [Line("出差管理办法", 740, 20), *(Line(text, 700 - 14 * n, 11) for n, text in enumerate(texts))]
    assert headings(*lines) == []
    assert "#" in flowing([[lines[0], *BODY]]).text


def test_each_row_of_a_table_is_a_paragraph():
    rows = [Line(f"City {n} {100 + n} euros", 700 - 14 * n, 11, row=True) for n in range(40)]
    text = flowing([[Line("Rates are:", 730, 11), *rows, Line("That is all.", 120, 11)]]).text
    assert [span.of(text) for span in sentences(text)] == ["Rates are:", *(line.text for line in rows), "That is all."]
