"""How long an import takes in a fresh interpreter."""

import subprocess
import sys

from .report import Result, Target, rows

OURS = "import s2b_lab"
_STATEMENTS = (
    OURS,
    "from s2b_lab import sentences, sentence_tree, sentence_window",
    "from s2b_lab import *",
    "import langchain_text_splitters",
    "import chonkie",
    "import haystack",
    "import llama_index.core",
)
_PROGRAM = "import time; start = time.perf_counter(); {}; print(time.perf_counter() - start)"


def run(rounds: int = 5, statements: tuple[str, ...] = _STATEMENTS) -> Result:
    """Measure each import in turn, each time in a new process."""
    spent: dict[str, list[float]] = {statement: [] for statement in statements}
    for _ in range(rounds + 1):
        for statement, times in spent.items():
            times.append(seconds(statement))
    kept = {statement: times[1:] for statement, times in spent.items()}  # the first finds cold files
    found = rows("a fresh interpreter", kept, min, OURS)
    targets = (Target("s for import s2b_lab", "< 0.2", found[0].value),)
    how = f"best of {rounds} interleaved rounds, after one that warms the disk"
    packages = ("s2b-lab", "langchain-text-splitters", "chonkie", "haystack-ai", "llama-index-core")
    return Result("importing", "Import", "s", "lower", how, tuple(found), targets, packages)


def seconds(statement: str) -> float:
    """Time one import statement inside a new interpreter."""
    command = [sys.executable, "-c", _PROGRAM.format(statement)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[-1])
