"""Files become documents, or it is said why they cannot."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2b_lab.core.sentences import sentences
from s2b_lab.corpus import load
from s2b_lab.files import read_file


def pdf(*pages):
    """A PDF by hand: one content stream a page, one line of text for each line given."""
    count = len(pages)
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count {count} /Kids [{' '.join(f'{4 + 2 * n} 0 R' for n in range(count))}] >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for n, text in enumerate(pages):
        shown = " T* ".join(f"({line}) Tj" for line in text.splitlines())
        stream = f"BT /F1 12 Tf 14 TL 72 720 Td {shown} ET"
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {5 + 2 * n} 0 R"
            " /Resources << /Font << /F1 3 0 R >> >> >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    data, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(data))
        data += f"{number} 0 obj\n{content}\nendobj\n".encode()
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    tail = f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(data)}\n%%EOF\n"
    return data + f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{tail}".encode()


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


def test_chinese_text_may_be_in_the_old_encoding(tmp_path):
    text = "差旅制度（旧版）：出差回来后，请在 45 天内提交报销单。𠮷先生的“工单”除外……\n"
    (tmp_path / "old.txt").write_bytes(text.encode("gb18030"))
    assert read_file(tmp_path / "old.txt").text == text


@pytest.mark.parametrize("name", ["travel-zh", "travel-zh-2025", "rag-zh"])
def test_every_line_of_our_chinese_texts_may_stand_alone_in_the_old_encoding(tmp_path, name):
    path = tmp_path / "old.txt"
    for text in {load(name).text, *load(name).text.splitlines()}:
        path.write_bytes(text.encode("gb18030"))
        assert read_file(path).text == text


@pytest.mark.parametrize(
    "text",
    [
        "中",
        "你好。",
        "注：",
        "（一）",
        "“好！”他说。",
        "《论语》：“学而时习之，不亦说乎？”",
        "PDF 文件",
        "The word 报销 means reimbursement.",
        "import numpy as np  # 导入\nprint(np.zeros(3))  # 打印\n",
        "| 项目 | 上限 |\n|---|---|\n| 餐费 | ￥100 |\n",
        "第一条　为加强管理，制定本办法。\r\n第二条　……",
        "①②③",
        "镕基",
        "魑魅魍魉",
        "𠀀字",
        "臺灣電腦軟體",
    ],
)
def test_short_chinese_texts_in_the_old_encoding_are_read(tmp_path, text):
    (tmp_path / "old.txt").write_bytes(text.encode("gb18030"))
    assert read_file(tmp_path / "old.txt").text == text


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Ärger", "latin-1"),
        ("résumé", "latin-1"),
        ("Über die Straße gehen wir schön.", "latin-1"),
        ("naïve façade", "cp1252"),
        ("Правила возмещения расходов на поездки", "koi8-r"),
        ("Правила возмещения расходов на поездки", "cp1251"),
        ("検索拡張生成とは、大規模言語モデルの回答を補強する手法です。", "shift_jis"),
        ("東京都は日本の首都である。", "shift_jis"),
        ("系統壞了怎麼辦？", "big5"),
        ("圖書借期為四週。沒有其他讀者預約的，可以續借兩次。", "big5"),
        ("差旅费报销制度", "utf-16"),
    ],
)
def test_what_is_neither_utf8_nor_gb18030_is_not_taken_for_it(tmp_path, text, encoding):
    (tmp_path / "other.txt").write_bytes(text.encode(encoding))
    with pytest.raises(ValueError, match=r"'other\.txt' is not UTF-8 text"):
        read_file(tmp_path / "other.txt")


def test_one_broken_byte_in_a_long_chinese_text_is_told(tmp_path):
    data = bytearray((load("travel-zh").text * 10).encode("gb18030"))
    data[60_001] = 0xFF
    (tmp_path / "broken.txt").write_bytes(data)
    with pytest.raises(ValueError, match=r"'broken\.txt' is not UTF-8 text"):
        read_file(tmp_path / "broken.txt")


@given(st.binary(max_size=60))
def test_any_bytes_are_a_text_or_a_value_error(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "any.txt"
    path.write_bytes(data)
    try:
        assert isinstance(read_file(path).text, str)
    except ValueError as error:
        assert "'any.txt' is not UTF-8 text" in str(error)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("latin.txt", "Le café décidé à côté.".encode("latin-1")),
        ("latin-pairs.txt", "größe übrig äöüß éèêë".replace(" ", "").encode("latin-1") + b"x"),
        ("utf16.txt", "plain words".encode("utf-16")),
        ("chinese.md", "差旅制度".encode("gb18030")),
    ],
)
def test_undecodable_bytes_are_refused_by_name(tmp_path, name, data):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(ValueError, match=rf"'{re.escape(name)}' is not UTF-8 text: .* at byte \d"):
        read_file(tmp_path / name)


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
