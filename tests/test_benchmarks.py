"""The benchmarks' arithmetic, result format and fairness, on tiny inputs; nothing here looks at a clock's verdict."""

import json
import re
import subprocess
import sys
from statistics import median

import pytest

from benchmarks import busy, importing, indexing, killing, latency, report, splitting, stores
from benchmarks.clock import interleaved
from s2b_lab import HashEmbedder, document, sentence_tree, sentences

DOCS = [
    document("a", "# Trips\n\nBook early. Keep the tickets.\n\n## Deadline\n\nFile it in 30 days. Then wait."),
    document("b", "# Meals\n\nEat well. Keep the bill."),
]


def result(**changes):
    rows = report.rows("text", {"ours": [2.0, 4.0], "theirs": [1.0, 0.5]}, max, "ours", {"theirs": "3 pieces"})
    target = report.Target("MB/s", ">= 10", 4.0)
    fields = {"name": "trial", "title": "A trial", "unit": "MB/s", "better": "higher", "how": "best of 2"}
    return report.Result(**fields | {"rows": tuple(rows), "targets": (target,), "packages": ("s2b-lab",)} | changes)


def test_a_ratio_is_ours_by_theirs_of_the_picked_rounds():
    speeds = report.rows("text", {"ours": [2.0, 4.0], "theirs": [1.0, 0.5]}, max, "ours")
    assert [(row.value, row.ratio) for row in speeds] == [(4.0, None), (1.0, 4.0)]
    seconds = report.rows("text", {"theirs": [3.0, 8.0, 5.0], "ours": [2.0, 1.0, 9.0]}, median, "ours")
    assert [(row.value, row.ratio) for row in seconds] == [(5.0, 0.4), (2.0, None)]


@pytest.mark.parametrize(
    ("wanted", "found", "met"),
    [
        (">= 10", 10.0, True),
        (">= 10", 9.9, False),
        ("<= 1.1", 1.1, True),
        ("<= 1.1", 1.11, False),
        ("< 0.2", 0.2, False),
    ],
)
def test_a_target_is_met_at_its_limit_and_not_beyond(wanted, found, met):
    assert report.Target("x", wanted, found).met is met


def test_the_record_names_versions_and_date_but_no_machine_or_path(tmp_path):
    file = report.write(result(packages=("s2b-lab", "no-such-package")), tmp_path)
    held = json.loads(file.read_text(encoding="utf-8"))
    assert file.name == "trial.json"
    assert set(held["versions"]) == {"s2b-lab"}
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", held["date"]) and held["cpus"] >= 1
    assert held["python"] == sys.version.split()[0]
    assert held["targets"] == [{"what": "MB/s", "wanted": ">= 10", "found": 4.0, "met": False}]
    assert held["rows"][1] == {
        "group": "text",
        "name": "theirs",
        "value": 1.0,
        "rounds": [1.0, 0.5],
        "ratio": 4.0,
        "remark": "3 pieces",
    }
    assert "/" not in re.sub(r"ours/theirs|MB/s", "", file.read_text(encoding="utf-8"))


def test_the_table_shows_each_row_and_says_that_a_target_is_missed():
    shown = report.show(result())
    assert re.search(r"theirs +1 MB/s +ours/theirs 4 +3 pieces", shown)
    assert "higher is better" in shown
    assert "target: MB/s >= 10: 4 (NOT MET)" in shown


def test_every_contender_runs_once_a_round_and_the_order_turns():
    ran, ticks = [], iter(range(100))
    jobs = {name: lambda name=name: ran.append(name) for name in "abc"}
    spent = interleaved(jobs, 3, lambda: next(ticks))
    assert "".join(ran) == "abcbcacab"
    assert spent == {name: [1, 1, 1] for name in "abc"}


def test_splitters_are_counted_and_timed_on_the_same_texts():
    seen = []

    def lines(text):
        seen.append(text)
        return text.splitlines()

    texts = ["One. Two.\nThree.", "四。五！"]
    rows = splitting.measure("tiny", texts, {splitting.OURS: sentences, "lines": lines}, rounds=2, passes=3)
    assert [row.remark for row in rows] == ["5 pieces", "3 pieces"]
    assert seen == texts * (1 + 2 * 3)
    assert rows[1].ratio == pytest.approx(rows[0].value / rows[1].value, rel=1e-3)


def test_the_floor_embeds_our_sentences_in_one_call_and_finds_them():
    fake, calls = HashEmbedder(), []

    def embed(texts):
        calls.append(list(texts))
        return fake.passages(texts)

    floor = stores.Floor(embed)
    floor.add(DOCS)
    assert calls == [[chunk.text for chunk in sentence_tree(DOCS).indexed]]
    assert floor.held.count() == len(calls[0]) == 9
    place = calls[0].index("Keep the bill.")
    assert floor.search("Keep the bill.")["ids"][0][0] == str(place)
    floor.close()


def test_folders_are_timed_and_weighed():
    model = HashEmbedder(8)
    ours, floor = indexing.measure_folders(DOCS, 2, model, model.passages)
    assert (ours.name, floor.name) == (indexing.KEPT, indexing.FLOOR_KEPT) and len(ours.rounds) == len(
        floor.rounds
    ) == 2
    assert all(re.fullmatch(r"0\.\d+ MB stored", row.remark) and "0.00" not in row.remark for row in (ours, floor))


