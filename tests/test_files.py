"""Files become documents, or it is said why they cannot; none replaces another in silence."""

import sys
from pathlib import Path

import pytest
from heard import heard
from office import docx, epub, paragraph, pptx
from pdfs import at, body, pdf

from s2b_lab.core.build import sentence_tree
from s2b_lab.core.sentences import sentences
from s2b_lab.core.text import Document, Span, page_of
from s2b_lab.embed import HashEmbedder
from s2b_lab.files import read_file, read_files, read_folder
from s2b_lab.index import Index


def test_a_markdown_file_becomes_a_document_named_after_it(tmp_path):
    path = tmp_path / "house rules.md"
    path.write_bytes(b"# House rules\n\n## 1 Quiet\n\nSleep at ten.\n")
    doc = read_file(path)
    assert (doc.id, doc.title, doc.version, doc.access) == ("house rules", "House rules", "1", "public")
    assert [part.id for part in doc.sections] == ["house rules/0", "house rules/1"]
    other = read_file(str(path), "rules", title="Rules", version="3", access="staff")
    assert (other.id, other.title, other.version, other.access) == ("rules", "Rules", "3", "staff")
    assert {part.access for part in other.sections} == {"staff"}


@pytest.mark.parametrize("suffix", [".txt", ".TXT", ".md"])
def test_a_byte_order_mark_is_dropped_and_line_ends_are_kept(tmp_path, suffix):
    path = tmp_path / f"notes{suffix}"
    path.write_bytes(b"\xef\xbb\xbfA.\r\n\r\nB.\rC.\n")
    assert read_file(path).text == "A.\r\n\r\nB.\rC.\n"


def test_an_empty_file_is_an_empty_document(tmp_path):
    (tmp_path / "empty.txt").write_bytes(b"")
    doc = read_file(tmp_path / "empty.txt")
    assert (doc.text, doc.sections) == ("", ())


def test_other_suffixes_and_missing_files_are_refused(tmp_path):
    (tmp_path / "sheet.xlsx").write_bytes(b"PK")
    with pytest.raises(ValueError, match=r"'sheet.xlsx'.*\.txt, \.md, \.pdf"):
        read_file(tmp_path / "sheet.xlsx")
    with pytest.raises(ValueError, match=r"no file at .*gone\.txt"):
        read_file(tmp_path / "gone.txt")
    (tmp_path / "folder.md").mkdir()
    with pytest.raises(ValueError, match=r"no file at .*folder\.md"):
        read_file(tmp_path / "folder.md")


def test_a_pdf_gives_its_text_page_by_page(tmp_path):
    (tmp_path / "policy.pdf").write_bytes(
        pdf("Claims are due soon.\nLog a ticket.", "Keep every", "receipt. Thank you.")
    )
    doc = read_file(tmp_path / "policy.pdf")
    assert doc.id == "policy"
    # a page that ends with a sentence ends a paragraph; a sentence may run on to the next page
    assert doc.text == "Claims are due soon.\nLog a ticket.\n\nKeep every\nreceipt. Thank you."
    assert [span.of(doc.text) for span in sentences(doc.text)][2:] == ["Keep every\nreceipt.", "Thank you."]


def test_pdfs_that_give_no_text_are_refused(tmp_path):
    from pypdf import PdfReader, PdfWriter

    (tmp_path / "scan.pdf").write_bytes(pdf("", ""))
    (tmp_path / "broken.pdf").write_bytes(b"this is no PDF at all")
    (tmp_path / "plain.pdf").write_bytes(pdf("Secret."))
    writer = PdfWriter(clone_from=PdfReader(tmp_path / "plain.pdf"))
    writer.encrypt("password", algorithm="RC4-128")
    writer.write(tmp_path / "locked.pdf")
    for name, reason in (("scan", "holds no text"), ("broken", "cannot be read"), ("locked", "cannot be read")):
        with pytest.raises(ValueError, match=rf"'{name}\.pdf' {reason}"):
            read_file(tmp_path / f"{name}.pdf")


