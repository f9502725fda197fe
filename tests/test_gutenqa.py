"""The protocol of GutenQA on two tiny books of our own in the shape of its tables, read as its users read them."""

import csv
import dataclasses
import json
import re
import sys
from math import log, log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import texts

from benchmarks import gutenqa, gutenqa_data, gutenqa_methods
from benchmarks.gutenqa import KS
from benchmarks.gutenqa_methods import METHODS, OURS, PUBLISHED, SHARE, THEIR_CHUNKS, THEIR_NUMBERS, Method
from benchmarks.gutenqa_words import WordScores, scaled, weighted
from s2b_lab import HashEmbedder, ModelUnavailable, Span, count, multi_granular, sentences

MILL = (
    "Old Anna kept the mill above the weir. She ground rye for three villages.",
    "In March the flood took the wheel. Anna wept, then she sold her silver spoons.",
    "The smith built a new wheel of larch. He asked for nothing but bread.",
    "At harvest the stones turned again. The whole valley smelled of flour.",
)
LAMP = (
    "Tomas lit the lamp on the cape each night. Nobody had asked him to.",
    "A captain from Bergen saw it through the fog. His ship carried salt and oranges.",
    "He sent Tomas a crate of oranges every winter. The boy shared them with the gulls.",
)
BOOKS = {"The_Mill_-_A._Nonymous": MILL, "The_Lamp_-_A._Nonymous": LAMP}
ASKED = {
    "The_Mill_-_A._Nonymous": [
        ("What did Anna sell after the flood?", "Her spoons", "sold her SILVER spoons"),
        ("Which wood was the new wheel made of?", "Larch", " wheel of larch "),
        ("What can nobody find?", "", "stands in no chunk"),
        ("What is right everywhere?", "", " "),
    ],
    "The_Lamp_-_A._Nonymous": [
        ("What did the captain send Tomas?", "Oranges", "a crate of oranges"),
        ("What is asked without words to contain?", "", None),
    ],
}


def tables():
    """The tables as lists of rows: paragraphs, and two paragraphs at a time as chunks of LumberChunker."""
    rows = {
        "questions": [
            {"Book Name": name, "Question": question, "Answer": answer, "Chunk Must Contain": words}
            for name, asked in ASKED.items()
            for question, answer, words in asked
        ]
    }
    for table, step in (("paragraph", 1), ("LumberChunker", 2)):
        rows[table] = [
            {"Book Name": name, "Chunk ID": number, "Chunk": "\n".join(texts[number : number + step])}
            for name, texts in BOOKS.items()
            for number in range(0, len(texts), step)
        ]
    rows["paragraph"].insert(1, {"Book Name": "The_Mill_-_A._Nonymous", "Chunk ID": 9, "Chunk": None})
    return rows


def write_csv(folder, rows):
    folder.mkdir(exist_ok=True)
    for name, lines in rows.items():
        with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, lines[0])
            writer.writeheader()
            writer.writerows(lines)
    return folder


class EndsAfter:
    """Stands in for a language model: a text ends after some words rather than elsewhere."""

    name = "ends after"

    def __init__(self, words):
        self.words = words

    def end_probabilities(self, text, places):
        return [0.9 if text[:place].endswith(self.words) else 0.1 for place in places]


@pytest.fixture(autouse=True)
def ends(monkeypatch):
    monkeypatch.setattr(gutenqa_methods, "end_model", lambda: EndsAfter("spoons."))


def quietly(*_, **__):
    pass


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_csv(tmp_path_factory.mktemp("gutenqa") / "data", tables())


@pytest.fixture(scope="module")
def shelf():
    return gutenqa_data.books(tables())


def naive_dcg(units, questions, model, k):
    """The published protocol: rank by similarity, a single one in a row of zeros, gains by place."""
    vectors, gains = model.passages(list(units)), []
    for question, words in questions:
        order = np.argsort(-(vectors @ model.query(question)), kind="stable")[:k]
        relevance = [0] * len(order)
        for place, number in enumerate(order):
            if words.lower() in units[number].lower():
                relevance[place] = 1
                break
        gains.append(sum((2**gain - 1) / log2(place + 2) for place, gain in enumerate(relevance)))
    return gains


