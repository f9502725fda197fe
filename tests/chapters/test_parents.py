"""Chapter 2: which child brings which parent."""

from s2b_lab import HashEmbedder, Index, parent_document, parents_and_children
from s2b_lab.chapters.parents import family_views
from s2b_lab.core.headings import document


def test_the_table_of_a_family_names_duplicates():
    text = document("d", "## A\n\nTea one. Tea two. Tea three.\n\n## B\n\nTea four.")
    with Index.open(embedder=HashEmbedder()) as index:
        index.add(parents_and_children(text, parent_size=200, child_size=12, overlap=0))
        hits = index.search("tea one two", k=4)
        table = family_views(index, "tea one two", hits, parent_document(hits, index.tree, k=1), 1)[-1]
    fates = [row[-1] for row in table.rows]
    parents = [row[-2] for row in table.rows]
    assert fates[0] == "new" and fates.count("new") == 1
    assert all(
        (fate == "already there") == (parent == parents[0])
        for fate, parent in list(zip(fates, parents, strict=True))[1:]
    )
    assert table.caption == "Which child brings which parent: 1 of 1 parents wanted" and table.folded
