"""`make bench-quality`: each of its parts beside a naive reference, and the results that are committed."""

import itertools
import json
import re
import sys
import warnings
from collections import Counter
from dataclasses import replace
from pathlib import Path
from statistics import fmean, pstdev

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import s2b_lab as s2b
from benchmarks import (
    quality,
    quality_ends,
    quality_gains,
    quality_models,
    quality_scores,
    quality_strategies,
    quality_units,
)
from benchmarks.quality_ends import RecordedEnds, recording
from benchmarks.quality_scores import BUDGETS, KINDS, KS, Measured, Spent
from benchmarks.quality_search import Exact, Memory, TimedEmbedder, TimedEnds
from benchmarks.quality_strategies import (
    CANDIDATES,
    HEADED,
    SIZES,
    STRATEGIES,
    TEXTS,
    HeadlessCopies,
    Models,
    flat,
    whole_tables,
)
from benchmarks.quality_tables import QUESTIONS, questions_on_tables
from s2b_lab.core.text import trimmed
from s2b_lab.metrics import without_repeats

ROOT = Path(__file__).parents[1]
BY_NAME = {one.name: one for one in STRATEGIES}
TEXT = """# Rules

Everyone may travel. Trips are paid by the firm.

## Hotels

A room costs at most 120 euros. Breakfast is paid. Wine is not paid.

Longer stays need a flat. A flat is rented by the month.

## Trains

Staff go second class. Directors go first class. Night trains have beds.

## Pay

The chief earns a million. Nobody else may know it.

## Planes

Flights need approval. Approval takes a week. Seats are narrow.
"""


class Ends:
    """A causal model that likes to end after short texts."""

    name = "short"

    def end_probabilities(self, text, places):
        return [1 / (1 + place) for place in places]


class NoModel(Ends):
    def end_probabilities(self, text, places):
        raise s2b.ModelUnavailable("there is no model")


@pytest.fixture
def doc():
    return s2b.document("rules", TEXT, section_access={3: "pay"})


@pytest.fixture
def models():
    memory = Memory()
    return Models(TimedEmbedder(s2b.HashEmbedder(64, max_tokens=12), memory), TimedEnds(Ends(), memory))


def ask(doc, text, *quotes):
    places = [(doc.id, s2b.Span(at, at + len(quote))) for quote in quotes for at in [doc.text.index(quote)]]
    return s2b.Question(text, tuple(places), "evidence" if len(quotes) > 1 else "needle")


@pytest.fixture
def questions(doc):
    return [
        ask(doc, "What may a room cost?", "A room costs at most 120 euros."),
        ask(doc, "Which class do directors go?", "Directors go first class."),
        ask(doc, "How are flats rented?", "A flat is rented by the month."),
        ask(doc, "Is wine or breakfast paid?", "Breakfast is paid.", "Wine is not paid."),
        ask(doc, "What do flights need, and how long does approval take?", "Flights need", "Approval takes a week."),
    ]


# --- search and models -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["sentences", "recursive", "parents", "multi-granular"])
def test_search_is_that_of_an_index(doc, models, questions, name):
    tree = BY_NAME[name].cut([doc], 20, models)
    index = s2b.Index.open(embedder=models.embedder)
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        index.add(tree, progress=False)
    ours = Exact(tree, models.embedder)
    assert len(ours.vectors) > len(ours.chunks) or name in ("sentences", "parents"), "some are embedded in pieces"
    for question, k in itertools.product(questions, (1, 4, 100)):
        theirs = index.search(question.text, k)
        assert [(hit.chunk.id, hit.rank) for hit in ours.search(question.text, k)] == [
            (hit.chunk.id, hit.rank) for hit in theirs
        ]
        assert [hit.score for hit in ours.search(question.text, k)] == pytest.approx([hit.score for hit in theirs])


