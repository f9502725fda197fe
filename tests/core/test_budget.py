"""A budget of tokens."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import EN7, en7, texts_of
from strategies import documents

from s2b_lab.core.budget import within_budget
from s2b_lab.core.build import sentence_tree
from s2b_lab.core.expand import parent_document
from s2b_lab.core.headings import document
from s2b_lab.core.hits import Context
from s2b_lab.core.sizes import count
from s2b_lab.core.text import Span, trimmed


def contexts_of(*texts):
    tree = sentence_tree([document(f"d{n}", text) for n, text in enumerate(texts)])
    return [
        Context(d.id, s := trimmed(d.text, Span(0, len(d.text))), s.of(d.text), ()) for d in tree.documents.values()
    ]


def words(text):
    return count(text, "word")


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        (12, ["One is here.", "Two is here. Three is here.", "Four."]),
        (9, ["One is here.", "Two is here. Three is here."]),
        (8, ["One is here.", "Two is here."]),
        (6, ["One is here.", "Two is here."]),
        (5, ["One is here."]),
        (2, []),
    ],
)
def test_budget_keeps_whole_contexts_and_cuts_one_at_a_sentence(budget, expected):
    contexts = contexts_of("One is here.", "Two is here. Three is here.", "Four.")
    assert texts_of(within_budget(contexts, budget, words)) == expected


def test_a_cut_context_keeps_its_span_exact_and_its_hits():
    tree, hits = en7(5)
    (context,) = parent_document(hits, tree)
    (cut,) = within_budget([context], 9, words)
    assert cut.text == "Alpha one is here. Bravo two is here." == cut.span.of(EN7)
    assert cut.hits == context.hits and cut.score == context.score


@given(documents(), st.integers(1, 80))
def test_the_budget_holds(docs, budget):
    contexts = contexts_of(*(d.text for d in docs if d.text.strip()))
    kept = within_budget(contexts, budget)
    assert sum(count(c.text, "token") for c in kept) <= budget
    assert all(c.text.startswith(k.text) for c, k in zip(contexts, kept, strict=False))
    assert all(k == c for c, k in zip(contexts, kept[:-1], strict=False))
