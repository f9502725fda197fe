"""The chapters: clean and thin notebooks, whose claims hold when they run."""

import json
from pathlib import Path

import pytest

import s2b_lab as s2b

BOOK = Path(__file__).resolve().parents[1] / "book"
CHAPTERS = sorted(BOOK.glob("*.ipynb"))


def code_cells(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


# What the book has embedded when it was built need not be embedded again.
VECTORS = BOOK.parent / "_build" / "embeddings"


@pytest.fixture(scope="module")
def en():
    return s2b.embedder("en", cache=VECTORS)


@pytest.fixture(scope="module")
def zh():
    return s2b.embedder("zh", cache=VECTORS)


@pytest.fixture(scope="module")
def library(en, zh):
    made = {}

    def get(language, tree=None):
        key = (language, tree)
        if key not in made:
            document = s2b.load(f"travel-{language}")
            made[key] = s2b.Index.open(embedder={"en": en, "zh": zh}[language])
            made[key].add(s2b.sentence_tree(document) if tree is None else s2b.parents_and_children(document, *tree))
        return made[key]

    return get


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_a_chapter_is_clean_and_thin(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert "widgets" not in notebook["metadata"]
    for cell in code_cells(path):
        assert cell["outputs"] == [] and cell["execution_count"] is None
        assert len(cell["source"]) <= 7, "".join(cell["source"])
    assert sum(len(cell["source"]) for cell in code_cells(path)) <= 90


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_every_figure_is_one_call_of_explore_on_a_function_of_the_chapter(path):
    cells = ["".join(cell["source"]) for cell in code_cells(path)]
    calls = [cell for cell in cells if cell.startswith("explore(")]
    assert calls
    for call in calls:
        name = call.removeprefix("explore(").split(",")[0]
        assert any(f"def {name}(" in cell for cell in cells)


def test_company_dilutes_a_sentence(en):
    question = en.query("When do I have to hand in my receipts?")
    alone, among = en.passages(
        [
            "Hand in your receipts by Friday.",
            "Hand in your receipts by Friday. The canteen closes at three. Visitors park behind the warehouse.",
        ]
    )
    assert alone @ question > among @ question


@pytest.mark.parametrize("language", ["en", "zh"])
def test_one_parent_brings_the_three_rules_in_order(library, language):
    question = s2b.questions(f"travel-{language}")[0]
    index = library(language, (600, 200, 0))
    (context,) = s2b.parent_document(index.search(question.text, k=16), index.tree, k=1)
    assert s2b.evidence_found([context], question) == [True, True, True]
    starts = [span.start for _, span in question.answers]
    assert starts == sorted(starts) and context.span.start <= starts[0]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_window_brings_the_three_rules_in_order(library, language):
    question = s2b.questions(f"travel-{language}")[0]
    index = library(language)
    context = s2b.sentence_window(index.search(question.text, k=1), index.tree, window_size=2)[0]
    assert s2b.evidence_found([context], question) == [True, True, True]


def test_no_expansion_of_one_section_reaches_the_exception(library):
    question = next(q for q in s2b.questions("travel-en") if q.kind == "exception")
    index = library("en")
    hits = index.search(question.text, k=4)
    section = s2b.parent_document(hits, index.tree, k=4, level="section")
    assert s2b.evidence_found(section, question) == [True, False]
    for width in (0, 1, 2, 5):
        assert s2b.evidence_found(s2b.sentence_window(hits, index.tree, width), question)[1] is False


def test_the_missed_hit_stays_missed_at_every_width(library):
    question = next(q for q in s2b.questions("travel-en") if q.kind == "wording")
    index = library("en")
    for width in (0, 1, 2, 5):
        hits = index.search(question.text, k=4)
        assert s2b.evidence_found(s2b.sentence_window(hits, index.tree, width), question) == [False]


def test_the_whole_manual_as_one_parent_delivers_everything_but_the_annex(library):
    question = s2b.questions("travel-en")[0]
    index = library("en", (None, 200, 0))
    (context,) = s2b.parent_document(index.search(question.text, k=16), index.tree, k=4)
    annex = s2b.load("travel-en").sections[-1]
    assert context.span == s2b.Span(0, len(s2b.load("travel-en").text[: annex.span.start].rstrip()))


def test_as_many_children_as_parents_wanted_are_too_few(library):
    index = library("en", (800, 100, 40))
    few, many = [], []
    for question in s2b.questions("travel-en"):
        few.append(len(s2b.parent_document(index.search(question.text, k=4), index.tree, k=4)))
        many.append(len(s2b.parent_document(index.search(question.text, k=16), index.tree, k=4)))
    assert sum(few) < sum(many)


def test_on_these_questions_small_to_big_buys_more_evidence_for_the_price_than_small_chunks(library, en):
    questions, document = s2b.questions("travel-en"), s2b.load("travel-en")
    index, public = library("en"), document.text[: document.sections[-1].span.start]
    ranked = s2b.show.by_similarity(document, en, s2b.recursive(public, 100, 0))
    window = s2b.evaluate(
        lambda q: s2b.sentence_window(index.search(q, k=1), index.tree, 1), questions, count=en.count_tokens
    )
    small = s2b.evaluate(lambda q: ranked(q)[:4], questions, count=en.count_tokens)
    assert window.tokens < small.tokens and window.recall > small.recall


def test_there_is_no_size_that_is_best_for_both_languages(en, zh):
    best = {}
    for language, model in (("en", en), ("zh", zh)):
        document = s2b.load(f"travel-{language}")
        public = document.text[: document.sections[-1].span.start]
        at_price = {}
        for size in (100, 250, 600):
            ranked = s2b.show.by_similarity(document, model, s2b.recursive(public, size, 0))
            result = s2b.evaluate(ranked, s2b.questions(document.id), 400, count=model.count_tokens)
            at_price[size] = result.recall
        best[language] = max(at_price, key=at_price.get)
    assert best["en"] != best["zh"]