def test_every_kind_of_file_is_read_with_its_headings(tmp_path):
    web = "<html><body><h1>Rules</h1><p>Ask first.</p></body></html>"
    data = {
        ".txt": "# Rules\n\nAsk first.".encode("utf-16"),
        ".md": b"# Rules\n\nAsk first.",
        ".pdf": pdf([at(740, "Rules", 20), *body("Ask first.\nThen go.")]),
        ".docx": docx(paragraph("Rules", "Heading1"), paragraph("Ask first.")),
        ".pptx": pptx(("Rules", "Ask first.")),
        ".epub": epub("Rules", web),
        ".html": web.encode(),
        ".HTM": web.encode(),
    }
    for suffix, held in data.items():
        (tmp_path / f"a{suffix}").write_bytes(held)
        doc = read_file(tmp_path / f"a{suffix}")
        assert (doc.title, doc.sections[0].title, doc.source) == ("Rules", "Rules", str(tmp_path / f"a{suffix}")), (
            suffix
        )
        assert "Ask first." in doc.text


def test_a_file_names_its_own_title_unless_one_is_given(tmp_path):
    (tmp_path / "a.html").write_text("<html><head><title>House Rules</title></head><body><p>Ask.</p></body></html>")
    assert read_file(tmp_path / "a.html").title == "House Rules"
    assert read_file(tmp_path / "a.html", title="Mine").title == "Mine"
    assert read_file(tmp_path / "a.html", title="").title == ""


def test_an_encoding_that_is_said_is_used(tmp_path):
    (tmp_path / "a.txt").write_bytes("résumé".encode("cp1252"))
    with pytest.raises(ValueError, match=r"'a\.txt' is not UTF-8 text: .*say it, as in encoding=\"cp1252\""):
        read_file(tmp_path / "a.txt")
    assert read_file(tmp_path / "a.txt", encoding="cp1252").text == "résumé"
    assert read_files([tmp_path / "a.txt"], encoding="cp1252")[0].text == "résumé"
    assert read_folder(tmp_path, encoding="cp1252")[0].text == "résumé"


@pytest.mark.parametrize("path", [None, 3, b"a.txt", ["a.txt"]])
def test_what_is_no_path_is_a_type_error(path):
    with pytest.raises(TypeError, match=f"must be a text or a Path, not {type(path).__name__}"):
        read_file(path)


# --- pages -----------------------------------------------------------------------------------------------------------


def test_a_span_knows_its_pages(tmp_path):
    (tmp_path / "a.pdf").write_bytes(pdf("One is here.", "Two begins", "on three. Three is here."))
    doc = read_file(tmp_path / "a.pdf")
    found = [(span.of(doc.text).strip(), page_of(doc, span)) for span in sentences(doc.text)]
    assert found == [("One is here.", (1, 1)), ("Two begins\non three.", (2, 3)), ("Three is here.", (3, 3))]
    assert page_of(doc, Span(0, len(doc.text))) == (1, 3)
    assert page_of(doc, Span(0, 0)) == page_of(doc, Span(0, doc.pages[1])) == (1, 1)
    assert page_of(doc, Span(doc.pages[1], doc.pages[1] + 1)) == (2, 2)
    with pytest.raises(ValueError, match="ends at 999"):
        page_of(doc, Span(0, 999))


def test_a_text_has_no_pages():
    assert page_of(Document("d", "", "One.", "1", "public"), Span(0, 4)) is None


@pytest.mark.parametrize("pages", [(1, 3), (0, 5, 3), (0, -1), (0, 13)])
def test_pages_rise_from_the_beginning(pages):
    with pytest.raises(ValueError, match="pages of document 'd' must begin at rising offsets of its text, from 0"):
        Document("d", "", "One is here.", "1", "public", pages=pages)