def test_nobody_finds_what_is_for_others_and_no_flat_chunk_goes_across_labels(doc, models):
    for strategy in STRATEGIES:
        index = Exact(strategy.cut([doc], 500, models), models.embedder)
        found = "".join(hit.chunk.text for hit in index.search("Who earns a million?", 100))
        assert "Seats" in found and "million" not in found, strategy.name
    spans = [chunk.span for chunk in flat([doc], lambda text: [s2b.Span(0, len(text))])]
    pay = next(section.span for section in doc.sections if section.access == "pay")
    assert len(spans) == 3 and trimmed(doc.text, pay) in spans


class Counting(s2b.HashEmbedder):
    def __init__(self):
        super().__init__(16)
        self.seen = Counter()

    def passages(self, texts):
        self.seen.update(texts)
        return super().passages(texts)


def test_a_text_is_embedded_once_over_processes_and_its_seconds_are_kept(tmp_path):
    texts = ["one two", "three", "one  two", "four five six"]
    first, again = (TimedEmbedder(Counting(), Memory(tmp_path)) for _ in range(2))
    rows = first.passages(texts)
    assert {text: first._model.seen[text] for text in ("one two", "three", "four five six")} == dict.fromkeys(
        ("one two", "three", "four five six"), 1
    )
    assert np.array_equal(rows, s2b.HashEmbedder(16).passages(texts)) and rows.dtype == np.float32
    assert np.array_equal(again.passages(texts), rows) and not again._model.seen
    assert again.cost == first.cost > 0
    first.passages(texts[:1])
    assert again.cost < first.cost < 2 * again.cost, "what is asked for again costs again, though nothing is computed"
    assert np.array_equal(first.query("one two"), again.query("one two"))


def test_ends_are_computed_once_and_their_seconds_kept(tmp_path):
    class Slow(Ends):
        asked = 0

        def end_probabilities(self, text, places):
            self.asked += 1
            return super().end_probabilities(text, places)

    first, again = (TimedEnds(Slow(), Memory(tmp_path)) for _ in range(2))
    found = first.end_probabilities("One. Two.", [4, 9])
    assert found == [1 / 5, 1 / 10] == again.end_probabilities("One. Two.", [4, 9])
    assert again._model.asked == 0 and again.cost == first.cost > 0
    assert again.end_probabilities("One. Two.", [4]) == [1 / 5] and again._model.asked > 0, "other places, other answer"


def test_seconds_are_those_of_the_work_and_not_of_the_look_up():
    class Model:
        spent = cost = 0.0

    model = Model()
    with Spent([model]) as all_kept:
        model.spent, model.cost = model.spent + 1e-9, model.cost + 5.0
    with Spent([model]) as computed:
        model.spent, model.cost = model.spent + 3.0, model.cost + 3.0
    assert all_kept.seconds == pytest.approx(5, abs=0.1) and computed.seconds == pytest.approx(0, abs=0.1)


# --- scores ----------------------------------------------------------------------------------------------------------


def measured(doc, models, name, size=20, questions=(), text="rules"):
    limits = quality.LIMITS if questions else ()
    count = quality_scores.counter(models.embedder)
    return quality_scores.measure(text, [doc], BY_NAME[name], size, models, questions, limits, count)


@pytest.mark.parametrize("name", BY_NAME)
@pytest.mark.parametrize("budget", [5, 15, 40])
def test_a_budget_is_filled_with_the_fewest_hits(doc, models, questions, name, budget):
    strategy, count = BY_NAME[name], quality_scores.counter(models.embedder)
    index = Exact(strategy.cut([doc], 20, models), models.embedder)
    for question in questions:
        found = quality_scores.filled(index, strategy.expand, budget, count, question.text)
        hits = index.search(question.text, 1000)
        grown = [strategy.expand(hits[:n], index.tree, k=n) for n in range(1, len(hits) + 1)]
        full = (one for one in grown if sum(count(c.text) for c in without_repeats(one)) >= budget)
        assert found == next(full, grown[-1])


