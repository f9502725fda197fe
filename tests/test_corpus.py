"""Our own texts say what they should in both languages."""

import re
import subprocess
import sys
import zipfile
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

import s2b_lab
from s2b_lab import corpus
from s2b_lab.core.blocks import paragraphs
from s2b_lab.core.characters import language_of
from s2b_lab.core.headings import document
from s2b_lab.core.sentences import sentences
from s2b_lab.core.text import Span
from s2b_lab.embed import embedder

POLICIES = ("travel-en", "travel-zh", "travel-en-2025", "travel-zh-2025")
TRANSLATIONS = [("travel-en", "travel-zh"), ("travel-en-2025", "travel-zh-2025")]
ANNEX = 17
MONTHS = {"January": "1", "November": "11", "December": "12"}


def section(doc, ordinal):
    return next(part for part in doc.sections if part.id == f"{doc.id}/{ordinal}")


def body(doc, ordinal):
    """The text of a section without its heading."""
    return section(doc, ordinal).span.of(doc.text).split("\n", 1)[1].strip()


def layout(doc):
    """Number of sentences for each paragraph of each section."""
    texts = [part.span.of(doc.text) for part in doc.sections]
    return [[len(sentences(span.of(text))) for span in paragraphs(text)] for text in texts]


def numbers(text):
    """The figures of a text, as strings; months count by their number."""
    for month, number in MONTHS.items():
        text = text.replace(month, number)
    return re.findall(r"\d+(?:\.\d+)?", re.sub(r"(?<=\d),(?=\d{3})", "", text))


# --- the travel policy -----------------------------------------------------------------------------------------------


def test_names_are_those_that_load_knows():
    assert corpus.names() == ["travel-en", "travel-zh", "travel-en-2025", "travel-zh-2025", "rag-zh", "einstein"]
    assert [corpus.load(name).id for name in corpus.names()] == corpus.names()


def test_every_text_has_a_language():
    languages = {"travel-en": "en", "travel-zh": "zh", "travel-en-2025": "en", "travel-zh-2025": "zh"}
    languages |= {"rag-zh": "zh", "einstein": "en"}
    assert {name: s2b_lab.language(name) for name in corpus.names()} == languages
    assert all(language_of(corpus.load(name).text) == language for name, language in languages.items())
    with pytest.raises(ValueError, match=r"unknown text 'travel-fr'.*rag-zh, einstein"):
        s2b_lab.language("travel-fr")


def test_the_texts_that_are_measured_have_sizes_to_cut_with():
    assert s2b_lab.cut_sizes("einstein") == s2b_lab.cut_sizes("travel-en") == (2000, 500, 20)
    assert s2b_lab.cut_sizes("travel-zh") == (600, 150, 6)
    assert isinstance(s2b_lab.cut_sizes("einstein"), tuple)
    for name in ("rag-zh", "travel-fr"):
        with pytest.raises(ValueError, match=rf"no sizes for '{name}'.*travel-en, travel-zh, einstein"):
            s2b_lab.cut_sizes(name)


def test_an_unknown_name_is_told_with_the_known_ones():
    with pytest.raises(ValueError, match=r"'travel-fr'.*travel-en, travel-zh.*rag-zh, einstein"):
        corpus.load("travel-fr")


@pytest.mark.parametrize(
    ("name", "title", "deadline"),
    [
        ("travel-en", "Travel Reimbursement Policy", "7 Submission deadline"),
        ("travel-zh", "差旅费报销制度", "7 提交期限"),
    ],
)
def test_the_ordinal_of_a_section_is_its_printed_number(name, title, deadline):
    doc = corpus.load(name)
    assert doc.title == title
    assert section(doc, 7).title == deadline
    assert section(doc, 0).title == title
    printed = [part.title.split()[0] for part in doc.sections[1:ANNEX]]
    assert printed == [part.id.split("/")[1] for part in doc.sections[1:ANNEX]] == [str(n) for n in range(1, ANNEX)]
    assert section(doc, ANNEX).title.startswith(("Annex A ", "附录 A "))
    assert len(doc.sections) == ANNEX + 1


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_is_long_enough_to_get_lost_in(name):
    doc = corpus.load(name)
    assert len(sentences(doc.text)) >= 80
    assert all(len(counts) >= 2 for counts in layout(doc))
    assert max(len(section(doc, n).span) for n in range(1, ANNEX)) == len(section(doc, 8).span)


