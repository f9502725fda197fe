"""Bytes are read in the encoding they are in, or it is said that this cannot be told; never as nonsense."""

import re
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2b_lab.corpus import load
from s2b_lab.readers.encodings import decoded

SIMPLIFIED = ["本手册适用于全体员工。请在三十天内提交发票。", "系统坏了，先登记工单。处理期间停止计时。"]
TRADITIONAL = ["本辦法適用於全體員工。出差須經主管核准。", "圖書借期為四週。沒有其他讀者預約的，可以續借兩次。"]
JAPANESE = [
    "東京都は日本の首都である。人口は千四百万人である。",
    "社員は出張の前に上司の承認を得なければならない。領収書は三十日以内に提出する。",
]
KOREAN = ["직원은 출장 전에 상사의 승인을 받아야 한다. 영수증은 제출한다.", "오늘은 비가 온다. 우리는 집에 있다."]
ENGLISH = ["The staff handbook.", "Ask.\r\nThen travel.\n", "A"]
WRITTEN = {
    "gb18030": SIMPLIFIED + TRADITIONAL, "gbk": SIMPLIFIED, "gb2312": SIMPLIFIED,
    "big5": TRADITIONAL, "cp950": TRADITIONAL,
    "shift_jis": JAPANESE, "cp932": JAPANESE, "euc_jp": JAPANESE, "iso2022_jp": JAPANESE,
    "euc_kr": KOREAN, "cp949": KOREAN, "iso2022_kr": KOREAN,
    **dict.fromkeys(
        ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"],
        SIMPLIFIED + TRADITIONAL + JAPANESE + KOREAN + ENGLISH,
    ),
}  # fmt: skip
PAIRS = [(text, encoding) for encoding, texts in WRITTEN.items() for text in texts]


@pytest.mark.parametrize(("text", "encoding"), PAIRS)
def test_two_sentences_are_read_in_the_encoding_they_are_in(text, encoding):
    assert decoded(text.encode(encoding), "notes.txt") == text


@pytest.mark.parametrize(("text", "encoding"), PAIRS)
def test_a_few_words_are_read_right_or_refused_with_the_way_out(text, encoding):
    for words in re.findall(r"[^。，. ]{3,}", text):
        try:
            assert decoded(words.encode(encoding), "words.txt") == words
        except ValueError as error:
            assert 'cannot be told for certain: say it, as in encoding="' in str(error)


def test_two_chinese_words_that_would_be_common_ones_in_korean_are_not_read_as_these():
    with pytest.raises(ValueError, match='encoding="euc_kr"'):
        decoded("啊，狼！".encode("gb18030"), "words.txt")


@pytest.mark.parametrize("mark", [b"\xff\xfe", b"\xfe\xff"])
def test_utf16_with_a_mark_is_read_without_it(mark):
    data = "The staff handbook.".encode("utf-16-le" if mark == b"\xff\xfe" else "utf-16-be")
    assert decoded(mark + data, "notes.txt") == decoded(data, "notes.txt") == "The staff handbook."


@pytest.mark.parametrize(("text", "encoding"), PAIRS)
def test_an_encoding_that_is_said_is_used(text, encoding):
    assert decoded(text.encode(encoding), "notes.txt", encoding) == text


def test_a_said_encoding_holds_against_what_would_be_guessed():
    data = "“안녕”".encode("euc_kr")
    assert decoded(data, "a.txt", "euc-kr") == "“안녕”"
    # a page that says GB2312 or Shift-JIS means what is written under these names
    assert decoded("镕基€①".encode("gb18030"), "a.txt", "GB2312") == "镕基€①"
    assert decoded("①髙".encode("cp932"), "a.txt", "Shift-JIS") == "①髙"


@pytest.mark.parametrize(
    ("encoding", "reason"),
    [
        ("utf-9", "there is no encoding 'utf-9'"),
        ("base64", "there is no encoding 'base64'"),
        ("ascii", r"is not ascii text: ordinal not in range\(128\) at byte 0"),
        ("utf-16", "is not utf-16 text: truncated data at byte"),
    ],
)
def test_a_said_encoding_that_does_not_fit_is_told(encoding, reason):
    with pytest.raises(ValueError, match=reason):
        decoded("报销单".encode(), "a.txt", encoding)


@pytest.mark.parametrize(
    "data",
    [
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89",
        b"PK\x03\x04\x14\0\x06\0\x08\0\0\0!\0" + zlib.compress(b"words " * 50 + bytes(range(256))),
        bytes(range(256)) * 4,
        b"\x7fELF\x02\x01\x01" + bytes(64),
        b"MZ\x90\0\x03\0\0\0\x04\0\0\0\xff\xff\0\0\xb8\0\0\0",
        b"plain words\0and more",
        bytes([1, 2, 3, 4, 5, 6]),
    ],
)
def test_a_binary_file_is_told(data):
    with pytest.raises(ValueError, match=r"'data\.txt' is not UTF-8 text: .*binary file"):
        decoded(data, "data.txt")


