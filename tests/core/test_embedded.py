"""The copy of a chunk that is embedded: headings above it, the head of its table, words whole again."""

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import documents, texts

from s2b_lab import HashEmbedder, Index
from s2b_lab.core.build import flat_tree, multi_granular, parents_and_children, sentence_tree
from s2b_lab.core.embedded import Copies, compounds, unhyphenated
from s2b_lab.core.headings import document
from s2b_lab.core.outline import Outline
from s2b_lab.core.sentences import sentences
from s2b_lab.core.sizes import count
from s2b_lab.core.split import by_sentence, recursive
from s2b_lab.core.tables import table_head, table_rows
from s2b_lab.core.text import Document, Section, Span
from s2b_lab.core.tree import ChunkTree
from s2b_lab.models.copies import normalise

BOOK = (
    "# Handbook\n\nFor all.\n\n## Travel\n\n### Hotels\n\nAt most 120 euros. Ask first.\n\n"
    "#### Abroad\n\nAt most 200 euros.\n\n## Private\n\n### Homes\n\nThe street. The door.\n"
)


def piped(rows, cell="rate {}"):
    lines = ["| City | Limit |", "|------|-------|", *(f"| Town {n} | {cell.format(n)} |" for n in range(rows))]
    return "\n".join(lines)


def grid(rows, double=True, between=True):
    rule = "+---------+----------+"
    body = [f"| Town {n:<3}| rate {n:<4}|" for n in range(rows)]
    inside = [line for row in body for line in (row, rule)] if between else [*body, rule]
    return "\n".join([rule, "| City    | Limit    |", rule.replace("-", "=") if double else rule, *inside])


# --- words ---


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "The committee discusses retrie-\nval quality and well-\nknown costs.",
            "The committee discusses retrieval quality and well-known costs.",
        ),
        ("retrie\u00ad\nval and re\u00adtrie\u00adval", "retrieval and retrieval"),
        ("retrie-  \r\n   val, retrie‐\rval", "retrieval, retrieval"),
        ("short-\nand long-term", "short-\nand long-term"),
        ("INTRO-\nDUCTION", "INTRODUCTION"),
        ("Anglo-\nAmerican, X-\nray", "Anglo-American, Xray"),
        ("items -\nnone, 2019-\n2021, a -\n- b", "items -\nnone, 2019-\n2021, a -\n- b"),
        ("a paragraph ends-\n\nnext", "a paragraph ends-\n\nnext"),
        ("well-known in one line", "well-known in one line"),
    ],
    ids=["H4", "soft", "line ends", "suspended", "capitals", "names", "no words", "paragraphs", "unbroken"],
)
def test_words_cut_at_a_line_end_are_mended(text, expected):
    assert unhyphenated(text) == expected
    assert normalise(text) == normalise(expected)


def test_a_compound_that_the_text_has_unbroken_keeps_its_hyphen():
    text = "The mark-up is new. A mark-\nup, a re-\nport."
    assert compounds(text) == {"mark-up"}
    assert Copies(document("d", text)).whole(Span(20, len(text))) == "A mark-up, a report."
    assert compounds("mark-up") == frozenset()


@given(texts)
def test_nothing_but_hyphens_and_white_space_is_lost(text):
    kept = re.sub(r"[-‐\u00ad\s]", "", text)
    assert re.sub(r"[-‐\u00ad\s]", "", unhyphenated(text)) == kept
    assert unhyphenated(unhyphenated(text)) == unhyphenated(text)


def test_the_index_embeds_the_mended_copy_and_delivers_the_text_as_it_is():
    text = "The committee discusses retrie-\nval quality."
    index = Index.open(embedder=HashEmbedder())
    index.add(sentence_tree(document("d", text)))
    (hit,) = index.search("retrieval")
    assert hit.chunk.text == text and hit.score > 0.4
    index.close()


# --- the path of headings ---


def paths(tree):
    return {chunk.text.split("\n")[0]: tree.embedded(chunk).removesuffix(chunk.text) for chunk in tree.indexed}


def test_a_copy_knows_its_chapters_and_repeats_no_heading():
    tree = sentence_tree(document("d", BOOK), heading_path=True)
    found = paths(tree)
    assert found["Ask first."] == "Handbook > Travel > Hotels\n"
    assert found["At most 200 euros."] == "Handbook > Travel > Hotels > Abroad\n"
    assert (found["# Handbook"], found["For all."], found["### Hotels"]) == ("", "Handbook\n", "Handbook > Travel\n")
    assert all(chunk.text in BOOK and tree.document(chunk).text == BOOK for chunk in tree)


