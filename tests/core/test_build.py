"""Trees of chunks, and how they are built."""

import dataclasses
import itertools
import re
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import EN7, POLICY, solid
from speed import in_proportion
from strategies import documents, sizes, units

from s2b_lab.core.build import flat_tree, multi_granular, parents_and_children, sentence_tree
from s2b_lab.core.expand import auto_merge, parent_document
from s2b_lab.core.graphemes import graphemes
from s2b_lab.core.headings import document
from s2b_lab.core.hits import Hit
from s2b_lab.core.sentences import sentences
from s2b_lab.core.sizes import count
from s2b_lab.core.split import by_paragraph, by_sentence, recursive
from s2b_lab.core.text import Document, Section, Span, trimmed
from s2b_lab.core.tree import Chunk, ChunkTree


def pieces(text, spans):
    return [span.of(text) for span in spans]


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
            section = tree.section(chunk)
            assert section.span.start <= chunk.span.start < section.span.end
            if chunk.level == "sentence" or chunk.parent_id == section.id:
                assert section.span.contains(chunk.span)
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
    def both(text):
        count(text, unit)
        recursive(text, 500, 20, unit)

    # 8 times the text: 8 times the time if linear, 64 times if quadratic.
    assert in_proportion(both, "a" + cluster * 2_000, "a" + cluster * 16_000, 24)


def test_chunks_are_values():
    chunk = sentence_tree(document("d", EN7)).indexed[0]
    assert chunk == Chunk(*(getattr(chunk, f.name) for f in dataclasses.fields(chunk)))
    with pytest.raises(dataclasses.FrozenInstanceError):
        chunk.text = "other"


def test_a_flat_tree_is_cut_just_as_it_was_given():
    doc = document("d", POLICY)
    spans = [Span(0, 20), Span(10, 40), Span(40, 41)]
    assert POLICY[40:41].strip()
    tree = flat_tree(doc, spans)
    assert [(c.id, c.span) for c in tree.indexed] == [("d/c1", spans[0]), ("d/c2", spans[1]), ("d/c3", spans[2])]
    assert all(c.parent_id is None and tree.parent(c) is c and c.text == c.span.of(POLICY) for c in tree)
    sections = {s.id: s.span for s in doc.sections}
    assert all(sections[c.section_id].start <= c.span.start < sections[c.section_id].end for c in tree)


def test_a_flat_tree_leaves_out_what_is_blank_and_refuses_what_is_outside():
    doc = document("d", "One.\n\nTwo.")
    assert [c.id for c in flat_tree(doc, [Span(0, 4), Span(4, 6), Span(6, 10)])] == ["d/c1", "d/c3"]
    with pytest.raises(ValueError, match=r"ends after the text of 'd', which has 10 characters"):
        flat_tree(doc, [Span(0, 11)])


# --- small sections share a parent, and headings go with what follows ---

HANDBOOK = "# Handbook\n\nFor everybody who works here.\n\n" + "\n\n".join(
    "\n\n".join(
        [f"## Part {part}", *(
            f"### {part}.{n} Topic\n\n" + " ".join(f"Rule {m} of {part}.{n} is here." for m in range(2 + (n * 7) % 11))
            if n % 6 != 5 else f"### {part}.{n} Group"
            for n in range(12)
        )]
    )
    for part in range(13)
)  # fmt: skip


def parents_of(tree):
    return [chunk for chunk in tree if chunk.level == "passage" and tree.children(chunk)]


def is_bare(text):
    """Nothing but headings."""
    return all(line.startswith("#") for line in text.split("\n") if line.strip())


def test_small_neighbouring_sub_sections_fill_a_parent_H30():
    parts = (f"## Section {n}\n\n" + "\n\n".join(f"### {n}.{m}\n\n{'Ten more. ' * 14}" for m in range(10))
             for n in range(4))  # fmt: skip
    doc = document("d", "\n\n".join(parts))
    tree = parents_and_children(doc, 2000, 500, 20)
    parents = parents_of(tree)
    assert [parent.id for parent in parents] == ["d/1/p1", "d/12/p1", "d/23/p1", "d/34/p1"]
    assert all(1400 < len(parent.text) <= 2000 and parent.parent_id is None for parent in parents)
    assert [parent.text.count("## Section") for parent in parents] == [1] * 4
    # A child stays in its sub-section, and none is a heading alone.
    assert len(tree.indexed) == 40 and not any(is_bare(chunk.text) for chunk in tree.indexed)
    assert all(chunk.text.count("###") == 1 for chunk in tree.indexed)
    assert tree.indexed[0].text.startswith("## Section 0\n\n### 0.0\n\nTen")


def test_parents_of_a_handbook_are_big_and_no_chunk_is_a_heading():
    doc = document("h", HANDBOOK)
    assert 150 < len(doc.sections) < 180
    assert statistics.median(len(section.span) for section in doc.sections) < 260
    tree = parents_and_children(doc, 2000, 500, 20)
    parents = parents_of(tree)
    assert statistics.median(len(parent.text) for parent in parents) > 1200
    assert not any(is_bare(chunk.text) for chunk in [*parents, *tree.indexed])
    assert not any(is_bare(chunk.text) for chunk in multi_granular(doc, 60).indexed)
    # The parts of the handbook are not small: each has parents of its own.
    assert all(len(set(re.findall(r"## Part \d+", parent.text))) <= 1 for parent in parents)


def test_sub_sections_go_together_only_below_one_heading_and_where_they_fit():
    text = "## A\n\n### A1\n\nOne.\n\n### A2\n\nTwo.\n\n## B\n\n### B1\n\nThree.\n\n### B2\n\n" + "Four is long. " * 9
    tree = parents_and_children(document("d", text), 100, 60, 0)
    assert [parent.text[:6].strip() for parent in parents_of(tree)] == ["## A", "## B", "### B2", "Four i"]
    assert parents_of(tree)[1].text == "## B\n\n### B1\n\nThree."


