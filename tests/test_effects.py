"""The measured ablation is whole, and its views say what stands in it."""

import json
from pathlib import Path

import pytest

from s2b_lab import corpus, effects, levers

FILE = Path(__file__).parents[1] / "benchmarks" / "results" / "ablation.json"


@pytest.fixture(scope="module")
def found():
    return effects.results(FILE)


def test_the_results_are_of_all_questions_that_there_are_now(found):
    for text in levers.TEXTS.values():
        asked = [(q.text, q.kind == "general") for q in corpus.questions(text, more=True)]
        measured = [(row["question"], row["kind"] == "general") for row in found["questions"] if row["text"] == text]
        assert measured == asked and len(asked) >= 30
        assert sum(general for _, general in asked) == len(asked) / 2
    assert len(corpus.questions("einstein")) >= 40


def test_a_row_of_the_results_is_the_mean_of_its_questions(found):
    for place, way in enumerate(found["ways"]):
        for text in levers.TEXTS.values():
            recalls = [row["recall"][place] for row in found["questions"] if row["text"] == text]
            key = way | {"text": text, "budget": 600, "kind": "all"}
            (row,) = [row for row in found["rows"] if key.items() <= row.items()]
            assert row["recall"] == pytest.approx(sum(recalls) / len(recalls), abs=2e-4)
            assert row["low"] <= row["gain"] <= row["high"] and row["tokens"] <= row["budget"]


def test_every_combination_was_measured_at_every_budget(found):
    rows = [(tuple(r["searched"]), r["asked"], r["delivery"], r["budget"], r["kind"], r["text"]) for r in found["rows"]]
    assert len(set(rows)) == len(rows) == 7 * 2 * 2 * 3 * 3 * 3


def test_the_effect_of_each_way_stands_beside_plain_retrieval(found):
    note, figure, table = effects.effect(found, "einstein", "parents", 600, "all", False)
    assert [row[0] for row in table.rows][:3] == ["question", "question + hypothetical", "step-back"]
    assert len(table.rows) == 8 and len(figure.fig.data) == 7
    worse = [row[0] for row in table.rows if float(row[5].split(" to ")[1]) < 0]
    assert all(name in note.text for name in worse)
    kept = effects.effect(found, "einstein", "parents", 600, "all", True)[2]
    assert [row[0] for row in kept.rows][2:4] == ["question + step-back", "question + step-back + hypothetical"]


def test_helped_and_hurt_are_counted_and_named(found):
    note, figure, table = effects.helped(found, "travel-en", ["step-back"], False, "parents")
    up = sum(row[0].startswith("+") for row in table.rows)
    down = sum(row[0].startswith("-") for row in table.rows)
    assert note.text.startswith(f"{up} questions helped, {down} hurt, {30 - up - down} unchanged")
    assert list(figure.fig.data[0].y) == sorted(figure.fig.data[0].y, reverse=True)
    same = effects.helped(found, "travel-en", ["question"], False, "parents")
    assert same[0].text.startswith("0 questions helped, 0 hurt")


def test_the_rule_splits_all_questions(found):
    rows = effects.rule(found, "children").rows
    assert [sum(row[2] for row in rows if row[0] == text) for text in levers.TEXTS.values()] == [50, 30, 30]
    assert all(row[4] == 0 or row[1] == "complete" or row[2] > row[4] for row in rows)
    assert all(row[3] == 0 for row in rows if row[1] == "complete"), "what is complete cannot be helped"


def test_another_file_is_no_ablation(tmp_path):
    path = tmp_path / "x.json"
    for text in ("", "[]", json.dumps({"how": {}})):
        path.write_text(text)
        with pytest.raises(ValueError, match=r"x\.json.*make ablation"):
            effects.results(path)
    with pytest.raises(ValueError, match=r"missing\.json"):
        effects.results(tmp_path / "missing.json")
