"""PDFs by hand: their text, without what repeats around it, with headings, pages and clear refusals."""

import re
from io import BytesIO

import pytest
from pdfs import at, body, pdf
from pypdf import PdfReader, PdfWriter

from s2b_lab.core.sentences import sentences
from s2b_lab.readers.pdf import read_pdf

FLOWING = [
    "The committee decides on all costs of travel that were not approved before\nand that are larger than",
    "the usual amount for the country, unless the head of the department\nhas said in writing that they",
    "were needed, and were needed at once.\nThis holds for all staff.",
]


def framed(page, number, count=3, title="Travel Handbook"):
    return [at(760, title), *body(page), at(40, f"Page {number} of {count} - Confidential")]


def locked(data, **options):
    writer, held = PdfWriter(clone_from=PdfReader(BytesIO(data))), BytesIO()
    writer.encrypt(**options)
    writer.write(held)
    return held.getvalue()


def test_what_repeats_at_the_head_and_foot_of_pages_is_no_part_of_a_sentence():
    pages = [framed(page, number) for number, page in enumerate(FLOWING, 1)]
    found = read_pdf(pdf(*pages), "a.pdf")
    assert found.text == "\n".join(FLOWING)
    assert [len(span.of(found.text)) > 200 for span in sentences(found.text)] == [True, False]
    assert [found.text[start:].split()[0] for start in found.pages] == ["The", "the", "were"]


def test_pages_are_where_they_begin_also_those_without_text():
    found = read_pdf(pdf("One is here.", "", "Three is here.", ""), "a.pdf")
    assert found.text == "One is here.\n\nThree is here."
    assert found.pages == (0, 14, 14, len(found.text))


def test_titles_in_larger_or_bold_type_are_headings():
    page = [
        at(720, "House Rules", 20),
        at(690, "Quiet hours and how", 14), at(674, "they are kept", 14),
        *body("Sleep at ten.\nRise at six.", 650),
        at(600, "May I have guests?", 11, bold=True),
        *body("Guests are welcome.\nAsk before.", 585),
    ]  # fmt: skip
    text = read_pdf(pdf(page), "a.pdf").text
    assert text == (
        "# House Rules\n\n## Quiet hours and how they are kept\n\nSleep at ten.\nRise at six.\n\n"
        "### May I have guests?\n\nGuests are welcome.\nAsk before."
    )


def test_a_text_that_shows_its_headings_itself_is_left_as_it_is_printed():
    page = [
        at(720, "1. Introduction", 11, bold=True), *body("This sets the rules.", 705),
        at(690, "2. Travel", 11, bold=True), *body("Staff must ask.", 675),
        at(660, "3. Training", 11, bold=True), *body("Five days.\nNo more.\nNo less.\nNone.\nAt all.\nEver.", 645),
    ]  # fmt: skip
    text = read_pdf(pdf(page), "a.pdf").text
    assert "#" not in text and text.startswith("1. Introduction\nThis sets the rules.")


def test_below_a_large_title_numbered_titles_are_headings_all_the_same():
    lines = (
        "1 Introduction\n\nThis sets the rules for all.\n\n2 Travel\n\nStaff must ask.\nThey must wait.\nThey go.\nEnd."
    )
    text = read_pdf(pdf([at(740, "The Rules", 20), *body(lines)]), "a.pdf").text
    assert [line for line in text.split("\n") if line.startswith("#")] == [
        "# The Rules",
        "## 1 Introduction",
        "## 2 Travel",
    ]


def test_bold_sentences_lines_of_contents_and_drawn_numbers_are_no_headings():
    page = [
        at(720, "All staff must file their claims within thirty days after", 11, bold=True),
        at(706, "the end of the trip", 11, bold=True),
        at(690, "4711", 30),
        at(680, "Item", bold=True), at(680, "Limit", bold=True, left=272),
        at(675, "A hotel in any other country 120"),
        at(670, "Introduction . . . . . . . . . 1", 14),
        *body("Claims are filed by the traveller.\nThey are paid.\nThey are kept.\nThey are read.\nThat is all.", 650),
    ]  # fmt: skip
    assert "#" not in read_pdf(pdf(page), "a.pdf").text


def test_shapes_with_the_wrong_character_are_the_words_they_show(monkeypatch):
    shown = "第⼀条 ⽬的：⻓期出差的⼈员 of the oﬃce ﬁle"
    monkeypatch.setattr("pypdf.PageObject.extract_text", lambda self, visitor_text: visitor_text(shown, M, M, None, 11))
    assert read_pdf(pdf("x"), "a.pdf").text == "第一条 目的：长期出差的人员 of the office file"


