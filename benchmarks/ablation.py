"""Which lever helps: step-back, HyDE and hypothetical questions, alone and together, at equal token budgets."""

import functools
import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import s2b_lab as s2b

TEXTS = ("einstein", "travel-en", "travel-zh")
SEED = 0
RESAMPLES = 10_000
BUDGETS = (300, 600, 1200)
_ONE_BY_ONE = 600
# More than a budget ever holds, so that the budget alone limits what is delivered.
K = {"children": 32, "parents": 8}
REWRITES = ("step-back", "hyde")
_MAKERS = {"step-back": s2b.step_back, "hyde": s2b.hyde}
FILE = Path(__file__).parent / "results" / "ablation.json"


def run() -> dict[str, Any]:
    """Measure every way on every text.

    {"how", "rows": one a group of questions and a way, "ways": those of one row a question, "questions": that row, at
    the middle budget}.
    """
    rows, questions = [], []
    for text in TEXTS:
        found = {way: retrieved(text, *way) for way in ways()}
        scored = {(way, budget): scores(text, found[way], budget) for way in found for budget in BUDGETS}
        rows += _rows(text, scored)
        questions += _questions(text, scored)
    return {"how": _how(), "ways": [_place(*way) for way in ways()], "rows": rows, "questions": questions}


def ways() -> Iterator[tuple[tuple[str, ...], bool, str]]:
    """What can be searched with ("question" and rewrites), with hypothetical questions or not, and what is delivered.

    A rewrite takes the place of the question, or is fused with it.
    """
    searched = [("question",), *((r,) for r in REWRITES), REWRITES]
    searched += [("question", *some) for some in searched[1:]]
    yield from itertools.product(searched, (False, True), K)


@functools.cache
def library(text: str) -> s2b.Index:
    """The index of a text cut into parents and children."""
    index = s2b.Index.open(embedder=s2b.embedder(s2b.language(text)))
    index.add(s2b.parents_and_children(s2b.load(text), *s2b.cut_sizes(text)))
    return index


@functools.cache
def question_library(text: str) -> s2b.Index:
    """The index of the recorded questions, three at most, about each chunk that everyone may read."""
    tree, index = library(text).tree, s2b.Index.open(embedder=library(text).embedder)
    ask = s2b.hypothetical_questions(s2b.recorded(f"questions.authors.few-shot.{text}"), 3, language=s2b.language(text))
    index.add(s2b.question_tree(s2b.ChunkTree(tree.documents.values(), tree, s2b.readable_chunks(tree)), ask))
    return index


def retrieved(text: str, searched: Sequence[str], asked: bool, delivery: str) -> Callable[[str], list[s2b.Context]]:
    """Retrieve for one way; the function from a question to contexts remembers what it found."""
    expand = s2b.parent_document if delivery == "parents" else s2b.as_found
    questions = question_library(text) if asked else None
    rewrite = functools.partial(_searched, text, searched)
    retriever = s2b.Retriever(library(text), expand=expand, rewrite=rewrite, k=K[delivery], questions=questions)
    return functools.cache(lambda question: list(retriever(question).contexts))


def scores(text: str, retriever: Callable[[str], list[s2b.Context]], budget: int) -> s2b.Evaluation:
    """Score what fits into a budget of the text's own tokens."""
    return s2b.evaluate(retriever, s2b.questions(text, more=True), token_budget=budget, count=_counter(text))


@functools.cache
def _counter(text: str) -> Callable[[str], int]:
    return functools.cache(functools.partial(s2b.text_tokens, library(text).embedder))


def _searched(text: str, searched: Sequence[str], question: str) -> list[str]:
    return [question if one == "question" else rewritten(text, one, question) for one in searched]


@functools.cache
def rewritten(text: str, lever: str, question: str) -> str:
    """The authors' recorded few-shot rewrite, which every question of the ablation has."""
    model = s2b.recorded(f"{lever}.authors.few-shot.{s2b.language(text)}")
    made = _MAKERS[lever](model, "few-shot", s2b.language(text)).explain(question)
    if made.reason:
        raise SystemExit(f"no {lever} for {question!r}: {made.reason}")
    return made.text


def _rows(text: str, scored: dict[tuple, s2b.Evaluation]) -> list[dict[str, Any]]:
    rows = []
    for (way, budget), kind in itertools.product(scored, ("all", "specific", "general")):
        ours, plain = (of_kind(scored[w, budget], kind) for w in (way, (("question",), False, way[2])))
        gain = s2b.paired_bootstrap(ours, plain, resamples=RESAMPLES, seed=SEED)
        numbers = {"recall": ours.recall, "complete": ours.complete, "tokens": ours.tokens}
        numbers |= {"gain": gain.difference, "low": gain.low, "high": gain.high}
        group = {"text": text, "kind": kind, "n": len(ours.scores), "budget": budget}
        rows.append(_place(*way) | group | {key: round(value, 4) for key, value in numbers.items()})
    return rows


def _place(searched: Sequence[str], asked: bool, delivery: str) -> dict[str, Any]:
    return {"searched": list(searched), "asked": asked, "delivery": delivery}


def of_kind(evaluation: s2b.Evaluation, kind: str) -> s2b.Evaluation:
    """The part of an evaluation about broad questions, or about the narrow ones, or all of it."""
    if kind == "all":
        return evaluation
    return s2b.Evaluation(tuple(s for s in evaluation.scores if _kind(s.question) == kind))


def _kind(question: s2b.Question) -> str:
    return "general" if question.kind == "general" else "specific"


def _questions(text: str, scored: dict[tuple, s2b.Evaluation]) -> list[dict[str, Any]]:
    index, rows = library(text), []
    for place, question in enumerate(s2b.questions(text, more=True)):
        recall = [round(scored[way, _ONE_BY_ONE].scores[place].recall, 4) for way in ways()]
        top = index.search(question.text, 1)[0].score
        row = {
            "text": text,
            "question": question.text,
            "kind": _kind(question),
            "budget": _ONE_BY_ONE,
            "top": round(top, 4),
        }
        rows.append(row | {"recall": recall})
    return rows


def _how() -> dict[str, Any]:
    models = {text: library(text).embedder.name for text in TEXTS}
    rewrites = {lever: s2b.recorded(f"{lever}.authors.few-shot.en").name for lever in REWRITES}
    how = {"seed": SEED, "resamples": RESAMPLES, "level": 0.95, "budgets": list(BUDGETS), "k": K}
    return how | {"sizes": {text: s2b.cut_sizes(text) for text in TEXTS}, "models": models, "rewrites": rewrites}


def main() -> None:
    """Write the results, one row a line."""
    found = run()
    lines = {
        key: ",\n".join(json.dumps(row, ensure_ascii=False) for row in found[key])
        for key in ("ways", "rows", "questions")
    }
    body = ",\n".join(f'"{key}": [\n{text}\n]' for key, text in lines.items())
    FILE.write_text(f'{{"how": {json.dumps(found["how"])},\n{body}}}\n', encoding="utf-8")
    print(f"{len(found['rows'])} rows in {FILE.name}")


if __name__ == "__main__":
    main()
