import dataclasses
import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import documents, sizes, texts, units

from s2b_lab.chunk import (
    Chunk,
    ChunkTree,
    by_paragraph,
    by_sentence,
    count,
    multi_granular,
    parents_and_children,
    recursive,
    sentence_tree,
)
from s2b_lab.text import Document, Section, Span, document, graphemes, is_boundary, paragraphs, sentences

EN7 = (
    "Alpha one is here. Bravo two is here. Charlie three is here. Delta four is here. "
    "Echo five is here. Foxtrot six is here. Golf seven is here."
)
THIRTEEN = "one two three four five six seven eight nine ten eleven twelve thirteen"
POLICY = (
    "# Travel\n\nThis policy binds all staff.\n\n"
    "## 1 Invoices\n\nKeep every invoice. Ask for an original one.\n\nA copy is accepted once.\n\n"
    "## 2 Deadline\n\nFile within 30 days. If the system fails, log a ticket. The clock stops then.\n"
)


def pieces(text, spans):
    return [span.of(text) for span in spans]


def letters(text, spans):
    """Positions of characters that are not white space, as often as they are covered."""
    return sorted(i for span in spans for i in range(span.start, span.end) if not text[i].isspace())


def solid(text):
    return [i for i, character in enumerate(text) if not character.isspace()]


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


# --- trees ---


def build(docs, bounds, unit="char"):
    size, overlap = bounds
    return [
        parents_and_children(docs, 3 * size, size, overlap, unit),
        parents_and_children(docs, None, size, overlap, unit),
        sentence_tree(docs),
        multi_granular(docs, size, unit),
    ]


@given(documents(), sizes(), units)
def test_trees_are_nested_and_exact(docs, bounds, unit):
    for tree in build(docs, bounds, unit):
        for chunk in tree:
            text = tree.document(chunk).text
            assert text[chunk.span.start : chunk.span.end] == chunk.text and chunk.text.strip()
            assert tree.parent(chunk).span.contains(chunk.span)
            whole_document = chunk.parent_id is None and chunk.id == f"{chunk.doc_id}/p1"
            assert whole_document or tree.section(chunk).span.contains(chunk.span)
        for doc in docs:
            leaves = [c.span for c in tree.indexed if c.doc_id == doc.id]
            assert {i for s in leaves for i in range(s.start, s.end)} >= set(solid(doc.text))


@given(documents(), sizes(), units)
def test_limits_hold_in_trees(docs, bounds, unit):
    size, overlap = bounds
    tree = parents_and_children(docs, 2 * size, size, overlap, unit)
    for chunk in tree:
        limit = {"passage": size if chunk in tree.indexed else 2 * size}.get(chunk.level)
        if limit:
            assert count(chunk.text, unit) <= limit or len(list(graphemes(chunk.text))) == 1


@given(documents(), sizes())
def test_the_same_chunks_in_any_order_make_the_same_tree(docs, bounds):
    for tree in build(docs, bounds):
        again = ChunkTree(docs, reversed(list(tree)), [c.id for c in tree.indexed])
        assert list(again) == list(tree) and again.indexed == tree.indexed
        assert list(ChunkTree(docs, tree, tree.indexed).indexed) == tree.indexed


def test_ids_and_roles_of_parents_and_children_B6():
    tree = parents_and_children(document("travel-en", POLICY), 80, 40, 0)
    assert [c.id for c in tree] == [
        "travel-en/0",
        "travel-en/0/p1",
        "travel-en/0/p1/c1",
        "travel-en/1",
        "travel-en/1/p1",
        "travel-en/1/p1/c1",
        "travel-en/1/p1/c2",
        "travel-en/1/p2",
        "travel-en/1/p2/c1",
        "travel-en/2",
        "travel-en/2/p1",
        "travel-en/2/p1/c1",
        "travel-en/2/p1/c2",
        "travel-en/2/p2",
        "travel-en/2/p2/c1",
    ]
    assert [c.id for c in tree.indexed] == [c.id for c in tree if "/c" in c.id]
    child = tree["travel-en/1/p1/c2"]
    assert (child.level, child.section_id, tree.parent(child).id) == ("passage", "travel-en/1", "travel-en/1/p1")
    assert tree.parent(tree.parent(child)).level == "section"
    assert [c.id for c in tree.children(tree.parent(child))] == ["travel-en/1/p1/c1", "travel-en/1/p1/c2"]
    assert tree.siblings(child) == tree.children(tree.parent(child))


def test_the_heading_opens_the_first_parent():
    tree = parents_and_children(document("travel-en", POLICY), 60, 60, 0)
    assert tree["travel-en/1/p1"].text.startswith("## 1 Invoices\n\nKeep")
    assert sentence_tree(document("travel-en", POLICY))["travel-en/1/p1"].text == "## 1 Invoices"