def test_at_equal_k_each_strategy_delivers_as_many_by_itself(doc, models, questions):
    found = measured(doc, models, "window 1", None, questions)
    for k in KS:
        alone = s2b.evaluate(s2b.Retriever(found.index, found.expand, k=k), questions, k=k)
        assert found.at["k", k] == alone
    tokens = [found.at["budget", budget].scores for budget in BUDGETS]
    assert all(score.tokens <= budget for budget, some in zip(BUDGETS, tokens, strict=True) for score in some)
    row = quality_scores.row(found)
    assert row["k"]["all"]["dcg"] == [round(found.at["k", k].dcg, 4) for k in KS]
    pieces = quality_scores.of_kind(found.at["budget", 50], "evidence")
    assert len(pieces.scores) == 2 and row["budget"]["evidence"]["recall"][0] == pytest.approx(
        fmean(score.recall for score in pieces.scores), abs=1e-4
    )


def evaluation(values):
    doc = s2b.document("d", "x" * 9)
    scores = []
    for n, value in enumerate(values):
        question = s2b.Question(f"q{n}", tuple((doc.id, s2b.Span(i, i + 1)) for i in range(4)))
        found = tuple(place < value * 4 for place in range(4))
        scores.append(s2b.Score(question, found, 10, tuple(1 if one else None for one in found)))
    return s2b.Evaluation(tuple(scores))


def given_values(text, strategy, size, values):
    at = {(name, limit): evaluation(values) for name, limit in quality.LIMITS}
    return Measured(text, strategy, size, 1, (0.0, 0.0), s2b.as_found, None, at)


def test_spread_is_that_over_the_sizes_of_one_text():
    values = {200: [1, 0.5, 0.25], 300: [0.5, 0.5, 0.5], 500: [0, 0.25, 1]}
    found = [given_values("a", "s", size, some) for size, some in values.items()]
    found.append(given_values("b", "s", 200, [1, 1, 1]))
    rows = [quality_scores.row(one) for one in found] + [quality_scores.row(given_values("a", "bare", None, [1]))]
    spread = {(one["text"], one["strategy"]): one for one in quality_scores.spreads(rows, [("recall", "k", 5)])}
    means = [fmean(some) for some in values.values()]
    assert spread["a", "s"]["deviation"] == pytest.approx(pstdev(means), abs=1e-4)
    assert spread["a", "s"]["range"] == pytest.approx(max(means) - min(means), abs=1e-4)
    assert spread["b", "s"]["deviation"] == 0 and len(spread) == 2


def test_the_least_sensitive_is_told_with_how_sure_that_is():
    moves = [[1, 1, 0, 0, 1], [0, 1, 0, 1, 1], [0, 0, 0, 0, 0]]
    found = [
        given_values(text, strategy, size, [1, 0.5, 0, 1, 1] if strategy == "calm" else moves[n])
        for text in "ab"
        for strategy in ("calm", "moved")
        for n, size in enumerate(SIZES)
    ]
    found += [given_values("a", "half", size, [1, 1, 1, 1, 1]) for size in SIZES]  # not on all texts
    growth = {"calm": 1.0, "moved": 2.0, "half": 2.0}
    rows = quality_scores.least_sensitive(found, [("recall", "k", 5)], growth, resamples=200, seed=1)
    calm, moved = ({one["strategy"]: one for one in rows}[name] for name in ("calm", "moved"))
    assert len(rows) == 2 and calm["mean"] == calm["low"] == calm["high"] == 0 and calm["least"] == 1
    assert moved["mean"] == pytest.approx(pstdev(map(fmean, moves)), abs=1e-4)
    assert moved["low"] < moved["mean"] < moved["high"] and moved["least"] < 0.2
    assert moved["least_growing"] == 1 and calm["least_growing"] is None and (calm["growth"], moved["growth"]) == (1, 2)
    assert rows == quality_scores.least_sensitive(found, [("recall", "k", 5)], growth, resamples=200, seed=1)