def test_tables_become_books_with_the_questions_that_can_be_right(shelf):
    mill, lamp = shelf
    assert [book.name for book in shelf] == list(BOOKS)
    assert mill.chunks == {"paragraph": MILL, "LumberChunker": ("\n".join(MILL[:2]), "\n".join(MILL[2:]))}
    assert [words for _, words in mill.questions] == ["sold her SILVER spoons", "wheel of larch", "stands in no chunk"]
    assert len(lamp.questions) == 1 and gutenqa.lost(shelf) == 1
    assert mill.text == "\n\n".join(MILL)


def test_files_are_read_through_datasets_and_are_the_same_books(folder, shelf, tmp_path):
    import datasets

    parquet = tmp_path / "parquet"
    parquet.mkdir()
    for name, rows in tables().items():
        datasets.Dataset.from_list(rows).to_parquet(parquet / f"{name}.parquet")
    for place in (folder, parquet):
        assert gutenqa_data.books(gutenqa_data.from_folder(place)) == shelf


def write_sheets(folder, rows, names):
    import pandas

    for table, name in names.items():
        pandas.DataFrame(rows[table]).to_excel(folder / f"{name}.xlsx", index=False)


SHEETS = {
    "questions": "Questions_-_The_Mill",
    "LumberChunker": "Gemini_Chunks_-_The_Mill",
    "paragraph": "The_Mill_Paragraph",
}
HUBS = {"questions": "questions", "LumberChunker": "GutenQA", "paragraph": "GutenQA_Paragraphs"}


@pytest.mark.parametrize("names", [SHEETS, HUBS])
def test_spreadsheets_and_the_names_of_the_authors_are_the_same_books(names, shelf, tmp_path):
    write_sheets(tmp_path, tables(), names)
    (tmp_path / "The_Mill_Propositions.xlsx").write_bytes(b"not read")
    (tmp_path / "Embeddings_The_Mill_Paragraph.txt").write_text("not read")
    assert gutenqa_data.books(gutenqa_data.from_folder(tmp_path)) == shelf


def test_questions_may_stand_in_the_rows_of_their_chunks(shelf, tmp_path):
    rows = tables()["LumberChunker"]
    for row in rows:
        asked = ASKED[row["Book Name"]]
        found = next((one for one in asked if one[2] and one[2].strip().lower() in row["Chunk"].lower()), (None,) * 3)
        row |= dict(zip(("Question", "Answer", "Chunk Must Contain"), found, strict=True))
    write_sheets(tmp_path, {"LumberChunker": rows}, {"LumberChunker": "GutenQA"})
    mill, lamp = gutenqa_data.books(gutenqa_data.from_folder(tmp_path))
    assert [words for _, words in mill.questions] == ["sold her SILVER spoons", "wheel of larch"]
    assert [words for _, words in lamp.questions] == ["a crate of oranges"]
    assert mill.chunks == {"LumberChunker": shelf[0].chunks["LumberChunker"]}


def test_two_tables_of_one_kind_and_a_broken_sheet_are_said(tmp_path):
    write_sheets(tmp_path, tables(), {**HUBS, "paragraph": "paragraph"})
    write_sheets(tmp_path, tables(), {"paragraph": "Mill_Paragraph"})
    with pytest.raises(SystemExit, match=r"two tables of paragraph: Mill_Paragraph\.xlsx and paragraph\.xlsx"):
        gutenqa_data.from_folder(tmp_path)
    (tmp_path / "Mill_Paragraph.xlsx").unlink()
    (tmp_path / "paragraph.xlsx").write_bytes(b"no archive")
    with pytest.raises(SystemExit, match=r"paragraph\.xlsx cannot be loaded \(\w+"):
        gutenqa_data.from_folder(tmp_path)


