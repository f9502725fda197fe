"""Whatever a public name is given by mistake, it says in its own words what is wanted and what it was given."""

import math
import traceback
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from heard import heard

import s2b_lab as s2b
from s2b_lab.core.checks import check_callable, check_kind, check_number, list_of

PACKAGE = str(Path(s2b.__file__).parent)
NAN = math.nan


class Model:
    name = "m"

    def __call__(self, prompt, system=""):
        return "What is it?"


class Broken(s2b.HashEmbedder):
    """A model whose second passage and every question come out as NaN."""

    def passages(self, texts):
        rows = super().passages(texts)
        rows[1:2] = NAN
        return rows

    def query(self, text):
        return super().query(text) * NAN


DOC = s2b.document("d", "# T\n\nAlpha one is here. Bravo two is here.\n\n## U\n\nCharlie three is here.\n")
TREE = s2b.sentence_tree(DOC)
CHUNK = TREE.indexed[2]
HIT = s2b.Hit(CHUNK, 0.5, 1)
SPAN = s2b.Span(0, 5)
CONTEXT = s2b.Context("d", CHUNK.span, CHUNK.text, (HIT,))
QUESTION = s2b.Question("Alpha?", (("d", SPAN),))
SCORES = s2b.Evaluation((s2b.Score(QUESTION, (True,), 3),))
HASH = s2b.HashEmbedder(8)
VECTORS, POINTS = np.eye(4), np.eye(4)[:, :2]
PUBLIC = ("public",)
SECTION = {"id": "d/0", "title": "", "level": 0, "span": SPAN, "access": "public"}
DOCUMENT = {"id": "d", "title": "t", "text": "hello", "version": "1", "access": "public", "sections": ()}
DOCUMENT |= {"pages": (0,), "source": "a.pdf"}
PLACE = {"id": "d/0", "doc_id": "d", "span": SPAN, "text": "hello", "parent_id": "p"}
CUT = {"text": "a b c d", "size": 5, "unit": "char", "length": len}
GROW = {"hits": [HIT], "tree": TREE, "k": 2, "access": PUBLIC}


def retrieved(index, expand=s2b.parent_document, query="alpha"):
    return s2b.Retriever(index, expand=expand)(query)


@pytest.fixture(scope="module")
def index():
    with s2b.Index.open(embedder=HASH) as opened:
        opened.add(TREE)
        yield opened