def test_growth_is_that_of_the_delivered_units():
    tokens = {("a", 200): 10, ("a", 300): 99, ("a", 500): 30, ("b", 200): 20, ("b", 300): 1, ("b", 500): 20}
    units = [{"text": t, "strategy": "s", "size": size, "tokens": n} for (t, size), n in tokens.items()]
    units.append({"text": "a", "strategy": "bare", "size": None, "tokens": 5})
    assert quality_scores.growths(units) == {"s": 2.0}


# --- chunk quality ---------------------------------------------------------------------------------------------------


def cosine_means(units, sentences):
    """Coherence and contrast by their definitions, pair by pair; sentences are pairs of span and vector."""
    inside, near = [], {True: [], False: []}
    for unit in units:
        held = [vector for span, vector in sentences if unit.contains(span)]
        pairs = [s2b.cosine(a, b) for a, b in itertools.combinations(held, 2)]
        inside += [fmean(pairs)] if pairs else []
    for (a, one), (b, other) in itertools.pairwise(sentences):
        near[any(unit.contains(a) and unit.contains(b) for unit in units)].append(s2b.cosine(one, other))
    return fmean(inside), fmean(near[True]) - fmean(near[False])


@pytest.mark.parametrize(("name", "size"), [("recursive", 20), ("paragraph", 20), ("parents", 30), ("logits", 20)])
def test_quality_inside_is_that_of_its_definition(doc, models, name, size):
    known = quality_units.Sentences([doc], models.embedder)
    found = measured(doc, models, name, size)
    units = quality_units.delivered_units(found)
    sentences = list(zip(known.spans[doc.id], known.vectors[doc.id].tolist(), strict=True))
    expected = cosine_means([span for _, span in units], sentences)
    assert quality_units.coherence(units, known) == pytest.approx(expected, abs=1e-5)
    paragraphs = [s for s in s2b.paragraphs(TEXT) if len(s2b.sentences(s.of(TEXT))) > 1]
    held = [any(span.contains(p) for _, span in units) for p in paragraphs]
    assert quality_units.whole(units, known.paragraphs) == pytest.approx(fmean(held))


def test_overlapping_units_have_no_contrast_and_sentences_no_coherence(doc, models):
    known = quality_units.Sentences([doc], models.embedder)
    bare, windows = (quality_units.delivered_units(measured(doc, models, n, None)) for n in ("sentences", "window 1"))
    assert quality_units.coherence(bare, known) == (None, None)
    inside, contrast = quality_units.coherence(windows, known)
    assert inside is not None and contrast is None


def test_sizes_and_fit(doc, models, questions):
    found = quality_units.distribution(np.array([1.0, 4, 4, 11]))
    assert found == pytest.approx({"tokens": 5, "variation": np.std([1, 4, 4, 11]) / 5, "small": 0.25, "large": 0.25})
    index, question = measured(doc, models, "sentences", None).index, questions[3]
    scores = {chunk.text: s2b.cosine(models.embedder.query(question.text), vector) for chunk, vector in
              zip(index.chunks, index.vectors, strict=True)}  # fmt: skip
    evidence = [scores.pop(text) for text in ("Breakfast is paid.", "Wine is not paid.")]
    expected = max(*evidence, *scores.values()), max(evidence) - max(scores.values())
    assert quality_units.fit(index, question) == pytest.approx(expected, abs=1e-5)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=20))
def test_rank_correlation_is_spearmans(pairs):
    from scipy.stats import rankdata, spearmanr

    a, b = (np.array(side, dtype=float) for side in zip(*pairs, strict=True))
    assert quality_units.ranks(a).tolist() == rankdata(a).tolist()
    found = quality_units.rank_correlation(a, b)
    if len(set(a)) == 1 or len(set(b)) == 1:
        assert np.isnan(found)
    else:
        assert found == pytest.approx(spearmanr(a, b).statistic)


