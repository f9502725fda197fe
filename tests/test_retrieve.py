"""The way of a question: rewriting, the 4k buffer, fusion, expansion, access, the trace."""

import json
import time
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from s2b_lab import corpus
from s2b_lab.core.access import allow, is_readable
from s2b_lab.core.build import multi_granular, parents_and_children, sentence_tree
from s2b_lab.core.expand import as_found, auto_merge, parent_document, sentence_window
from s2b_lab.core.headings import document
from s2b_lab.core.hits import Context, Hit
from s2b_lab.core.rank import reciprocal_rank_fusion, top_k
from s2b_lab.core.text import Span
from s2b_lab.core.tree import Chunk
from s2b_lab.embed import HashEmbedder, text_tokens
from s2b_lab.hypothetical import question_tree
from s2b_lab.index import Index
from s2b_lab.retrieve import Retriever, Searchable, Trace, pointed_to

# One parent with twenty near-equal children, and two with one each that answers worse.
CROWD = "\n\n".join(
    [
        "## Crowd\n\n" + " ".join(f"Green tea is served at {n}." for n in range(20)),
        "## First\n\nGreen trains are late.",
        "## Second\n\nTea costs money in hotels and on trains.",
    ]
)


@pytest.fixture
def crowd(index):
    index.add(sentence_tree(document("d", CROWD)))
    return index


def without_parents(index, doc_id, *lost):
    """Let the document store forget some chunks, as a damaged one would."""
    record = json.loads(index._store.documents.get(ids=[doc_id])["documents"][0])
    record["chunks"] = [chunk for chunk in record["chunks"] if chunk[0] not in lost]
    index._store.documents.upsert(ids=[doc_id], embeddings=[[1.0]], documents=[json.dumps(record)])
    index._store.refresh()


def asked_sizes(index, monkeypatch):
    sizes, search = [], index.search
    monkeypatch.setattr(index, "search", lambda query, k, where=None: sizes.append(k) or search(query, k, where))
    return sizes


# --- the buffer ---


def test_a_crowd_of_children_does_not_hide_other_parents_B1(crowd, monkeypatch):
    sizes = asked_sizes(crowd, monkeypatch)
    trace = Retriever(crowd, k=3)("green tea is served at noon")
    assert sizes == [12, 24] and len(trace.contexts) == 3
    titles = [
        next(s.title for s in crowd.tree.documents["d"].sections if s.span.contains(c.span)) for c in trace.contexts
    ]
    assert titles[0] == "Crowd" and len(set(titles)) == 3


def test_four_children_a_context_are_asked_for_first(crowd, monkeypatch):
    sizes = asked_sizes(crowd, monkeypatch)
    assert len(Retriever(crowd, k=1)("green tea").contexts) == 1
    assert sizes == [4]


def test_the_buffer_ends_when_none_are_left_B1(crowd, monkeypatch):
    sizes = asked_sizes(crowd, monkeypatch)
    trace = Retriever(crowd, k=4)("green tea")
    parents = {hit.chunk.parent_id for hit in trace.hits}
    assert sizes == [16, 32] and len(trace.hits) == crowd.count() and len(trace.contexts) == 4 <= len(parents)
    whole = Index.open(None, HashEmbedder())
    whole.add(parents_and_children(document("d", CROWD), None, 40, 0))
    one = Retriever(whole, k=4)("green tea")
    assert len(one.contexts) == 1 and len(one.hits) == whole.count()


def test_missing_parents_are_skipped_refilled_and_counted_B5(crowd):
    question = "green tea is served at noon"
    before = Retriever(crowd, k=2)(question)
    best = before.contexts[0].hits[0].chunk.parent_id
    without_parents(crowd, "d", best)
    after = Retriever(crowd, k=2)(question)
    assert before.missing == 0 and after.missing == 20
    assert len(after.contexts) == 2 and best not in {hit.chunk.parent_id for c in after.contexts for hit in c.hits}
    json.dumps(after.to_frame())