def test_the_whole_document_as_one_parent():
    tree = parents_and_children(document("travel-en", POLICY), None, 60, 0)
    whole = tree["travel-en/p1"]
    assert whole.text == POLICY.strip() and tree.parent(whole) == whole
    assert [c.id for c in tree.children(whole)] == [c.id for c in tree.indexed]
    assert tree["travel-en/2/c1"].text.startswith("## 2 Deadline")
    assert all(tree[c.section_id].level == "section" for c in tree.indexed)


def test_sentence_tree_levels():
    tree = sentence_tree(document("travel-en", POLICY))
    sentence = tree["travel-en/2/p2/s2"]
    assert sentence.text == "If the system fails, log a ticket."
    assert tree.parent(sentence).id == "travel-en/2/p2" and tree.parent(tree.parent(sentence)).id == "travel-en/2"
    assert {c.level for c in tree.indexed} == {"sentence"}


def test_multi_granular_halves_and_quarters():
    doc = document("d", EN7)
    tree = multi_granular(doc, 16)
    assert [c.id for c in tree.indexed] == [c.id for c in tree if c.level == "passage"]
    parent = tree["d/0/p1"]
    assert parent.text == " ".join(EN7.split(". ")[:4]).replace("here ", "here. ") + "."
    assert tree.parent(parent) == parent
    assert tree["d/0/p1/h1"].text == "Alpha one is here. Bravo two is here."
    assert tree["d/0/p1/q1"].text == "Alpha one is here."
    assert {c.parent_id for c in tree.children(parent)} == {"d/0/p1"}


@given(documents(), st.integers(1, 60), units)
def test_multi_granular_never_cuts_a_sentence(docs, size, unit):
    tree = multi_granular(docs, size, unit)
    for doc in docs:
        edges = sentences(doc.text)
        starts, ends = {s.start for s in edges}, {s.end for s in edges}
        for chunk in tree.indexed:
            if chunk.doc_id == doc.id:
                assert chunk.span.start in starts and chunk.span.end in ends


def test_a_leaf_without_a_parent_is_its_own_parent_B9():
    doc = document("d", "two words")
    assert [c.text for c in parents_and_children(doc, 10, 3, 0, "word").indexed] == ["two words"]
    (only,) = multi_granular(doc, 10).indexed
    assert multi_granular(doc, 10).parent(only) == only


def test_sentences_stay_in_one_row_when_their_paragraph_is_lost():
    full = sentence_tree(document("d", POLICY))
    tree = ChunkTree(full.documents.values(), [c for c in full if c.id not in ("d/1/p2", "d/2")])
    assert tree.indexed == full.indexed
    assert tree.neighbours(tree.indexed[0], 0, 99) == full.indexed


def test_missing_stays_missing_B8():
    full = sentence_tree(document("d", EN7))
    sentence = full.indexed[0]
    tree = ChunkTree(full.documents.values(), [c for c in full if c.id != sentence.parent_id])
    with pytest.raises(KeyError, match=sentence.parent_id):
        tree.parent(sentence)
    assert sentence.parent_id not in tree and tree.indexed == full.indexed
    assert tree.neighbours(sentence, 0, 2) == full.indexed[:3]
    with pytest.raises(KeyError):
        tree["no such chunk"]


def test_neighbours_go_by_position_across_paragraphs_and_sections():
    tree = sentence_tree([document("a", POLICY), document("b", EN7)])
    row = [c for c in tree.indexed if c.doc_id == "a"]
    for place, chunk in enumerate(row):
        assert tree.neighbours(chunk, 2, 3) == row[max(0, place - 2) : place + 4]
    with pytest.raises(ValueError, match="-1"):
        tree.neighbours(row[0], -1)


def test_neighbours_of_a_child_are_children():
    tree = parents_and_children(document("a", POLICY), 80, 40, 0)
    children = tree.indexed
    assert tree.neighbours(children[1], 1, 2) == children[:4]
    parents = [tree["a/0/p1"], tree["a/1/p1"], tree["a/1/p2"]]
    assert tree.neighbours(parents[1]) == parents


def test_documents_keep_their_order_and_blank_ones_give_no_chunks():
    docs = [document("z", "Last. Word."), document("m", " \n"), document("a", "First.")]
    for make in (sentence_tree, parents_and_children, multi_granular):
        tree = make(docs)
        assert list(tree.documents) == ["z", "m", "a"]
        assert list(dict.fromkeys(c.doc_id for c in tree)) == ["z", "a"]
    assert len(sentence_tree([])) == 0


@pytest.mark.parametrize("make", [sentence_tree, parents_and_children, multi_granular])
def test_duplicate_document_ids_are_refused(make):
    with pytest.raises(ValueError, match="'d'"):
        make([document("d", "One."), document("d", "Two.")])