# Each public name that a reader gives something to, with arguments that it takes.
CALLS = {
    "Span": (s2b.Span, {"start": 0, "end": 2}),
    "Section": (s2b.Section, SECTION),
    "Document": (s2b.Document, DOCUMENT),
    "document": (
        s2b.document,
        {"id": "d", "text": "# A\n\nb", "title": "t", "version": "1", "access": "hr", "section_access": {}},
    ),
    "page_of": (s2b.page_of, {"document": DOC, "span": SPAN}),
    "merge_spans": (s2b.merge_spans, {"spans": [SPAN]}),
    "paragraphs": (s2b.paragraphs, {"text": "a b"}),
    "sections": (s2b.sections, {"text": "a b"}),
    "sentences": (s2b.sentences, {"text": "a b"}),
    "count": (s2b.count, {"text": "a b", "unit": "char"}),
    "recursive": (s2b.recursive, {**CUT, "overlap": 1}),
    "by_paragraph": (s2b.by_paragraph, CUT),
    "by_sentence": (s2b.by_sentence, {**CUT, "overlap": 1}),
    "Chunk": (partial(s2b.Chunk, level="sentence"), {**PLACE, "section_id": "d/0"}),
    "ChunkTree": (s2b.ChunkTree, {"documents": [DOC], "chunks": list(TREE), "indexed": [CHUNK]}),
    "ChunkTree.neighbours": (TREE.neighbours, {"chunk": CHUNK, "before": 1, "after": 1}),
    "parents_and_children": (
        s2b.parents_and_children,
        {"docs": [DOC], "parent_size": 200, "child_size": 50, "overlap": 5, "unit": "char", "length": len},
    ),
    "sentence_tree": (s2b.sentence_tree, {"docs": [DOC]}),
    "multi_granular": (s2b.multi_granular, {"docs": [DOC], "parent_size": 20, "unit": "word", "length": len}),
    "flat_tree": (s2b.flat_tree, {"doc": DOC, "spans": [SPAN]}),
    "Hit": (s2b.Hit, {"chunk": CHUNK, "score": 0.5, "rank": 1}),
    "Context": (s2b.Context, {"doc_id": "d", "span": CHUNK.span, "text": CHUNK.text, "hits": (HIT,)}),
    "readable": (s2b.readable, {"span": SPAN, "document": DOC, "access": PUBLIC}),
    "readable_chunks": (s2b.readable_chunks, {"tree": TREE, "access": PUBLIC}),
    "public_text": (s2b.public_text, {"document": DOC}),
    "covered_text": (s2b.covered_text, {"document": DOC}),
    "as_found": (s2b.as_found, GROW),
    "parent_document": (s2b.parent_document, {**GROW, "score": "max", "level": None}),
    "sentence_window": (s2b.sentence_window, {**GROW, "window_size": 1, "within": "section", "merge": True}),
    "auto_merge": (s2b.auto_merge, {**GROW, "ratio": 0.5}),
    "within_budget": (s2b.within_budget, {"contexts": [CONTEXT], "token_budget": 3, "count": len}),
    "cosine": (s2b.cosine, {"a": [1.0, 0.5], "b": [0.5, 1.0]}),
    "top_k": (s2b.top_k, {"query": [1.0, 0.5], "vectors": [[0.5, 1.0]], "k": 2}),
    "reciprocal_rank_fusion": (s2b.reciprocal_rank_fusion, {"lists": [["a", "b"]], "c": 60}),
    "Question": (s2b.Question, {"text": "Alpha?", "answers": (("d", SPAN),), "kind": "x"}),
    "load": (s2b.load, {"name": "travel-en"}),
    "language": (s2b.language, {"name": "travel-en"}),
    "cut_sizes": (s2b.cut_sizes, {"name": "travel-en"}),
    "questions": (s2b.questions, {"name": "travel-en"}),
    "HashEmbedder": (
        s2b.HashEmbedder,
        {"dimension": 8, "name": "hash", "max_tokens": 9, "query_prefix": "", "passage_prefix": ""},
    ),
    "HashEmbedder.passages": (HASH.passages, {"texts": ["a"]}),
    "HashEmbedder.query": (HASH.query, {"text": "a"}),
    "HashEmbedder.count_tokens": (HASH.count_tokens, {"text": "a"}),
    "text_tokens": (s2b.text_tokens, {"text": "a", "model": HASH}),
    "Index.add": (lambda index, **given: index.add(**given), {"tree": TREE}),
    "Index.search": (lambda index, **given: index.search(**given), {"query": "alpha", "k": 2, "where": None}),
    "Index.delete": (lambda index, **given: index.delete(**given), {"doc_id": "lost"}),
    "Retriever": (
        s2b.Retriever,
        {"index": None, "expand": s2b.as_found, "rewrite": None, "k": 2, "where": None, "token_budget": 9},
    ),
    "Retriever()": (retrieved, {"index": None, "query": "alpha"}),
    "expand": (lambda index, gives: retrieved(index, lambda hits, tree, k: gives), {"index": None, "gives": [CONTEXT]}),
    "pointed_to": (s2b.pointed_to, {"hits": [HIT], "tree": TREE, "where": None}),
    "step_back": (s2b.step_back(Model()), {"question": "Alpha?"}),
    "hyde": (s2b.hyde, {"model": Model(), "prompt": "few-shot", "language": "en"}),
    "hypothetical_questions": (s2b.hypothetical_questions, {"model": Model(), "n": 2}),
    "question_tree": (s2b.question_tree, {"tree": TREE, "ask": lambda passage: ["Why?"]}),
    "answer": (s2b.answer, {"question": "Alpha?", "contexts": [CONTEXT], "model": None, "embedder": HASH}),
    "prompt_for": (s2b.prompt_for, {"question": "Alpha?", "contexts": [CONTEXT], "language": "en"}),
    "Evaluation": (s2b.Evaluation, {"scores": SCORES.scores}),
    "evaluate": (
        s2b.evaluate,
        {"retriever": lambda question: [CONTEXT], "questions": [QUESTION], "token_budget": 9, "count": len},
    ),
    "evaluate, delivered": (
        lambda gives: s2b.evaluate(lambda question: gives, [QUESTION], count=len),
        {"gives": [CONTEXT]},
    ),
    "evaluate, counted": (
        lambda gives: s2b.evaluate(lambda question: [CONTEXT], [QUESTION], count=lambda text: gives),
        {"gives": 3},
    ),
    "compare": (
        s2b.compare,
        {
            "retrievers": {"a": lambda question: [CONTEXT]},
            "questions": [QUESTION],
            "ks": [1],
            "token_budgets": None,
            "count": len,
        },
    ),
    "gold_ranks": (s2b.gold_ranks, {"contexts": [CONTEXT], "gold": QUESTION.gold}),
    "recall_at_k": (s2b.recall_at_k, {"ranks": [1, None], "k": 2}),
    "dcg_at_k": (s2b.dcg_at_k, {"ranks": [1, None], "k": 2, "gain": "graded"}),
    "span_overlap": (s2b.span_overlap, {"contexts": [CONTEXT], "gold": QUESTION.gold}),
    "answer_f1": (s2b.answer_f1, {"answer": "a", "references": ["a"]}),
    "Overlap": (s2b.Overlap, {"shared": 1, "delivered": 2, "gold": 3}),
    "evidence_found": (s2b.evidence_found, {"contexts": [CONTEXT], "question": QUESTION}),
    "first_rank": (s2b.first_rank, {"found": [SPAN], "evidence": [SPAN]}),
    "paired_bootstrap": (
        s2b.paired_bootstrap,
        {"ours": SCORES, "theirs": SCORES, "metric": "recall", "resamples": 9, "level": 0.9, "seed": 0},
    ),
    "atlas": (s2b.atlas, {"document": DOC, "embedder": HASH, "seed": 0, "method": "pca"}),
    "umap_map": (s2b.umap_map, {"vectors": VECTORS, "seed": 0, "n_neighbors": 5, "min_dist": 0.1}),
    "place": (s2b.place, {"points": POINTS, "vectors": VECTORS, "newcomers": VECTORS[:1]}),
    "neighbours_kept": (s2b.neighbours_kept, {"points": POINTS, "vectors": VECTORS, "k": 2}),
    "Passages": (s2b.Passages, {"text": "hello", "marks": [s2b.Mark(SPAN, "hit")], "show": "all"}),
    "Mark": (s2b.Mark, {"span": SPAN, "kind": "hit", "label": ""}),
    "Table": (s2b.Table, {"columns": ["a"], "rows": [[1]], "caption": ""}),
    "Meter": (s2b.Meter, {"label": "a", "value": 1, "maximum": 2}),
}
WRONG = {
    "None": None, "bytes": b"x", "text": "a", "zero width": "\u200b", "texts": ["en"], "-1": -1,
    "True": True, "half": 0.5, "NaN": NAN, "infinity": math.inf, "object": object(), "class": dict, "mapping": {"a": 1},
    "a list of None": [None], "a list with NaN": [1.0, NAN], "a table with NaN": [[1.0, NAN], [0.0, 1.0]],
    "a list of lists": [["a"]], "complex": 1j,
}  # fmt: skip
# What an argument takes of these, since there it is right: all else is refused.
ANY = ("text", "zero width")
SHOWN = (*ANY, "-1", "half", "NaN", "infinity")
TAKEN = {
    **dict.fromkeys(("id", "doc_id", "section_id", "title", "version", "text", "query_prefix", "passage_prefix"), ANY),
    **dict.fromkeys(("Section access", "Document access", "document access"), ANY),
    **dict.fromkeys(("HashEmbedder name", "Question kind"), ANY),
    **dict.fromkeys(("query", "question", "Question text", "HashEmbedder.query text"), ("text",)),
    **dict.fromkeys(("label", "caption"), SHOWN), "access": ("texts",), "HashEmbedder.passages texts": ("texts",),
    **dict.fromkeys(("as_found k", "sentence_window k", "auto_merge k", "token_budget"), ("None",)),
    **dict.fromkeys(("by_paragraph size", "length", "indexed", "where", "rewrite", "level"), ("None",)),
    **dict.fromkeys(("within", "language"), ("None",)),
    **dict.fromkeys(("parents_and_children parent_size", "answer model", "document section_access"), ("None",)),
    **dict.fromkeys(("auto_merge ratio", "min_dist", "paired_bootstrap level", "c"), ("half",)),
    "evaluate, counted gives": ("half",),
    **dict.fromkeys(("Hit score", "Meter value", "Meter maximum"), ("-1", "half")),
    **dict.fromkeys(("hyde language", "language name", "Section level", "Index.delete doc_id"), ()),
    **dict.fromkeys(("within_budget token_budget", "evidence_found question", "top_k query"), ()),
    **dict.fromkeys(("recall_at_k k", "dcg_at_k k", "compare token_budgets"), ("None",)),
    **dict.fromkeys(("recall_at_k ranks", "dcg_at_k ranks"), ("a list of None",)),
    "answer_f1 answer": ANY, "answer_f1 references": (*ANY, "texts"),
    "parent_id": ("None", *ANY), "merge": ("True",), "document title": ("None", *ANY), "Passages text": ("half",),
    "source": ANY, "lists": ("a table with NaN", "a list of lists"), "rows": ("a list of lists",),
    "Table columns": ("bytes", "texts", "a list of None", "mapping", "a list of lists"),
}  # fmt: skip
# A class can be called: what it says of a text is its own error, which goes through. Any text may name a model, and
# None is the one in English.
OPEN = {
    **dict.fromkeys(("length", "count", "expand", "rewrite", "retriever", "ask"), ("class",)),
    "embedder": ("text", "None"),
}


