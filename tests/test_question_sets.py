"""The larger question sets: what they rest on is there, may be read, and says what it should."""

import json
import pydoc_data.topics
import re
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import s2b_lab
from s2b_lab import corpus, question_sets
from s2b_lab.core.access import is_readable
from s2b_lab.core.headings import document
from s2b_lab.core.sentences import sentences
from s2b_lab.question_sets import question_set

DATA = Path(s2b_lab.__file__).parent / "data"
NAMES = ("travel-en", "travel-zh", "einstein", "python")
OWN = NAMES[:3]
KINDS = ("needle", "evidence")


def documents(name):
    docs = corpus.python_docs() if name == "python" else [corpus.load(name)]
    return {doc.id: doc for doc in docs}


def entries(name):
    return question_sets._entries(name)


def kind_of(entry, name):
    """The kind that an entry must have, by its quotes or, of a question of the chapters, its passages."""
    asked = entry[name]
    known = {question.text: question.answers for question in corpus.questions(name, more=True)} if name in OWN else {}
    return KINDS[len(known[asked] if isinstance(asked, str) else asked["quotes"]) > 1]


def new(name):
    """The entries whose question only the set asks, as pairs of text and all ways to say what answers it."""
    asked = [entry[name] for entry in entries(name) if not isinstance(entry[name], str)]
    return [(one["text"], [[way] if isinstance(way, str) else way for way in one["quotes"]]) for one in asked]


@pytest.fixture
def topics(monkeypatch):
    """Give `python_docs` other help topics for one test."""

    def pretend(found):
        monkeypatch.setattr(pydoc_data.topics, "topics", found)
        question_sets._located.cache_clear()

    yield pretend
    question_sets._located.cache_clear()


# --- how many there are ----------------------------------------------------------------------------------------------


def test_there_are_enough_questions_of_each_kind():
    stored = {name: Counter(kind_of(entry, name) for entry in entries(name)) for name in NAMES}
    assert all(stored[name] == {"needle": 20, "evidence": 20} for name in OWN)
    assert stored["python"]["needle"] >= 100 and stored["python"]["evidence"] >= 50
    assert set(stored["python"]) == set(KINDS)


@pytest.mark.parametrize("name", NAMES)
def test_both_splits_are_as_large_and_of_the_same_kinds(name):
    parts = {
        split: Counter(kind_of(entry, name) for entry in entries(name) if entry["split"] == split)
        for split in ("tune", "report")
    }
    assert parts["tune"] == parts["report"]
    assert sum(map(Counter.total, parts.values())) == len(entries(name))


@pytest.mark.parametrize("name", NAMES)
def test_the_splits_part_the_set(name):
    whole, tune, report = (question_set(name, split) for split in (None, "tune", "report"))
    assert not set(tune.ids) & set(report.ids)
    assert Counter(tune.ids + report.ids) == Counter(whole.ids)
    assert Counter(tune.skipped + report.skipped) == Counter(whole.skipped)
    by_id = dict(zip(whole.ids, whole, strict=True))
    assert [by_id[key] for key in report.ids] == list(report)
    assert {entry["id"]: entry["split"] for entry in entries(name)}.items() >= dict.fromkeys(
        report.ids, "report"
    ).items()


@pytest.mark.parametrize("name", OWN)
def test_nothing_is_skipped_in_our_own_texts(name):
    assert question_set(name).skipped == ()
    assert len(question_set(name)) == 40


def test_nearly_all_questions_about_python_hold_on_this_python():
    asked = question_set("python")
    assert len(asked) + len(asked.skipped) == len(entries("python"))
    assert len(asked.skipped) <= len(entries("python")) // 20, asked.skipped


def test_the_questions_of_the_chapters_stay_as_they_are():
    numbers = {name: (len(corpus.questions(name)), len(corpus.questions(name, more=True))) for name in OWN}
    assert numbers == {"travel-en": (12, 30), "travel-zh": (12, 30), "einstein": (50, 50)}
    assert {q.kind for name in OWN for q in corpus.questions(name, more=True)}.isdisjoint(KINDS)


# --- what each of them is --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_no_id_and_no_question_is_there_twice(name):
    asked = question_set(name)
    assert len({entry["id"] for entry in entries(name)}) == len(entries(name))
    assert len({re.sub(r"\W+", "", question.text.casefold()) for question in asked}) == len(asked) == len(asked.ids)


def test_no_id_is_used_in_two_files():
    stored = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(DATA.glob("questions-*.json"))]
    ids = [entry["id"] for file in stored for entry in file]
    assert len(stored) == 3 and len(set(ids)) == len(ids)