def test_a_prediction_is_found_where_there_is_one_and_not_where_there_is_none():
    generator = np.random.default_rng(3)
    found, qualities = [], []
    for text, (n, strategy), size in itertools.product("ab", enumerate("uvwxyz"), SIZES):
        goodness = n / 8 + SIZES.index(size) / 100
        values = np.clip(np.round(4 * (goodness + generator.random(30) / 4)) / 4, 0, 1)
        found.append(given_values(text, strategy, size, values))
        dimensions = dict.fromkeys(quality_units.DIMENSIONS, 0.5) | {
            "coherence": goodness if text == "a" else -goodness,
            "whole": goodness,
            "fit": float(generator.random()),
            "margin": goodness if strategy in "uv" and size == 200 else None,
        }
        qualities.append({"text": text, "strategy": strategy, "size": size, **dimensions})
    rows = quality_units.predictions(qualities, found, resamples=100)
    of = {(one["dimension"], one["text"]): one for one in rows if (one["metric"], one["at"]) == ("recall", "k")}
    scores = [fmean(score.recall for score in one.at["k", 5].scores) for one in found if one.text == "a"]
    wholes = [one["whole"] for one in qualities if one["text"] == "a"]
    from scipy.stats import spearmanr

    assert of["whole", "a"]["correlation"] == pytest.approx(spearmanr(wholes, scores).statistic, abs=1e-4)
    assert of["whole", "mean"]["clear"] and of["whole", "mean"]["low"] > 0.5 and of["whole", "a"]["rows"] == 18
    assert of["coherence", "b"]["high"] < 0 and not of["coherence", "mean"]["clear"]
    assert not of["fit", "mean"]["clear"]
    assert of["small", "a"]["correlation"] is None and not of["small", "a"]["clear"], "all alike predicts nothing"
    assert ("margin", "a") not in of, "two rows are no correlation"


# --- gains, headings, tables -----------------------------------------------------------------------------------------


def test_a_gain_is_the_paired_bootstrap_to_bare_sentences(doc, models, questions):
    found = [
        measured(doc, models, name, size, questions, text=text)
        for text in ("python", "travel-en", "travel-zh", "einstein")
        for name, size in (("sentences", None), ("window 1", None), ("parents", 30))
    ]
    rows = quality_gains.gains(found)
    at = {tuple(one[key] for key in ("text", "delivery", "kind", "budget", "metric")): one for one in rows}
    assert len(at) == len(rows) == 5 * 2 * len(BUDGETS) * 3
    ours, bare = found[2].at["budget", 50], found[0].at["budget", 50]
    for kind, metric in (("needle", "recall"), ("evidence", "recall"), ("evidence", "complete")):
        one, other = (quality_scores.of_kind(side, kind) for side in (ours, bare))
        expected = s2b.paired_bootstrap(one, other, metric, quality_scores.RESAMPLES, seed=quality_scores.SEED)
        row = at["python", "parents", kind, 50, metric]
        got = row["gain"], row["low"], row["high"]
        assert got == pytest.approx((expected.difference, expected.low, expected.high), abs=1e-4)
        assert row["clear"] == (got[1] > 0 or got[2] < 0) and row["n"] == len(one.scores)
        assert at["pooled", "parents", kind, 50, metric]["n"] == 3 * len(one.scores)
    without = [one for one in found if one.text != "einstein"]
    assert not any(one["text"] == "pooled" for one in quality_gains.gains(without))


TABLE = """Before the table there is this.

+------+----------+
| Town | Limit    |
|======|==========|
| Bonn | 90       |
|      | a night  |
+------+----------+
| Rome | 120      |
+------+----------+
| Oslo | 150      |
+------+----------+

After it there is that.
"""