def test_missing_counts_what_this_expansion_missed_H27(crowd):
    whole = Retriever(crowd, sentence_window, k=2)("green tea is served at noon")
    parents = {hit.chunk.parent_id for hit in crowd.search("green tea", 99)}
    without_parents(crowd, "d", *parents)
    question = "green tea is served at noon"
    for expand in (sentence_window, as_found, auto_merge, partial(sentence_window, window_size=0, within="paragraph")):
        trace = Retriever(crowd, expand, k=2)(question)
        assert trace.missing == 0 and len(trace.contexts) == 2
    assert Retriever(crowd, sentence_window, k=2)(question).contexts == whole.contexts
    trace = Retriever(crowd, parent_document, k=2)(question)
    assert trace.missing == len(trace.hits) == crowd.count() and trace.contexts == ()
    assert str(trace).count("lost") == 1


def test_missing_sections_are_missed_by_those_who_climb_to_them_alone(crowd):
    without_parents(crowd, "d", "d/1")
    question = "green tea is served at noon"
    climbing = Retriever(crowd, partial(parent_document, level="section"), k=2)(question)
    assert climbing.missing == sum(hit.chunk.section_id == "d/1" for hit in climbing.hits) > 0
    assert Retriever(crowd, parent_document, k=2)(question).missing == 0


def test_an_expansion_is_asked_again_only_where_something_is_lost(crowd):
    asked = []

    def counted(hits, tree, k):
        asked.append(k)
        return parent_document(hits, tree, k)

    Retriever(crowd, counted, k=1)("green tea")
    assert asked == [1]
    without_parents(crowd, "d", crowd.search("late trains", 1)[0].chunk.parent_id)
    trace = Retriever(crowd, counted, k=4)("late trains")
    assert trace.missing == 1 and asked[-1] == 1 and set(asked[1:-1]) == {4}


@pytest.mark.parametrize("given", [None, "text", 5, [None], ["text"]])
def test_an_expansion_that_gives_no_contexts_is_named(crowd, given):
    with pytest.raises(TypeError, match=r"what expand gives must (be a list of|hold) Contexts"):
        Retriever(crowd, lambda hits, tree, k: given)("green tea")


def test_an_empty_index_gives_an_empty_trace(index):
    trace = Retriever(index)("green tea")
    assert (trace.hits, trace.contexts, trace.missing) == ((), (), 0)


@pytest.mark.parametrize(
    "expand",
    [
        parent_document,
        partial(parent_document, level="section"),
        sentence_window,
        partial(sentence_window, window_size=0),
        partial(auto_merge, ratio=0.3),
        lambda hits, tree, k: parent_document(hits, tree, k),
    ],
)
def test_every_expansion_gives_k_contexts_that_are_slices(crowd, expand):
    trace = Retriever(crowd, expand, k=2)("green tea")
    assert len(trace.contexts) == 2
    for context in trace.contexts:
        assert context.text == context.span.of(CROWD) and set(context.hits) <= set(trace.hits)


def test_multi_granular_chunks_are_retrieved(index):
    index.add(multi_granular(document("d", "One two three four. Five six seven eight. Nine ten. " * 5), 40))
    assert Retriever(index, k=1)("nine ten").contexts[0].hits


# --- the question ---


def test_the_rewritten_question_is_searched_and_the_original_kept(crowd):
    trace = Retriever(crowd, rewrite=lambda question: "late trains")("something else entirely")
    assert trace.query == "something else entirely" and trace.rewrites == ("late trains",)
    assert trace.hits == Retriever(crowd)("late trains").hits


def test_several_rewrites_are_fused_by_rank(crowd):
    rewrites = ["late trains", "money in hotels", "tea"]
    trace = Retriever(crowd, rewrite=lambda question: rewrites, k=2)("any")
    lists = [[hit.chunk.id for hit in crowd.search(text, 8)] for text in rewrites]
    assert [(hit.chunk.id, hit.score) for hit in trace.hits] == reciprocal_rank_fusion(lists)
    assert [hit.rank for hit in trace.hits] == list(range(1, len(trace.hits) + 1))
    assert trace.rewrites == tuple(rewrites)


