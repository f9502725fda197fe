"""Answers, traces, indexes and evaluations show themselves as a reader wants to see them, and never fail to."""

import shutil

import pytest
from IPython.core.formatters import DisplayFormatter

import s2b_lab as s2b

SCRIPT = "<script>alert('s2b')</script>"
POLICY = s2b.document(
    "policy",
    f"# Travel\n\nKeep every invoice. {SCRIPT}\n\n# Dates\n\nSubmit within thirty days.\n\n# Pay\n\nThe bonus is 500.",
    version="1",
    section_access={"Pay": "hr"},
)


def shown(thing):
    """What a notebook gets of an object: its HTML and its plain text."""
    bundle, _ = DisplayFormatter().format(thing)
    assert bundle["text/plain"] == str(thing), "print() and a notebook without HTML say the same"
    assert SCRIPT not in bundle["text/html"]
    return bundle["text/html"], bundle["text/plain"]


@pytest.fixture
def index():
    with s2b.Index.open(embedder=s2b.HashEmbedder()) as index:
        index.add(s2b.parents_and_children(POLICY, 60, 30, 0))
        yield index


def test_a_trace_shows_the_way_of_its_question(index):
    asked = f"Within how many days? {SCRIPT}"
    trace = s2b.Retriever(index, rewrite=lambda question: [question, "submit thirty days"], k=1)(asked)
    html, plain = shown(trace)
    lines = plain.split("\n")
    assert lines[0] == f"Trace of a question: {asked}"
    assert lines[1:3] == [f"  rewrites      {asked}", "                submit thirty days"]
    best, (context,) = trace.hits[0], trace.contexts
    assert f"1. {best.chunk.id}: {best.score:.3g}" in plain, "fused scores are small, and differ in the third digit"
    assert f"1. policy {context.span.start} to {context.span.end}, {len(context.text)} characters: " in plain
    assert all(f"{stage} {ms:.1f}" in plain for stage, ms in trace.timings.items())
    assert "lost" not in plain
    assert "&lt;script&gt;" in html and html.count("<tr>") == len([line for line in lines[1:] if line[2] != " "])


def test_a_long_trace_is_short():
    text = " ".join(f"Rule {n} of the policy says so." for n in range(200))
    with s2b.Index.open(embedder=s2b.HashEmbedder()) as index:
        index.add(s2b.sentence_tree(s2b.document("long", text)))
        trace = s2b.Retriever(index, expand=s2b.as_found, k=10)("Which rule?")
    assert len(trace.hits) == 40 and len(trace.contexts) == 10
    assert "… and 35 more" in str(trace) and "… and 5 more" in str(trace)
    assert len(str(trace)) < 2000 < len(repr(trace))


def test_a_trace_of_nothing_and_one_with_lost_parents_are_shown():
    assert str(s2b.Trace("why?", (), (), (), {})) == "Trace of a question: why?\n  hits      none\n  contexts  none"
    assert "2 hits whose parents are lost" in str(s2b.Trace("why?", (), (), (), {}, 2))


def test_an_index_shows_where_it_is_and_what_it_holds(index):
    html, plain = shown(index)
    assert plain.split("\n") == [
        "Index s2b in memory",
        "  model      hash, 256 dimensions",
        "  documents  1",
        "             policy",
        f"  vectors    {index.count()}",
    ]
    assert "bonus" not in html + plain and "invoice" not in html + plain
    assert repr(index) == "Index('s2b' in memory, hash, 1 documents)"


def test_an_emptied_index_and_a_closed_one_are_shown(tmp_path):
    index = s2b.Index.open(tmp_path / "index", s2b.HashEmbedder())
    index.add(s2b.sentence_tree(POLICY))
    index.delete("policy")
    _, plain = shown(index)
    assert "  documents  0\n  vectors    0" in plain and str(tmp_path / "index") in plain and "state" not in plain
    index.close()
    html, plain = shown(index)
    assert "is closed" in plain and "is closed" in html
    with pytest.raises(ValueError, match="is closed"):
        index.count()


