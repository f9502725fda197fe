"""The chapters: clean and thin notebooks, whose claims hold when they run."""

import json
from pathlib import Path
from statistics import median

import pytest

import s2b_lab as s2b
from s2b_lab import distances, levers

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


# --- the question side ---


@pytest.fixture
def reused(monkeypatch):
    """What the book has embedded need not be embedded again."""
    monkeypatch.setenv("S2B_EMBEDDING_CACHE", str(VECTORS))
    for function in (levers.library, levers.question_library, distances.units):
        function.cache_clear()


def test_the_blouse_is_answered_by_the_original_question_with_sixteen_children_and_four_parents(reused):
    question = s2b.questions("einstein")[0]
    assert "blouse" in question.text
    index = levers.library("einstein")
    rewrite = levers.rewriter("step-back", "authors", "few-shot", "einstein")
    trace = s2b.Retriever(index, rewrite=rewrite, k=4)(question.text)
    assert trace.rewrites != (question.text,) and len(trace.hits) == 16 and len(trace.contexts) == 4
    assert s2b.evidence_found(trace.contexts, question) == [True]
    assert any("blouse, number 101,756, on October 27, 1936." in context.text for context in trace.contexts)
    prompt = s2b.prompt_for(question.text, trace.contexts)
    assert prompt.endswith(question.text) and trace.rewrites[0] not in prompt
    right = s2b.answer(question.text, trace.contexts, embedder=index.embedder)
    wrong = s2b.answer(trace.rewrites[0], trace.contexts, embedder=index.embedder)
    assert "October 27, 1936" in right.text and right.kind == "extract" and "1936" not in wrong.text
    small = s2b.recorded("answers.smollm2.zero-shot.en")
    to_question, to_rewrite = (
        s2b.answer(asked, trace.contexts, model=small) for asked in (question.text, *trace.rewrites)
    )
    assert to_question.kind == to_rewrite.kind == "model" and not to_question.citations
    assert "1936" in to_question.text and "1936" not in to_rewrite.text
    plain = s2b.Retriever(index, k=4)(question.text)
    assert s2b.evidence_found(plain.contexts, question) == [True], "the chapter says that plain retrieval finds it too"


def test_chinese_questions_go_through_the_same_levers(reused):
    question, index = s2b.questions("travel-zh")[0], levers.library("travel-zh")
    delivered = {}
    for lever in ("step-back", "hyde"):
        rewrite = levers.rewriter(lever, "authors", "few-shot", "travel-zh")
        assert "示例" in rewrite.instructions and rewrite(question.text) != question.text
        for kept, searched in ((False, rewrite), (True, lambda asked, rewrite=rewrite: [asked, rewrite(asked)])):
            trace = s2b.Retriever(index, rewrite=searched, k=4)(question.text)
            delivered[lever, kept] = sum(s2b.evidence_found(trace.contexts, question))
            assert s2b.prompt_for(question.text, trace.contexts).endswith(f"问题：{question.text}")
    # What the chapter on stepping back says of the question that the book began with.
    assert delivered == {("step-back", False): 0, ("step-back", True): 3, ("hyde", False): 3, ("hyde", True): 3}
    writer = levers.rewriter("step-back", "authors", "few-shot", "travel-zh")
    two = s2b.Retriever(index, rewrite=lambda asked: [asked, writer(asked)], k=2)(question.text)
    assert sum(s2b.evidence_found(two.contexts, question)) == 0


def test_the_claims_about_the_ablation_hold():
    rows = s2b.effects.results(BOOK.parent / "benchmarks/results/ablation.json")["rows"]
    whole = [row for row in rows if row["kind"] == "all"]
    stepped = [row for row in whole if row["searched"] == ["step-back"] and not row["asked"]]
    assert len(stepped) == 18 and all(row["low"] <= 0 for row in stepped)
    for budget in (600, 1200):
        assert all(r["high"] < 0 for r in stepped if (r["text"], r["budget"]) == ("einstein", budget))
    both = [row for row in whole if row["searched"] == ["hyde"] and row["asked"] and row["budget"] == 300]
    assert len(both) == 6 and all(row["low"] > 0 for row in both)
    better = {budget: sum(r["low"] > 0 for r in whole if r["budget"] == budget) for budget in (300, 600, 1200)}
    assert better[1200] < better[600] / 3 < better[300]