@pytest.mark.parametrize("name", NAMES)
def test_the_kind_is_that_of_the_evidence(name):
    asked = question_set(name)
    kinds = {entry["id"]: kind_of(entry, name) for entry in entries(name)}
    assert [question.gold_kind for question in asked] == [kinds[key] for key in asked.ids]
    assert all(len(question.gold) <= 4 for question in asked)
    assert not any("kind" in entry for entry in entries(name)), "what the evidence tells is not told again"


@pytest.mark.parametrize("name", OWN)
def test_a_question_of_the_chapters_is_the_same_in_a_set(name):
    known = {question.text: question for question in corpus.questions(name, more=True)}
    shared = [question for question in question_set(name) if question.text in known]
    assert shared and all(question == known[question.text] for question in shared)


@pytest.mark.parametrize("name", NAMES)
def test_every_reader_may_read_what_the_questions_rest_on(name):
    docs = documents(name)
    for question in question_set(name):
        for doc_id, span in (place for places in question.gold for place in places):
            assert len(span) and span.end <= len(docs[doc_id].text)
            assert is_readable(span, docs[doc_id]), question.text


@pytest.mark.parametrize("name", NAMES)
def test_each_place_holds_words_that_are_stored_for_it(name):
    docs, stored = documents(name), dict(new(name))
    for question in question_set(name):
        for ways, places in zip(stored.get(question.text, ()), question.gold, strict=question.text in stored):
            said = {tuple(docs[doc_id].text[span.start : span.end].split()) for doc_id, span in places}
            assert said <= {tuple(way.split()) for way in ways}


@pytest.mark.parametrize("name", NAMES)
def test_evidence_lies_in_different_sentences(name):
    cut = {doc_id: sentences(doc.text) for doc_id, doc in documents(name).items()}
    for question in question_set(name):
        for (one, left), (other, right) in combinations(question.answers, 2):
            shared = [s for s in cut[one] if one == other and s.overlaps(left) and s.overlaps(right)]
            assert not shared, question.text


@pytest.mark.parametrize("name", OWN)
def test_evidence_in_our_own_texts_is_made_of_whole_sentences(name):
    found = sentences(corpus.load(name).text)
    starts, ends = {span.start for span in found}, {span.end for span in found}
    assert all(span.start in starts and span.end in ends for q in question_set(name) for _, span in q.answers)


@pytest.mark.parametrize("name", OWN)
def test_no_chapter_shows_what_is_only_reported_on(name):
    shown = {question.text for question in corpus.questions(name, more=True)}
    assert shown.isdisjoint(question.text for question in question_set(name, "report"))
    assert len(shown.intersection(question.text for question in question_set(name, "tune"))) >= 10


def test_the_questions_of_both_languages_rest_on_the_same_sentences():
    en, zh = question_set("travel-en"), question_set("travel-zh")
    assert en.ids == zh.ids
    assert question_set("travel-en", "report").ids == question_set("travel-zh", "report").ids

    def numbered(asked, name):
        cut = sentences(corpus.load(name).text)
        return [[[n for n, s in enumerate(cut) if s.overlaps(span)] for _, span in q.answers] for q in asked]

    assert numbered(en, "travel-en") == numbered(zh, "travel-zh")
    assert all(q.text.isascii() for q in en) and not any(q.text.isascii() for q in zh)


def longest_run(left, right):
    """Length of the longest list of items that stands in both in a row."""
    best, row = 0, [0] * (len(right) + 1)
    for one in left:
        row = [0, *(row[n] + 1 if one == other else 0 for n, other in enumerate(right))]
        best = max(best, *row)
    return best


def units(text):
    return re.findall(r"[一-鿿]|[^\W一-鿿]+", text.lower())


@pytest.mark.parametrize("name", NAMES)
def test_questions_are_not_asked_in_the_words_of_the_text(name):
    copied = {
        text: run
        for text, quotes in new(name)
        if (run := max(longest_run(units(text), units(way)) for ways in quotes for way in ways)) > 4
    }
    assert not copied


def test_the_measure_of_copied_words_sees_a_copy():
    assert longest_run("a b c d".split(), "x b c y d".split()) == 2
    assert longest_run(units("每晚最多 80 元吗"), units("每晚最高 80 元")) == 3
    assert longest_run([], ["a"]) == longest_run(["a"], []) == 0


# --- how they are found ----------------------------------------------------------------------------------------------


