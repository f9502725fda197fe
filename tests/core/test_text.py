"""Spans, sections and documents."""

import re
import sys
import unicodedata

import pytest

from s2b_lab.core.blocks import paragraphs
from s2b_lab.core.characters import is_blank
from s2b_lab.core.headings import document, sections
from s2b_lab.core.sentences import sentences
from s2b_lab.core.text import Document, Section, Span


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


def test_no_label_below_can_loosen_one_above():
    text = "## Annex\ny\n\n### Detail\nz\n\n### More\nz"
    doc = document("d", text, section_access={1: "finance", 2: "public"})
    assert [s.access for s in doc.sections] == ["finance", "finance", "finance"]


@pytest.mark.parametrize(
    "labels", [{1: "finance", 2: "hr"}, {"Annex": "finance", 1: "hr"}, {1: "finance", "Detail": "hr"}]
)
def test_two_labels_for_one_text_are_an_error_that_names_both(labels):
    with pytest.raises(ValueError, match=r"two labels, '(finance|hr)' and '(finance|hr)'"):
        document("d", "## Annex\ny\n\n### Detail\nz", section_access=labels)


def test_a_label_for_a_public_section_and_one_below_may_differ():
    text = "## Annex\ny\n\n### Detail\nz\n\n### More\nz"
    doc = document("d", text, section_access={1: "public", "Annex": "public", 2: "finance", "Detail": "public"})
    assert [s.access for s in doc.sections] == ["public", "finance", "public"]


def test_the_label_of_a_title_covers_all_below_it_and_that_of_a_preamble_nothing():
    doc = document("d", "# T\nx\n\n## A\ny", section_access={0: "staff"})
    assert [s.access for s in doc.sections] == ["staff", "staff"]
    doc = document("d", "x\n\n## A\ny", section_access={0: "staff"})
    assert [s.access for s in doc.sections] == ["staff", "public"]


def test_the_access_of_a_document_is_for_what_has_no_label():
    doc = document("d", "## A\nx\n\n## B\ny", access="staff", section_access={"B": "public"})
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


def test_blank_is_white_space_and_what_unicode_calls_control_or_format():
    # Some format characters are signs that are drawn around or before letters.
    drawn = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD, *range(0x13430, 0x13440)}
    for code in range(sys.maxunicode + 1):
        unseen = unicodedata.category(chr(code)) in ("Cc", "Cf") or chr(code).isspace()
        assert not unseen or is_blank(chr(code)) == (code not in drawn), hex(code)
    assert not is_blank("\u200bx\ufeff") and is_blank("\u200bx\ufeff", 0, 1) and is_blank("\u200bx\ufeff", 2)
    assert not any(map(is_blank, ".·一😀\u0301\u2800\ud800"))