@pytest.mark.parametrize("pair", TRANSLATIONS, ids=lambda pair: pair[0])
def test_the_translations_run_in_step(pair):
    en, zh = map(corpus.load, pair)
    assert layout(en) == layout(zh)
    for left, right in zip(sentences(en.text), sentences(zh.text), strict=True):
        assert Counter(numbers(left.of(en.text))) == Counter(numbers(right.of(zh.text)))


@pytest.mark.parametrize(
    ("name", "days", "ticket", "clock"),
    [
        ("travel-en", "30 calendar days after the end of the trip", "log a ticket", "clock is stopped"),
        ("travel-zh", "30 个自然日", "登记工单", "停止计时"),
        ("travel-en-2025", "45 calendar days after the end of the trip", "log a ticket", "clock is stopped"),
        ("travel-zh-2025", "45 个自然日", "登记工单", "停止计时"),
    ],
)
def test_the_deadline_section_holds_three_rules_and_nothing_else(name, days, ticket, clock):
    text = body(corpus.load(name), 7)
    assert len(paragraphs(text)) == 1
    rules = [span.of(text) for span in sentences(text)]
    assert len(rules) == 3
    assert [words in rule for words, rule in zip((days, ticket, clock), rules, strict=True)] == [True] * 3
    assert len(numbers(text)) == 1


@pytest.mark.parametrize(
    ("name", "dates"), [("travel-en", "(25 to 31 December)"), ("travel-zh", "12 月 25 日至 31 日")]
)
def test_the_exception_stands_in_a_chapter_of_its_own(name, dates):
    doc = corpus.load(name)
    holders = [int(part.id.split("/")[1]) for part in doc.sections if dates in part.span.of(doc.text)]
    assert holders == [14]
    # no paragraph of it speaks of the days of the general rule
    assert "30" not in numbers(body(doc, 14))


@pytest.mark.parametrize("name", POLICIES)
def test_only_finance_may_see_the_annex_and_nothing_public_gives_it_away(name):
    doc = corpus.load(name)
    assert [part.access for part in doc.sections] == ["public"] * ANNEX + ["finance"]
    assert doc.access == "public"
    secret = set(numbers(body(doc, ANNEX)))
    assert len(secret) >= 8
    assert not secret & set(numbers(doc.text[: section(doc, ANNEX).span.start]))


@pytest.mark.parametrize(("name", "mark"), [("travel-en", r"section (\d+)"), ("travel-zh", r"第 (\d+) 节")])
def test_cross_references_point_at_other_sections(name, mark):
    doc = corpus.load(name)
    found = [(part.id, f"{doc.id}/{n}") for part in doc.sections for n in re.findall(mark, part.span.of(doc.text))]
    assert len(found) >= 3
    assert {target for _, target in found} <= {part.id for part in doc.sections}
    assert all(source != target for source, target in found)
    assert re.search(r"Annex A|附录 A", body(doc, 15))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_earlier_version_has_the_same_build_and_other_numbers(language):
    new, old = corpus.load(f"travel-{language}"), corpus.load(f"travel-{language}-2025")
    assert (new.version, old.version) == ("2026", "2025")
    assert layout(new) == layout(old)
    assert [part.title for part in new.sections] == [part.title for part in old.sections]
    changed = [n for n in range(1, ANNEX + 1) if numbers(body(new, n)) != numbers(body(old, n))]
    assert {3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, ANNEX} <= set(changed)
    both = set(numbers(body(new, ANNEX))) & set(numbers(body(old, ANNEX)))
    assert not both
    rates = [numbers(next(s for s in body(doc, 5).split("\n") if "1.20" in s or "1.05" in s)) for doc in (new, old)]
    assert rates[0][0] == "1.20" and rates[1][0] == "1.05"


