"""Recordings answer what they hold, under the rules they were made with, and say who wrote them."""

import json
from functools import partial

import pytest

from s2b_lab.hypothetical import hypothetical_questions
from s2b_lab.llm import ModelUnavailable
from s2b_lab.models.recording import NotRecorded, Recording, recorded, recordings
from s2b_lab.rewrite import hyde, step_back

RECORDING = {
    "author": "the authors of this book",
    "date": "2026-11-30",
    "prompt": "Rewrite the question.",
    "answers": {"Who plays?": "Who has played?", "系统坏了怎么办？": "系统故障有哪些规定？"},
}


def written(folder, recording=RECORDING, **changes):
    file = folder / "recording.json"
    file.write_text(json.dumps({**recording, **changes}), encoding="utf-8")
    return file


def test_a_recording_gives_what_it_holds_and_says_who_wrote_it(tmp_path):
    model = recorded(written(tmp_path))
    assert model("Who plays?", "Rewrite the question.") == "Who has played?"
    assert model(" Who\nplays? ") == "Who has played?", "white space makes no difference"
    assert model("系统坏了怎么办？") == "系统故障有哪些规定？"
    assert (model.author, model.date, model.prompt) == tuple(RECORDING[key] for key in ("author", "date", "prompt"))
    assert model.name == "the authors of this book, recorded 2026-11-30"


def test_what_is_not_recorded_is_not_made_up(tmp_path):
    model = recorded(written(tmp_path))
    with pytest.raises(NotRecorded, match=r"recording\.json.*the authors.*'Who is new\?'"):
        model("Who is new?")
    with pytest.raises(LookupError):
        model("who plays?")
    assert issubclass(NotRecorded, ModelUnavailable)


def test_an_answer_to_other_rules_is_not_passed_off(tmp_path):
    with pytest.raises(NotRecorded, match=r"another prompt.*Rewrite the question\."):
        recorded(written(tmp_path))("Who plays?", "Write a passage.")


@pytest.mark.parametrize(
    "changes",
    [
        {"author": " "},
        {"author": 3},
        {"date": "yesterday"},
        {"date": None},
        {"prompt": None},
        {"answers": ["Who?"]},
        {"answers": {"Who?": None}},
    ],
)
def test_a_recording_that_says_too_little_is_no_recording(tmp_path, changes):
    with pytest.raises(ValueError, match=r"recording\.json.*is not a recording"):
        recorded(written(tmp_path, **changes))


def test_a_file_that_is_none(tmp_path):
    with pytest.raises(ValueError, match="is not a recording"):
        recorded(tmp_path / "missing.json")
    for text in ("{", "[]", "3", "{}"):
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(ValueError, match=r"bad\.json.*is not a recording"):
            recorded(tmp_path / "bad.json")


def test_recordings_may_be_made_in_code():
    assert Recording("me", "2026-11-30", "", {" a  b ": "c"})("a b") == "c"


# --- recordings that come with the package ---


@pytest.mark.parametrize("name", recordings())
def test_every_recording_of_the_package_names_its_author_and_date_and_has_answers(name):
    recording = recorded(name)
    assert recording.author and recording.date and recording.prompt and recording.answers
    assert recording.file == name and all(text.strip() for text in recording.answers.values())


def test_a_recording_has_the_prompt_that_is_asked_with_today():
    makers = {"step-back": step_back, "hyde": hyde, "questions": partial(hypothetical_questions, n=3)}
    for name in recordings():
        lever, _, prompt, about = name.split(".")
        if lever in ("answers", "lumber"):
            continue
        recording = recorded(name)
        maker = makers[lever](recording, prompt=prompt, language="zh" if about.endswith("zh") else "en")
        assert recording(next(iter(recording.answers)), maker.instructions)


def test_a_name_that_is_no_recording_is_a_path(tmp_path):
    with pytest.raises(ValueError, match="no-such-name"):
        recorded("no-such-name")
    with pytest.raises(ValueError, match=r"step-back\.authors"):
        recorded(tmp_path / "step-back.authors.few-shot.en")


@pytest.mark.parametrize("date", ["20261130", "2026-W48-1", None, "2026-13-01"])
def test_a_recording_has_a_date_of_the_calendar(date):
    with pytest.raises(ValueError):
        Recording("me", date, "", {"a": "b"})


def test_a_recording_has_one_answer_to_an_input():
    with pytest.raises(ValueError, match="white space alone"):
        Recording("me", "2026-11-30", "", {"a  b": "c", "a b": "d"})