def test_a_naive_cut_of_tables_is_what_it_says():
    doc = s2b.document("t", TABLE)
    tree, naive = s2b.sentence_tree(doc), whole_tables([doc])
    assert [chunk.text.count("+---") for chunk in naive.indexed if "|" in chunk.text] == [8]
    assert sum("|" in chunk.text for chunk in tree.indexed) == 3
    rome = next(chunk for chunk in tree.indexed if "Rome" in chunk.text)
    model = TimedEmbedder(Counting(), Memory())
    Exact(tree, model)
    assert [text for text in model._model.seen if "Rome" in text] == ["| Town | Limit | | Rome | 120 |"]
    assert tree.embedded(rome).startswith("| Town")
    model = TimedEmbedder(Counting(), Memory())
    Exact(tree, model, HeadlessCopies)
    assert [text for text in model._model.seen if "Rome" in text] == ["| Rome | 120 |"]


def test_the_questions_on_tables_rest_on_rows():
    docs = s2b.python_docs()
    found = questions_on_tables(docs)
    assert len(found) >= 20 and len({one.text for one in found}) == len(found) <= len(QUESTIONS)
    rows = {doc.id: [c for c in s2b.sentence_tree(doc).indexed if "|" in c.text] for doc in docs}
    for question in found:
        for doc_id, span in question.gold[0]:
            assert any(row.span.contains(span) for row in rows[doc_id]), question.text
    assert questions_on_tables([s2b.load("travel-en")]) == []


# --- all of it -------------------------------------------------------------------------------------------------------


@pytest.fixture
def tiny(monkeypatch, doc, models, questions):
    """Everything on one small text."""
    for module in (quality, quality_gains):
        monkeypatch.setattr(module, "documents", lambda name: (doc,))
    monkeypatch.setattr(quality_strategies, "SIZES", (10, 20, 30))
    monkeypatch.setattr(quality, "TUNED_SIZE", 20)
    monkeypatch.setattr(quality_gains, "HEADED_SIZE", 20)
    half = {"tune": questions[:2], "report": questions[2:]}
    monkeypatch.setattr(s2b, "question_set", lambda name, split: half[split], raising=False)

    def run(*texts, ends=True, **options):
        given = models if ends else replace(models, ends=TimedEnds(NoModel(), Memory()))
        return quality.run(texts or ["python"], models=lambda text: given, resamples=20, **options)

    return run


def without_seconds(result):
    rows = [{k: v for k, v in row.items() if not k.endswith("_seconds")} for row in result["rows"]]
    return result | {"rows": rows}


def test_all_is_measured_and_twice_the_same(tiny, capsys):
    result = tiny()
    keys = [(row["text"], row["strategy"], row["size"]) for row in result["rows"]]
    assert keys == [("python", s.name, size) for s in STRATEGIES for size in s.sizes]
    assert result["left_out"] == [{"strategy": "lumber", "texts": ["python"], "reason": quality.LUMBER}]
    assert {one["strategy"] for one in result["headings"]} == {one.name for one in HEADED}
    assert {(one["strategy"], one["setting"]) for one in result["tuned"]} == {
        (name, setting) for name, some in CANDIDATES.items() for setting in some
    }
    assert "multi-granular 30" in capsys.readouterr().err
    assert json.loads(quality.written(result)) == json.loads(json.dumps(result))
    assert quality.written(without_seconds(result)) == quality.written(without_seconds(tiny()))


def test_seconds_of_a_recording_are_those_that_it_holds(tmp_path):
    model, file = Ends(), tmp_path / "ends.json"
    model.prompt = ""
    doc = s2b.document("d", "One. Two. Three.")
    held = json.loads(recording(TimedEnds(RecordedEnds(model, file), Memory()), "", [doc], (2,)))
    held["blocks"] = {key: [2.5, *row[1:]] for key, row in held["blocks"].items()}
    file.write_text(json.dumps(held), encoding="utf-8")
    replayed = TimedEnds(RecordedEnds(model, file), Memory())
    s2b.logits("One. Two. Three.", replayed, 2)
    assert len(held["blocks"]) == 1 and replayed.cost == 2.5


