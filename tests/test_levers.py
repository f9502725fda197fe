"""The views on the question side say what the retrieval did."""

import json

import pytest
from chat_server import ChatServer, without_settings

from s2b_lab import HashEmbedder, corpus, distances, journey, levers, plot
from s2b_lab.chunk import parents_and_children
from s2b_lab.interact import frame_of
from s2b_lab.llm import first_of, recordings
from s2b_lab.retrieve import Retriever
from s2b_lab.rewrite import Rewrite, key_of

BLOUSE = "When did Einstein receive the patent for his blouse?"
MODEL = HashEmbedder()


@pytest.fixture(scope="module", autouse=True)
def quick_model():
    """A model that needs no time; what is remembered of the real ones is forgotten before and after."""
    patch = pytest.MonkeyPatch()
    for module in (levers, distances, journey):
        patch.setattr(module, "embedder", lambda name: MODEL)
    without_settings(patch)
    remembered = (levers.library, levers.question_library, distances.units)
    for function in remembered:
        function.cache_clear()
    yield
    for function in remembered:
        function.cache_clear()
    patch.undo()


def rows(table):
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def test_every_text_has_six_questions_narrow_and_broad_and_the_blouse_comes_first():
    controls = levers.ask()
    for label, name in controls["text"].options.items():
        asked = controls["question"].under(label)
        kinds = [q.kind for q in corpus.questions(name, more=True) if q.text in asked]
        assert len(asked) == 6 and 2 <= kinds.count("general") <= 4
    assert controls["question"].under("Einstein's patents")[0] == BLOUSE
    assert levers.ask(2, ("einstein",))["text"].options == {"Einstein's patents": "einstein"}


@pytest.mark.parametrize("text", levers.TEXTS.values())
def test_every_question_of_the_ablation_has_both_rewrites_under_both_prompts(text):
    for lever in ("step-back", "hyde"):
        for prompt in ("few-shot", "zero-shot"):
            writer = levers.rewriter(lever, "authors", prompt, text)
            made = [writer.explain(question.text) for question in corpus.questions(text, more=True)]
            assert all(not one.reason and "authors" in one.source for one in made)


@pytest.mark.parametrize("text", levers.TEXTS.values())
def test_every_chunk_that_all_may_read_has_recorded_questions_and_no_other(text):
    tree = levers.library(text).tree
    public = {key_of(chunk) for chunk in tree.indexed if tree.section(chunk).access == "public"}
    questions = levers.question_library(text)
    assert set(questions.tree.documents) == public
    assert questions.count() > levers.question_library(text, 1).count() == len(public)


@pytest.mark.parametrize("text", levers.TEXTS.values())
def test_the_small_model_was_recorded_for_the_questions_of_the_figures(text):
    for lever in ("step-back", "hyde"):
        for prompt in ("few-shot", "zero-shot"):
            writer = levers.rewriter(lever, "smollm2", prompt, text)
            for question in levers.examples_of(text):
                made = writer.explain(question.text)
                assert "SmolLM2" in made.source + made.reason and "holds no answer" not in made.reason


def test_what_was_not_recorded_goes_to_the_configured_model_and_without_one_says_so():
    made = levers.rewriter("step-back", "authors", "few-shot", "einstein").explain("Did Einstein own a dog?")
    assert made.text == "Did Einstein own a dog?" and "holds no answer" in made.reason and "OPENAI" in made.reason
    assert "used as it is" in levers.told(made)


def test_distance_finds_the_rank_of_the_evidence():
    question = corpus.questions("einstein")[0]
    note, figure, table, _ = distances.distance("einstein", question.text, "children")
    index = levers.library("einstein")
    (_, gold), *_ = question.answers
    hits = index.search(question.text, index.count())
    rank = next(hit.rank for hit in hits if hit.chunk.span.start < gold.end and gold.start < hit.chunk.span.end)
    assert f"rank {rank} " in note.text or (rank == 1 and "first" in note.text)
    assert next(row["rank"] for row in rows(table) if row["evidence"]) == rank
    colors = figure.fig.data[0].marker.color
    assert rank > len(colors) or colors[rank - 1] == plot.EVIDENCE
    assert "no evidence" in distances.distance("einstein", "Did Einstein own a dog?", "parents")[0].text


def test_first_ranks_count_every_question_once():
    figure = distances.first_ranks("travel-en")
    asked = len(corpus.questions("travel-en", more=True))
    hidden = sum(q.kind == "restricted" for q in corpus.questions("travel-en", more=True))
    assert {sum(bar.y) for bar in figure.data} == {asked - hidden}