def outcome(call, given):
    """Whether a call was taken, refused in the package's own words, or neither, with what was said."""
    try:
        call(**given)
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        said = isinstance(error, ValueError | TypeError) and last.filename.startswith(PACKAGE)
        # A `raise` of several lines is at its message.
        own = said and last.line.startswith(("raise ", 'f"', '"'))
        return "refused" if own else f"{error!r} at {last.filename}:{last.lineno}"
    return "taken"


def called(index, name, changed=()):
    call, given = CALLS[name]
    given = {"index": None, **given} if name.startswith("Index.") else given
    given = {key: index if key == "index" and value is None else value for key, value in given.items()}
    return outcome(call, given | dict(changed))


@pytest.mark.parametrize("name", [name for name in CALLS if name != "Index.delete"])
def test_the_table_begins_with_what_is_right(index, name):
    assert called(index, name) == "taken"


@pytest.mark.parametrize(("name", "argument"), [(name, key) for name, (_, given) in CALLS.items() for key in given])
def test_a_wrong_value_is_refused_in_words_that_say_what_is_wanted(index, name, argument):
    tried = {kind: value for kind, value in WRONG.items() if kind not in OPEN.get(argument, ())}
    found = {kind: called(index, name, {argument: value}) for kind, value in tried.items()}
    right = TAKEN.get(f"{name} {argument}", TAKEN.get(argument, ()))
    assert found == {kind: "taken" if kind in right else "refused" for kind in tried}


