"""Files of word processors, slides, books and web pages become Markdown, or it is said why they cannot."""

import sys

import pytest
from office import docx, epub, paragraph, pptx, table, zipped

from s2b_lab.core.headings import document
from s2b_lab.core.sentences import sentences
from s2b_lab.core.text import Span, page_of
from s2b_lab.readers.office import read_office


def titles(text):
    return [part.title for part in document("d", text).sections]


def test_headings_paragraphs_and_tables_of_word_are_those_of_the_text():
    data = docx(
        paragraph("Travel Policy", "Heading1"),
        paragraph("Claims are due in "), paragraph("30 days. ", bold=True), paragraph("Use file_name*2 [a] as it is."),
        paragraph("1 Hotels", "Heading2"),
        table(("Country", "Limit"), ("Japan", "120 euros"), ("Spain", "90 euros")),
        paragraph("差旅费由公司承担。"),
    )  # fmt: skip
    found = read_office(data, "a.docx", ".docx")
    assert (titles(found.text), found.pages) == (["Travel Policy", "1 Hotels"], ())
    assert "Claims are due in\n\n30 days.\n\nUse file_name*2 [a] as it is.\n" in found.text
    assert "| Country | Limit |\n| --- | --- |\n| Japan | 120 euros |\n| Spain | 90 euros |" in found.text
    assert found.text.endswith("差旅费由公司承担。")


def test_bold_titles_of_word_are_seen_without_their_marks():
    data = docx(
        paragraph("第一章 总则", bold=True),
        paragraph("须经批准。"),
        paragraph("第二章 差旅", bold=True),
        paragraph("须报销。"),
    )
    assert titles(read_office(data, "a.docx", ".docx").text) == ["第一章 总则", "第二章 差旅"]


def test_slides_are_pages():
    data = pptx(("Travel", "Ask first.\nKeep receipts."), ("", ""), ("Training", "Five days."))
    found = read_office(data, "a.pptx", ".pptx")
    assert found.text == "# Travel\nAsk first.\nKeep receipts.\n\n# Training\nFive days."
    doc = document("d", found.text)
    doc = type(doc)(doc.id, doc.title, doc.text, "1", "public", doc.sections, found.pages)
    place = found.text.index("Five")
    assert len(found.pages) == 3
    assert page_of(doc, Span(place, place + 4)) == (3, 3)
    assert page_of(doc, Span(0, place)) == (1, 3)


def test_slides_without_any_text_after_one_are_pages_all_the_same():
    found = read_office(pptx(("Travel", "Ask."), ("", "")), "a.pptx", ".pptx")
    assert found.pages == (0, len(found.text))


def test_a_book_is_its_chapters_under_its_own_title():
    chapters = [f"<html><body><h1>{name}</h1><p>{text}</p></body></html>" for name, text in
                (("One", "A sentence, <b>bold</b>."), ("Two", "另一章。"))]  # fmt: skip
    found = read_office(epub("The Handbook", *chapters), "a.epub", ".epub")
    assert (found.title, found.text) == ("The Handbook", "# One\n\nA sentence, bold.\n\n# Two\n\n另一章。")


PAGE = (
    "<html><head><title> The\n Rules </title><style>p {{}}</style><script>let x = 1</script>{}</head>"
    '<body><h1>Rules</h1><p>See <a href="https://x.example/a?b=1">the list</a> of <em>costs</em>.</p>'
    "<ul><li>One</li><li>Two</li></ul>"
    '<img src="data:image/png;base64,AAAA" alt="A chart of costs">'
    "<p>差旅费报销：须经主管批准。</p></body></html>"
)


@pytest.mark.parametrize("suffix", [".html", ".htm"])
def test_a_web_page_is_its_words(suffix):
    found = read_office(PAGE.format("").encode(), "a" + suffix, suffix)
    assert found.title == "The Rules"
    assert found.text.split("\n\n")[:2] == ["# Rules", "See the list of costs."]
    assert [span.of(found.text).strip() for span in sentences(found.text)][-2:] == [
        "A chart of costs",
        "差旅费报销：须经主管批准。",
    ]
    assert not {"let x", "http", "base64", "p {"} & {
        word for word in ("let x", "http", "base64", "p {") if word in found.text
    }


@pytest.mark.parametrize("encoding", ["gb2312", "utf-8", "big5", "utf-16"])
@pytest.mark.parametrize(
    "head", ['<meta charset="{}">', '<meta http-equiv="Content-Type" content="text/html; charset={}">', ""]
)
def test_a_web_page_is_read_in_the_encoding_that_it_names_or_is_in(encoding, head):
    page = PAGE.format(head.format(encoding))
    page = (
        page.replace("差旅费报销：须经主管批准。", "差旅費須經主管批准，請先提交申請單。")
        if encoding == "big5"
        else page
    )
    found = read_office(page.encode(encoding), "a.html", ".html")
    assert ("須經主管批准" if encoding == "big5" else "须经主管批准") in found.text


def test_an_encoding_that_only_the_page_itself_can_name_is_believed():
    page = PAGE.format('<meta charset="windows-1252">').replace("差旅费报销：须经主管批准。", "Le café décidé à côté.")
    assert "Le café décidé à côté." in read_office(page.encode("cp1252"), "a.html", ".html").text


def test_an_encoding_that_is_wrongly_named_is_found_and_one_that_is_said_holds():
    page = PAGE.format('<meta charset="ascii">')
    assert "须经主管批准" in read_office(page.encode(), "a.html", ".html").text
    assert "须经主管批准" in read_office(page.encode("gb18030"), "a.html", ".html", "gb18030").text
    with pytest.raises(ValueError, match=r"'a\.html' is not UTF-8 text: .*binary"):
        read_office(b"\0\1\2" * 9, "a.html", ".html")


@pytest.mark.parametrize("suffix", [".docx", ".pptx", ".epub"])
@pytest.mark.parametrize("data", [b"", b"no archive", b"PK\x03\x04 cut", zipped({"a.txt": "x"})])
def test_a_broken_file_is_told(suffix, data):
    with pytest.raises(ValueError, match=rf"'a\{suffix}' cannot be read as a \{suffix} file: ."):
        read_office(data, "a" + suffix, suffix)


def test_an_old_or_locked_file_of_word_is_told():
    with pytest.raises(ValueError, match=r"'a\.docx' cannot be read .*locked by a password or in an older format"):
        read_office(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "a.docx", ".docx")


@pytest.mark.parametrize(
    ("suffix", "data"),
    [
        (".docx", docx(paragraph(" "))), (".pptx", pptx(("", ""))), (".html", b"<html><body></body></html>"),
        (".epub", epub("T", "<html><body><p> </p></body></html>")),
    ],
)  # fmt: skip
def test_a_file_without_text_is_told(suffix, data):
    with pytest.raises(ValueError, match=rf"'a\{suffix}' holds no text"):
        read_office(data, "a" + suffix, suffix)


@pytest.mark.parametrize(
    ("suffix", "missing"),
    [
        (".docx", "markitdown"),
        (".html", "markitdown"),
        (".epub", "markitdown"),
        (".docx", "mammoth"),
        (".pptx", "pptx"),
    ],
)
def test_a_reader_that_is_not_installed_is_told_with_the_way_to_it(monkeypatch, suffix, missing):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ImportError, match=rf"'a\{suffix}', the reader of \{suffix} files .* \"s2b_lab\[files\]\""):
        read_office(b"", "a" + suffix, suffix)