def test_the_claims_about_a_second_try_hold():
    found = s2b.effects.results(BOOK.parent / "benchmarks/results/ablation.json")
    for delivery in ("children", "parents"):
        rows = {tuple(row[:2]): row[3:5] for row in s2b.effects.rule(found, delivery).rows}
        for text in ("travel-en", "travel-zh"):
            helped, hurt = rows[text, "incomplete"]
            assert helped > hurt
        assert rows["einstein", "incomplete"][0] == {"children": 0, "parents": 2}[delivery]


def test_the_two_sides_of_the_toy_questions():
    model = s2b.embedder("en")
    question = model.query("Who can allow me a dearer room?")
    answers, sounds = model.passages(
        ["The head of department may allow up to 20 percent above the limit.", "A dearer room has a better view."]
    )
    assert answers @ question < sounds @ question


def test_the_claims_about_distances_hold(reused):
    later, earlier = 0, 0
    for text in levers.TEXTS.values():
        document, asked = s2b.load(text), s2b.questions(text, more=True)
        model, ranks, gaps = s2b.embedder(levers.language(text)), {}, []
        for unit in ("sentences", "children", "parents"):
            spans = distances.units(text, unit)
            vectors = model.passages([span.of(document.text) for span in spans])
            scores = [vectors @ model.query(question.text) for question in asked]
            ranks[unit] = [distances.first_rank(s, spans, q) for s, q in zip(scores, asked, strict=True)]
            gaps += [sorted(s)[-1] - sorted(s)[-3] for s in scores] if unit == "children" else []
        first = sum(rank == 1 for rank in ranks["children"])
        assert first < 0.7 * len(asked) < sum(rank is not None and rank <= 16 for rank in ranks["children"])
        assert median(gaps) < (0.02 if text.endswith("zh") else 0.1)
        pairs = list(zip(ranks["sentences"], ranks["parents"], strict=True))
        later += sum(one == 1 and other > 1 for one, other in pairs if None not in (one, other))
        earlier += sum(one > 1 and other == 1 for one, other in pairs if None not in (one, other))
    assert 0 < later < earlier


def nearer(table):
    """Of the few-shot rewrites, the share that is nearer to the evidence than the question."""
    count, _, whole = next(row[3] for row in table.rows if row[0] == "few-shot").split()
    return int(count) / int(whole)


def test_the_claims_about_rewrites_hold(reused):
    shares = [nearer(levers.prompts(text)) for text in levers.TEXTS.values()]
    assert shares[2] < shares[0] < 0.5 < shares[1]
    assert all(nearer(levers.prompts(text, "hyde")) >= 0.9 for text in ("travel-en", "travel-zh"))
    for text in ("einstein", "travel-en"):
        asked = [question.text for question in levers.examples_of(text)]
        for prompt in ("few-shot", "zero-shot"):
            writer = levers.rewriter("step-back", "smollm2", prompt, text)
            assert sum("wrote no question" in writer.explain(question).reason for question in asked) >= 5
    assert closer("einstein") == 0 < min(closer("travel-en"), closer("travel-zh"))


def closer(text):
    """How many of the small model's passages are nearer to the evidence than the question."""
    document, model = s2b.load(text), s2b.embedder(levers.language(text))
    writer, count = levers.rewriter("hyde", "smollm2", "few-shot", text), 0
    for question in levers.examples_of(text):
        spans = [span for _, span in question.answers]
        asked, written = (
            levers.closeness(model, document, spans, [one])
            for one in (question.text, writer.explain(question.text).text)
        )
        count += written > asked
    return count


def test_a_question_is_mostly_nearer_to_a_question_than_to_a_text(reused):
    for text in levers.TEXTS.values():
        chunks, questions = levers.library(text), levers.question_library(text)
        asked = [question.text for question in s2b.questions(text, more=True)]
        higher = sum(questions.search(one, 1)[0].score > chunks.search(one, 1)[0].score for one in asked)
        assert len(asked) / 2 < higher < len(asked)