def test_dcg_of_chunks_as_they_are_agrees_with_the_published_protocol(shelf):
    model = HashEmbedder()
    rows = gutenqa.measured(shelf, model, say=quietly)
    assert {row["whose"] for row in rows} >= {THEIR_CHUNKS, OURS}
    for row in (row for row in rows if row["method"] in PUBLISHED):
        for k in KS:
            per_book = [naive_dcg(book.chunks[row["method"]], book.questions, model, k) for book in shelf]
            gains = [gain for gains in per_book for gain in gains]
            assert row["dcg"][str(k)] == pytest.approx(100 * sum(gains) / len(gains), abs=0.006), (row["method"], k)
            assert row["recall"][str(k)] == pytest.approx(100 * sum(map(bool, gains)) / len(gains), abs=0.006)
    assert [row["vectors"] for row in rows if row["method"] in PUBLISHED] == [4, 7]
    assert len(rows) == len(METHODS) - 2 and all(row["seconds"] >= 0 for row in rows)
    assert all(row["dcg"]["20"] <= 75 for row in rows), "one of four can never be right"


def test_the_first_unit_that_holds_the_words_counts_whatever_their_case():
    assert gutenqa.first_holding(["no", "The OLD mill", "the old mill"], "Old Mill") == 2
    assert gutenqa.first_holding(["no", "old", "mill"], "old mill") is None


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_every_method_delivers_slices_of_the_book_each_once(shelf, method):
    if method.table not in (None, *shelf[0].chunks):
        method = dataclasses.replace(method, table="LumberChunker")
    found, vectors = gutenqa.ranks(shelf[0], method, HashEmbedder())
    tree = gutenqa.tree_of(shelf[0], method)
    assert vectors == (0 if method.words == 1 else len(tree.indexed)) and tree.indexed
    assert found[2] is None and None not in found[:2], "all of so small a book is delivered"
    assert "".join("".join(chunk.text.split()) for chunk in tree.indexed).count("silver") >= 1


def test_halves_and_quarters_lie_in_their_chunk_and_cut_no_sentence(shelf):
    method = next(one for one in METHODS if one.name.startswith("LumberChunker, halves"))
    tree = gutenqa.tree_of(shelf[0], method)
    parents = [chunk for chunk in tree.indexed if chunk.parent_id is None]
    assert tuple(chunk.text for chunk in parents) == shelf[0].chunks["LumberChunker"]
    for parent in parents:
        inside = [chunk.text for chunk in tree.children(parent)]
        assert len(inside) == len({*inside}) > 2 and parent.text not in inside
        assert all(text in parent.text and text.endswith(".") for text in inside)
        for mark, parts in (("/h", 2), ("/q", 4)):
            level = [chunk.text for chunk in tree.children(parent) if mark in chunk.id]
            assert len(level) == parts and "".join("".join(level).split()) == "".join(parent.text.split())


@given(texts)
def test_halves_hold_all_sentences_and_part_the_words_as_evenly_as_any_cut(text):
    rows, halves = sentences(text), gutenqa_methods.halved(text, Span(0, len(text)))
    if len(rows) < 2:
        assert halves == [Span(0, len(text))]
        return
    inside = [[one for one in rows if half.contains(one)] for half in halves]
    assert len(halves) == 2 and [one for group in inside for one in group] == rows
    assert [(half.start, half.end) for half in halves] == [(group[0].start, group[-1].end) for group in inside]
    words = [count(one.of(text), "word") for one in rows]
    differences = [abs(sum(words[:n]) - sum(words[n:])) for n in range(1, len(rows))]
    assert differences[len(inside[0]) - 1] == min(differences)


# --- word matching ---