def test_without_the_option_the_copy_is_the_text():
    for tree in (sentence_tree(document("d", BOOK)), parents_and_children(document("d", BOOK))):
        assert all(tree.embedded(chunk) == chunk.text for chunk in tree) and tree.headed == frozenset()


def test_every_kind_of_tree_takes_the_option():
    doc = document("d", BOOK)
    spans = [Span(BOOK.index("Ask"), BOOK.index("#### Abroad"))]
    for tree in (
        parents_and_children(doc, 200, 100, 0, heading_path=True),
        sentence_tree(doc, heading_path=True),
        multi_granular(doc, 10, heading_path=True),
        flat_tree(doc, spans, heading_path=True),
    ):
        assert tree.headed == {"d"}
        assert any(tree.embedded(chunk).startswith("Handbook > Travel") for chunk in tree.indexed)


def test_a_heading_that_the_readers_may_not_read_is_in_no_path():
    text = "# Pay\n\nAll.\n\n## Bonus of the CEO\n\nSecret.\n\n### Rules\n\nOpen."
    parts = [(0, 1, "Pay", "public"), (1, 2, "Bonus of the CEO", "hr"), (2, 3, "Rules", "public")]
    edges = [0, text.index("## Bonus"), text.index("### Rules"), len(text)]
    doc = Document("d", "Pay", text, "1", "public", tuple(
        Section(f"d/{n}", title, level, Span(*edges[n : n + 2]), label) for n, level, title, label in parts
    ))  # fmt: skip
    tree = sentence_tree(doc, heading_path=True)
    found = paths(tree)
    assert found["Open."] == "Pay > Rules\n" and found["Secret."] == "Pay > Bonus of the CEO\n"


@given(documents(("public", "finance", "hr")), st.integers(1, 60))
def test_no_path_holds_more_than_its_readers_may_read(docs, size):
    for tree in (sentence_tree(docs, True), multi_granular(docs, size, heading_path=True)):
        for chunk in tree.indexed:
            doc = tree.document(chunk)
            labels = doc.labels(chunk.span) | {"public"}
            allowed = {section.title for section in doc.sections if section.access in labels}
            assert {*Outline(doc).path(chunk.span)} <= allowed


@given(documents())
def test_the_path_equals_a_naive_walk(docs):
    for doc in docs:
        for number, section in enumerate(doc.sections):
            above, level = [], section.level
            for other in reversed(doc.sections[:number]):
                if other.level < level:
                    level = other.level
                    above += [other.title] * bool(other.title)
            assert Outline(doc).path(section.span) == above[::-1]


def test_the_option_is_kept_in_an_index_and_per_document(tmp_path):
    plain, headed = document("plain", BOOK), document("headed", BOOK)
    with Index.open(tmp_path, HashEmbedder()) as index:
        index.add(sentence_tree(plain))
        index.add(sentence_tree(headed, heading_path=True))
        assert index.search("Handbook Travel Hotels Ask first", k=1)[0].chunk.doc_id == "headed"
    with Index.open(tmp_path, HashEmbedder()) as index:
        tree = index.tree
        assert tree.headed == {"headed"}
        assert index.add(sentence_tree(headed, heading_path=True)).added == 0
        assert index.add(sentence_tree(headed)).added > 0 and index.tree.headed == frozenset()


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [("d", TypeError, "not 'd'"), (1, TypeError, "not 1"), (["d", "x"], ValueError, "names 'x', which is no document")],
)
def test_a_heading_path_of_another_kind_is_refused(given, error, said):
    with pytest.raises(error, match=said):
        ChunkTree([document("d", "One.")], [], heading_path=given)


# --- tables ---


@pytest.mark.parametrize(
    "table",
    [piped(60), re.sub(r"^\| ?| ?\|$", "", piped(60), flags=re.M), grid(60), grid(60, False), grid(60, True, False),
     grid(60, False, False), piped(60).replace("\n", "\r\n"), piped(60).replace("| Town 7 ", "|        ")],
    ids=["pipes", "no outer bars", "grid", "grid of one rule", "outline", "outline of one rule", "crlf", "empty cell"],
)  # fmt: skip
def test_each_row_of_a_table_is_a_sentence_H28(table):
    doc = document("d", f"Before it.\n\n{table}\n\nAfter it.")
    tree = sentence_tree(doc)
    rows = [chunk for chunk in tree.indexed if "rate" in chunk.text]
    first_is_head = "+===" not in table and "|---" not in table and table.count("+\n") > 60
    assert len(rows) == 60 and len(tree.indexed) == 62 + first_is_head
    assert all(chunk.text.count("rate") == 1 for chunk in rows) and max(len(c.text) for c in rows) < 120
    if not first_is_head:
        assert rows[0].text.count("City") == 1
        copies = [tree.embedded(chunk) for chunk in rows]
        assert all("City" in copy and "Limit" in copy and "--" not in copy for copy in copies)