def test_the_table_holds_every_public_function_that_computes():
    here = {name.split(".")[0].split(",")[0].removesuffix("()") for name in CALLS}
    made = {"Answer", "Atlas", "Citation", "Index", "Interval", "NotRecorded", "QuestionSet", "Recording", "Report",
            "Rewrite", "Rewriter", "Score", "Trace"}  # fmt: skip
    protocols = {"ChatModel", "Embedder", "ModelUnavailable", "Searchable"}
    shown = {"Choice", "Figure", "Note", "Rows", "Slider", "Stage", "Stages", "Switch", "Text", "explore"}
    elsewhere = {"embedder", "first_of", "local_model", "names", "openai_model", "python_docs", "question_set",
                 "read_file", "read_files", "read_folder", "recorded", "recordings"}  # fmt: skip
    # Wrong values are given to these in tests/chunkers and tests/models.
    chunkers = {"CausalModel", "EndModel", "EndSignal", "LumberCuts", "ScoredBlock", "by_label", "causal_model",
                "end_signal", "lgmgc", "logits", "logits_blocks", "lumber", "semantic",
                "semantic_distances"}  # fmt: skip
    assert set(s2b.__all__) - here - made - protocols - shown - elsewhere - chunkers == set()


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda index: s2b.auto_merge([HIT], TREE, ratio="1"), "ratio must be a number, not str '1'"),
        (lambda index: s2b.Span("a", 2), "start of a span must be a whole number, not 'a'"),
        (lambda index: s2b.Span(0.5, 2), "start of a span must be a whole number, not 0.5"),
        (lambda index: s2b.Span(0, True), "end of a span must be a whole number, not True"),
        (lambda index: s2b.Hit("id", 0.5, 1), "the chunk of a hit must be a Chunk, not str 'id'"),
        (lambda index: s2b.within_budget([None], 3), "contexts must hold Context"),
        (lambda index: retrieved(index, lambda hits, tree, k: None), "what expand gives must be a list of Contexts"),
        (lambda index: s2b.embedder(["en"]), r"a model's name is a text such as 'en' or 'zh', not \['en'\]"),
        (lambda index: s2b.embedder("en", cache=3), "cache must be a str or a PathLike or None, not int 3"),
        (lambda index: index.delete(["d"]), "doc_id must be a str, not list"),
        (lambda index: index.search(None), "query, a text or a vector, must be numbers, not NoneType None"),
        (lambda index: index.search(b"x"), "query, a text or a vector, must be numbers, not bytes b'x'"),
        (lambda index: index.search([1.0, NAN]), r"must hold finite numbers, not nan at \[1\]"),
        (lambda index: s2b.umap_map([[1.0, NAN]]), r"vectors must hold finite numbers, not nan at \[0, 1\]"),
        (lambda index: s2b.place([1.0, 2.0], VECTORS[:2], VECTORS[:1]), r"the shape \(n, 2\), not \(2,\)"),
        (lambda index: s2b.place(VECTORS, VECTORS, VECTORS[:1]), r"the shape \(n, 2\), not \(4, 4\)"),
    ],
    ids=[f"A9-{n}" for n in range(16)],
)
def test_the_words_name_the_value(index, call, says):
    with pytest.raises((TypeError, ValueError), match=says):
        call(index)