def naive_bm25(passages, question):
    """Robertson's formula with the logarithm of Lucene, word by word."""
    rows = [re.findall(r"\w\w+", text.lower()) for text in passages]
    mean, found = sum(map(len, rows)) / len(rows), []
    for row in rows:
        score = 0.0
        for word in re.findall(r"\w\w+", question.lower()):
            holding, often = sum(word in other for other in rows), row.count(word)
            weight = log(1 + (len(rows) - holding + 0.5) / (holding + 0.5))
            score += weight * often / (often + 1.5 * (0.25 + 0.75 * len(row) / mean))
        found.append(score)
    return found


WORDS = st.lists(st.sampled_from(["mill", "weir", "Anna", "rye", "Flood", "larch"]), max_size=6).map(" ".join)


@given(st.lists(WORDS, min_size=1, max_size=6), WORDS)
def test_scores_of_words_are_those_of_bm25(passages, question):
    expected = naive_bm25(passages, question) if any(passages) else [0] * len(passages)
    assert WordScores(passages).of(question) == pytest.approx(expected, abs=1e-5)


def test_words_that_stand_nowhere_or_everywhere_score_nothing():
    assert WordScores(MILL).of("Zeppelin?").tolist() == WordScores(MILL).of("the and of").tolist() == [0] * 4
    assert WordScores(["", "…"]).of("mill").tolist() == [0, 0] and not len(WordScores([]).of("mill"))


@pytest.mark.parametrize(("share", "best"), [(0, 0), (1, 2), (0.5, 1)])
def test_two_scores_count_by_their_shares_whatever_their_sizes(share, best):
    dense, words = np.array([0.3, 0.29, 0.1]), np.array([0.0, 40.0, 50.0])
    found = weighted(dense, words, share)
    assert int(found.argmax()) == best and (0 <= found).all() and (found <= 1).all()
    assert found == pytest.approx(weighted(dense - 7, words * 3, share))
    assert scaled(np.array([2.0, 2.0])).tolist() == [0, 0] and not len(scaled(np.array([])))


def test_a_parent_is_as_like_as_the_best_of_itself_and_what_is_in_it(shelf):
    """Against a plain count over the tree, at each share; so one vector of a child may lift its parent."""
    model, question = HashEmbedder(), "Who asked for nothing but bread, and what did Anna sell?"
    tree = multi_granular(gutenqa.s2b.document("mill", shelf[0].text), 16)
    parents = [chunk for chunk in tree.indexed if chunk.parent_id is None]
    like = [
        max(float(model.passages([c.text])[0] @ model.query(question)) for c in [one, *tree.children(one)])
        for one in parents
    ]
    words = naive_bm25([" ".join(set_free(one.text)) for one in parents], " ".join(set_free(question)))
    assert len(parents) > 3 and len({*like}) == len(parents)
    with gutenqa.s2b.Index.open(embedder=model) as index:
        index.add(tree, progress=False)
        for share in (0, 0.5, 1):
            sums = (1 - share) * scaled(np.array(like)) + share * scaled(np.array(words))
            expected = [parents[n].text for n in np.argsort(-sums, kind="stable")]
            assert gutenqa.by_score(tree, index, share)(question) == expected


def set_free(text):
    """The words that the library counts: it leaves out the most usual ones."""
    from bm25s.stopwords import STOPWORDS_EN

    return [word for word in re.findall(r"\w\w+", text.lower()) if word not in STOPWORDS_EN]


def test_each_way_with_words_has_its_twin_without_and_all_sizes():
    names = {method.name: method for method in METHODS}
    assert len(names) == len(METHODS)
    mixed = [name for name in names if name.endswith(" + word matching")]
    assert len(mixed) == 7 and all(names[name].words == SHARE for name in mixed)
    for name in mixed:
        plain = names[name.removesuffix(" + word matching")]
        assert plain.words == 0 and dataclasses.replace(plain, name=name, words=SHARE) == names[name]
    for kind in ("recursive", "multi-granular", "logits", "LGMGC"):
        assert all(f"{kind}, {size} words" in names for size in (200, 300, 500))


# --- the model that says where a text ends ---


