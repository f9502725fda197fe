"""Sizes and splitters."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import EN7, POLICY, solid
from strategies import sizes, texts, units

from s2b_lab.core.blocks import paragraphs
from s2b_lab.core.build import multi_granular, sentence_tree
from s2b_lab.core.graphemes import graphemes, is_boundary
from s2b_lab.core.headings import document
from s2b_lab.core.sentences import sentences
from s2b_lab.core.sizes import count
from s2b_lab.core.split import by_paragraph, by_sentence, recursive

THIRTEEN = "one two three four five six seven eight nine ten eleven twelve thirteen"


def pieces(text, spans):
    return [span.of(text) for span in spans]


def letters(text, spans):
    """Positions of characters that are not white space, as often as they are covered."""
    return sorted(i for span in spans for i in range(span.start, span.end) if not text[i].isspace())


# --- offsets ---


@pytest.mark.parametrize(
    ("size", "overlap", "starts"),
    [(2, 0, [0, 3, 6, 9]), (5, 2, [0, 3, 6]), (8, 5, [0, 3])],
    ids=["C1-0", "C1-2", "C1-5"],
)
def test_spans_of_repeated_text_come_from_the_split(size, overlap, starts):
    assert [span.start for span in recursive("ab ab ab ab", size, overlap)] == starts


def test_words_with_overlap_C2():
    found = pieces(THIRTEEN, recursive(THIRTEEN, 6, 3, "word"))
    assert found == [
        "one two three four five six",
        "four five six seven eight nine",
        # The last chunk is as long as it may be: what is left is four words.
        "seven eight nine ten eleven twelve",
        "ten eleven twelve thirteen",
    ]


def test_second_occurrence_has_its_own_span_C3():
    spans = recursive("A.\nSame.\nB.\nSame.", 5, 0)
    assert [(s.start, s.end) for s in spans] == [(0, 2), (3, 8), (9, 11), (12, 17)]


@pytest.mark.parametrize(
    ("text", "size", "overlap", "unit"),
    [
        ("One is. Two is. Three is. Four is.", 4, 1, "word"),
        ("Alpha one here. Bravo two here.", 4, 1, "token"),
        ("Yes. No. Yes. No.", 1, 0, "sentence"),
    ],
    ids=["C4", "C6", "C7"],
)
def test_by_sentence_hands_over_spans(text, size, overlap, unit):
    spans = by_sentence(text, size, overlap, unit)
    assert [s.start for s in spans] == sorted({s.start for s in spans})
    assert sorted(p for s in spans for p in s.of(text).split()) == sorted(text.split())


def test_sentences_as_chunks_have_exact_spans_C7():
    assert [(s.start, s.end) for s in by_sentence("Yes. No. Yes. No.", 1, unit="sentence")] == [
        (0, 4),
        (5, 8),
        (9, 13),
        (14, 17),
    ]


# --- splitting ---


def test_the_mark_stays_with_its_sentence_D2():
    text = "今天下雨了我们在家。明天会晴吗我们出门。"
    for size in range(2, 22):
        for overlap in (0, 1):
            found = pieces(text, recursive(text, size, overlap))
            assert all(len(piece) <= size and piece[0] != "。" for piece in found), (size, found)
    assert pieces(text, recursive(text, 10, 0)) == ["今天下雨了我们在家。", "明天会晴吗我们出门。"]


@pytest.mark.parametrize(
    "split", [recursive, by_sentence, by_paragraph], ids=["D3-recursive", "D3-sentence", "D3-paragraph"]
)
def test_hard_limit_in_chinese(split):
    text = "今天下雨我们在家。" * 30
    spans = split(text, size=50)
    assert max(map(len, spans)) <= 50
    assert all(span.of(text).endswith("。") for span in spans)


@pytest.mark.parametrize("split", [recursive, by_sentence, by_paragraph], ids=["D3-r", "D3-s", "D3-p"])
def test_one_huge_sentence_without_punctuation_is_cut(split):
    assert {len(s) for s in split("我" * 1010, size=50)} == ({50} if split is recursive else {50, 10})


def test_a_long_sentence_is_cut_at_its_clauses_D3():
    text = "逾期的申请需要审批，并附上书面说明，否则不予受理。"
    assert pieces(text, recursive(text, 12, 0)) == ["逾期的申请需要审批，", "并附上书面说明，", "否则不予受理。"]


def test_latin_words_in_chinese_are_not_cut():
    text = "我们使用ChatGPT进行检索增强生成"
    assert "ChatGPT" in "|".join(pieces(text, recursive(text, 8, 0)))


@pytest.mark.parametrize(
    ("size", "overlap", "said"),
    [(5, 5, "5"), (5, 9, "9"), (0, 0, "size must be at least 1"), (-3, 0, "-3"), (5, -1, "overlap must be at least 0")],
    ids=["D9-equal", "D9-larger", "size-0", "size-negative", "overlap-negative"],
)
@pytest.mark.parametrize("split", [recursive, by_sentence])
def test_bad_sizes_are_refused(split, size, overlap, said):
    with pytest.raises(ValueError, match=said):
        split("some text", size, overlap)


@pytest.mark.parametrize("size", ["5", 5.0, True, None])
def test_a_size_is_a_whole_number(size):
    with pytest.raises(ValueError, match=f"size must be a whole number, not {size!r}"):
        recursive("some text", size, 0)


def test_unknown_unit_is_refused():
    for call in (
        lambda: recursive("a", 5, 0, "byte"),
        lambda: by_sentence("a", 5, unit="byte"),
        lambda: count("a", "byte"),
    ):
        with pytest.raises(ValueError, match="'byte'"):
            call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: recursive(b"bytes", 5, 0),
        lambda: count(b"bytes", "char"),
        lambda: recursive("a", 5, 0, length=4),
        lambda: sentence_tree("a text"),
        lambda: sentence_tree(["a text"]),
        lambda: sentence_tree(None),
    ],
    ids=[f"A9-{n}" for n in range(6)],
)
def test_arguments_of_the_wrong_kind_say_what_is_wanted(call):
    with pytest.raises(TypeError, match="must"):
        call()


@pytest.mark.parametrize(
    ("text", "size", "overlap", "expected"),
    [
        ("aaaaa bbbbb ccccc", 10, 6, ["aaaaa", "bbbbb", "ccccc"]),
        ("abcdefg", 5, 3, ["abcde", "cdefg"]),
        ("s1.s2.s3.", 9, 3, ["s1.s2.s3."]),
    ],
    ids=["D9-blank", "D9-seven", "D10"],
)
def test_overlap_always_moves_on(text, size, overlap, expected):
    assert pieces(text, recursive(text, size, overlap)) == expected


def test_no_chunk_inside_the_one_before_D10():
    assert len(by_sentence("S1. S2. S3.", 3, 1, "sentence")) == 1
    assert pieces("S1. S2. S3. S4.", by_sentence("S1. S2. S3. S4.", 3, 1, "sentence")) == ["S1. S2. S3.", "S3. S4."]


@pytest.mark.parametrize(
    "split", [recursive, lambda t: by_sentence(t, 500), by_paragraph], ids=["D12-r", "D12-s", "D12-p"]
)
@pytest.mark.parametrize(
    ("text", "expected"), [("", []), (" \r\n\t\u3000", []), ("One.", ["One."]), ("One. Two.", ["One. Two."])]
)
def test_little_text(split, text, expected):
    assert pieces(text, split(text)) == expected


def test_coarse_boundaries_first():
    text = "One is here. Two is here.\n\nThree is here.\n\nFour is a longer paragraph. It has two."
    assert pieces(text, recursive(text, 45, 0)) == [
        "One is here. Two is here.\n\nThree is here.",
        "Four is a longer paragraph. It has two.",
    ]
    assert pieces(text, recursive(text, 30, 0)) == [
        "One is here. Two is here.",
        "Three is here.",
        "Four is a longer paragraph.",
        "It has two.",
    ]


def test_overlap_gives_way_to_a_whole_piece():
    text = "Alpha one is here.\n\nBravo two is there now."
    assert pieces(text, recursive(text, 24, 10)) == ["Alpha one is here.", "Bravo two is there now."]
    assert pieces(text, recursive(text, 30, 10)) == ["Alpha one is here.", "here.\n\nBravo two is there now."]


def test_a_heading_stays_with_what_follows():
    text = "Some words come first here.\n\n## 2 Deadline\n\nFile within thirty days. Or ask."
    found = pieces(text, recursive(text, 45, 0))
    assert found == ["Some words come first here.", "## 2 Deadline\n\nFile within thirty days.", "Or ask."]


def test_granular_pieces_do_not_leave_a_heading_alone():
    pieces_found = [c.text for c in multi_granular(document("d", POLICY), 12).indexed]
    assert "## 1 Invoices\n\nKeep every invoice." in pieces_found
    assert not [text for text in pieces_found if text.startswith("#") and "\n" not in text]


def test_a_line_end_inside_a_sentence_does_not_split_a_unit():
    text = "One\nis here. Two is."
    assert pieces(text, recursive(text, 1, 0, "sentence")) == ["One\nis here.", "Two is."]


def test_sentence_overlap_is_whole_sentences():
    found = pieces(EN7, by_sentence(EN7, 45, 25))
    assert found[:2] == ["Alpha one is here. Bravo two is here.", "Bravo two is here. Charlie three is here."]


def test_by_paragraph_without_size_keeps_each_whole():
    text = "A.\r\n\r\nB.\r\rC.\n\nD."
    assert by_paragraph(text) == paragraphs(text) and len(by_paragraph(text)) == 4
    assert pieces("One two. Three.\n\nA.", by_paragraph("One two. Three.\n\nA.", 9)) == ["One two.", "Three.", "A."]


def test_a_cluster_larger_than_the_limit_stands_alone():
    family = "👩‍👩‍👧‍👦"
    assert pieces(f"a{family}b", recursive(f"a{family}b", 3, 1)) == ["a", family, "b"]


@pytest.mark.parametrize(("unit", "expected"), [("char", 30), ("word", 12), ("token", 14), ("sentence", 3)])
def test_count(unit, expected):
    assert count("Pay 3.50 today. 请提交 v1 (发票)。ok", unit) == expected


@pytest.mark.parametrize("unit", ["word", "token"])
def test_a_cluster_is_never_two_units(unit):
    assert count("11\u0301 \U0001f1e8\U0001f1f3", unit) == 2
    assert count("葛\U000e0100", unit) == 1
    # A mark upon a space begins a unit of its own: the space is no part of any.
    assert count("a \u0301b", "word") == 2


@given(texts, sizes(), units)
def test_recursive_covers_fits_and_moves_on(text, bounds, unit):
    size, overlap = bounds
    spans = recursive(text, size, overlap, unit)
    # A mark upon a space is cut from it: no chunk begins with white space.
    edges = {0, *(c.end for c in graphemes(text)), *(i + 1 for i, x in enumerate(text) if x.isspace())}
    assert {i for s in spans for i in range(s.start, s.end)} >= set(solid(text))
    for span in spans:
        piece = span.of(text)
        assert piece and piece == text[span.start : span.end] and not piece[-1].isspace()
        assert {span.start, span.end} <= edges
        assert count(piece, unit) <= size or len(list(graphemes(piece))) == 1
    for before, after in itertools.pairwise(spans):
        assert before.start < after.start and before.end < after.end
        shared = text[after.start : max(after.start, before.end)]
        assert count(shared, unit) <= overlap
    if not overlap:
        assert letters(text, spans) == solid(text)


@given(texts, st.integers(1, 40))
def test_the_limit_holds_for_any_tokenizer(text, size):
    # Like a subword model's count: not additive, with a fixed cost for each call.
    def length(piece):
        return 2 + (len(piece.encode()) + 3) // 4

    spans = recursive(text, size, size // 3, length=length)
    assert {i for s in spans for i in range(s.start, s.end)} >= set(solid(text))
    for span in spans:
        assert length(span.of(text)) <= size or len(list(graphemes(span.of(text)))) == 1


@given(texts, sizes(), units)
def test_by_sentence_cuts_only_large_sentences(text, bounds, unit):
    size, overlap = bounds
    spans, all_sentences = by_sentence(text, size, overlap, unit), sentences(text)
    assert {i for s in spans for i in range(s.start, s.end)} >= set(solid(text))
    for sentence in all_sentences:
        # A stray mark upon a full stop, or a word that runs on after it, keeps two sentences together.
        edges = [edge for edge in (sentence.start, sentence.end) if not text[edge - 1 : edge].isspace()]
        whole = all(is_boundary(text, edge) for edge in edges)
        whole = whole and all(count(text[:e], unit) + count(text[e:], unit) == count(text, unit) for e in edges)
        if whole and count(sentence.of(text), unit) <= size:
            assert any(span.contains(sentence) for span in spans)
    for span in spans:
        assert count(span.of(text), unit) <= size or len(list(graphemes(span.of(text)))) == 1
    for before, after in itertools.pairwise(spans):
        assert before.start < after.start and before.end < after.end


@given(texts, st.integers(1, 60), units)
def test_by_paragraph_never_crosses_paragraphs(text, size, unit):
    spans = by_paragraph(text, size, unit)
    assert letters(text, spans) == solid(text)
    assert all(any(p.contains(span) for p in paragraphs(text)) for span in spans)
    for span in spans:
        assert count(span.of(text), unit) <= size or len(list(graphemes(span.of(text)))) == 1