def naive_places(quote, text):
    """Walk along the text, word by word of the quote, any white space between two."""
    found, start = [], 0
    while start < len(text):
        at, words = start, quote.split()
        for number, word in enumerate(words):
            gap = at
            while number and at < len(text) and text[at].isspace():
                at += 1
            if (number and at == gap) or not text.startswith(word, at):
                break
            at += len(word)
        else:
            found.append((start, at))
            start = at
            continue
        start += 1
    return found


WORDS = st.lists(st.sampled_from(["a", "ab", "b.", "(a", "c*", "行。"]), min_size=1, max_size=3)
GAPS = st.sampled_from([" ", "\n", "\n   ", "  ", ""])


@settings(deadline=None)
@given(WORDS, st.lists(st.tuples(st.sampled_from(["a", "ab", "b.", "(a", "c*", "行。", "z"]), GAPS), max_size=12))
def test_a_quote_is_found_wherever_it_stands_however_lines_break(words, pieces):
    quote, text = " ".join(words), "".join(piece + gap for piece, gap in pieces)
    docs = [document("one", text), document("two", "z " + text)]
    found = question_sets.quoted(quote, docs)
    assert [(span.start, span.end) for doc_id, span in found if doc_id == "one"] == naive_places(quote, text)
    assert [(s.start, s.end) for doc_id, s in found if doc_id == "two"] == naive_places(quote, "z " + text)


def test_one_way_to_say_it_is_enough_and_the_others_count_as_well():
    docs = [document("one", "Cats sleep.\n\nDogs bark. Cats\nsleep."), document("two", "A cat is asleep.")]
    question = question_sets._asked("?!", [["Cats sleep.", "A cat is asleep."], "Dogs bark."], docs)
    places = [[(doc_id, span.start, span.end) for doc_id, span in same] for same in question.gold]
    assert places == [[("one", 0, 11), ("one", 24, 35), ("two", 0, 16)], [("one", 13, 23)]]
    later = question_sets._asked("?!", [["Cats purr.", "A cat is asleep."]], docs)
    assert [(doc_id, span.start) for doc_id, span in later.answers] == [("two", 0)]
    assert question_sets._asked("?!", ["Dogs bark.", "Cats purr."], docs) is None


def test_a_question_is_skipped_and_counted_where_the_text_lacks_a_part_of_its_evidence(topics):
    real = dict(pydoc_data.topics.topics)
    before = question_set("python")
    gone = next(
        e
        for e in entries("python")
        if kind_of(e, "python") == "evidence"
        and e["id"] in before.ids
        and e["split"] == "tune"
        and isinstance(e["python"]["quotes"][-1], str)
    )
    pattern = r"\s+".join(map(re.escape, gone["python"]["quotes"][-1].split()))
    topics({key: re.sub(pattern, "Nothing.", text) for key, text in real.items()})
    after = question_set("python")
    assert gone["id"] in after.skipped and gone["id"] not in after.ids
    assert set(after.ids) | set(after.skipped) == set(before.ids) | set(before.skipped)
    assert gone["id"] in question_set("python", "tune").skipped
    assert gone["id"] not in question_set("python", "report").skipped
    assert str(after).splitlines()[-1].split() == ["skipped", str(len(after.skipped))]


def test_a_sentence_that_stands_in_two_topics_counts_in_both(topics):
    real = dict(pydoc_data.topics.topics)
    entry = next(
        e for e in entries("python") if kind_of(e, "python") == "needle" and e["id"] in question_set("python").ids
    )
    quote = entry["python"]["quotes"][0]
    topics({**real, "zz": f"Elsewhere\n*********\n\nBefore. {quote.replace(' ', chr(10), 3)} After.\n"})
    asked = dict(zip(question_set("python").ids, question_set("python"), strict=True))[entry["id"]]
    (places,) = asked.gold
    assert len(places) == 2 and "python/zz" in dict(places)
    assert asked.gold_kind == "needle"


def test_a_set_is_told_by_its_name_and_split():
    with pytest.raises(ValueError, match=r"no set of questions about 'rag-zh'.*travel-en, travel-zh, einstein, python"):
        question_set("rag-zh")
    with pytest.raises(ValueError, match=r"split must be one of None, 'tune', 'report', not 'test'"):
        question_set("einstein", "test")
    for name in (None, 3, ["python"]):
        with pytest.raises(TypeError, match="name must be a str"):
            question_set(name)


def test_a_set_shows_itself_as_a_card():
    assert str(question_set("einstein", "report")).splitlines()[0] == "20 questions about einstein"
    assert "needle" in question_set("einstein")._repr_html_()
    assert list(question_set("einstein")) == list(question_set("einstein").questions)