def test_a_single_rewrite_keeps_cosine_scores(crowd):
    trace = Retriever(crowd, rewrite=lambda question: ["late trains"])("any")
    assert trace.hits[0].score == crowd.search("late trains", 1)[0].score > 0.5


def test_each_parent_counts_once_in_a_list_before_fusing_B12(index):
    docs = [document("P", "Zebra aa. Zebra bb. Zebra cc."), document("Q", "Zebra tea tea ee. Zebra dd ee ff.")]
    index.add(sentence_tree(docs))
    lists = [[hit.chunk for hit in index.search(text, 8)] for text in ("zebra", "tea")]
    assert [[chunk.doc_id for chunk in chunks][:3] for chunks in lists] == [["P", "P", "P"], ["Q", "P", "P"]]
    trace = Retriever(index, rewrite=lambda question: ["zebra", "tea"], k=2)("zebra")
    parents = dict(reciprocal_rank_fusion([chunk.parent_id for chunk in chunks] for chunks in lists))
    assert {c.hits[0].chunk.parent_id: c.score for c in trace.contexts} == parents and len(set(parents.values())) == 1
    # The other sentences stay, each behind the best of its parent, as good as their own ranks.
    own = dict(reciprocal_rank_fusion([chunk.id for chunk in chunks] for chunks in lists))
    assert {hit.chunk.id for hit in trace.hits} == own.keys()
    best = {hit.chunk.parent_id: hit for hit in reversed(trace.hits)}
    for hit in trace.hits:
        assert hit.score == (parents[hit.chunk.parent_id] if hit in best.values() else own[hit.chunk.id])
    assert [hit.score for hit in trace.hits] == sorted((hit.score for hit in trace.hits), reverse=True)


def test_a_parent_is_fused_over_all_of_its_children(index):
    index.add(sentence_tree([document("P", "Zebra. Tea."), document("Q", "Zebra tea ee ff gg.")]))
    trace = Retriever(index, rewrite=lambda question: ["zebra", "tea"], k=2)("any")
    parents = [[hit.chunk.parent_id for hit in index.search(text, 8)] for text in ("zebra", "tea")]
    assert [context.score for context in trace.contexts] == [score for _, score in reciprocal_rank_fusion(parents)]


def test_the_same_rewrite_twice_is_one(crowd, fake):
    asked, query = [], fake.query
    fake.query = lambda text: asked.append(text) or query(text)
    trace = Retriever(crowd, rewrite=lambda question: iter(["late trains", "late  trains ", "late trains"]))("any")
    assert trace.rewrites == ("late trains",) and asked == ["late trains"]
    assert trace.hits[0].score == crowd.search("late trains", 1)[0].score > 0.5
    several = Retriever(crowd, rewrite=lambda question: ["tea", "late", "tea", "hotels"])("any")
    assert several.rewrites == ("tea", "late", "hotels")


@pytest.mark.parametrize("given", [5, [None], ["tea", 5], [["tea"]], [b"tea"]])
def test_a_rewrite_that_is_no_text_is_named(crowd, given):
    with pytest.raises(TypeError, match="rewrite must give a question or a list of questions, not"):
        Retriever(crowd, rewrite=lambda question: given)("late trains")


@pytest.mark.parametrize("nothing", ["", "  ", [], None, ["", " "], "\0", ["\0", "\u3000"], "\u200b"])
def test_an_empty_rewrite_leaves_the_question(crowd, nothing):
    trace = Retriever(crowd, rewrite=lambda question: nothing)("late trains")
    assert trace.rewrites == () and trace.hits == Retriever(crowd)("late trains").hits