@pytest.mark.parametrize("cut", [gutenqa_methods._logits, gutenqa_methods._lgmgc])
def test_chunks_and_parents_end_where_the_model_says(cut, shelf):
    tree = cut(40)(gutenqa.s2b.document("mill", shelf[0].text), ())
    big = [chunk for chunk in tree.indexed if chunk.parent_id is None]
    assert [chunk.text for chunk in big] == ["\n\n".join(MILL[:2]), "\n\n".join(MILL[2:])]
    assert (len(tree.indexed) > len(big)) == (cut is gutenqa_methods._lgmgc)


def test_without_the_model_its_methods_are_left_out_and_all_others_run(shelf, monkeypatch):
    def missing():
        raise ModelUnavailable("SmolLM2 is not installed")

    monkeypatch.setattr(gutenqa_methods, "end_model", missing)
    said = []
    some = [one for one in METHODS if "200 words" in one.name or one.name == "sentences"]
    rows = gutenqa.measured(shelf, HashEmbedder(), some, lambda line, **_: said.append(line))
    asked = {one.name for one in some if one.name.startswith(("logits", "LGMGC"))}
    assert {row["method"] for row in rows} == {one.name for one in some} - asked and len(asked) == 3
    assert sorted(line for line in said if line.startswith("left out")) == sorted(
        f"left out: {name}: SmolLM2 is not installed" for name in asked
    )


def test_a_long_chunk_of_a_plain_method_has_one_vector_of_its_beginning(shelf):
    class Short(HashEmbedder):
        """Reads ten words, as a real model reads some hundred tokens."""

        def __init__(self):
            super().__init__(max_tokens=10)

        def passages(self, texts):
            return super().passages([" ".join(text.split()[:10]) for text in texts])

    theirs = next(one for one in METHODS if one.name == "LumberChunker")
    assert gutenqa.ranks(shelf[0], theirs, Short())[1] == 2
    whole = next(one for one in METHODS if one.name == "recursive, 200 words")
    assert gutenqa.ranks(shelf[0], whole, Short())[1] == 1
    ours = Method("ours", "", lambda doc, _: gutenqa.s2b.parents_and_children(doc), gutenqa.s2b.parent_document)
    tree, count = gutenqa.tree_of(shelf[0], ours), gutenqa.ranks(shelf[0], ours, Short())[1]
    assert count > len(tree.indexed), "ours is embedded in pieces"


def test_the_table_marks_what_is_published_and_not_ours(shelf):
    rows = [*gutenqa.published(), *gutenqa.measured(shelf, HashEmbedder(), say=quietly)]
    lines = gutenqa.show(rows).split("\n")
    assert len({len(line) for line in lines}) == 1 and lines[0].split()[-7:] == [
        *(f"@{k}" for k in KS),
        "vectors",
        "seconds",
    ]
    first = next(line for line in lines if line.rstrip().endswith("  48.28  54.87  59.37  61.00  62.10"))
    assert first.startswith("LumberChunker  ") and first.endswith(" " * 18)
    for row, line in zip(rows, lines[1:], strict=True):
        shown = [f"{row[key]:,}" for key in ("vectors", "seconds") if key in row]
        assert line.split()[-len(shown) or len(line) :] == shown
    assert sum("published, not ours" in line for line in lines) == len(PUBLISHED) == 4
    assert all(("published, not ours" in row["whose"]) == ("vectors" not in row) for row in rows)
    assert {row["whose"] for row in rows if row["method"] == "paragraph"} == {THEIR_NUMBERS, THEIR_CHUNKS}


