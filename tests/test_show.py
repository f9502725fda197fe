"""The figures of the chapters say what the retrieval did, and nothing that a reader may not see."""

import pytest

from s2b_lab import HashEmbedder, Index, corpus, parent_document, parents_and_children, sentence_tree, show
from s2b_lab.evaluate import Question, evaluate
from s2b_lab.expand import Context, Hit, sentence_window
from s2b_lab.interact import frame_of
from s2b_lab.text import Span, document

POLICY = corpus.load("travel-en")
RULES = corpus.questions("travel-en")[0]
MODEL = HashEmbedder()


@pytest.fixture(scope="module")
def index():
    with Index.open(embedder=MODEL) as index:
        index.add(sentence_tree(POLICY))
        yield index


def marks(passages, kind):
    return [m for m in passages.marks if m.kind == kind]


def hit_at(index, span, score=0.9, rank=1):
    chunk = next(c for c in index.tree.indexed if c.span.contains(span))
    return Hit(chunk, score, rank)


def test_the_language_switch_offers_the_same_questions_in_both_languages():
    controls = show.ask()
    assert list(controls["language"].options.values()) == ["en", "zh"]
    english, chinese = (controls["question"].under(label) for label in ("English", "中文"))
    assert len(english) == len(chinese) >= 6
    assert "系统坏了,出差回来超过 30 天还能提交吗?" in chinese
    assert english == [q.text for q in corpus.questions("travel-en")][: len(english)]


def test_what_is_delivered_is_marked_and_evidence_is_found_or_lost(index):
    rules = [span for _, span in RULES.answers]
    hits = [hit_at(index, rules[1])]
    narrow = show.delivered(POLICY, RULES.text, hits, sentence_window(hits, index.tree, 0))
    wide = show.delivered(POLICY, RULES.text, hits, sentence_window(hits, index.tree, 1))
    assert [m.span for m in marks(narrow, "gold")] == [rules[1]]
    assert [m.span for m in marks(narrow, "lost")] == [rules[0], rules[2]]
    assert [m.span for m in marks(wide, "gold")] == rules and not marks(wide, "lost")
    assert marks(wide, "hit")[0].span == hits[0].chunk.span and marks(wide, "hit")[0].label == "0.90"


def test_the_verdict_counts_evidence(index):
    rules = [span for _, span in RULES.answers]
    assert show.verdict(POLICY, RULES.text, [rules[0]]).text.startswith("1 of 3 ")
    assert show.verdict(POLICY, RULES.text, [Span(rules[0].start, rules[2].end)]).text.startswith("3 of 3 ")
    assert "judge for yourself" in show.verdict(POLICY, "a question of my own", []).text


def test_no_view_shows_what_only_finance_may_see(index):
    annex = POLICY.sections[-1]
    assert annex.access == "finance"
    words = annex.span.of(POLICY.text).split()
    # Hover texts begin anywhere and are short: any five words in a row give it away.
    secrets = [" ".join(words[i : i + 5]) for i in range(len(words) - 4)]
    known = " ".join(POLICY.text[: annex.span.start].split())
    question = next(q for q in corpus.questions("travel-en") if q.kind == "restricted").text
    hits = index.search(question, k=4)
    frames = frame_of(show.retrieval(index, question, hits, parent_document(hits, index.tree)))
    frames += frame_of(show.beside(POLICY, MODEL, question, 1, 0.5))
    frames += frame_of(show.grow(POLICY, MODEL, question, [100, 400], 400))
    frames += frame_of(show.checklist(POLICY, corpus.questions("travel-en")[7], []))
    frames += frame_of(show.meaning_map(MODEL, POLICY, question, [], rewrites=["Who checks?"]))
    shown = " ".join(str(frames).replace("\\n", " ").split())
    assert len(secrets) > 50 and not [secret for secret in secrets if secret in shown and secret not in known]


def test_a_growing_chunk_stops_where_not_everyone_may_read_on():
    annex = POLICY.sections[-1].span.start
    last = Span(annex - 200, annex - 100)
    assert show.around(POLICY, last, 2000).end == annex and len(show.around(POLICY, last, 2000)) == 2000
    assert show.around(POLICY, last, 10**6) == Span(0, annex)


def test_covering_keeps_offsets_and_white_space():
    covered = show.redacted(POLICY)
    assert len(covered) == len(POLICY.text)
    start = POLICY.sections[-1].span.start
    assert covered[:start] == POLICY.text[:start] and "▒" in covered[start:]
    assert [c.isspace() for c in covered] == [c.isspace() for c in POLICY.text]


def test_the_meter_counts_what_is_delivered(index):
    contexts = [Context("travel-en", s, s.of(POLICY.text), ()) for _, s in RULES.answers]
    meter = show.tokens(POLICY, MODEL, contexts)
    assert meter.value == sum(MODEL.count_tokens(c.text) for c in contexts)
    assert meter.value < meter.maximum < MODEL.count_tokens(POLICY.text) + 200


def test_the_table_of_a_family_names_duplicates():
    text = document("d", "## A\n\nTea one. Tea two. Tea three.\n\n## B\n\nTea four.")
    with Index.open(embedder=MODEL) as index:
        index.add(parents_and_children(text, parent_size=200, child_size=12, overlap=0))
        hits = index.search("tea one two", k=4)
        table = show.family(index, "tea one two", hits, parent_document(hits, index.tree, k=1), 1)[-1]
    fates = [row[-1] for row in table.rows]
    parents = [row[-2] for row in table.rows]
    assert fates[0] == "new" and fates.count("new") == 1
    assert all(
        (fate == "already there") == (parent == parents[0])
        for fate, parent in list(zip(fates, parents, strict=True))[1:]
    )


@pytest.mark.parametrize("size", [5, 30, 10_000])
def test_around_grows_to_both_sides_within_the_text(size):
    text = document("d", "x" * 100)
    grown = show.around(text, Span(40, 50), size)
    assert grown.contains(Span(40, 50)) and len(grown) == min(max(size, 10), 100)
    if size == 30:
        assert grown == Span(30, 60)


@pytest.mark.parametrize(
    ("size", "overlap", "expected"),
    [
        (3, 0, [(0, 3), (3, 6), (6, 7)]),
        (3, 1, [(0, 3), (2, 5), (4, 7)]),
        (3, 2, [(0, 3), (1, 4), (2, 5), (3, 6), (4, 7)]),
    ],
)
def test_overlapping_chunks_share_so_many_sentences(size, overlap, expected):
    units = [Span(i, i + 1) for i in range(7)]
    assert [(s.start, s.end) for s in show.overlapping(units, size, overlap)] == expected


def test_overlap_must_be_below_the_size():
    with pytest.raises(ValueError, match=r"overlap is 3.*below the size, 3"):
        show.overlapping([Span(0, 1)], 3, 3)


def test_plain_retrieval_ranks_by_similarity_and_delivers_chunks_as_cut():
    text = document("d", "green tea leaves. black coffee beans. green tea cups.")
    spans = [Span(0, 17), Span(18, 37), Span(38, 53)]
    got = show.by_similarity(text, MODEL, spans)("coffee beans")
    assert got[0].span == spans[1] and len(got) == 3
    assert [c.score for c in got] == sorted((c.score for c in got), reverse=True)


def test_the_scoreboard_has_a_row_for_each_question():
    question = Question("q", (("travel-en", Span(0, 3)), ("travel-en", Span(5, 9))))
    with_one = evaluate(lambda _: [Context("travel-en", Span(0, 4), "abcd", ())], [question], count=len)
    assert show.scoreboard({"a": with_one}).rows == [["q", "1 of 2"]]