def test_a_row_of_several_lines_is_one():
    text = (
        "+---+------+\n| a | b    |\n+===+======+\n| 1 | one  |\n|   | more |\n+---+------+\n| 2 | two  |\n+---+------+"
    )
    assert [row.of(text).count("\n") + 1 for row in table_rows(text, 0, len(text))] == [6, 2]
    assert table_head(text, 0, len(text)).of(text).endswith("+===+======+")
    outline = "+---+------+\n| a | b    |\n+===+======+\n| 1 | one  |\n|   | more |\n| 2 | two  |\n+---+------+"
    assert [row.of(outline).count("\n") + 1 for row in table_rows(outline, 0, len(outline))] == [5, 2]


def test_the_rule_below_a_head_may_begin_with_a_bar_as_in_pythons_help():
    grid = (
        "+------+-------+\n| Town | Limit |\n|======|=======|\n| Bonn | 90    |\n|      | euros |\n+------+-------+\n"
    )
    text = f"{grid}| Rome | 120   |\n+------+-------+"
    assert [row.of(text).count("\n") + 1 for row in table_rows(text, 0, len(text))] == [6, 2]
    assert table_head(text, 0, len(text)).of(text).endswith("|======|=======|")
    tree = sentence_tree(document("d", text))
    assert [tree.embedded(chunk).count("Limit") for chunk in tree.indexed] == [1, 1]
    fenced = "|===\n|Town |Limit\n\n|Bonn |90\n|Rome |120\n|==="  # AsciiDoc's marks of a table are no such rule
    assert table_head(fenced, 0, len(fenced)) is None and len(table_rows(fenced, 0, len(fenced))) > 1
    cells = "+---+---+\n| a | b |\n+---+---+\n|=1 | = |\n+---+---+"
    assert table_head(cells, 0, len(cells)) is None and len(table_rows(cells, 0, len(cells))) == 2


def test_a_code_fence_is_no_table():
    text = f"```\n{piped(3)}\n```"
    assert [span.of(text) for span in sentences(text)] == [text]
    assert table_rows("a | b\nc | d", 0, 11) == [Span(0, 11)] and table_head("a | b", 0, 5) is None


@pytest.mark.parametrize("table", [piped(60), grid(60), grid(60, True, False)], ids=["pipes", "grid", "outline"])
@pytest.mark.parametrize("split", [recursive, by_sentence])
def test_a_table_is_cut_between_rows_and_its_head_stays_with_a_row(table, split):
    text = f"Before it.\n\n{table}\n\nAfter it."
    for size in (120, 150, 400, 1000):
        spans = split(text, size, 0)
        assert all(len(span) <= size for span in spans)
        rows = re.findall(r"\| Town[^\n]*", text)
        assert all(sum(row in span.of(text) for span in spans) == 1 for row in rows)
        assert all("Town" in span.of(text) for span in spans if "City" in span.of(text))
        # A grid is never cut inside a row: each piece ends with a row's rule.
        if table == grid(60):
            assert all(span.of(text).endswith(("+", ".")) for span in spans)


def test_a_row_that_is_too_long_alone_is_cut_and_the_others_are_not():
    text = piped(6, "rate {} ").replace("rate 3", "rate 3 " + "many words " * 30)
    spans = recursive(text, 100, 0)
    assert all(len(span) <= 100 for span in spans)
    for number in (0, 1, 2, 4, 5):
        row = next(line for line in text.split("\n") if f"Town {number}" in line)
        assert any(row in span.of(text) for span in spans)


def test_a_head_that_fits_beside_no_row_stands_before_whole_rows():
    text = "| " + "City " * 12 + "|\n|---|\n" + "\n".join(f"| {'x' * 40} {n} |" for n in range(4))
    spans = recursive(text, 75, 0)
    assert [span.of(text).count("x" * 40) for span in spans] == [0, 1, 1, 1, 1]