def test_an_index_whose_folder_is_gone_is_shown(tmp_path):
    index = s2b.Index.open(tmp_path / "index", s2b.HashEmbedder())
    shutil.rmtree(tmp_path / "index")
    assert "was deleted while an index in it was open" in shown(index)[1]
    index.close()


def test_an_answer_shows_its_text_who_wrote_it_and_what_it_rests_on(index):
    contexts = s2b.Retriever(index, k=1)("Within how many days?").contexts

    def model(prompt, system=""):
        return f"Thirty. {SCRIPT} [1] [7]"

    model.name = "tiny"
    html, plain = shown(s2b.answer("Within how many days?", contexts, model))
    span = contexts[0].span
    assert plain.split("\n") == [
        "Answer by tiny",
        f"  text     Thirty. {SCRIPT} [1] [7]",
        f"  sources  [1] policy, {span.start} to {span.end}",
        "  reason   it cites [7], but the contexts are numbered 1 to 1",
    ]
    assert "&lt;script&gt;" in html
    extract = s2b.answer("Within how many days?", contexts, embedder=s2b.HashEmbedder())
    assert str(extract).split("\n")[:2] == ["Extract from the contexts", "  text     Submit within thirty days."]
    assert extract.reason in str(extract)
    assert str(s2b.answer("Why?", [])) == "No answer\n  reason  no context was delivered"


def test_a_rewrite_shows_who_wrote_it_or_why_there_is_none():
    def model(prompt, system=""):
        return "What are the rules?" if "days" in prompt else ""

    model.name = "tiny"
    rewriter = s2b.step_back(model)
    assert shown(rewriter.explain("Within how many days?"))[1] == "Rewrite by tiny\n  text  What are the rules?"
    _, plain = shown(rewriter.explain(SCRIPT))
    assert plain.startswith(f"No rewrite: the question as it is\n  text    {SCRIPT}\n  reason  ")


@pytest.mark.parametrize(
    ("interval", "text"),
    [
        (s2b.Interval(1 / 3, -1 / 6, 5 / 6, 0.95), "+0.333 (95 % interval -0.167 to +0.833), zero lies inside"),
        (s2b.Interval(0.25, 0.0001, 0.5, 0.999), "+0.250 (99.9 % interval +0.000 to +0.500), zero lies outside"),
        (s2b.Interval(-12.5, -20.0, -5.0, 0.55), "-12.500 (55 % interval -20.000 to -5.000), zero lies outside"),
    ],
)
def test_an_interval_is_a_sentence(interval, text):
    html, plain = shown(interval)
    assert plain == text and text in html and "<table" not in html
    assert str(interval.low) in repr(interval)


def test_an_evaluation_shows_its_means_and_a_score_its_question(index):
    questions = [
        s2b.Question("Within how many days?", (("policy", s2b.Span(0, 5)), ("policy", s2b.Span(5, 8)))),
        s2b.Question(f"Why? {SCRIPT}", (("policy", s2b.Span(0, 5)),)),
    ]
    scores = s2b.Score(questions[0], (True, False), 1234), s2b.Score(questions[1], (True,), 1001)
    evaluation = s2b.Evaluation(scores)
    assert shown(evaluation)[1].split("\n") == [
        "Evaluation over 2 questions",
        "  recall    0.750",
        "  complete  0.500",
        "  tokens    1,118 for a question",
    ]
    assert str(scores[0]) == "Within how many days?\n  evidence  1 of 2\n  tokens    1,234"
    assert "&lt;script&gt;" in shown(scores[1])[0]
    assert str(s2b.Evaluation(())) == "Evaluation over 0 questions"


def test_a_report_counts_what_a_change_did(index):
    report = index.add(s2b.sentence_tree(s2b.document("b", "One. Two.")))
    assert shown(report)[1] == "1 document written or removed\n  vectors  2 added, 0 kept, 0 deleted"
    assert repr(report) == "Report(added=2, kept=0, deleted=0, documents=1)"