@pytest.mark.parametrize("name", POLICIES)
def test_one_table_gives_the_rates_by_tier(name):
    doc = corpus.load(name)
    tables = [span.of(doc.text) for span in paragraphs(doc.text) if span.of(doc.text).startswith("|")]
    assert len(tables) == 1 and tables[0] in body(doc, 9)
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in tables[0].splitlines()]
    assert {len(row) for row in rows} == {4}
    assert [row[0] for row in rows[2:]] == ["A", "B", "C", "D", "E"]
    assert all(numbers(row[2]) and numbers(row[3]) for row in rows[2:])


@pytest.mark.parametrize("name", ["travel-zh", "travel-zh-2025", "rag-zh"])
def test_chinese_is_set_by_one_rule(name):
    text = re.sub(r"^[#|-].*$", "", corpus.load(name).text, flags=re.MULTILINE)
    assert not re.findall(r"[一-鿿][A-Za-z0-9]|[A-Za-z0-9%][一-鿿]", text), "a space stands between Chinese and Latin"
    assert not re.findall(r"[一-鿿] ?[,.;:!?()\"']|[,;:!?()\"'] ?[一-鿿]", text), "punctuation is full-width"
    assert not re.findall(r"[，。：；、（）“”] | [，。：；、（）“”]", text)
    assert not re.search(r"[ \t]+$|  ", text, re.MULTILINE)


@pytest.mark.parametrize("name", ["travel-en", "travel-en-2025"])
def test_english_is_plain_text(name):
    text = corpus.load(name).text
    assert text.isascii()
    assert not re.search(r"[ \t]+$|  | [,.;:]", text, re.MULTILINE)


def test_rag_has_five_paragraphs_that_name_the_three_stages():
    doc = corpus.load("rag-zh")
    title, *found = [span.of(doc.text) for span in paragraphs(doc.text)]
    assert title == f"# {doc.title}"
    assert len(found) == 5
    assert all(stage in found[1] for stage in ("索引", "检索", "生成"))
    assert [text[:4] for text in found[2:]] == ["索引阶段", "检索阶段", "生成阶段"]
    assert "幻觉" in found[0] and "HNSW" in found[3] and "IVF" in found[3]


# --- the article on Einstein -----------------------------------------------------------------------------------------


def test_the_article_has_nine_numbered_sections_after_its_title():
    doc = corpus.load("einstein")
    assert (doc.title, doc.version, doc.access) == ("Einstein's Patents and Inventions", "1", "public")
    assert [part.id for part in doc.sections] == [f"einstein/{n}" for n in range(10)]
    assert [part.title.split(". ")[0] for part in doc.sections[1:]] == [str(n) for n in range(1, 10)]
    assert section(doc, 0).title == doc.title
    # the numbers alone make the headings: one Markdown title, no other mark
    assert re.findall(r"^#+", doc.text, re.MULTILINE) == ["#"]


def test_only_the_third_section_of_the_article_exceeds_four_thousand_tokens():
    doc, count = corpus.load("einstein"), embedder("en").count_tokens
    tokens = [count(part.span.of(doc.text)) for part in doc.sections]
    assert 9_500 <= count(doc.text) <= 11_000
    assert [n for n, size in enumerate(tokens) if size > 4_000] == [3]
    assert max(tokens[:3] + tokens[4:]) < 2_000


def test_one_sentence_of_the_article_dates_the_blouse_and_does_not_stand_alone():
    doc = corpus.load("einstein")
    found = [span.of(doc.text) for span in sentences(doc.text)]
    dated = [text for text in found if "October 27, 1936" in text]
    assert len(dated) == 1 and "blouse" in dated[0] and "granted" in dated[0]
    text = body(doc, 8)
    assert dated[0] in text and len(paragraphs(text)) >= 4
    assert doc.text.count("October 27") == 1
    assert text.count("camera") > text.count("blouse")


def test_the_article_is_tidy_prose():
    text = corpus.load("einstein").text
    assert not re.search(r"[ \t]+$|  | [,.;:]|[\u2010-\u201f]|\n\n\n", text, re.MULTILINE)
    cited = {f"{name} {year}" for name, year in re.findall(r"\((\w+) (\d{4})\)", text)}
    book = Path(__file__).parents[1] / "book" / "references.bib"
    keys = set(re.findall(r"^@\w+\{(\w+),", book.read_text(encoding="utf-8"), re.MULTILINE))
    assert len(cited) >= 6
    assert all(any(re.match(rf"{name.lower()}{year}", key) for key in keys) for name, year in map(str.split, cited))