@pytest.mark.parametrize("method", ["umap", "pca"])
def test_the_map_is_compared_with_the_truth(method):
    note, figure = distances.lies("travel-en", "How long is the deadline?", method, 0, 5)
    data = {trace.name: trace for trace in figure.fig.data}
    on_map, in_truth = (
        {(x, y) for x, y in zip(data[name].x, data[name].y, strict=True)}
        for name in ("nearest on this map", "nearest in truth")
    )
    assert len(data["nearest in truth"].x) == 5 and note.text.startswith(f"{len(on_map & in_truth)} of the 5")


def test_a_rewrite_is_compared_with_the_question():
    question = corpus.questions("einstein")[0]
    (_, gold), *_ = question.answers
    rewrite = Rewrite(gold.of(corpus.load("einstein").text), "a cheat")
    note, table, stages, figure, passages = levers.compare("einstein", question.text, rewrite, 2)
    asked, rewritten, fused = rows(table)
    assert rewritten["similarity to the evidence"] == 1 and rewritten["rank of the evidence"] == 1
    assert asked["similarity to the evidence"] < 1 == fused["similarity to the evidence"]
    assert rewritten["evidence delivered"] == "1 of 1" and "a cheat" in note.text
    assert any(trace.name == "rewritten" for trace in figure.fig.data) and figure.fig.layout.annotations
    assert {mark.kind for mark in passages.marks} >= {"context", "gold"}
    assert stages.stages[0].made.rows == [[rewrite.text, "a cheat"]] and stages.stages[-1].name == "prompt"


def test_hypothetical_questions_lead_to_their_chunks():
    ways, found, stages, _ = levers.asked("travel-en", corpus.questions("travel-en")[0].text, 3, 2)
    assert [row["searched"] for row in rows(ways)] == [
        "the text of the chunks",
        "the questions about them",
        "both, fused",
    ]
    tree = levers.library("travel-en").tree
    assert stages.stages[0].made == "no rewriting" and len(stages.stages[3].made.rows) == 2
    assert len(found.rows) == 2 and all(row["points to"] in tree for row in rows(found))


def test_the_picture_of_the_tree_counts_what_is_there():
    note, sizes, strips = journey.tree_picture("einstein", 2000, 500)
    document = corpus.load("einstein")
    tree = parents_and_children(document, 2000, 500, 20)
    parents = {chunk.parent_id for chunk in tree.indexed}
    assert note.text.startswith(f"9 sections and an opening, {len(parents)} parents, {len(tree.indexed)} children")
    assert sum(sizes.fig.data[0].x) == sum(MODEL.count_tokens(s.span.of(document.text)) for s in document.sections)
    assert [len(bar.x) for bar in strips.fig.data] == [1, len(document.sections), len(parents), len(tree.indexed)]
    for bar in strips.fig.data:
        ends = [start + length for start, length in zip(bar.base, bar.x, strict=True)]
        assert ends[-1] <= len(document.text) and ends == sorted(ends)


def test_the_buffer_counts_distinct_parents():
    note, figure = journey.buffer("einstein", BLOUSE, 4, 2000, 500)
    index = levers.library("einstein", 2000, 500)
    counts = [len({hit.chunk.parent_id for hit in index.search(BLOUSE, k)}) for k in (4, 8, 16)]
    assert list(figure.fig.data[0].y) == counts == sorted(counts)
    assert note.text.startswith(f"4 wanted: {counts[0]} distinct")


def test_the_pipeline_shows_every_stage_and_answers_the_original_question():
    made = levers.rewrites(("step-back", "hyde"), "few-shot", "einstein", BLOUSE)
    index = levers.library("einstein")
    trace = Retriever(index, rewrite=lambda _: [one.text for one in made], k=4)(BLOUSE)
    _, table, answers, stages, passages, _ = journey.pipeline(index, BLOUSE, made, trace)
    assert [row[""] for row in rows(table)] == ["plain retrieval", "this pipeline"]
    assert rows(answers)[0]["answered with"] == "the question" and len(answers.rows) == 3
    names = [stage.name for stage in stages.stages]
    assert names == ["rewrite", "embed", "search", "expand", "prompt", "answer"]
    parts = dict(zip(names, stages.stages, strict=True))
    assert [row["text"] for row in rows(parts["rewrite"].made)] == [one.text for one in made]
    assert [row["child"] for row in rows(parts["search"].made)] == [hit.chunk.id for hit in trace.hits]
    assert len(parts["expand"].made.rows) == 4 and parts["prompt"].made.endswith(f"Question: {BLOUSE}")
    assert all(parts[name].ms >= 0 for name in ("rewrite", "embed", "search", "expand"))
    assert sum(mark.kind == "context" for mark in passages.marks) == 4
    assert len(json.dumps(frame_of(stages))) < 12_000, "a recording holds hundreds of these"