@pytest.mark.parametrize("read", [s2b.read_file, s2b.read_files, s2b.read_folder])
@pytest.mark.parametrize("path", [None, b"x", 3, [None], object()])
def test_what_is_no_path_is_refused(read, path):
    with pytest.raises(TypeError, match=r"path must be a text or a Path|paths must be a list"):
        read(path)


@pytest.mark.parametrize("name", [None, b"en", 3, True, NAN, "\u200b", ["en"], {"en": 1}])
def test_a_model_has_a_name(name):
    assert outcome(s2b.embedder, {"name": name}) == "refused"


# --- numbers of numpy are numbers ---


@pytest.mark.parametrize(
    "call",
    [
        lambda index: s2b.recursive("a b c d", np.int64(3), np.int32(1)),
        lambda index: s2b.parents_and_children(DOC, np.int64(50), np.int16(20), np.int8(2)),
        lambda index: s2b.sentence_window([HIT], TREE, np.int64(1), k=np.int64(2)),
        lambda index: s2b.auto_merge([HIT], TREE, np.float32(0.5)),
        lambda index: s2b.reciprocal_rank_fusion([["a"]], np.float64(60)),
        lambda index: s2b.top_k(np.ones(2, np.float32), np.eye(2, dtype=np.float32), np.int64(1)),
        lambda index: s2b.within_budget([CONTEXT], np.int64(3)),
        lambda index: s2b.neighbours_kept(POINTS, VECTORS.astype(np.float16), np.int64(1)),
        lambda index: index.search(np.ones(8, np.int64), np.int64(2)),
        lambda index: s2b.Retriever(index, k=np.int64(2), token_budget=np.int64(9))("alpha"),
        lambda index: s2b.evaluate(lambda q: [CONTEXT], [QUESTION], count=lambda text: np.int64(len(text))),
    ],
    ids=[f"numpy-{n}" for n in range(11)],
)
def test_numbers_of_numpy_work_as_those_of_python(index, call):
    assert call(index) is not None