@pytest.mark.parametrize("query", ["", " \n", None, "\0", "\u200b"])
def test_a_blank_question_is_refused_before_it_is_rewritten(crowd, query):
    with pytest.raises(ValueError, match="query is blank"):
        Retriever(crowd, rewrite=lambda question: "late trains")(query)


@pytest.mark.parametrize("options", [{"k": 0}, {"k": 1.5}, {"k": True}, {"token_budget": 0}, {"token_budget": -1}])
def test_bad_limits_are_named(index, options):
    name, value = next(iter(options.items()))
    with pytest.raises(ValueError, match=f"{name} must be (a whole number|at least 1), not {value}"):
        Retriever(index, **options)


def test_any_whole_number_is_a_limit(crowd):
    limits = {"k": np.int64(2), "token_budget": np.int32(999)}
    assert len(Retriever(crowd, **limits)("tea").contexts) == 2
    assert len(Retriever(crowd, k=2**70)("tea").contexts) == 6  # as many as there are paragraphs


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"index": None}, "index"),
        ({"index": "x"}, "index"),
        ({"expand": 5}, "expand"),
        ({"expand": None}, "expand"),
        ({"rewrite": "text"}, "rewrite"),
    ],
)
def test_an_argument_of_another_kind_is_refused_at_once_A9(index, options, name):
    with pytest.raises(TypeError, match=f"{name} must be a"):
        Retriever(**{"index": index, **options})


@pytest.mark.parametrize("gone", ["tree", "search", "embedder"])
def test_what_an_index_lacks_is_said(gone, fake):
    parts = {"tree": sentence_tree(document("d", CROWD)), "search": lambda *_: [], "embedder": fake}
    whole, broken = type("Whole", (), parts)(), type("Broken", (), parts | {gone: None})()
    delattr(type(broken), gone)
    assert Retriever(whole)("green tea").hits == ()
    with pytest.raises(TypeError, match=f"index must be an Index, or another with .*; .* has no {gone}$"):
        Retriever(broken)
    with pytest.raises(TypeError, match=f"questions must be an Index, or another with .*; .* has no {gone}$"):
        Retriever(whole, questions=broken)


@pytest.mark.parametrize(
    ("part", "value", "says"),
    [
        ("search", 1, r"index\.search must be a method, not 1"),
        ("embedder", None, r"has no embedder|index\.embedder must be a model; None has no name"),
        ("embedder", "en", r"index\.embedder must be a model; 'en' has no name"),
    ],
)
def test_the_parts_of_what_is_searched_are_of_the_right_kind(fake, part, value, says):
    index = Index.open(embedder=fake)
    parts = {"tree": index.tree, "search": index.search, "embedder": fake} | {part: value}
    with pytest.raises(TypeError, match=says):
        Retriever(SimpleNamespace(**parts))


def test_only_a_budget_needs_a_model_that_counts(fake):
    index = Index.open(embedder=fake)
    silent = SimpleNamespace(name=fake.name, dimension=fake.dimension, query=fake.query)
    searched = SimpleNamespace(tree=index.tree, search=index.search, embedder=silent)
    assert Retriever(searched)("green tea").hits == ()
    with pytest.raises(TypeError, match=r"a token_budget needs a model that counts tokens"):
        Retriever(searched, token_budget=100)


def test_a_class_is_no_index():
    with pytest.raises(TypeError, match=r"index must be an Index, .* is a class"):
        Retriever(Index)


def test_a_filter_of_iterators_holds_for_every_question(secretive):
    retriever = Retriever(secretive, where={"access": iter(["finance"])})
    assert len(retriever("money").contexts) == len(retriever("money").contexts) > 0


def test_an_unknown_key_of_where_is_refused_at_once(index):
    with pytest.raises(ValueError, match="unknown key 'acl'"):
        Retriever(index, where={"acl": "public"})


# --- who may read ---


