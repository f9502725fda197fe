"""The protocol of GutenQA on two tiny books of our own in the shape of its tables, read as its users read them."""

import csv
import dataclasses
import json
import sys
from itertools import pairwise
from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import texts

from benchmarks import gutenqa, gutenqa_data
from benchmarks.gutenqa import KS, METHODS, PUBLISHED, THEIR_CHUNKS, THEIR_NUMBERS
from s2b_lab import HashEmbedder, count, sentences

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


def test_dcg_of_chunks_as_they_are_agrees_with_the_published_protocol(shelf):
    model = HashEmbedder()
    rows = gutenqa.measured(shelf, model, say=lambda *_, **__: None)
    assert {row["whose"] for row in rows} >= {THEIR_CHUNKS, gutenqa.OURS}
    for row in (row for row in rows if row["method"] in PUBLISHED):
        for k in KS:
            per_book = [naive_dcg(book.chunks[row["method"]], book.questions, model, k) for book in shelf]
            gains = [gain for gains in per_book for gain in gains]
            assert row["dcg"][str(k)] == pytest.approx(100 * sum(gains) / len(gains), abs=0.006), (row["method"], k)
            assert row["recall"][str(k)] == pytest.approx(100 * sum(map(bool, gains)) / len(gains), abs=0.006)
    assert [row["vectors"] for row in rows if row["method"] in PUBLISHED] == [4, 7]
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
    assert vectors == len(tree.indexed) > 0
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


@given(texts, st.integers(1, 12))
def test_groups_of_sentences_cover_all_of_them_and_hold_the_size(text, size):
    groups, rows = list(gutenqa._groups(text, size)), sentences(text)
    inside = [[one for one in rows if group.contains(one)] for group in groups]
    assert [one for group in inside for one in group] == rows
    for group, members in zip(groups, inside, strict=True):
        assert (group.start == members[0].start) and group.end == members[-1].end
        assert len(members) == 1 or count(group.of(text), "word") <= size
    for group, after in pairwise(groups):
        following = next(one for one in rows if one.start >= after.start)
        assert count(text[group.start : following.end], "word") > size, "no more would fit"


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
    ours = gutenqa.Method("ours", "", lambda doc, _: gutenqa.s2b.parents_and_children(doc), gutenqa.s2b.parent_document)
    tree, count = gutenqa.tree_of(shelf[0], ours), gutenqa.ranks(shelf[0], ours, Short())[1]
    assert count > len(tree.indexed), "ours is embedded in pieces"


def test_the_table_marks_what_is_published_and_not_ours(shelf):
    rows = [*gutenqa.published(), *gutenqa.measured(shelf, HashEmbedder(), say=lambda *_, **__: None)]
    lines = gutenqa.show(rows).split("\n")
    assert len({len(line) for line in lines}) == 1 and lines[0].endswith("@1     @2     @5    @10    @20")
    first = next(line for line in lines if line.endswith("  48.28  54.87  59.37  61.00  62.10"))
    assert first.startswith("LumberChunker  ")
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