def test_the_texts_are_read_from_wherever_the_package_is(tmp_path):
    package = Path(s2b_lab.__file__).parent
    with zipfile.ZipFile(tmp_path / "lab.zip", "w") as archive:
        for path in [*package.rglob("*.py"), *package.glob("data/*")]:
            archive.write(path, f"s2b_lab/{path.relative_to(package)}")
    code = "import sys; sys.path.insert(0, 'lab.zip'); from s2b_lab import corpus; print(corpus.__file__)\n"
    code += "print(len([corpus.load(name) for name in corpus.names()]), len(corpus.questions('travel-zh')))"
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    where, counts = run.stdout.splitlines()
    assert "lab.zip" in where
    assert counts == f"{len(corpus.names())} {len(corpus.questions('travel-zh'))}"


# --- questions -------------------------------------------------------------------------------------------------------


def gold(question):
    return [span.of(corpus.load(doc_id).text) for doc_id, span in question.answers]


def test_the_first_question_rests_on_the_three_rules_in_order():
    en, zh = corpus.questions("travel-en")[0], corpus.questions("travel-zh")[0]
    assert en.text == "The system was down: can I still submit more than 30 days after the trip?"
    assert zh.text == "系统坏了,出差回来超过 30 天还能提交吗?"
    for question, name in ((en, "travel-en"), (zh, "travel-zh")):
        text = body(corpus.load(name), 7)
        assert gold(question) == [span.of(text) for span in sentences(text)]


def test_the_questions_of_both_languages_ask_the_same():
    en, zh = corpus.questions("travel-en"), corpus.questions("travel-zh")
    assert len(en) >= 8
    assert [q.kind for q in en] == [q.kind for q in zh]
    assert {"rules", "dilution", "neighbour", "section", "exception", "reference", "wording", "restricted"} <= {
        q.kind for q in en
    }
    places = [[[corpus_section(doc_id, span) for doc_id, span in q.answers] for q in asked] for asked in (en, zh)]
    assert places[0] == places[1]
    assert len({q.text for q in en + zh}) == 2 * len(en)


def corpus_section(doc_id, span):
    """Ordinal of the section that holds a span."""
    (part,) = [part for part in corpus.load(doc_id).sections if part.span.contains(span)]
    return int(part.id.split("/")[1])


@pytest.mark.parametrize("name", ["travel-en", "travel-zh", "einstein"])
def test_evidence_is_made_of_whole_sentences(name):
    doc = corpus.load(name)
    found = sentences(doc.text)
    starts, ends = {span.start for span in found}, {span.end for span in found}
    for question in corpus.questions(name):
        assert question.answers
        for doc_id, span in question.answers:
            assert doc_id == name
            assert span.start in starts and span.end in ends, question.text


@pytest.mark.parametrize("name", ["travel-en", "travel-zh"])
def test_each_kind_of_question_is_what_it_says(name):
    doc = corpus.load(name)
    asked = {q.kind: q for q in corpus.questions(name)}
    places = {kind: [corpus_section(*answer) for answer in q.answers] for kind, q in asked.items()}
    assert gold(asked["section"]) == [body(doc, 11)]
    assert places["exception"] == [7, 14]
    assert places["restricted"] == [ANNEX]
    source, target = places["reference"]
    assert re.search(rf"section {target}|第 {target} 节", gold(asked["reference"])[0]) and source != target
    first, second = [span for _, span in asked["neighbour"].answers]
    assert not doc.text[first.end : second.start].strip(), "the condition stands in the next sentence"
    (diluted,) = [span for _, span in asked["dilution"].answers]
    (around,) = [span for span in paragraphs(doc.text) if span.contains(diluted)]
    assert len(around) > 7 * len(diluted)