@pytest.mark.parametrize(("apart", "row"), [(30, False), (200, True)])
def test_words_that_stand_apart_are_a_row(monkeypatch, apart, row):
    found = []
    monkeypatch.setattr("s2b_lab.readers.pdf.without_running_lines", lambda pages: found.extend(pages) or pages)
    cells = [at(700, "Item", bold=True), at(700, "Limit", bold=True, left=72 + apart)]
    read_pdf(pdf([*cells, at(680, "A hotel 120")]), "a.pdf")
    assert [line.row for line in found[0]] == [row, False]


def test_hyphens_at_line_ends_stay_as_they_are_printed():
    text = "The committee discusses retrie-\nval quality and well-\nknown costs."
    assert read_pdf(pdf(text), "a.pdf").text == text
    assert read_pdf(pdf(*text.split("\n")), "a.pdf").text == text  # also where the page ends


def test_lines_far_apart_are_paragraphs_and_wrapped_ones_are_not():
    lines = "Claims are filed\nby the traveller.\n\nThey are paid. They\nare kept."
    assert read_pdf(pdf(lines), "a.pdf").text == lines


def test_a_line_that_only_looks_like_markdown_is_no_heading():
    text = read_pdf(pdf("Run it:\n# not a heading\nmake all\nThat is all."), "a.pdf").text
    assert text == "Run it:\n\\# not a heading\nmake all\nThat is all."


@pytest.mark.parametrize("algorithm", ["RC4-40", "RC4-128", "AES-128", "AES-256-R5", "AES-256"])
def test_a_file_encrypted_for_permissions_alone_is_read(algorithm):
    data = locked(pdf("Secret."), user_password="", owner_password="x", algorithm=algorithm)
    assert read_pdf(data, "a.pdf").text == "Secret."


@pytest.mark.parametrize("algorithm", ["RC4-128", "AES-256"])
def test_a_file_locked_by_a_password_is_told(algorithm):
    data = locked(pdf("Secret."), user_password="word", algorithm=algorithm)
    with pytest.raises(ValueError, match=r"'a\.pdf' cannot be read as a PDF: it is locked by a password"):
        read_pdf(data, "a.pdf")


def test_decryption_that_is_not_installed_is_told_with_the_way_to_it(run_python):
    data = locked(pdf("Secret."), user_password="", owner_password="x", algorithm="AES-256")
    code = (
        "import sys\nsys.modules['cryptography'] = sys.modules['Crypto'] = None\n"
        f"from s2b_lab.readers.pdf import read_pdf\ntry: read_pdf({data!r}, 'a.pdf')\n"
        "except ImportError as error: sys.stdout.write(str(error))"
    )
    assert re.search(r"'a\.pdf' is encrypted.*pip install \"s2b_lab\[files\]\"", run_python(code).stdout)


@pytest.mark.parametrize("shown", ["\x01\x02\x03\x04 \x05\x06\x07", "\x01" * 30 + " readable words"])
def test_text_that_is_marks_of_replacement_is_told(shown):
    with pytest.raises(ValueError, match=r"'a\.pdf' holds no readable text: .* are replacement marks"):
        read_pdf(pdf([at(700, shown)]), "a.pdf")


@pytest.mark.parametrize("marks", ["\ufffd\ufffd\ufffd a", "/g12/g7/g33 of", "(cid:12)(cid:7)", "\ue001\ue002\uf8ff"])
def test_every_usual_mark_of_replacement_counts(monkeypatch, marks):
    monkeypatch.setattr("pypdf.PageObject.extract_text", lambda self, visitor_text: visitor_text(marks, M, M, None, 11))
    with pytest.raises(ValueError, match="replacement marks"):
        read_pdf(pdf("x"), "a.pdf")


M = [1.0, 0.0, 0.0, 1.0, 72.0, 700.0]


@pytest.mark.parametrize("data", [b"", b"this is no PDF at all", b"%PDF-1.7\n", pdf("x")[:200], b"\0" * 500])
def test_what_is_no_pdf_is_told(data):
    with pytest.raises(ValueError, match=r"'a\.pdf' (cannot be read as a PDF: .|holds no text)"):
        read_pdf(data, "a.pdf")


def test_reading_is_quiet(capfd):
    assert read_pdf(pdf("One.").replace(b"0000000009", b"0000000001"), "a.pdf").text == "One."
    assert capfd.readouterr().err == ""