# --- many files ------------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    """Two files of one name in two folders, and what else lies about."""
    texts = {
        "a/README.md": "# Alpha\n\nAlpha is here.", "b/README.md": "# Bravo\n\nBravo is here.",
        "b/deep/er/notes.txt": "Charlie is here.", "top.txt": "Delta is here.",
        ".hidden/x.txt": "Hidden.", "b/.git/config.txt": "Hidden.", "a/.secret.txt": "Hidden.",
    }  # fmt: skip
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_folder_is_its_files_sorted_and_named_by_their_paths(folder):
    docs = read_folder(str(folder), version="2", access="staff")
    assert [doc.id for doc in docs] == ["a/README.md", "b/README.md", "b/deep/er/notes.txt", "top.txt"]
    assert [doc.title for doc in docs] == ["Alpha", "Bravo", "b/deep/er/notes.txt", "top.txt"]
    assert {(doc.version, doc.access) for doc in docs} == {("2", "staff")}
    assert [doc.id for doc in read_folder(folder / "b")] == ["README.md", "deep/er/notes.txt"]


@pytest.mark.parametrize(
    ("pattern", "ids"),
    [
        ("**/*.md", ["a/README.md", "b/README.md"]),
        ("*.txt", ["top.txt"]),
        ("b/**/*", ["b/README.md", "b/deep/er/notes.txt"]),
        ("a/README.md", ["a/README.md"]),
    ],
)
def test_a_pattern_chooses_files(folder, pattern, ids):
    assert [doc.id for doc in read_folder(folder, pattern)] == ids


def test_a_file_that_cannot_be_read_is_named_and_the_others_are_read(folder):
    (folder / "a/sheet.xlsx").write_bytes(b"PK")
    (folder / "b/broken.pdf").write_bytes(b"no PDF")
    with heard() as told:
        docs = read_folder(folder)
    assert len(docs) == 4
    (warning,) = told
    assert warning.category is UserWarning and "2 of 6 files" in str(warning.message) and warning.filename == __file__
    assert "'sheet.xlsx': the suffix" in str(warning.message) and "'broken.pdf' cannot be read" in str(warning.message)


def test_a_folder_that_is_whole_is_read_without_a_warning(folder):
    with heard() as told:
        assert len(read_folder(folder)) == 4
    assert not told


def test_a_folder_in_which_nothing_can_be_read_is_refused(folder, tmp_path):
    with pytest.raises(ValueError, match=r"no file in .* that fits '\*\*/\*\.pdf' can be read"):
        read_folder(folder, "**/*.pdf")
    with pytest.raises(ValueError, match=r"there is no folder at .*gone"):
        read_folder(tmp_path / "gone")
    with pytest.raises(ValueError, match=r"there is no folder at .*top\.txt"):
        read_folder(folder / "top.txt")


@pytest.mark.parametrize(
    ("pattern", "error", "reason"),
    [("/etc/*", ValueError, "not '/etc/\\*'"), (3, TypeError, "pattern"), ("../*", ValueError, "no file in")],
)
def test_a_pattern_stays_below_its_folder(folder, pattern, error, reason):
    with pytest.raises(error, match=reason):
        read_folder(folder / "a", pattern)


@pytest.mark.parametrize("encoding", [3, b"utf-8"])
def test_an_encoding_is_a_name(folder, encoding):
    with pytest.raises(TypeError, match="encoding"):
        read_file(folder / "top.txt", encoding=encoding)


def test_a_reader_that_is_not_installed_ends_a_folder(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "markitdown", None)
    (folder / "a/page.html").write_text("<p>Words.</p>")
    with pytest.raises(ImportError, match=r"'page\.html'.* \"s2b_lab\[files\]\""):
        read_folder(folder)