def test_plain_retrieval_has_no_rewrite_to_show():
    index = levers.library("travel-zh", 1000, 250)
    question = corpus.questions("travel-zh")[0].text
    *_, answers, stages, _, _ = journey.pipeline(
        index, question, [], Retriever(index, rewrite=lambda _: [], k=1)(question)
    )
    assert len(answers.rows) == 1 and stages.stages[0].made == "no rewriting"
    assert stages.stages[4].made.endswith(question)


def test_prompts_and_drift_cover_all_questions():
    table = levers.prompts("travel-en")
    assert [row[0] for row in table.rows] == ["as asked", "few-shot", "zero-shot"]
    assert all(str(row[3]).endswith("of 30") for row in table.rows[1:])
    moves = [row["rank after"] / row["rank before"] for row in rows(levers.drift("travel-en"))]
    assert len(moves) == 6 and moves == sorted(moves)


def test_what_is_not_there_is_named():
    question = corpus.questions("einstein")[0].text
    for make, fault in (
        (lambda: levers.library("rag-zh"), "not about 'rag-zh'"),
        (lambda: levers.library("einstein", 0, 0), "at least 1, not 0"),
        (lambda: levers.rewriter("magic", "authors", "few-shot", "einstein"), "not 'magic' by 'authors'"),
        (lambda: levers.rewriter("hyde", "nobody", "few-shot", "einstein"), "not 'hyde' by 'nobody'"),
        (lambda: levers.drift("einstein", 0), "n must be at least 1"),
        (lambda: levers.question_library("einstein", 0), "n must be at least 1"),
        (lambda: distances.distance("einstein", question, "paragraphs"), "not 'paragraphs'"),
        (lambda: journey.buffer("einstein", question, 0, 2000, 500), "k must be at least 1"),
        (lambda: journey.tree_picture("nope", 2000, 500), "'nope'"),
    ):
        with pytest.raises(ValueError, match=fault):
            make()


def test_a_reader_who_may_see_nothing_sees_nothing():
    index = levers.library("travel-en")
    trace = Retriever(index, where={"access": "nobody"})("Who checks?")
    _, table, answers, stages, *_ = journey.pipeline(index, "Who checks?", [], trace)
    assert rows(table)[1]["first child"] is None and answers.rows[0][2] == "none"
    assert stages.stages[2].made.rows == []


def test_hidden_evidence_is_called_hidden():
    question = next(q for q in corpus.questions("travel-en") if q.kind == "restricted")
    assert "some readers alone" in distances.distance("travel-en", question.text, "children")[0].text


def test_a_recording_can_be_read_as_it_was_written():
    recording = levers.recorded("step-back.authors.few-shot.en")
    assert recording.date in levers.origin(recording) and recording.prompt in levers.origin(recording)


def test_a_writer_without_recordings_is_the_configured_model():
    model = levers.model("questions", "nobody", "few-shot", "einstein")
    assert "questions.nobody.few-shot.en" not in recordings() and not isinstance(model, type(first_of(model)))


def test_a_configured_model_answers_in_a_kernel_and_not_in_the_built_book(monkeypatch):
    index = levers.library("travel-en")
    question = corpus.questions("travel-en")[0].text
    trace = Retriever(index, k=1)(question)
    with ChatServer(lambda prompt, system: f"Yes [1]. {len(prompt)}") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.address)
        monkeypatch.setenv("OPENAI_MODEL", "stand-in")
        answers, stages = journey.pipeline(index, question, [], trace)[2:4]
        assert answers.rows[0][1].startswith("Yes [1].") and answers.rows[0][2] == "stand-in"
        assert "[1] travel-en" in stages.stages[-1].made and "(model: stand-in)" in stages.stages[-1].made
        monkeypatch.setenv("S2B_BUILD", "1")
        assert journey.pipeline(index, question, [], trace)[2].rows[0][2] == "extract"
    assert len(server.requests) == 1
