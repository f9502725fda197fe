"""The views of a pipeline say what the retrieval did, and the chapter's own functions compute it."""

import json

import pytest
from chat_server import ChatServer

import s2b_lab as s2b
from s2b_lab.chapters import pipeline
from s2b_lab.embed import text_tokens
from s2b_lab.figures.views import frame_of

BLOUSE = "When did Einstein receive the patent for his blouse?"
SIZES = {"k": 4, "child": 1, "parent": 1}


@pytest.fixture
def book(chapter, quick):
    return chapter("07")


def rows(table):
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def test_the_picture_of_the_tree_counts_what_is_there(book, quick):
    note, sizes, strips = (view.frame() for view in book.levels("einstein", 1, 1))
    document = s2b.load("einstein")
    tree = s2b.parents_and_children(document, 2000, 500, 20)
    parents = {chunk.parent_id for chunk in tree.indexed}
    assert note["text"].startswith(f"9 sections and an opening, {len(parents)} parents, {len(tree.indexed)} children")
    tokens = sum(text_tokens(quick, section.span.of(document.text)) for section in document.sections)
    assert sum(sizes["data"][0]["x"]) == tokens and f"{tokens:,} tokens" in note["text"]
    counts = [len(bar["x"]) for bar in strips["data"]]
    assert counts == [1, len(document.sections), len(parents), len(tree.indexed)]
    for bar in strips["data"]:
        ends = [start + length for start, length in zip(bar["base"], bar["x"], strict=True)]
        assert ends[-1] <= len(document.text) and ends == sorted(ends)


def test_what_only_some_may_read_is_not_in_the_picture(book):
    annex = s2b.load("travel-en").sections[-1]
    assert annex.access != "public"
    note, _, strips = (view.frame() for view in book.levels("travel-en", 1, 1))
    assert all(start + length <= annex.span.start for bar in strips["data"] for start, length in
               zip(bar["base"], bar["x"], strict=True))  # fmt: skip
    assert annex.title not in json.dumps(note, ensure_ascii=False)


def test_a_parent_mixes_sections_where_it_reaches_into_a_second_one(book):
    document = s2b.load("einstein")
    first, second = document.sections[:2]
    border = second.span.start
    assert book.mixes(s2b.Span(border - 1, border + 1), document)
    assert not book.mixes(s2b.Span(border, border + 1), document)
    assert not book.mixes(first.span, document)


def test_the_buffer_counts_distinct_parents(book):
    note, figure = (view.frame() for view in book.buffer("einstein", BLOUSE, 4, 1, 1))
    index = book.library("einstein")
    counts = [len({hit.chunk.parent_id for hit in index.search(BLOUSE, k)}) for k in (4, 8, 16)]
    assert list(figure["data"][0]["y"]) == counts == sorted(counts)
    short = f"{counts[0]} distinct parents out of 4 children, {counts[1]} out of 8, {counts[2]} out of 16."
    assert note["text"] == f"4 wanted: {short}"
    with pytest.raises(ValueError, match="k must be at least 1"):
        book.buffer("einstein", BLOUSE, 0, 1, 1)


def test_the_pipeline_shows_every_stage_and_answers_the_original_question(book):
    made = book.rewrites("einstein", BLOUSE, ("step-back", "hyde"), "few-shot")
    index = book.library("einstein")
    trace = s2b.Retriever(index, rewrite=lambda _: [one.text for one in made], k=4)(BLOUSE)
    views = book.every_stage("einstein", BLOUSE, ("step-back", "hyde"), "few-shot", **SIZES)
    _, table, answers, stages, passages, _ = views
    assert [row[""] for row in rows(table)] == ["plain retrieval", "this pipeline"]
    assert rows(answers)[0]["answered with"] == "the question" and len(answers.rows) == 3
    names = [stage.name for stage in stages.stages]
    assert names == ["rewrite", "embed", "search", "expand", "prompt", "answer"]
    parts = dict(zip(names, stages.stages, strict=True))
    assert [row["text"] for row in rows(parts["rewrite"].made)] == [one.text for one in made]
    assert parts["search"].made.of == "hits" and parts["expand"].made.of == "contexts"
    assert [row["chunk"] for row in stages.data["hits"]] == [hit.chunk.id for hit in trace.hits]
    assert len(stages.data["contexts"]) == 4 and parts["prompt"].made.endswith(f"Question: {BLOUSE}")
    assert rows(answers)[0]["answer"] in parts["answer"].made
    assert all(stages.data["timings"][parts[name].ms] >= 0 for name in ("rewrite", "embed", "search", "expand"))
    assert sum(mark.kind == "context" for mark in passages.marks) == 4
    shown = frame_of(stages)[0]
    assert shown["copy"]["query"] == BLOUSE and shown["copy"]["rewrites"] == [one.text for one in made]
    assert len(json.dumps({**shown, "copy": None})) < 12_000, "a recording holds hundreds of these"


def test_plain_retrieval_has_no_rewrite_to_show(book):
    question = s2b.questions("travel-zh")[0].text
    *_, answers, stages, _, _ = book.every_stage("travel-zh", question, (), "few-shot", k=1, child=250, parent=1000)
    assert len(answers.rows) == 1 and stages.stages[0].made == "no rewriting"
    assert stages.stages[4].made.endswith(question)


def test_a_reader_who_may_see_nothing_sees_nothing(book):
    index, question = book.library("travel-en"), "Who checks?"
    trace = s2b.Retriever(index, where={"access": "nobody"})(question)
    given = [book.answered(question, trace.contexts, index)]
    plain = s2b.Retriever(index)(question)
    _, table, answers, stages, *_ = pipeline.stage_views(index, [], trace, plain, given)
    assert rows(table)[1]["first child"] is None and answers.rows[0][2] == "none"
    assert stages.data[stages.stages[2].made.of] == []


def test_a_configured_model_answers_in_a_kernel(book, monkeypatch):
    question = s2b.questions("travel-en")[0].text
    with ChatServer(lambda prompt, system: f"Yes [1]. {len(prompt)}") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.address)
        monkeypatch.setenv("OPENAI_MODEL", "stand-in")
        answers, stages = book.every_stage("travel-en", question, (), "few-shot", 1, 1, 1)[2:4]
        assert answers.rows[0][1].startswith("Yes [1].") and answers.rows[0][2] == "stand-in"
        assert "[1] travel-en" in stages.stages[-1].made and "(model: stand-in)" in stages.stages[-1].made
        monkeypatch.delenv("OPENAI_MODEL")
        answers = book.every_stage("travel-en", question, (), "few-shot", 1, 1, 1)[2]
        assert answers.rows[0][2] == "extract"
    assert len(server.requests) == 1


def test_what_is_not_there_is_named(book):
    for make, fault in (
        (lambda: book.levels("nope", 1, 1), "'nope'"),
        (lambda: book.library("rag-zh"), "'rag-zh'"),
        (lambda: book.library("einstein", 0, 0), "at least 1, not 0"),
    ):
        with pytest.raises(ValueError, match=fault):
            make()
