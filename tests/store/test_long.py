"""Long additions: they show how far they are, can be interrupted, and go on where they stopped."""

import sys

import numpy as np
import pytest
from samples import sentences_of, texts, tree_of

from s2b_lab.core.build import sentence_tree
from s2b_lab.core.headings import document
from s2b_lab.embed import HashEmbedder
from s2b_lab.index import Index
from s2b_lab.store import progress
from s2b_lab.store.progress import Progress

LONG = " ".join(f"Rule {n} is about trains." for n in range(1000))


class Interrupted(HashEmbedder):
    """A model that is interrupted once it has embedded so many texts."""

    def __init__(self, after, error=KeyboardInterrupt):
        super().__init__()
        self.embedded, self._after, self._error = [], after, error

    def passages(self, texts):
        if len(self.embedded) + len(texts) > self._after:
            raise self._error
        self.embedded += texts
        return super().passages(texts)


def many(count=40, bad=None):
    return sentence_tree(
        [
            document(f"d{n}", "This one is bad." if n == bad else f"Text {n} is here. And more {n}.")
            for n in range(count)
        ]
    )


# --- going on ---


def test_an_interrupted_document_goes_on_where_it_stopped(opened, fake):
    model = Interrupted(900)
    index = opened(model)
    with pytest.raises(KeyboardInterrupt):
        index.add(tree_of(LONG))
    assert 700 < len(model.embedded) <= 900 and index.search("trains") == [] and index.count() == 0
    if opened.lasts:
        index.close()
        index = opened(fake)
    else:
        index._writer._embedder = fake
    assert index.add(tree_of("Green hotel.", "between")).documents == 1  # another one first keeps what was done
    fake.embedded.clear()
    index.add(tree_of(LONG))
    # Memory and a server keep what is unfinished until another addition is finished.
    rest = 1000 - len(model.embedded) if index._store.repairs else 1000
    assert len(fake.embedded) == rest and set(fake.embedded).isdisjoint(model.embedded) == index._store.repairs
    assert index.count() == 1001 and index.verify() == []


def test_an_interruption_of_many_documents_keeps_all_vectors_and_finished_documents(tmp_path, fake, monkeypatch):
    monkeypatch.setattr("s2b_lab.store.write._PART", 8)
    first, second = tree_of(LONG, "first"), many()
    with Index.open(tmp_path, fake) as index:
        index.add(first)
        index._store.batch = 20
        index._writer._embedder = model = Interrupted(50)
        with pytest.raises(KeyboardInterrupt):
            index.add(second)
        assert 21 <= len(index.tree.documents) <= 26 and index.verify() == []
        assert index.count() == 1000 + 2 * (len(index.tree.documents) - 1)
    with Index.open(tmp_path, fake) as index:
        fake.embedded.clear()
        index.add(second)
        assert sorted([*fake.embedded, *model.embedded]) == sorted(chunk.text for chunk in second.indexed)
        assert index.verify() == [] and index.count() == 1080


def test_what_nobody_finished_is_dropped_after_a_week(tmp_path, fake):
    with Index.open(tmp_path, Interrupted(200)) as index, pytest.raises(KeyboardInterrupt):
        index.add(tree_of(LONG))
    with Index.open(tmp_path, fake) as index:
        index.add(tree_of("Green tea.", "e"))
        assert len(index._store.archive.present("d")) == 128
        with index._store.archive._change() as table:
            table.execute("UPDATE vectors SET made = made - 8 * 86400")
    with Index.open(tmp_path, fake) as index:
        assert index.add(tree_of("Green tea.", "e")).deleted == 128
        assert index._store.archive.present("d") == set() and texts(index.search("tea")) == ["Green tea."]


# --- one bad document ---


@pytest.mark.parametrize("error", [ValueError("too odd"), OSError("no room"), KeyError("x"), MemoryError()])
def test_a_document_that_the_model_refuses_is_named_and_those_before_it_are_kept(opened, fake, error, monkeypatch):
    embed = type(fake).passages

    def picky(self, texts):
        if any("bad" in text for text in texts):
            raise error
        return embed(self, texts)

    monkeypatch.setattr(type(fake), "passages", picky)
    index = opened(fake)
    kind = type(error) if isinstance(error, (ValueError, OSError)) else RuntimeError
    with pytest.raises(kind, match=r"document 'd7' could not be added, those before it were: .*\w"):
        index.add(many(12, bad=7))
    assert list(index.tree.documents) == [f"d{n}" for n in range(7)] and index.count() == 14
    assert index.verify() == [] or not index._store.repairs
    monkeypatch.undo()
    index.add(many(12, bad=7))
    assert len(index.tree.documents) == 12 and index.verify() == []