def test_without_a_causal_model_what_is_left_out_is_said(tiny, capsys):
    some = [BY_NAME[name] for name in ("sentences", "recursive", "logits", "lgmgc")]
    result = tiny("python", "einstein", ends=False, strategies=some)
    assert {row["strategy"] for row in result["rows"]} == {"sentences", "recursive"}
    left_out = [(one["strategy"], *one["texts"]) for one in result["left_out"]]
    missing = [(name, text) for text in ("python", "einstein") for name in ("logits", "lgmgc")]
    assert left_out == [("lumber", "python", "einstein"), *missing]
    assert {one["reason"] for one in result["left_out"][1:]} == {"there is no model"}
    assert "logits is left out: there is no model" in capsys.readouterr().err


def test_the_first_candidate_is_what_is_reported(doc, models):
    for name, settings_ in CANDIDATES.items():
        ours, first = (cut([doc], 20, models) for cut in (BY_NAME[name].cut, next(iter(settings_.values()))))
        assert [chunk.span for chunk in ours.indexed] == [chunk.span for chunk in first.indexed]


# --- the results that are committed ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def held():
    return json.loads((ROOT / "benchmarks/results/quality.json").read_text(encoding="utf-8"))


def test_results_have_every_row_and_say_how_they_were_made(held):
    missing = {(one["strategy"], text) for one in held["left_out"] for text in one["texts"]}
    expected = {(t, s.name, size) for t in TEXTS for s in STRATEGIES for size in s.sizes if (s.name, t) not in missing}
    keys = [(row["text"], row["strategy"], row["size"]) for row in held["rows"]]
    assert len(keys) == len(set(keys)) and set(keys) == expected
    assert [(one["text"], one["strategy"], one["size"]) for one in held["units"]] == keys
    assert {name for name, _ in missing} <= {"lumber", "logits", "lgmgc"}
    assert re.fullmatch("[0-9a-f]{40}", held["commit"]) and isinstance(held["clean"], bool)
    assert held["date"] and held["versions"]["s2b-lab"] and held["versions"]["torch"]
    assert held["how"]["ks"] == list(KS) and held["how"]["budgets"] == list(BUDGETS)
    assert (ROOT / "benchmarks/results/quality.json").stat().st_size < 400_000


def test_results_agree_with_themselves(held):
    counts = {one["text"]: one["report"] for one in held["questions"]}
    for row in held["rows"]:
        n = counts[row["text"]]
        for name, limits in (("k", KS), ("budget", BUDGETS)):
            for metric in quality_scores.METRICS:
                parts = [row[name][kind][metric] for kind in KINDS]
                assert all(len(part) == len(limits) and 0 <= min(part) <= max(part) <= 1 for part in parts)
                for every, needle, evidence in zip(*parts, strict=True):
                    mean = (needle * n["needle"] + evidence * n["evidence"]) / n["all"]
                    assert every == pytest.approx(mean, abs=2e-4)
        assert all(t <= b for t, b in zip(row["budget"]["all"]["tokens"], BUDGETS, strict=True))
        for metric in ("dcg", "recall", "complete"):
            assert row["k"]["all"][metric] == sorted(row["k"]["all"][metric]) or row["strategy"].startswith("window")
    assert held["spread"] == quality_scores.spreads(held["rows"], quality.SPREAD)


def test_gains_in_the_results_are_those_of_the_rows(held):
    rows = {(row["text"], row["strategy"], row["size"]): row["budget"] for row in held["rows"]}
    columns = held["gains"]["columns"]
    for one in (dict(zip(columns, values, strict=True)) for values in held["gains"]["rows"]):
        assert one["low"] <= one["gain"] + 1e-4 and one["gain"] <= one["high"] + 1e-4
        assert one["clear"] == (one["low"] > 0 or one["high"] < 0)
        if one["text"] != "pooled":
            sides = rows[one["text"], one["delivery"], one["size"]], rows[one["text"], "sentences", None]
            ours, bare = (side[one["kind"]][one["metric"]][BUDGETS.index(one["budget"])] for side in sides)
            assert one["gain"] == pytest.approx(ours - bare, abs=2e-4)
    for one in held["headings"] + held["tables"]:
        assert one["gain"] == pytest.approx(one["with"] - one["without"], abs=2e-4)


