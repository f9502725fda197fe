"""What waiting threads cost: embedding a text alone on the machine, and with busy loops beside it, in milliseconds."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from statistics import median

from .report import Result, Row, Target

OURS, PASSIVE, ALONE = "s2b_lab", "s2b_lab, OMP_WAIT_POLICY=passive", "sentence-transformers alone"
LOOPS = 2
QUIET, BUSY = "nothing beside it", f"{LOOPS} busy loops beside it"
# Each contender is a process of its own, since OpenMP reads how threads wait when it is loaded.
_MODELS = {
    OURS: "from s2b_lab import embedder; embed = embedder('en').query",
    PASSIVE: "from s2b_lab import embedder; embed = embedder('en').query",
    ALONE: "from benchmarks.offline import model_folder; from sentence_transformers import SentenceTransformer; "
    "embed = SentenceTransformer(model_folder(), local_files_only=True).encode",
}
_WORKER = """
import json, sys, time
embed("a text to begin with")
for line in sys.stdin:
    spent = []
    for text in json.loads(line):
        start = time.perf_counter()
        embed(text)
        spent.append(1000 * (time.perf_counter() - start))
    print(json.dumps(spent), flush=True)
"""


def run(rounds: int = 9, queries: int = 10) -> Result:
    """Let every contender embed the same questions in turn, alone and beside busy loops."""
    with ExitStack() as stack:
        workers = {name: stack.enter_context(worker(name)) for name in _MODELS}
        quiet = measure(workers, rounds, queries)
        with busy(LOOPS):
            crowded = measure(workers, rounds, queries)
    found = [*_rows(QUIET, quiet), *_rows(BUSY, crowded)]
    value = {(row.group, row.name): row.value for row in found}
    return Result(
        "busy",
        "A question is embedded while others work",
        "ms",
        "lower",
        f"mean of {queries} questions at the median of {rounds} rounds in which all take turns, each in a process of "
        f"its own; {LOOPS} endless loops on all cores",
        tuple(found),
        (
            Target("ours / passive, both beside busy loops", "<= 3", value[BUSY, OURS] / value[BUSY, PASSIVE]),
            Target("ours beside busy loops / passive threads alone", "<= 3", value[BUSY, OURS] / value[QUIET, PASSIVE]),
        ),
        ("torch", "sentence-transformers", "s2b-lab"),
    )


def measure(workers: dict, rounds: int, queries: int) -> dict[str, list[float]]:
    """Give the mean milliseconds a question of each contender by round; the order turns by one place a round."""
    names, spent = list(workers), {name: [] for name in workers}
    for turn in range(rounds):
        texts = [f"Who approves trip number {turn}.{n}, and within how many days?" for n in range(queries)]
        at = turn % len(names)
        for name in names[at:] + names[:at]:
            times = workers[name](texts)
            spent[name].append(sum(times) / len(times))
    return spent


@contextmanager
def worker(name: str, program: str | None = None) -> Iterator:
    """Start a process that embeds lists of texts, and gives the milliseconds of each."""
    settings = {key: value for key, value in os.environ.items() if not key.startswith(("OMP_", "S2B_"))}
    settings |= {"OMP_WAIT_POLICY": "passive"} if name == PASSIVE else {}
    command = [sys.executable, "-c", f"{program or _MODELS[name]}\n{_WORKER}"]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=settings
    )

    def ask(texts: list[str]) -> list[float]:
        process.stdin.write(json.dumps(texts) + "\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())

    try:
        yield ask
    finally:
        process.stdin.close()
        process.wait(60)


@contextmanager
def busy(loops: int) -> Iterator[list[subprocess.Popen]]:
    """Keep so many endless loops running."""
    running = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(loops)]
    try:
        yield running
    finally:
        for process in running:
            process.kill()
            process.wait()


def _rows(group: str, spent: dict[str, list[float]]) -> list[Row]:
    middle = {name: median(rounds) for name, rounds in spent.items()}
    return [
        Row(
            group,
            name,
            round(middle[name], 3),
            tuple(round(value, 3) for value in rounds),
            None if name == OURS else round(middle[OURS] / middle[name], 3),
            f"slowest round {max(rounds):.0f} ms",
        )
        for name, rounds in spent.items()
    ]