def test_a_text_with_escapes_and_a_form_feed_is_no_binary_file():
    text = "\x1b[1mBold\x1b[0m words\fnext page\x1a"
    assert decoded(text.encode(), "log.txt") == text


@given(st.integers(0, 1000), st.integers(0, 300), st.integers(1, 2))
def test_utf8_that_was_cut_off_is_not_read_as_chinese(start, size, cut):
    data = f"差旅费{load('travel-zh').text[start : start + size]}。".encode()[:-cut]
    with pytest.raises(ValueError, match=r"'cut\.txt' is not UTF-8 text: .* most of it is"):
        decoded(data, "cut.txt")


@given(st.integers(0, 1000), st.integers(12, 200), st.sampled_from(["gb18030", "utf-16-le", "utf-16-be", "utf-16"]))
def test_any_stretch_of_chinese_prose_is_read_right_or_refused(start, size, encoding):
    text = load("rag-zh").text[start : start + size]
    try:
        assert decoded(text.encode(encoding), "part.txt") == text
    except ValueError as error:
        assert "'part.txt' is not UTF-8 text: " in str(error)


def test_chinese_text_may_be_in_the_old_encoding():
    text = "差旅制度（旧版）：出差回来后，请在 45 天内提交报销单。𠮷先生的“工单”除外……\n"
    assert decoded(text.encode("gb18030"), "old.txt") == text


@pytest.mark.parametrize("name", ["travel-zh", "travel-zh-2025", "rag-zh"])
def test_every_line_of_our_chinese_texts_may_stand_alone_in_the_old_encoding(name):
    for text in {load(name).text, *load(name).text.splitlines()}:
        assert decoded(text.encode("gb18030"), "old.txt") == text


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
def test_short_chinese_texts_in_the_old_encoding_are_read(text):
    assert decoded(text.encode("gb18030"), "old.txt") == text


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Ärger", "latin-1"),
        ("résumé", "latin-1"),
        ("Über die Straße gehen wir schön.", "latin-1"),
        ("naïve façade", "cp1252"),
        ("Правила возмещения расходов на поездки", "koi8-r"),
        ("Правила возмещения расходов на поездки", "cp1251"),
        ("Привет", "cp1251"),
        ("Привет", "koi8-r"),
        ("größeübrig", "mac-roman"),
        ("Γειά σου Κόσμε", "cp1253"),
    ],
)
def test_what_is_neither_utf8_nor_gb18030_is_not_taken_for_it(text, encoding):
    with pytest.raises(ValueError, match=r"'other\.txt' is not UTF-8 text: .*say it, as in encoding=\""):
        decoded(text.encode(encoding), "other.txt")
    assert decoded(text.encode(encoding), "other.txt", encoding) == text


def test_one_broken_byte_in_a_long_chinese_text_is_told():
    data = bytearray((load("travel-zh").text * 10).encode("gb18030"))
    data[60_001] = 0xFF
    with pytest.raises(ValueError, match=r"'broken\.txt' is not UTF-8 text"):
        decoded(bytes(data), "broken.txt")


@given(st.binary(max_size=60))
def test_any_bytes_are_a_text_or_a_value_error(data):
    try:
        assert isinstance(decoded(data, "any.txt"), str)
    except ValueError as error:
        assert re.match(r"'any\.txt' is not UTF-(8|16|32) text: ", str(error))


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("latin.txt", "Le café décidé à côté.".encode("latin-1")),
        ("latin-pairs.txt", "größe übrig äöüß éèêë".replace(" ", "").encode("latin-1") + b"x"),
        ("cut.md", "差旅制度，报销办法".encode()[:-1]),
    ],
)
def test_undecodable_bytes_are_refused_by_name(name, data):
    with pytest.raises(ValueError, match=rf"'{re.escape(name)}' is not UTF-8 text: .* at byte \d"):
        decoded(data, name)


@pytest.mark.parametrize("data", [b"\0\1\2\xff\xfe\0", b"\1\0\2\xff\xfe\0", b"\0\1\xe9\0", b"\xff\0\0\1"])
def test_a_few_bytes_with_zeros_are_no_text(data):
    with pytest.raises(ValueError, match="is not UTF-8 text"):
        decoded(data, "data.txt")


@pytest.mark.parametrize("text", ["Hi", "OK\n", "7", "会议 3", "é 1"])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_a_short_text_in_utf_16_is_read_or_refused(text, encoding):
    try:
        assert decoded(text.encode(encoding), "data.txt") == text
    except ValueError as error:
        assert "utf-16" in str(error) or "binary" in str(error)