@pytest.fixture
def secretive(index):
    text = "## Open\n\nTea is free. The pot is blue.\n\n## Closed\n\nTea money is in the safe. The code is 1234."
    index.add(sentence_tree(document("d", text, section_access={"Closed": "finance"})))
    return index


def test_access_reaches_search_and_expansion_E16(secretive):
    window = partial(sentence_window, window_size=3, within=None)
    public = Retriever(secretive, window, k=1)("the pot is blue")
    assert [context.text for context in public.contexts] == ["## Open\n\nTea is free. The pot is blue."]
    finance = Retriever(secretive, window, k=1, where={"access": ["public", "finance"]})("the pot is blue")
    assert "Tea money" in finance.contexts[0].text
    assert {hit.chunk.section_id for hit in public.hits} == {"d/1"}


@pytest.mark.parametrize("access", [[], None])
def test_no_principal_gets_nothing_E16(secretive, access):
    trace = Retriever(secretive, where={"access": access})("the pot is blue")
    assert trace.hits == () and trace.contexts == ()


def test_an_expansion_that_forgets_access_is_checked_E16(secretive):
    def whole(hits, tree, k):
        return [Context("d", Span(0, len(tree.documents["d"].text)), tree.documents["d"].text, tuple(hits))]

    assert Retriever(secretive, whole)("the pot is blue").contexts == ()
    everything = Retriever(secretive, whole, where={"access": ["public", "finance"]})("the pot is blue")
    assert len(everything.contexts) == 1


def test_a_version_filter_reaches_the_search(index):
    docs = [document(f"v{n}", f"The limit is {n} yuan. Pay less.", version=str(n)) for n in (1, 2)]
    index.add(sentence_tree(docs))
    trace = Retriever(index, where={"version": "2"})("the limit")
    assert {context.doc_id for context in trace.contexts} == {"v2"}


# --- any index ---


class Shelf:
    """Vectors of its own, compared one by one by the core alone: what a page without Chroma can do."""

    def __init__(self, tree, embedder):
        self.tree, self.embedder = tree, embedder
        self.vectors = embedder.passages([chunk.text for chunk in tree.indexed]).tolist()

    def search(self, query, k=16, where=None):
        allowed, documents = allow(where), self.tree.documents
        seen = [
            (chunk, vector)
            for chunk, vector in zip(self.tree.indexed, self.vectors, strict=True)
            if is_readable(chunk.span, documents[chunk.doc_id], allowed["access"])
            and documents[chunk.doc_id].version in allowed.get("version", (documents[chunk.doc_id].version,))
        ]
        best = top_k(query.tolist(), [vector for _, vector in seen], k)
        return [Hit(seen[i][0], round(score, 6), rank) for rank, (i, score) in enumerate(best, 1)]


SHELVED = sentence_tree(
    [
        document("d", CROWD),
        document("s", "## Open\n\nGreen tea is free.\n\n## Closed\n\nTea money.", section_access={"Closed": "finance"}),
        document("v2", "Green trains at night. Late tea.", version="2"),
    ]
)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"k": 2, "where": {"access": ["public", "finance"]}},
        {"where": {"version": "2"}},
        {"k": 3, "rewrite": lambda question: [question, "late trains", "money"]},
        {"k": 2, "expand": partial(sentence_window, window_size=2), "token_budget": 25},
    ],
)
def test_vectors_of_ones_own_are_retrieved_as_an_index_is(index, fake, options):
    index.add(SHELVED)
    shelf = Shelf(SHELVED, fake)
    assert isinstance(shelf, Searchable) and isinstance(index, Searchable) and not isinstance(fake, Searchable)
    for query in ("green tea is served at noon", "late trains"):
        one, other = Retriever(index, **options)(query), Retriever(shelf, **options)(query)
        assert one.hits and one.hits == other.hits and one.contexts == other.contexts
        assert one.rewrites == other.rewrites and one.missing == other.missing == 0