@given(
    st.lists(st.sampled_from([piped(1), piped(3), grid(2), grid(3, False, False), "Text. More.", "## H"]), max_size=5)
)
def test_rows_cover_tables_in_order(parts):
    text = "\n\n".join(parts)
    found = sentences(text)
    assert " ".join(span.of(text) for span in found).split() == text.split()
    assert all(one.end <= other.start for one, other in itertools.pairwise(found))
    assert sum("Town" in span.of(text) for span in found) == text.count("| Town")
    assert count(text, "sentence") == len(found)


def test_a_table_longer_than_the_model_reads_is_embedded_in_pieces_with_the_head():
    text = f"## Rates\n\n{piped(60)}"
    doc = document("d", text)
    for path in (False, True):
        copies = Copies(doc, path)
        model = HashEmbedder(max_tokens=40)
        parts = copies.parts(Span(0, len(text)), 40, model.count_tokens)
        assert len(parts) > 5 and all(model.count_tokens(part) <= 40 for part in parts)
        assert all("City" in part for part in parts)
        assert all(("Rates" in part) is (path or number == 0) for number, part in enumerate(parts))
        assert sum(part.count("Town") for part in parts) == 60


@given(texts, st.integers(1, 40), st.booleans())
def test_parts_fit_and_lose_nothing(text, size, path):
    doc = document("d", text)

    def length(piece):
        return 1 + count(piece, "token")

    if not text.strip():
        return
    parts = Copies(doc, path).parts(Span(0, len(text)), size, length)
    assert all(length(part) <= max(size, 2) for part in parts)
    words = set(re.findall(r"[a-z]{3,}", text))
    assert all(any(word in part for part in parts) or len(word) > size for word in words)


def test_what_stands_above_gives_way_where_it_is_long():
    text = "# " + "A very long title of the whole book " * 3 + "\n\n## Part\n\n" + "One two three four. " * 30
    doc = document("d", text)
    parts = Copies(doc, True).parts(Span(text.index("One"), len(text)), 40, HashEmbedder().count_tokens)
    assert parts and not any("title" in part for part in parts)
    assert all(HashEmbedder().count_tokens(part) <= 40 for part in parts)


def test_the_head_of_a_table_stays_with_those_who_may_read_it():
    text = piped(6)
    edge = text.index("| Town 2")
    for head, rows, expected in (("hr", "public", False), ("public", "hr", True), ("hr", "hr", True)):
        parts = (Section("d/0", "", 0, Span(0, edge), head), Section("d/1", "", 0, Span(edge, len(text)), rows))
        doc = Document("d", "T", text, "1", "public", parts)
        assert ("City" in Copies(doc).whole(Span(edge, len(text)))) == expected


@pytest.mark.parametrize(
    "rows",
    [
        ["City | Limit", *(f"Town {n} | {n} euros" for n in range(60))],
        ["City\tLimit", *(f"Town {n}\t{n} euros" for n in range(60))],
        ["> | City | Limit |", "> |---|---|", *(f"> | Town {n} | {n} euros |" for n in range(60))],
        [
            "┌────┬────┐",
            "│ City │ Limit │",
            "├────┼────┤",
            *(f"│ Town {n} │ {n} euros │" for n in range(60)),
            "└────┴────┘",
        ],
        ["｜城市｜标准｜", *(f"｜Town {n}｜{n}元｜" for n in range(60))],
    ],
    ids=["bare", "tabs", "quoted", "boxes", "full width"],
)
def test_lines_with_cells_are_rows(rows):
    text = "Rates are below.\n\n" + "\n".join(rows) + "\n\nThat is all."
    found = [span.of(text) for span in sentences(text)]
    assert len(found) == 63 and sum("Town 3" in one for one in found) == 11
    assert max(found.count(one) for one in found) == 1
    assert "".join("".join(found).split()) == "".join(text.split())


def test_the_rows_of_a_terminal_have_their_head():
    text = " city   | limit\n--------+-------\n" + "\n".join(f" Town {n} | {n} euros" for n in range(60))
    tree = sentence_tree(document("d", text))
    assert [tree.embedded(chunk) for chunk in tree.indexed][41] == "city   | limit\n Town 41 | 41 euros"


@pytest.mark.parametrize(
    "text",
    [
        "Use a | b here. Or c | d.\nAnd e | f. More\ng | h. So.\ni | j",
        "A\tb. C.\nD\te\tf.\nG\th\ni\tj",
        "a | b\nc | d\ne | f",
    ],
)
def test_a_mark_in_prose_makes_no_rows(text):
    assert [span.of(text) for span in sentences(text)] != text.split("\n")