def test_what_a_kill_left_is_judged():
    right = {"state": "old", "problems": [], "embedded on opening": 0, "embedded twice": 128, "finished": True}
    assert killing.is_right(right) and killing.is_right(right | {"state": "new"})
    wrong = {
        "state": "mixed", "problems": ["a vector is lost"], "embedded on opening": 1, "embedded twice": 129,
        "finished": False,
    }  # fmt: skip
    assert not [name for name, value in wrong.items() if killing.is_right(right | {name: value})]
    assert not killing.is_right(dict.fromkeys(right) | {"state": "unusable: OSError"})


def test_indexing_opens_a_fresh_store_each_round_and_closes_it():
    opened = []

    class Store(stores.Ours):
        def __init__(self):
            super().__init__(HashEmbedder())
            opened.append(self)

        def add(self, documents):
            assert self.index.count() == 0
            super().add(documents)

    jobs = {indexing.OURS: Store, indexing.FLOOR: lambda: stores.Floor(HashEmbedder().passages)}
    rows = indexing.measure(DOCS, jobs, rounds=2)
    assert [row.name for row in rows] == [indexing.OURS, indexing.FLOOR]
    assert rows[0].group == "documents: 2, sentences by our rules: 9"
    assert len(opened) == 2 and len(rows[0].rounds) == 2
    for store in opened:
        with pytest.raises(ValueError, match="closed"):
            store.search("tickets")


def test_the_indexed_text_is_whole_topics_up_to_the_size():
    taken = indexing.some_docs(30_000)
    assert 20_000 < sum(len(doc.text) for doc in taken) <= 30_000
    assert all(doc.id.startswith("python/") for doc in taken)


def test_latency_asks_every_store_the_same_and_takes_off_its_own_embedding():
    model, asked = HashEmbedder(), []
    ours, floor = stores.Ours(model), stores.Floor(lambda texts: asked.append(texts) or model.passages(texts))
    ours.add(DOCS), floor.add(DOCS)
    asked.clear()
    rows = latency.measure(
        {latency.OURS: ours, "floor": floor}, ["tickets?", "meals?"], model.query, lambda text: model.passages([text])
    )
    assert [row.name for row in rows] == [latency.OURS, f"{latency.OURS}, {latency.FULL}", "floor"]
    assert asked == [["tickets?"], ["tickets?"], ["meals?"]]  # the first warms up
    assert rows[0].ratio is None
    windows, parents = ours.small_to_big("Keep the bill.")
    assert windows[0].text.endswith("Eat well. Keep the bill.") and parents[0].doc_id == "b"
    ours.close(), floor.close()


def test_latency_subtracts_medians():
    ours = ([5.0, 7.0, 90.0], [1.0, 2.0, 80.0])
    row = latency._row("theirs", [12.0, 11.0, 13.0], [2.0, 2.0, 2.0], ours)
    assert (row.value, row.ratio) == (10.0, 0.5)
    assert latency._row(latency.OURS, *ours, ours).value == 5.0


def test_there_are_as_many_questions_as_asked_for():
    asked = latency.questions(DOCS, 7)
    assert len(asked) == 7 and len(set(asked)) == 7
    assert any("Deadline" in text for text in asked)


def test_an_import_is_timed_in_a_new_interpreter():
    found = importing.run(1, (importing.OURS, "import json"))
    assert [row.name for row in found.rows] == ["import s2b_lab", "import json"]
    assert all(len(row.rounds) == 1 and row.value > 0 for row in found.rows)
    with pytest.raises(subprocess.CalledProcessError):
        importing.seconds("import no_such_module")


def test_each_contender_of_busy_is_a_process_whose_threads_wait_as_it_says(monkeypatch):
    monkeypatch.setenv("OMP_WAIT_POLICY", "active")  # of the caller, and not measured
    program = "import os\ndef embed(text):\n    assert os.environ.get('OMP_WAIT_POLICY') == {policy!r}"
    for name, policy in ((busy.OURS, None), (busy.PASSIVE, "passive"), (busy.ALONE, None)):
        with busy.worker(name, program.format(policy=policy)) as ask:
            assert len(ask(["one", "two"])) == 2 and len(ask(["three"])) == 1


def test_busy_takes_turns_and_compares_with_passive_threads_under_the_same_loops():
    asked = []
    workers = {name: lambda texts, name=name: asked.append((name, len(texts))) or [2.0, 4.0] for name in "ab"}
    assert busy.measure(workers, 2, 5) == {"a": [3.0, 3.0], "b": [3.0, 3.0]}
    assert asked == [("a", 5), ("b", 5), ("b", 5), ("a", 5)]
    rows = busy._rows(busy.BUSY, {busy.OURS: [9.0, 6.0, 6.0], busy.PASSIVE: [3.0, 3.0, 1.0]})
    assert [(row.value, row.ratio) for row in rows] == [(6.0, None), (3.0, 2.0)]


def test_busy_loops_run_until_they_are_no_longer_needed():
    with busy.busy(2) as loops:
        assert [loop.poll() for loop in loops] == [None, None]
    assert all(loop.poll() is not None for loop in loops)


def test_an_unknown_benchmark_is_refused_by_name():
    done = subprocess.run([sys.executable, "-m", "benchmarks", "speling"], capture_output=True, text=True)
    assert done.returncode != 0 and "no benchmark 'speling'; there are splitting" in done.stderr