def test_questions_may_be_kept_beside_any_index(pair, fake):
    index, questions = pair
    ask = "how long may I keep a novel"
    shelves = [Shelf(one.tree, fake) for one in pair]
    assert Retriever(shelves[0], questions=shelves[1])(ask).hits == Retriever(index, questions=questions)(ask).hits


def test_retrieving_needs_neither_chroma_nor_numpy(run_python):
    program = """
import sys
for name in ("numpy", "chromadb", "sqlite3", "torch"):
    sys.modules[name] = None
from s2b_lab.core.build import sentence_tree
from s2b_lab.core.headings import document
from s2b_lab.core.hits import Hit
from s2b_lab.core.rank import top_k
from s2b_lab.retrieve import Retriever
class Letters:
    name, dimension = "letters", 26
    def query(self, text):
        return [float(text.lower().count(letter)) for letter in "abcdefghijklmnopqrstuvwxyz"]
class Page:
    tree, embedder = sentence_tree(document("d", "Zebras buzz.\\n\\nMoons hum.")), Letters()
    def search(self, query, k=16, where=None):
        found = top_k(query, [self.embedder.query(chunk.text) for chunk in self.tree.indexed], k)
        return [Hit(self.tree.indexed[i], score, rank) for rank, (i, score) in enumerate(found, 1)]
print(Retriever(Page(), k=1)("moon").contexts[0].text)
"""
    assert run_python(program).stdout == "Moons hum.\n"


# --- the budget and the trace ---


def test_the_budget_counts_what_the_model_counts(crowd, fake):
    free = Retriever(crowd, k=3)("green tea is served at noon")
    tight = Retriever(crowd, k=3, token_budget=20)("green tea is served at noon")
    assert sum(fake.count_tokens(context.text) for context in free.contexts) > 20
    assert 0 < sum(fake.count_tokens(context.text) for context in tight.contexts) <= 20


def test_the_budget_counts_no_prefix():
    model = HashEmbedder(passage_prefix="a passage of some kind: ")
    with Index.open(None, model) as index:
        index.add(sentence_tree(document("d", CROWD)))
        free = Retriever(index, k=3)("green trains tea money")
        sizes = [text_tokens(model, context.text) for context in free.contexts]
        assert sizes == [len(context.text.replace("##", "").split()) for context in free.contexts]
        fitting = Retriever(index, k=3, token_budget=sum(sizes))("green trains tea money")
        assert fitting.contexts == free.contexts, "with five more tokens a context these would not fit"
        short = Retriever(index, k=3, token_budget=sum(sizes) - 1)("green trains tea money")
        assert short.contexts[:2] == free.contexts[:2] and short.contexts != free.contexts


def test_a_budget_keeps_what_matched_and_lets_nobody_read_more(secretive):
    whole = partial(sentence_window, window_size=9, within=None)
    for where in (None, {"access": ["public", "finance"]}):
        (context,) = Retriever(secretive, whole, k=1, where=where, token_budget=4)("the pot is blue").contexts
        assert context.text == "The pot is blue."


def test_a_frame_holds_every_stage():
    chunks = [Chunk(f"d/0/p1/s{n}", "d", Span(n, n + 2), "ab", "sentence", "d/0/p1", "d/0") for n in (1, 2)]
    hits = tuple(Hit(chunk, np.float32(0.87654321), rank) for rank, chunk in enumerate(chunks, 1))
    alone = Hit(Chunk("e", "e", Span(0, 1), "x", "passage", None, "e/0"), 0.25, 3)
    contexts = (Context("d", Span(0, 9), "abababab", hits), Context("e", Span(0, 1), "x", (alone,)))
    trace = Trace("why", ("what",), (*hits, alone), contexts, {"search": 1.23456, "expand": 0.0}, 2)
    frame = trace.to_frame()
    assert frame == json.loads(json.dumps(frame))
    assert frame == {
        "query": "why",
        "rewrites": ["what"],
        "hits": [
            {"chunk": "d/0/p1/s1", "doc": "d", "span": [1, 3], "parent": "d/0/p1", "score": 0.876543, "rank": 1},
            {"chunk": "d/0/p1/s2", "doc": "d", "span": [2, 4], "parent": "d/0/p1", "score": 0.876543, "rank": 2},
            {"chunk": "e", "doc": "e", "span": [0, 1], "parent": None, "score": 0.25, "rank": 3},
        ],
        "contexts": [
            {"doc": "d", "span": [0, 9], "score": 0.876543, "hits": ["d/0/p1/s1", "d/0/p1/s2"]},
            {"doc": "e", "span": [0, 1], "score": 0.25, "hits": ["e"]},
        ],
        "timings": {"search": 1.235, "expand": 0.0},
        "missing": 2,
    }


