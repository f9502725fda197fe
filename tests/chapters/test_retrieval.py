"""The views of one retrieval say what it did, and nothing that a reader may not see."""

import pytest

from s2b_lab import HashEmbedder, Index, corpus, flat_tree, parent_document, sentence_tree
from s2b_lab.chapters import evidence, one_size, windows
from s2b_lab.chapters.retrieval import delivered, meaning_map, retrieval_views, tokens_meter, unread
from s2b_lab.core.access import public_text
from s2b_lab.core.expand import as_found, sentence_window
from s2b_lab.core.headings import document
from s2b_lab.core.hits import Context, Hit
from s2b_lab.core.split import recursive
from s2b_lab.core.text import Span
from s2b_lab.figures.views import frame_of

POLICY = corpus.load("travel-en")
RULES = corpus.questions("travel-en")[0]
MODEL = HashEmbedder()


def filled(tree, model=MODEL):
    index = Index.open(embedder=model)
    index.add(tree)
    return index


@pytest.fixture(scope="module")
def index():
    with filled(sentence_tree(POLICY)) as index:
        yield index


def marks(passages, kind):
    return [m for m in passages.marks if m.kind == kind]


def hit_at(index, span, score=0.9, rank=1):
    chunk = next(c for c in index.tree.indexed if c.span.contains(span))
    return Hit(chunk, score, rank)


def test_what_is_delivered_is_marked_and_evidence_is_found_or_lost(index):
    rules = [span for _, span in RULES.answers]
    hits = [hit_at(index, rules[1])]
    narrow = delivered(POLICY, RULES.text, hits, sentence_window(hits, index.tree, 0))
    wide = delivered(POLICY, RULES.text, hits, sentence_window(hits, index.tree, 1))
    assert [m.span for m in marks(narrow, "gold")] == [rules[1]]
    assert [m.span for m in marks(narrow, "lost")] == [rules[0], rules[2]]
    assert [m.span for m in marks(wide, "gold")] == rules and not marks(wide, "lost")
    assert marks(wide, "hit")[0].span == hits[0].chunk.span and marks(wide, "hit")[0].label == "0.90"


def test_no_view_shows_what_only_finance_may_see(index):
    annex = POLICY.sections[-1]
    assert annex.access == "finance"
    words = annex.span.of(POLICY.text).split()
    # Hover texts begin anywhere and are short: any five words in a row give it away.
    secrets = [" ".join(words[i : i + 5]) for i in range(len(words) - 4)]
    known = " ".join(POLICY.text[: annex.span.start].split())
    question = next(q for q in corpus.questions("travel-en") if q.kind == "restricted").text
    hits = index.search(question, k=4)
    frames = frame_of(retrieval_views(index, question, hits, parent_document(hits, index.tree)))
    spans = recursive(public_text(POLICY), 400, 0)
    with filled(flat_tree(POLICY, spans)) as large:
        chunks = as_found(large.search(question, k=1), large.tree)
        around = sentence_window(hits[:1], index.tree)
        frames += frame_of(windows.beside_views(question, index, around, large, chunks))
    first = evidence.first_piece(MODEL, POLICY, question)
    frames += frame_of(one_size.grown(MODEL, POLICY, question, first, {400: spans[0]}, [[0.5, 0.4]], 400))
    frames += frame_of(one_size.chunks_views(MODEL, POLICY, question, spans, [0.5] * len(spans)))
    frames += frame_of(evidence.checklist(POLICY, corpus.questions("travel-en")[7], []))
    frames += frame_of(meaning_map(MODEL, POLICY, question, [], rewrites=["Who checks?"]))
    shown = " ".join(str(frames).replace("\\n", " ").split())
    assert len(secrets) > 50 and not [secret for secret in secrets if secret in shown and secret not in known]


def test_what_a_model_leaves_unread_is_the_end_beyond_its_tokens_in_whole_words():
    text = document("d", "Tea one. Tea two. 茶三四五。")
    model = HashEmbedder(max_tokens=3)
    assert unread(model, text, [Span(0, 8), Span(9, 17)]) == []
    assert [m.span.of(text.text).strip() for m in unread(model, text, [Span(0, 17)])] == ["two."]
    assert [m.span.of(text.text) for m in unread(model, text, [Span(18, 23)])] == ["五。"]


def test_the_meter_counts_what_is_delivered():
    contexts = [Context("travel-en", s, s.of(POLICY.text), ()) for _, s in RULES.answers]
    meter = tokens_meter(POLICY, MODEL, contexts)
    assert meter.value == sum(MODEL.count_tokens(c.text) for c in contexts)
    assert meter.value < meter.maximum < MODEL.count_tokens(POLICY.text) + 200


def test_the_meter_does_not_charge_for_what_the_model_adds_to_every_text(en):
    contexts = [Context("travel-en", s, s.of(POLICY.text), ()) for _, s in RULES.answers]
    assert len(contexts) == 3  # each of which the model puts between two marks of its own
    assert tokens_meter(POLICY, en, contexts).value == sum(en.count_tokens(c.text) for c in contexts) - 2 * 3