def test_a_span_of_numpy_numbers_is_the_span_of_python_numbers():
    span = s2b.Span(np.int64(1), np.int32(3))
    assert span == s2b.Span(1, 3) and type(span.start) is type(span.end) is int


# --- NaN, wherever it stands ---


def test_a_model_that_gives_nan_is_named_with_the_text_that_it_fails_at():
    broken, texts = Broken(8, name="broken"), [s2b.document("e", "One is here. Two is here. Three is here.")]
    with s2b.Index.open(embedder=broken) as opened:
        with pytest.raises(ValueError, match=r"broken gave nan for text 2,"):
            opened.add(s2b.sentence_tree(texts))
        opened.add(TREE.__class__([texts[0]], [c for c in s2b.sentence_tree(texts) if c.id == "e/0/p1/s1"]))
        for ask in (opened.search, s2b.Retriever(opened)):
            with pytest.raises(ValueError, match=r"broken gave nan for text 1,"):
                ask("one")
    with pytest.raises(ValueError, match=r"broken gave nan for text 2,"):
        s2b.atlas(texts[0], broken, method="pca")
    found = s2b.Context("d", s2b.Span(0, 47), DOC.text[:47], ())
    with pytest.raises(ValueError, match=r"broken gave nan"):
        s2b.answer("Alpha?", [found], embedder=broken)


@pytest.mark.parametrize("bad", [NAN, math.inf, -math.inf])
@pytest.mark.parametrize("part", ["points", "vectors", "newcomers"])
def test_no_map_is_made_of_what_is_not_finite(bad, part):
    given = {"points": POINTS.copy(), "vectors": VECTORS.copy(), "newcomers": VECTORS[:2].copy()}
    given[part][1, 1] = bad
    with pytest.raises(ValueError, match=rf"{part} must hold finite numbers, not {bad} at \[1, 1\]"):
        s2b.place(**given)
    if part != "newcomers":
        with pytest.raises(ValueError, match=part):
            s2b.neighbours_kept(given["points"], given["vectors"], 1)


def test_a_number_too_large_for_a_vector_is_not_made_infinite(index):
    with pytest.raises(ValueError, match="finite"):
        index.search([1e300] * 8)


# --- a question with nothing to see, and halves of characters ---


@pytest.mark.parametrize("blank", ["", " \n", "\u200b", "\ufeff", "\xad", "\u2060\u200d", "\u200b \u3000"])
def test_what_shows_nothing_is_blank_wherever_a_question_goes(index, blank):
    asks = (index.search, s2b.Retriever(index), s2b.step_back(Model()), s2b.hyde(Model()), HASH.query)
    asks += (lambda text: s2b.answer(text, [CONTEXT]), lambda text: s2b.prompt_for(text, [CONTEXT]))
    for ask in (*asks, lambda text: s2b.Question(text, (("d", SPAN),))):
        with pytest.raises(ValueError, match="is blank"):
            ask(blank)