def test_a_stage_that_runs_again_is_added_up(crowd, monkeypatch):
    search = crowd.search

    def slow(query, k, where):
        time.sleep(0.05)
        return search(query, k, where)

    monkeypatch.setattr(crowd, "search", slow)
    spent = Retriever(crowd, k=3)("green tea is served at noon").timings  # asks for 12, then for 24
    assert spent["search"] > 100


def test_the_trace_is_plain_json_without_texts(crowd):
    trace = Retriever(crowd, rewrite=lambda question: question + " please", k=3)("green tea is served")
    frame = json.loads(json.dumps(trace.to_frame()))
    assert set(frame) == {"query", "rewrites", "hits", "contexts", "timings", "missing"}
    assert frame["query"] == "green tea is served" and frame["rewrites"] == ["green tea is served please"]
    spans = [Span(*hit["span"]).of(CROWD) for hit in frame["hits"]]
    assert spans == [hit.chunk.text for hit in trace.hits]
    assert [Span(*context["span"]).of(CROWD) for context in frame["contexts"]] == [c.text for c in trace.contexts]
    assert {chunk for context in frame["contexts"] for chunk in context["hits"]} <= {
        hit["chunk"] for hit in frame["hits"]
    }
    assert "late" not in json.dumps(frame) and "Crowd" not in json.dumps(frame)


def test_every_stage_is_timed(crowd):
    trace = Retriever(crowd)("green tea")
    assert isinstance(trace, Trace) and list(trace.timings) == ["rewrite", "embed", "search", "expand"]
    assert all(0 <= ms < 60_000 for ms in trace.timings.values()) and trace.timings["search"] > 0.05


# --- the policy, with the real models ---

RULES = {
    "travel-zh": ("30 个自然日", "登记工单", "停止计时"),
    "travel-en": ("within 30 calendar days", "log a ticket", "clock is stopped"),
}


@pytest.mark.parametrize(("name", "model"), [("travel-zh", "zh"), ("travel-en", "zh"), ("travel-en", "en")])
def test_the_three_rules_of_the_deadline_arrive_in_order(name, model, request):
    with Index.open(None, request.getfixturevalue(model)) as index:
        index.add(sentence_tree(corpus.load(name)))
        question = corpus.questions(name)[0].text
        for expand in (parent_document, partial(sentence_window, window_size=2)):
            contexts = Retriever(index, expand)(question).contexts
            holding = [context.text for context in contexts if all(rule in context.text for rule in RULES[name])]
            assert holding and sorted(RULES[name], key=holding[0].index) == list(RULES[name])


# --- hypothetical questions ---

LENDING = """## Loans

Books go home for 28 days.

## Fines

A late one costs 20 cents.

## Staff

The safe opens at nine."""
ASKED = {"Books": ["how long may I keep a novel"], "A late": ["what if I forget"], "The safe": ["when can I see gold"]}


@pytest.fixture
def pair(fake):
    tree = sentence_tree(document("r", LENDING, version="7", section_access={"Staff": "staff"}))
    with Index.open(None, fake) as index, Index.open(None, fake, name="questions") as questions:
        index.add(tree)
        questions.add(question_tree(tree, lambda text: next((q for k, q in ASKED.items() if text.startswith(k)), [])))
        yield index, questions