@pytest.mark.parametrize(
    ("sizes_given", "said"),
    [((0, 1, 0), "parent_size"), ((100, 0, 0), "child_size"), ((100, 20, 20), "child_size 20"), ((100, 101, 0), "101")],
)
def test_bad_sizes_of_trees_are_refused(sizes_given, said):
    with pytest.raises(ValueError, match=said):
        parents_and_children(document("d", EN7), *sizes_given)


def test_a_tree_refuses_chunks_that_do_not_fit_its_documents():
    doc = document("d", EN7)
    good = sentence_tree(doc).indexed[0]
    for bad, said in (
        (dataclasses.replace(good, doc_id="other"), "'other'"),
        (dataclasses.replace(good, text="Alpha"), good.id),
        (dataclasses.replace(good, span=Span(0, 5)), "span"),
    ):
        with pytest.raises(ValueError, match=said):
            ChunkTree([doc], [bad])
    with pytest.raises(ValueError, match="twice"):
        ChunkTree([doc], [good, good])


@pytest.mark.parametrize("above", [["x"], ["y", "x"], ["y", "z", "y"]], ids=["itself", "each other", "above"])
@pytest.mark.parametrize("level", ["section", "passage", "sentence"])
def test_a_tree_refuses_parents_in_a_circle(above, level):
    doc = document("d", "One.")
    names = dict(zip(["x", *above], above, strict=False))
    ring = [Chunk(name, "d", Span(0, 4), "One.", level, parent, "d/0") for name, parent in names.items()]
    with pytest.raises(ValueError, match="'x' is its own parent, or"):
        ChunkTree([doc], ring)


def test_a_tree_refuses_unknown_levels_and_names():
    doc, other = document("d", EN7), document("e", EN7)
    good = sentence_tree(doc).indexed[0]
    with pytest.raises(ValueError, match="must be one of section, passage, sentence, not 'chapter'"):
        ChunkTree([doc], [dataclasses.replace(good, level="chapter")])
    with pytest.raises(ValueError, match="'d/9', which is no chunk"):
        ChunkTree([doc], [good], [good.id, "d/9"])
    with pytest.raises(ValueError, match="'d/0/p1/s1' and its parent 'e/0' are in two documents"):
        ChunkTree([doc, other], [*sentence_tree(other), dataclasses.replace(good, parent_id="e/0")])


@pytest.mark.parametrize("make", [sentence_tree, parents_and_children, multi_granular])
def test_a_document_made_by_hand_has_all_its_text_chunked(make):
    tree = make(Document("d", "T", "One is. Two is.", "1", "public"))
    assert "One is. Two is." in [chunk.text for chunk in tree]
    assert [tree.section(c).id for c in tree.indexed] == ["d/0"] * len(tree.indexed)
    assert len(make(Document("d", "T", " \ufeff\n", "1", "public"))) == 0


@pytest.mark.parametrize("unseen", ["\ufeff", "\u200b", "\0", "\u200e\u2060 \u200d"], ids=ascii)
def test_what_cannot_be_seen_is_no_chunk(unseen):
    for split in (recursive, by_sentence, by_paragraph):
        assert split(f"\n{unseen}\n", 500) == []
    text = f"Hello.\n\n{unseen}\n\nBye."
    assert pieces(text, recursive(text, 6, 0)) == pieces(text, by_paragraph(text)) == ["Hello.", "Bye."]
    edges = [0, 8, 8 + len(unseen), len(text)]
    parts = tuple(Section(f"d/{n}", "", 1, Span(*ends), "public") for n, ends in enumerate(itertools.pairwise(edges)))
    docs = [document("c", text), Document("d", "T", text, "1", "public", parts), document("e", unseen)]
    for make in (sentence_tree, parents_and_children, multi_granular):
        assert all(set(chunk.text) & {"H", "B"} for chunk in make(docs))
    assert {c.doc_id for c in parents_and_children(docs, None, 500, 0)} == {"c", "d"}


@pytest.mark.parametrize(
    ("cluster", "unit"),
    [("\u0301", "token"), ("🇩🇪", "char"), ("🇩🇪", "token"), ("क्", "token")],
    ids=["marks", "flags", "flags-token", "conjuncts"],
)
def test_time_grows_in_proportion_to_a_run_of_one_kind(cluster, unit):
    def seconds(length):
        begin, text = time.process_time(), "a" + cluster * length
        count(text, unit)
        recursive(text, 500, 20, unit)
        return time.process_time() - begin

    # 8 times the text: 8 times the time if linear, 64 times if quadratic; a busy machine gets several tries.
    assert any(seconds(16_000) < 24 * seconds(2_000) + 0.02 for _ in range(6))


def test_chunks_are_values():
    chunk = sentence_tree(document("d", EN7)).indexed[0]
    assert chunk == Chunk(*(getattr(chunk, f.name) for f in dataclasses.fields(chunk)))
    with pytest.raises(dataclasses.FrozenInstanceError):
        chunk.text = "other"