def test_a_list_of_files_is_named_by_what_lies_below_their_common_folder(folder, monkeypatch):
    paths = [folder / "b/README.md", str(folder / "a/README.md")]
    assert [(doc.id, doc.title) for doc in read_files(paths)] == [("b/README.md", "Bravo"), ("a/README.md", "Alpha")]
    assert [doc.id for doc in read_files(iter([folder / "top.txt"]))] == ["top.txt"]
    monkeypatch.chdir(folder)
    assert [doc.id for doc in read_files(["a/README.md", Path("b/README.md")])] == ["a/README.md", "b/README.md"]


@pytest.mark.parametrize(
    ("paths", "error", "reason"),
    [
        ([], ValueError, "at least one path"),
        ("a.txt", TypeError, "takes a list of paths, not 'a.txt'"),
        (["top.txt", "./top.txt"], ValueError, "top.txt' is given twice"),
        (["top.txt", None], TypeError, "must be a text or a Path, not NoneType"),
        (["top.txt", "gone.txt"], ValueError, "no file at .*gone.txt"),
    ],
)
def test_a_list_that_cannot_be_read_is_refused(folder, monkeypatch, paths, error, reason):
    monkeypatch.chdir(folder)
    with pytest.raises(error, match=reason):
        read_files(paths)


# --- in the index ----------------------------------------------------------------------------------------------------


def test_two_files_of_one_name_are_two_documents_or_an_error_that_names_both(folder):
    one, other = folder / "a/README.md", folder / "b/README.md"
    both = rf"{one}.*{other}|{other}.*{one}"
    with Index.open(None, HashEmbedder()) as index:
        index.add(sentence_tree(read_folder(folder, "**/*.md")))
        assert [*index.tree.documents] == ["a/README.md", "b/README.md"]
        index.add(sentence_tree(read_file(one)))
        with pytest.raises(ValueError, match=rf"document 'README' of the file .*would replace.*{both}|{both}"):
            index.add(sentence_tree(read_file(other)))
        assert index.tree.documents["README"].text == one.read_text()
        with pytest.raises(ValueError, match=both):
            sentence_tree([read_file(one), read_file(other)])


def test_a_file_replaces_itself_and_one_that_was_moved(folder):
    with Index.open(folder / "index", HashEmbedder()) as index:
        index.add(sentence_tree(read_file(folder / "a/README.md")))
    (folder / "a/README.md").write_text("# Alpha\n\nAlpha is new.")
    with Index.open(folder / "index", HashEmbedder()) as index:  # reopened, it still knows the file
        index.add(sentence_tree(read_file(folder / "a/README.md")))
        assert "new" in index.tree.documents["README"].text
        (folder / "a").rename(folder / "c")
        index.add(sentence_tree(read_file(folder / "c/README.md")))
        assert index.tree.documents["README"].source == str(folder / "c/README.md")
        with pytest.raises(ValueError, match=r"would replace the one of .*c/README\.md"):
            index.add(sentence_tree(read_file(folder / "b/README.md")))
        index.delete("README")
        index.add(sentence_tree(read_file(folder / "b/README.md")))
        assert "Bravo" in index.tree.documents["README"].text


def test_pages_are_there_when_an_index_is_opened_again(tmp_path):
    (tmp_path / "a.pdf").write_bytes(pdf("One is here.", "Two is here."))
    with Index.open(tmp_path / "index", HashEmbedder()) as index:
        index.add(sentence_tree(read_file(tmp_path / "a.pdf")))
    with Index.open(tmp_path / "index", HashEmbedder()) as index:
        (hit,) = index.search("Two is here.", k=1)
        assert page_of(index.tree.documents["a"], hit.chunk.span) == (2, 2)


def test_a_path_may_go_up_and_down_again(folder):
    first = sorted(folder.glob("**/*.md"))[0]
    around = first.parent / ".." / first.parent.name / first.name
    other = sorted(folder.glob("**/*.md"))[-1]
    assert [doc.id for doc in read_files([around, other])] == [doc.id for doc in read_files([first, other])]
    with pytest.raises(ValueError, match="is given twice"):
        read_files([first, around])