def test_half_of_the_questions_about_einstein_are_specific():
    asked = corpus.questions("einstein")
    kinds = Counter(question.kind for question in asked)
    assert len(asked) >= 40
    assert set(kinds) == {"specific", "general"} and kinds["specific"] == kinds["general"]
    assert len({question.text for question in asked}) == len(asked)
    places = Counter(corpus_section(*answer) for question in asked for answer in question.answers)
    assert set(places) == set(range(1, 10)) and places[3] < sum(places.values()) / 2


def test_the_first_question_about_einstein_asks_for_the_date_of_the_blouse():
    first = corpus.questions("einstein")[0]
    assert first.kind == "specific" and "blouse" in first.text
    (evidence,) = gold(first)
    assert evidence.endswith("October 27, 1936.") and "blouse" in evidence


def test_questions_about_einstein_are_not_those_of_another_text():
    entries = [set(entry) - {"kind", "more"} for entry in corpus._questions()]
    assert all(names in ({"einstein"}, {"travel-en", "travel-zh"}) for names in entries)


def test_texts_without_questions_say_which_have_some():
    with pytest.raises(ValueError, match=r"'rag-zh'.*einstein, travel-en, travel-zh"):
        corpus.questions("rag-zh")
    with pytest.raises(ValueError, match=r"unknown text 'nothing'"):
        corpus.questions("nothing")


@pytest.mark.parametrize(
    ("evidence", "times"),
    [
        ({"section": 7, "quote": "within 31 calendar days"}, 0),
        ({"section": 7, "quote": "ticket"}, 2),
        ({"section": 99, "quote": "ticket"}, 0),
        ({"section": 7, "quote": "Travellers must", "to": "The line manager"}, 0),
        ({"section": 9, "quote": "The clock is stopped"}, 0),
    ],
)
def test_evidence_that_is_missing_or_not_unique_is_refused(monkeypatch, evidence, times):
    entry = {"kind": "x", "travel-en": {"text": "?", "evidence": [evidence]}}
    monkeypatch.setattr(corpus, "_questions", lambda: [entry])
    with pytest.raises(ValueError, match=f"section {evidence['section']} of travel-en, found {times} times"):
        corpus.questions("travel-en")


def test_a_stretch_of_evidence_runs_to_the_end_of_its_last_words(monkeypatch):
    evidence = {"section": 7, "quote": "Travellers must", "to": "log a ticket"}
    monkeypatch.setattr(
        corpus, "_questions", lambda: [{"kind": "x", "travel-en": {"text": "?", "evidence": [evidence]}}]
    )
    (text,) = gold(corpus.questions("travel-en")[0])
    assert text.startswith("Travellers must submit") and text.endswith("they must log a ticket")


# --- the documentation that comes with Python ------------------------------------------------------------------------


def underlined(text):
    """Headings of reStructuredText: a line over a line of one repeated mark at least as long."""
    lines = text.split("\n")
    return [a for a, b in pairwise(lines) if a.strip() and len(b) >= len(a) and re.fullmatch(r"([*=~^\"-])\1{2,}", b)]


def below_title(text, span):
    """The words of a section below its title and the line under it."""
    lines = span.of(text).strip().split("\n")
    return " ".join(" ".join(lines[2:]).split())


def test_python_docs_holds_every_section_once():
    from pydoc_data.topics import topics

    docs = corpus.python_docs()
    assert len(docs) > 50
    assert len({doc.text.strip() for doc in docs}) == len({doc.id for doc in docs}) == len(docs)
    assert all(doc.id.removeprefix("python/") in topics for doc in docs)
    held = Counter((part.title, below_title(doc.text, part.span)) for doc in docs for part in doc.sections)
    assert not [title for (title, _), count in held.items() if count > 1]
    whole = [document(topic, text.strip("\n") + "\n") for topic, text in topics.items()]
    wanted = Counter((part.title, below_title(doc.text, part.span)) for doc in whole for part in doc.sections)
    assert {key for key in wanted if key[1]} == {key for key in held if key[1]}
    assert max(wanted.values()) > 1, "this Python's topics share no section: the test shows nothing"