def test_a_question_leads_to_its_chunk(pair):
    index, questions = pair
    found = pointed_to(questions.search("how long may I keep a novel", 5), index.tree)
    assert found[0].chunk.text == "Books go home for 28 days." and found[0].score == pytest.approx(1)
    assert [hit.rank for hit in found] == [1, 2]


def test_a_chunk_comes_once_at_its_best_question_and_lost_chunks_are_left_out(fake):
    tree = sentence_tree(document("r", LENDING))
    with Index.open(None, fake) as questions:
        questions.add(question_tree(tree, lambda text: ["green tea", "green tea at noon"]))
        hits = questions.search("green tea at noon", 50)
        assert len(hits) == 2 * len(tree.indexed)
        best = pointed_to(hits[::-1], tree)
        assert len(best) == len(tree.indexed) and all(hit.score == pytest.approx(1) for hit in best)
        assert pointed_to(hits, sentence_tree(document("other", "Nothing."))) == []


def test_the_retriever_fuses_text_and_questions(pair):
    index, questions = pair
    ask = "how long may I keep a novel"
    fused = Retriever(index, k=2, questions=questions)(ask)
    lists = [index.search(ask, 8), pointed_to(questions.search(ask, 8), index.tree)]
    expected = reciprocal_rank_fusion([hit.chunk.parent_id for hit in hits] for hits in lists)[:2]
    assert [(c.hits[0].chunk.parent_id, c.score) for c in fused.contexts] == [
        (p, pytest.approx(s)) for p, s in expected
    ]
    assert [c.score for c in fused.contexts] != [c.score for c in Retriever(index, k=2)(ask).contexts]


def test_questions_obey_the_filters_of_their_chunks(pair):
    index, questions = pair
    ask = "when can I see gold"
    for where, seen in ((None, False), ({"access": ["public", "staff"]}, True), ({"access": "staff"}, True)):
        hits = Retriever(index, where=where, questions=questions)(ask).hits
        assert any("safe" in hit.chunk.text for hit in hits) == seen
    everyone = {"access": ["public", "staff"]}
    assert Retriever(index, where=everyone | {"doc_id": "r"}, questions=questions)(ask).hits
    assert not Retriever(index, where=everyone | {"doc_id": "other"}, questions=questions)(ask).hits
    assert not Retriever(index, where=everyone | {"version": "8"}, questions=questions)(ask).hits


def test_questions_must_be_an_index_of_the_same_model(pair):
    index, _ = pair
    with pytest.raises(TypeError, match="questions must be an Index"):
        Retriever(index, questions=["how long?"])
    with Index.open(None, HashEmbedder(64)) as other, pytest.raises(ValueError, match="different models"):
        Retriever(index, questions=other)


def test_questions_about_a_text_that_has_changed_or_been_closed_lead_nowhere(fake):
    def cut(text, access="public", version="1"):
        return sentence_tree(document("r", text, version=version, section_access={"Loans": access}))

    with Index.open(None, fake) as index, Index.open(None, fake, name="questions") as questions:
        index.add(cut(LENDING))
        questions.add(question_tree(index.tree, lambda text: ["how long may I keep a novel"] if "28" in text else []))
        retriever = Retriever(index, questions=questions)

        def found(where=None):
            return pointed_to(questions.search("how long may I keep a novel", 5), index.tree, where)

        assert len(found()) == 1
        index.add(cut(LENDING, "staff"))
        assert not found() and len(found({"access": ["staff"]})) == 1
        assert not any("28" in hit.chunk.text for hit in retriever("how long may I keep a novel").hits)
        index.add(cut(LENDING, version="2"))
        assert not found({"version": "1"}) and len(found({"version": "2"})) == 1
        index.add(cut(LENDING.replace("28 days", "30 days and 28 nights")))
        assert not found(), "the question was asked about another text"