def test_labels_part_sub_sections():
    text = "## A\n\n### A1\n\nOne.\n\n### A2\n\nTwo.\n\n### A3\n\nThree.\n\n### A4\n\nFour."
    tree = parents_and_children(document("d", text, section_access={"A2": "hr"}), 2000, 500, 0)
    assert [(parent.id, parent.text.count("###")) for parent in parents_of(tree)] == [
        ("d/1/p1", 1),
        ("d/3/p1", 1),
        ("d/4/p1", 2),
    ]


def test_a_heading_that_nothing_of_its_label_follows_stands_with_what_is_before_or_alone():
    text = "## A\n\nOne.\n\n## B\n\n## C\n\nTwo."
    tree = parents_and_children(document("d", text, section_access={"C": "hr"}), 100, 50, 0)
    assert [chunk.text for chunk in tree.indexed] == ["## A\n\nOne.\n\n## B", "## C\n\nTwo."]
    alone = parents_and_children(document("d", "## B\n\n## C\n\nTwo.", section_access={"C": "hr"}), 100, 50, 0)
    assert [chunk.text for chunk in alone.indexed] == ["## B", "## C\n\nTwo."]
    assert [chunk.text for chunk in parents_and_children(document("d", "## Only"), 100, 50, 0).indexed] == ["## Only"]


def test_a_heading_alone_goes_with_a_large_section_and_a_long_first_sentence():
    text = "## A\n\n### A1\n\n" + "One word after another in one sentence. " * 9
    tree = parents_and_children(document("d", text), 200, 30, 0)
    first = parents_of(tree)[0]
    assert first.id == "d/1/p1" and first.text.startswith("## A\n\n### A1\n\nOne word") and first.parent_id is None
    assert tree.indexed[0].text == "## A\n\n### A1\n\nOne word after"
    assert [parent.section_id for parent in parents_of(tree)] == ["d/1", "d/2"]
    assert tree.parent(parents_of(tree)[1]).id == "d/2" and tree.row(first) == parents_of(tree)


def test_levels_one_and_two_stay_apart_at_the_top_and_articles_do_not():
    for title in ("", "# Title\n\n"):
        text = title + "\n\n".join(f"## Section {n}\n\nText." for n in range(9))
        assert len(parents_of(parents_and_children(document("d", text)))) == 9
    text = "\n\n".join(f"### Article {n}\n\nText." for n in range(9))
    assert [parent.text for parent in parents_of(parents_and_children(document("d", text)))] == [text]


def test_a_chunk_of_several_sections_is_found_windowed_and_delivered():
    text = "## A\n\n### A1\n\nOne is here.\n\n### A2\n\nTwo is here. Three is here.\n\n## B\n\nFour."
    doc = document("d", text)
    tree = parents_and_children(doc, 200, 40, 0)
    (child,) = (chunk for chunk in tree.indexed if "Two" in chunk.text)
    parent = tree.parent(child)
    assert parent.id == "d/1/p1" and tree.section(parent).title == "A" and tree.section(child).title == "A2"
    hits = [Hit(child, 0.9, 1)]
    assert [context.text for context in parent_document(hits, tree)] == [parent.text]
    assert [context.text for context in parent_document(hits, tree, level="section")] == [tree["d/3"].text]
    assert [context.text for context in auto_merge(hits, tree, 0.1)] == [parent.text]
    first = Hit(tree.indexed[0], 0.9, 1)
    assert first.chunk.section_id == "d/1" and "One is here." in first.chunk.text
    assert [context.text for context in parent_document([first], tree, level="section")] == [parent.text]


@given(documents(("public", "hr")), sizes(), units)
def test_parents_hold_whole_sections_of_one_label(docs, bounds, unit):
    size, overlap = bounds
    for tree in (parents_and_children(docs, 4 * size, size, overlap, unit), multi_granular(docs, size, unit)):
        for chunk in tree:
            doc = tree.document(chunk)
            inside = [section for section in doc.sections if section.span.overlaps(chunk.span)]
            assert len({section.access for section in inside}) == 1
            # Of the sections that have more than a heading, all are whole where there are several.
            filled = [
                section for section in inside if re.search(r"\w", section.span.of(doc.text).replace(section.title, ""))
            ]
            if len(filled) > 1 and chunk.level == "passage" and tree.children(chunk):
                assert all(chunk.span.contains(trimmed(doc.text, section.span)) for section in filled)
        for doc in docs:
            parents = [chunk for chunk in parents_of(tree) if chunk.doc_id == doc.id]
            assert all(one.span.end <= other.span.start for one, other in itertools.pairwise(parents))


def test_front_matter_is_in_no_passage():
    text = "---\ntitle: My Document\n---\n\n# Real Heading\n\n## One\n\nBody."
    for tree in (parents_and_children(document("d", text)), multi_granular(document("d", text))):
        assert [chunk.text for chunk in tree.indexed] == ["# Real Heading\n\n## One\n\nBody."]
    assert parents_and_children(document("d", text), None)["d/p1"].text.startswith("# Real")
    assert not parents_and_children(document("d", "---\ntitle: X\n---\n"), None).indexed


def test_a_text_of_front_matter_alone_has_no_sentence_to_find():
    tree = sentence_tree([document("a", "---\ntitle: Alone\n---\n"), document("b", "Bravo is here.")])
    assert [chunk.text for chunk in tree.indexed] == ["Bravo is here."]