HALF = "caf\ud800 tea. Two \udc00 are here."


def test_halves_of_characters_in_a_document_are_replaced_one_for_one_with_one_warning():
    with heard() as told:
        found = s2b.document("d\udc80", f"# T\udfff\n\n{HALF}")
    (warned,) = told
    assert warned.category is UserWarning
    assert "text of document 'd\ufffd' has lone surrogates, the first at character 3" in str(warned.message)
    assert found.text == f"# T\ufffd\n\n{HALF}".replace("\ud800", "\ufffd").replace("\udc00", "\ufffd")
    assert (found.id, found.title, found.sections[0].title) == ("d\ufffd", "T\ufffd", "T\ufffd")
    for chunk in s2b.sentence_tree(found):
        assert chunk.text == chunk.span.of(found.text) and chunk.id.encode()


def test_a_whole_character_is_no_half():
    with heard() as told:
        assert s2b.document("d", "caf\u00e9 \U0001f600 \ufffd").text == "caf\u00e9 \U0001f600 \ufffd"
    assert not told


def test_one_document_with_halves_stops_no_other():
    with pytest.warns(UserWarning, match="document 'bad'"):
        docs = [s2b.document("good", "Tea is here."), s2b.document("bad", HALF), s2b.document("last", "Milk is here.")]
    with s2b.Index.open(embedder=HASH) as opened:
        assert opened.add(s2b.sentence_tree(docs)).documents == 3
        assert opened.search("Two are here", k=1)[0].chunk.doc_id == "bad"
        assert opened.verify() == []


def test_halves_in_a_question_are_replaced_with_a_warning_that_names_it(index):
    for ask in (index.search, s2b.Retriever(index), s2b.step_back(Model()), HASH.query):
        with pytest.warns(UserWarning, match="the (query|question) has lone surrogates, the first at character 3"):
            ask(HALF)
    with pytest.warns(UserWarning):
        assert s2b.Retriever(index)(HALF).query.encode()
        assert np.array_equal(
            HASH.query(HALF), HASH.query(HALF.replace("\ud800", "\ufffd").replace("\udc00", "\ufffd"))
        )
    with pytest.warns(UserWarning, match="passage 1 of 2 has lone surrogates"):
        assert np.isfinite(HASH.passages(["a", HALF])).all()


# --- the checks themselves ---


@pytest.mark.parametrize(
    ("check", "error", "says"),
    [
        (lambda: check_kind("n", 3, str | None), TypeError, "n must be a str or None, not int 3"),
        (lambda: check_kind("n", None, s2b.Evaluation), TypeError, "n must be an Evaluation, not NoneType"),
        (lambda: check_number("n", True), ValueError, "n must be a number, not bool True"),
        (lambda: check_number("n", math.inf, 0), ValueError, "n must be a finite number of at least 0, not inf"),
        (lambda: check_number("n", -1, 0), ValueError, "n must be a finite number of at least 0, not -1"),
        (lambda: check_callable("n", 3, "of x"), TypeError, "n must be a function of x, not int 3"),
        (lambda: list_of(int, "n", None), TypeError, "n must be a list of ints, not NoneType"),
        (lambda: list_of(str, "n", "ab"), TypeError, "n must be a list of texts, not str 'ab'"),
        (lambda: list_of(int, "n", {1: 2}), TypeError, "n must be a list of ints, not dict"),
        (lambda: list_of(int, "n", [1, "x" * 99]), TypeError, r"n must hold ints only, not str 'x+\.\.\.x+'$"),
    ],
    ids=[f"check-{n}" for n in range(10)],
)
def test_a_check_names_what_it_was_given_in_short(check, error, says):
    with pytest.raises(error, match=says):
        check()


def test_a_check_lets_the_right_thing_pass():
    check_kind("n", None, str | None)
    check_number("n", np.float32(0), 0)
    check_callable("n", len, "of x")
    assert list_of(int, "n", (n for n in (1, 2))) == [1, 2] and list_of(int, "n", []) == []
