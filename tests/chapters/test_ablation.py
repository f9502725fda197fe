"""The measured ablation is whole, and its views say what stands in it."""

import json
from pathlib import Path

import pytest

import s2b_lab as s2b
from s2b_lab import corpus
from s2b_lab.chapters import ablation
from s2b_lab.chapters.texts import TEXTS

FILE = Path(__file__).parents[2] / "benchmarks" / "results" / "ablation.json"


@pytest.fixture(scope="module")
def found():
    return ablation.results(FILE)


def test_the_results_are_of_all_questions_that_there_are_now(found):
    for text in TEXTS.values():
        asked = [(q.text, q.kind == "general") for q in corpus.questions(text, more=True)]
        measured = [(row["question"], row["kind"] == "general") for row in found["questions"] if row["text"] == text]
        assert measured == asked and len(asked) >= 30
        assert sum(general for _, general in asked) == len(asked) / 2
    assert len(corpus.questions("einstein")) >= 40


def test_a_row_of_the_results_is_the_mean_of_its_questions(found):
    for place, way in enumerate(found["ways"]):
        for text in TEXTS.values():
            recalls = [row["recall"][place] for row in found["questions"] if row["text"] == text]
            key = way | {"text": text, "budget": 600, "kind": "all"}
            (row,) = [row for row in found["rows"] if key.items() <= row.items()]
            assert row["recall"] == pytest.approx(sum(recalls) / len(recalls), abs=2e-4)
            assert row["low"] <= row["gain"] <= row["high"] and row["tokens"] <= row["budget"]


def test_every_combination_was_measured_at_every_budget(found):
    rows = [(tuple(r["searched"]), r["asked"], r["delivery"], r["budget"], r["kind"], r["text"]) for r in found["rows"]]
    assert len(set(rows)) == len(rows) == 7 * 2 * 2 * 3 * 3 * 3


@pytest.fixture
def book(chapter):
    return chapter("08", "found")


def test_the_effect_of_each_way_stands_beside_plain_retrieval(book):
    note, figure, table = book.gains("einstein", "parents", 600, "all", False)
    assert [row[0] for row in table.rows][:3] == ["question", "question + hypothetical", "step-back"]
    assert len(table.rows) == 8 and len(figure.frame()["data"]) == 7
    worse = [row[0] for row in table.rows if float(row[5].split(" to ")[1]) < 0]
    assert all(name in note.text for name in worse)
    kept = book.gains("einstein", "parents", 600, "all", True)[2]
    assert [row[0] for row in kept.rows][2:4] == ["question + step-back", "question + step-back + hypothetical"]
    with pytest.raises(ValueError, match="nothing was measured"):
        book.gains("einstein", "parents", 601, "all", True)


def test_helped_and_hurt_are_counted_and_named(book):
    note, figure, table = book.helped("travel-en", "step-back", "parents")
    up = sum(row[0].startswith("+") for row in table.rows)
    down = sum(row[0].startswith("-") for row in table.rows)
    assert note.text.startswith(f"{up} questions helped, {down} hurt, {29 - up - down} unchanged")
    assert note.text.endswith("; 1 more is not for this reader.")
    heights = list(figure.frame()["data"][0]["y"])
    assert heights == sorted(heights, reverse=True)
    rows = ablation.for_all(book.found, "travel-en")
    same = ablation.change_views(rows, [0.0] * len(rows))
    assert same[0].text.startswith("0 questions helped, 0 hurt") and same[2].rows == [["–", "–", "no question"]]


def test_each_change_stands_beside_its_own_question(book):
    moved = {row[2]: float(row[0]) for row in book.helped("einstein", "HyDE", "children")[2].rows}
    before, after = book.recalls("einstein", "children"), book.recalls("einstein", "children", ["hyde"])
    asked = [q.text for q in corpus.questions("einstein", more=True)]
    changes = {q: new - old for q, old, new in zip(asked, before, after, strict=True) if new != old}
    assert moved == pytest.approx(changes, abs=0.006)


def test_the_rule_splits_all_questions(book):
    rows = book.second_try("children").rows
    assert [sum(row[2] for row in rows if row[0] == text) for text in TEXTS.values()] == [50, 29, 29]
    assert all(row[4] == 0 or row[1] == "complete" or row[2] > row[4] for row in rows)
    assert all(row[3] == 0 for row in rows if row[1] == "complete"), "what is complete cannot be helped"


def test_the_settings_are_told_in_words(found):
    told = dict(ablation.settings(found["how"]).rows)
    assert told["budgets"] == "300, 600, 1200" and "travel-zh: 600, 150, 6" in told["sizes"]
    assert not any(bracket in value for value in told.values() for bracket in "[]{}")


def test_plain_retrieval_measured_now_is_in_the_results(found, en):
    index = s2b.Index.open(embedder=en)
    index.add(s2b.parents_and_children(s2b.load("travel-en"), *s2b.cut_sizes("travel-en")))
    now = s2b.evaluate(s2b.Retriever(index, k=8), s2b.questions("travel-en", more=True), token_budget=300)
    key = {"text": "travel-en", "budget": 300, "kind": "all", "asked": False, "searched": ["question"]}
    (row,) = [row for row in found["rows"] if (key | {"delivery": "parents"}).items() <= row.items()]
    measured = {"recall": now.recall, "complete": now.complete, "tokens": now.tokens}
    assert {name: row[name] for name in measured} == pytest.approx(measured, abs=6e-5)


def test_another_file_is_no_ablation(tmp_path):
    path = tmp_path / "x.json"
    for text in ("", "[]", json.dumps({"how": {}})):
        path.write_text(text)
        with pytest.raises(ValueError, match=r"x\.json.*make ablation"):
            ablation.results(path)
    with pytest.raises(ValueError, match=r"missing\.json"):
        ablation.results(tmp_path / "missing.json")


def test_one_question_is_one_question():
    row = {"text": "einstein", "question": "Why?", "kind": "general", "budget": 600}
    note, _, table = ablation.change_views([row, row], [0.5, 0.0])
    assert note.text == "1 question helped, 0 hurt, 1 unchanged, at 600 tokens." and table.rows == [
        ["+0.50", "broad", "Why?"]
    ]