def test_the_settings_are_the_best_on_the_tune_half(held):
    for strategy, candidates in CANDIDATES.items():
        means = {
            name: fmean(one["recall"] for one in held["tuned"] if (one["strategy"], one["setting"]) == (strategy, name))
            for name in candidates
        }
        assert means[next(iter(candidates))] == max(means.values()), means


def test_the_models_of_a_text_are_those_of_its_language():
    known = {text: quality_models.models(text).embedder.name for text in TEXTS}
    assert known.pop("travel-zh") == s2b.embedder("zh").name
    assert set(known.values()) == {s2b.embedder("en").name}


@pytest.mark.parametrize("text", ["travel-en", "travel-zh", "einstein"])
def test_our_texts_are_cut_as_by_everyone_from_what_is_recorded(monkeypatch, text):
    model, doc = quality_ends.model_of(text), s2b.load(text)
    monkeypatch.setattr(model, "end_probabilities", NoModel().end_probabilities)
    recorded = TimedEnds(RecordedEnds(model, quality_ends.file_of(text)), Memory())
    for size in SIZES:
        ours = quality_strategies.lgmgc([doc], size, Models(None, recorded))
        theirs = s2b.lgmgc(doc, s2b.causal_model(cache=None), size)
        assert [chunk.span for chunk in ours.indexed] == [chunk.span for chunk in theirs.indexed]
    assert recorded.cost > 10


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the recording is of the documentation of Python 3.11")
def test_the_documentation_is_cut_from_what_is_recorded(monkeypatch):
    model = quality_ends.model_of("python")
    monkeypatch.setattr(model, "end_probabilities", NoModel().end_probabilities)
    recorded = TimedEnds(RecordedEnds(model, quality_ends.file_of("python")), Memory())
    docs = quality_strategies.documents("python")
    assert len(quality_strategies.logits(docs, 500, Models(None, recorded)).indexed) > len(docs)
    assert recorded.cost > 100


# --- recorded ends ---------------------------------------------------------------------------------------------------


def test_a_recording_answers_what_it_was_made_of_and_nothing_else(tmp_path, doc):
    class Author(Ends):
        prompt = "Go on."
        asked = 0

        def end_probabilities(self, text, places):
            self.asked += 1
            return [0.5 / (1 + place**2) for place in places]

    model, file = Author(), tmp_path / "ends.json"
    found = recording(TimedEnds(RecordedEnds(model, file), Memory()), model.prompt, [doc], (10, 20))
    file.write_text(found, encoding="utf-8")
    asked, replayed = model.asked, TimedEnds(RecordedEnds(model, file), Memory())
    for cut, size in itertools.product((quality_strategies.logits, quality_strategies.lgmgc), (10, 20)):
        ours, theirs = (cut([doc], size, Models(None, one)) for one in (replayed, Author()))
        assert [chunk.span for chunk in ours.indexed] == [chunk.span for chunk in theirs.indexed]
    assert model.asked == asked > 2
    blocks = json.loads(file.read_text())["blocks"].values()
    assert all(row[0] >= 0 and all(isinstance(number, int) for number in row[1:]) for row in blocks)
    [probability] = replayed.end_probabilities("Something else.", [15])
    assert model.asked > asked and probability == pytest.approx(0.5 / 226, rel=1e-3)
    other = Author()
    other.prompt = "Stop."
    assert not RecordedEnds(other, file).blocks and not RecordedEnds(model, tmp_path / "none.json").blocks
