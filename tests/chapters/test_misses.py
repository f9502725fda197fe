"""Chapter 4: how far questions are from their evidence, and how far a map can be trusted."""

import pytest

import s2b_lab as s2b
from s2b_lab import HashEmbedder, Index, corpus, parents_and_children
from s2b_lab.chapters import misses
from s2b_lab.figures import plot

MODEL = HashEmbedder()


@pytest.fixture
def lesson(chapter, monkeypatch):
    """The functions of the chapter, with a model that needs no time."""
    monkeypatch.setattr(s2b, "embedder", lambda name: MODEL)
    return chapter("04-why-retrieval-misses")


def rows(table):
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def test_distance_finds_the_rank_of_the_evidence(lesson):
    question = corpus.questions("einstein")[0]
    note, figure, table, _ = lesson.distance("einstein", question.text, "children")
    (_, gold), *_ = question.answers
    with Index.open(embedder=MODEL) as index:
        index.add(parents_and_children(corpus.load("einstein"), *corpus.cut_sizes("einstein")))
        hits = index.search(question.text, index.count())
    rank = next(hit.rank for hit in hits if hit.chunk.span.start < gold.end and gold.start < hit.chunk.span.end)
    assert f"rank {rank} " in note.text or (rank == 1 and "first" in note.text)
    assert next(row["rank"] for row in rows(table) if row["evidence"]) == rank
    colors = figure.frame()["data"][0]["marker"]["color"]
    assert rank > len(colors) or colors[rank - 1] == plot.EVIDENCE
    assert "no evidence" in lesson.distance("einstein", "Did Einstein own a dog?", "parents")[0].text


def test_hidden_evidence_is_called_hidden(lesson):
    question = next(q for q in corpus.questions("travel-en") if q.kind == "restricted")
    assert "some readers alone" in lesson.distance("travel-en", question.text, "children")[0].text


@pytest.mark.parametrize("text", ["einstein", "travel-en", "travel-zh"])
def test_units_are_what_all_may_read_each_once_and_parents_hold_the_children(text, lesson):
    units, public = lesson.units(text), s2b.public_text(corpus.load(text))
    assert list(units) == list(lesson.UNITS)
    for chunks in units.values():
        spans = [chunk.span for chunk in chunks]
        assert len({*spans}) == len(spans) and max(span.end for span in spans) <= len(public)
    parents = [parent.span for parent in units["parents"]]
    assert len(parents) < len(units["children"]) < len(units["sentences"])
    assert all(any(span.contains(child.span) for span in parents) for child in units["children"])


def test_first_ranks_count_every_question_once(lesson):
    figure = misses.rank_bars({unit: [*lesson.first_ranks("travel-en", unit)] for unit in lesson.UNITS})
    asked = len(corpus.questions("travel-en", more=True))
    hidden = sum(q.kind == "restricted" for q in corpus.questions("travel-en", more=True))
    assert {sum(bar["y"]) for bar in figure.frame()["data"]} == {asked - hidden}


def test_ranks_fall_into_the_step_that_holds_them():
    (bar,) = misses.rank_bars({"x": [1, 2, 4, 5, 16, 17, 900, None]}).frame()["data"]
    assert (bar["x"], bar["y"]) == (["1", "2 to 4", "5 to 16", "later"], [1, 2, 2, 2])


@pytest.mark.parametrize("method", ["umap", "pca"])
def test_the_map_is_compared_with_the_truth(method, lesson):
    note, figure = lesson.lies("travel-en", "How long is the deadline?", method, 0, 5)
    data = {trace.get("name"): trace for trace in figure.frame()["data"]}
    on_map, in_truth = (
        {(x, y) for x, y in zip(data[name]["x"], data[name]["y"], strict=True)}
        for name in ("nearest on this map", "nearest in truth")
    )
    assert len(data["nearest in truth"]["x"]) == 5 and note.text.startswith(f"{len(on_map & in_truth)} of the 5")


def test_the_price_of_the_evidence_is_what_is_read_down_to_it(lesson):
    question = corpus.questions("travel-en")[0]
    hits = lesson.nearest_first("travel-en", question.text, "children")
    rank = next(lesson.first_ranks("travel-en", "children"))
    cost = sum(s2b.text_tokens(MODEL, hit.chunk.text) for hit in hits[:rank])
    assert next(lesson.prices("travel-en", "children")) == cost
    note, _, table, _ = lesson.distance("travel-en", question.text, "children")
    assert (
        next(row["tokens so far"] for row in rows(table) if row["evidence"]) == cost and f"{cost:,} tokens" in note.text
    )


def test_questions_whose_evidence_is_hidden_have_no_price(lesson):
    asked = corpus.questions("travel-en", more=True)
    assert len([*lesson.prices("travel-en", "parents")]) == len(asked) - sum(q.kind == "restricted" for q in asked)


def test_prices_are_counted_within_budgets():
    table = misses.price_table({("A text", "children"): [10, 300, 301, 600, 601]})
    assert rows(table) == [
        {"text": "A text", "unit": "children", "questions": 5, "median tokens": 301, "within 300": 2, "within 600": 4}
    ]


def test_units_longer_than_the_model_reads_are_told(lesson, monkeypatch):
    monkeypatch.setattr(s2b, "embedder", lambda name: HashEmbedder(max_tokens=100))
    question = corpus.questions("travel-en")[0].text
    parents = lesson.units("travel-en")["parents"]
    long = sum(s2b.text_tokens(MODEL, chunk.text) > 100 for chunk in parents)
    assert 0 < long < len(parents)
    note = lesson.distance("travel-en", question, "parents")[0].text
    assert note.endswith(f" {long} of these parents are longer than the 100 tokens that the model reads.")


def test_the_ranks_say_of_how_many_questions():
    figure = misses.rank_bars({"x": [1, 2, None], "y": [None, 3, 4]}).frame()
    assert figure["layout"]["yaxis"]["title"]["text"] == "of 2 questions"