def test_the_command_reads_measures_shows_and_writes(folder, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(gutenqa.s2b, "embedder", lambda name: HashEmbedder(name=name), raising=False)
    file = tmp_path / "found.json"
    gutenqa.main(["--data", str(folder), "--books", "1", "--out", str(file), "--model", "fake"])
    said = capsys.readouterr().out
    assert "book 1 of 1, The_Mill_-_A._Nonymous: 3 questions" in said
    assert "left out, since not all books have their chunks: recursive; semantic" in said
    assert "3 questions on 1 books; the words of 1 stand nowhere in the text." in said
    held = json.loads(file.read_text(encoding="utf-8"))
    assert held["how"] == {
        "model": "fake",
        "ks": list(KS),
        "books": ["The_Mill_-_A._Nonymous"],
        "questions": 3,
        "share": SHARE,
        "lost": 1,
    }
    assert [row["dcg"]["20"] for row in held["rows"][:4]] == [62.1, 54.72, 49.0, 44.74]
    assert held["versions"]["datasets"] and held["date"] and str(tmp_path) not in file.read_text(encoding="utf-8")


@pytest.mark.parametrize("lost", ["questions", "paragraph"])
def test_a_folder_without_the_tables_is_said(lost, tmp_path):
    rows = tables()
    place = write_csv(tmp_path / "data", {name: rows[name] for name in rows if name not in (lost, "LumberChunker")})
    with pytest.raises(
        SystemExit, match=f"must hold questions and .*it has {'paragraph' if lost == 'questions' else 'q'}"
    ):
        gutenqa_data.from_folder(place)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda rows: rows["paragraph"][0].pop("Chunk"), "table paragraph has no column 'Chunk'; it has Book Name"),
        (lambda rows: rows["questions"][0].pop("Chunk Must Contain"), "questions has no column 'Chunk Must Contain'"),
        (lambda rows: rows.update(LumberChunker=[]), "table LumberChunker has no column 'Chunk'; it has no rows"),
        (lambda rows: [row.pop("Book Name") for row in rows["paragraph"]], "paragraph has no column 'Book Name'"),
        (lambda rows: rows["questions"][0].update({"Book Name": "Other"}), "questions about 'Other', but no chunks of"),
    ],
)
def test_tables_of_another_shape_are_said(change, says):
    rows = tables()
    change(rows)
    with pytest.raises(SystemExit, match=says):
        gutenqa_data.books(rows)


def test_tables_of_one_book_need_no_column_of_books():
    name = "The_Mill_-_A._Nonymous"
    rows = {table: [row for row in found if row["Book Name"] == name] for table, found in tables().items()}
    bare = {
        table: [{key: row[key] for key in row if key != "Book Name"} for row in found] for table, found in rows.items()
    }
    [named], [unnamed] = gutenqa_data.books({**bare, "questions": rows["questions"]}), gutenqa_data.books(bare)
    assert (named.name, unnamed.name) == (name, "book")
    assert named.questions == unnamed.questions and named.chunks == unnamed.chunks


def test_without_datasets_and_without_a_network_one_message_says_so(monkeypatch, tmp_path):
    with pytest.raises(SystemExit, match=r"questions of GutenQA cannot be loaded \(\w+: "):
        gutenqa_data.from_hub()
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(SystemExit, match=r"package datasets: pip install 's2b-lab\[gutenqa\]'"):
        gutenqa_data.from_hub()


def test_nothing_to_ask_is_said(tmp_path):
    rows = tables()
    rows["questions"] = [{**row, "Chunk Must Contain": ""} for row in rows["questions"]]
    with pytest.raises(SystemExit, match="0 questions with words"):
        gutenqa.main(["--data", str(write_csv(tmp_path / "data", rows))])
    with pytest.raises(SystemExit):
        gutenqa.main(["--books", "0"])


def test_some_methods_can_be_chosen_by_their_names(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(gutenqa.s2b, "embedder", lambda name: HashEmbedder(name=name), raising=False)
    file = tmp_path / "found.json"
    gutenqa.main(["--data", str(folder), "--only", "lgmgc, 300", "--out", str(file)])
    names = [row["method"] for row in json.loads(file.read_text(encoding="utf-8"))["rows"][4:]]
    assert names == ["LGMGC, 300 words", "LGMGC, 300 words + word matching"]
    with pytest.raises(SystemExit, match="no method has 'nonsense' in its name; there are LumberChunker; "):
        gutenqa.main(["--data", str(folder), "--only", "nonsense"])