def test_a_section_of_two_topics_stays_in_the_first_and_a_heading_without_any_goes(monkeypatch):
    import pydoc_data.topics

    topics = {
        "b": "Group\n*****\n\n\nShared\n======\n\nOne text.\n\n\nOwn\n===\n\nB alone.\n",
        "a": "Shared\n******\n\nOne text.\n",
        "c": "Group\n*****\n\n\nShared\n======\n\nOne text.\n",
        "d": "Own\n***\n\nD alone.\n",
    }
    monkeypatch.setattr(pydoc_data.topics, "topics", topics)
    assert [(doc.id, doc.title, doc.text) for doc in corpus.python_docs()] == [
        ("python/a", "Shared", topics["a"]),
        ("python/b", "Group", "Group\n*****\n\n\nOwn\n===\n\nB alone.\n"),
        ("python/d", "Own", topics["d"]),
    ]


def test_python_docs_come_in_a_stable_order_with_the_version_of_python():
    docs = corpus.python_docs()
    assert [doc.id for doc in docs] == sorted(doc.id for doc in docs)
    assert docs == corpus.python_docs()
    assert {doc.version for doc in docs} == {".".join(map(str, sys.version_info[:2]))}


def test_a_shared_text_goes_by_the_topic_that_its_title_names(monkeypatch):
    import pydoc_data.topics

    shared = 'The "if" statement\n******************\n\nIt chooses.\n'
    topics = {"else": shared, "if": "\n" + shared, "blank": " \n", "b": "B\n***\n\nText.\n", "a": "B\n***\n\nText.\n"}
    monkeypatch.setattr(pydoc_data.topics, "topics", topics)
    assert [(doc.id, doc.title) for doc in corpus.python_docs()] == [
        ("python/b", "B"),
        ("python/if", 'The "if" statement'),
    ]


def test_the_headings_of_python_docs_are_their_sections():
    docs = corpus.python_docs()
    assert sum(len(doc.sections) for doc in docs) > 2 * len(docs)
    for doc in docs:
        assert [part.title for part in doc.sections] == underlined(doc.text), doc.id
        assert doc.title == doc.sections[0].title
        cover = [part.span for part in doc.sections]
        assert (cover[0].start, cover[-1].end) == (0, len(doc.text))
        assert all(left.end == right.start for left, right in pairwise(cover))


# --- what a question's evidence is ---


def test_one_span_is_a_needle_and_several_are_evidence():
    one, two = ("a", Span(0, 3)), ("a", Span(5, 9))
    assert corpus.Question("?", (one,)).gold_kind == "needle"
    assert corpus.Question("?", (one, two)).gold_kind == "evidence"
    assert corpus.Question("?", (one, one)).gold_kind == "needle", "named twice, it is one"
    assert corpus.Question("?", (one,), elsewhere=((two,),)).gold_kind == "needle", "either place is enough"


def test_the_gold_has_each_answer_once_with_all_its_places():
    one, two, copy = ("a", Span(0, 3)), ("a", Span(5, 9)), ("b", Span(0, 3))
    assert corpus.Question("?", (one, two, one)).gold == ((one,), (two,))
    question = corpus.Question("?", [one, two, one], elsewhere=[(copy,), (), (("c", Span(1, 4)),)])
    assert question.gold == ((one, copy, ("c", Span(1, 4))), (two,))
    assert corpus.Question("?", ()).gold == () and hash(question)


@pytest.mark.parametrize(
    ("elsewhere", "error", "says"),
    [
        (((),), ValueError, "for each of 2 answers, not 1"),
        (((("b", Span(0, 1)),), (), ()), ValueError, "for each of 2 answers, not 3"),
        ((("b", Span(0, 1)), ()), TypeError, "elsewhere must hold tuples only, not str 'b'"),
        (((("b", 1),), ()), TypeError, r"pair of document id and Span, not \('b', 1\)"),
        (3, TypeError, "elsewhere must be a list of tuples, not int 3"),
    ],
    ids=[f"A9-{n}" for n in range(5)],
)
def test_other_places_are_places_for_each_answer(elsewhere, error, says):
    with pytest.raises(error, match=says):
        corpus.Question("?", (("a", Span(0, 3)), ("a", Span(5, 9))), elsewhere=elsewhere)