def test_a_document_without_finite_vectors_is_named(tmp_path, fake, monkeypatch):
    embed = type(fake).passages

    def odd(self, texts):
        rows = embed(self, texts)
        rows[[place for place, text in enumerate(texts) if "bad" in text]] = np.nan
        return rows

    monkeypatch.setattr(type(fake), "passages", odd)
    with Index.open(tmp_path, fake) as index:
        with pytest.raises(ValueError, match="document 'd3' could not be added"):
            index.add(many(9, bad=3))
        assert len(index.tree.documents) == 3 and index.verify() == []


def test_a_document_that_cannot_be_planned_is_named(tmp_path, fake, monkeypatch):
    count = type(fake).count_tokens

    def picky(self, text):
        if "bad" in text:
            raise RuntimeError("cannot count")
        return count(self, text)

    fake.max_tokens = 5
    monkeypatch.setattr(type(fake), "count_tokens", picky)
    with Index.open(tmp_path, fake) as index:
        with pytest.raises(RuntimeError, match="document 'd3' could not be added, those before it were: cannot count"):
            index.add(many(9, bad=3))
        assert len(index.tree.documents) == 3 and index.verify() == []


# --- telling ---


def test_progress_is_told_to_a_function(opened, fake):
    index, told = opened(fake), []
    index.add(tree_of(LONG), progress=lambda done, total: told.append((done, total)))
    done = [one for one, _ in told]
    assert done == sorted(done) and told[-1] == (1000, 1000) and len(told) > 5
    told.clear()
    index.add(tree_of(LONG + " One more."), progress=lambda done, total: told.append((done, total)))
    assert told == [(1000, 1001), (1001, 1001)]


def test_a_function_can_stop_an_addition(tmp_path, fake):
    def stop(done, total):
        if done > 500:
            raise KeyboardInterrupt

    with Index.open(tmp_path, fake) as index:
        with pytest.raises(KeyboardInterrupt):
            index.add(tree_of(LONG), progress=stop)
        count = len(fake.embedded)
        index.add(tree_of(LONG))
        assert len(fake.embedded) == 1000 and count < 700


@pytest.mark.parametrize("progress", [1, "yes", [print]])
def test_another_kind_of_progress_is_refused(tmp_path, fake, progress):
    with Index.open(tmp_path, fake) as index:
        with pytest.raises(TypeError, match="progress is None for a line, False for silence or a function"):
            index.add(tree_of("Green tea."), progress=progress)
        assert index.count() == 0


def test_a_short_addition_is_silent_and_a_long_one_moves_a_line(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.delenv("TQDM_DISABLE", raising=False)
    for delay, report in ((2, None), (2, False), (0, False), (0, None)):
        monkeypatch.setattr(progress, "_DELAY", delay)
        with Progress("embedding", 4, report) as told:
            told.advance(1)
            told.grow(4)
            told.advance(7)
        shown = capsys.readouterr().err
        assert ("embedding" in shown) == (delay == 0 and report is None)
        assert "8 vectors" not in shown or "/8" in shown


def test_what_is_done_at_once_makes_no_widget(monkeypatch):
    """Widgets are saved with a notebook, and a page that holds one asks another host for what draws it."""
    made = []
    monkeypatch.setattr(progress, "_line", lambda *told: made.append(told))
    for delay, silenced in ((60, ""), (0, "1")):
        monkeypatch.setattr(progress, "_DELAY", delay)
        monkeypatch.setenv("TQDM_DISABLE", silenced)
        with Progress("embedding", 2) as told:
            told.advance(2)
        assert not made
    monkeypatch.setenv("TQDM_DISABLE", "")
    with Progress("embedding", 2) as told:
        told.advance(1)
        assert made == [("embedding", 1, 2)], "at once where it takes long"


def test_a_line_is_kept_out_of_a_log(capsys, monkeypatch):
    monkeypatch.setattr(progress, "_DELAY", 0)
    with Progress("embedding", 4) as told:
        told.advance(4)
    assert capsys.readouterr().err == ""


def test_pieces_of_long_chunks_are_counted(tmp_path, recwarn):
    told = []
    with Index.open(tmp_path, HashEmbedder(max_tokens=6)) as index:
        report = index.add(
            tree_of(f"Green tea. {' '.join(f'word{n}' for n in range(40))}."), progress=lambda *both: told.append(both)
        )
    assert told[-1] == (report.added, report.added) and report.added > 5


def test_texts_of_many_documents_are_embedded_together(opened, fake):
    calls = []
    fake.passages = lambda texts: calls.append(len(texts)) or HashEmbedder.passages(fake, texts)
    opened(fake).add(sentence_tree([document(f"d{n}", sentences_of("green tea")) for n in range(30)]))
    assert len(calls) == 1
