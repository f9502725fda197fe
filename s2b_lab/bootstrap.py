"""How sure a difference between two evaluations is."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from .core.cards import Card, Rows
from .core.checks import check_choice, check_kind, check_number, check_whole
from .scores import METRICS, Evaluation

_ROUNDING = 1e-9  # a mean of thirds that should be zero is hardly ever zero
_MOST_DRAWS = 100_000_000
_DRAWS_AT_ONCE = 2_000_000  # 32 MB of them are in memory


@dataclass(frozen=True, slots=True)
class Interval(Card):
    """A mean difference between two evaluations, and the bounds it has in `level` of all resamples."""

    difference: float
    low: float
    high: float
    level: float

    @property
    def clear(self) -> bool:
        """Whether zero, no difference at all, lies outside the bounds."""
        return self.low > _ROUNDING or self.high < -_ROUNDING

    def _card(self) -> tuple[str, Rows]:
        bounds = f"{100 * self.level:.10g} % interval {self.low:+.3f} to {self.high:+.3f}"
        return f"{self.difference:+.3f} ({bounds}), zero lies {'outside' if self.clear else 'inside'}", []


def paired_bootstrap(
    ours: Evaluation,
    theirs: Evaluation,
    metric: str = "recall",
    resamples: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
) -> Interval:
    """Tell how sure the mean difference `ours - theirs` is: the percentile interval over resampled questions.

    `metric` is a property of an Evaluation, such as "recall", "complete", "tokens", "dcg" or "iou". Both must have
    answered the same questions in the same order, since each resample draws questions, with what both got for them, n
    out of n with replacement. ValueError otherwise, where there are no questions, for another metric or one that a
    score does not hold, for resamples below 1 or more than 100 million draws in all, a level outside 0 to 1, and a seed
    below 0; TypeError for what is no Evaluation.
    Source: Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13.
    """
    check_kind("ours", ours, Evaluation)
    check_kind("theirs", theirs, Evaluation)
    if [score.question for score in ours.scores] != [score.question for score in theirs.scores]:
        raise ValueError("the two evaluations are of different questions, so they make no pairs")
    if not ours.scores:
        raise ValueError("the evaluations have 0 questions: give at least 1")
    check_choice("metric", metric, METRICS)
    check_whole("resamples", resamples, 1)
    if resamples * len(ours.scores) > _MOST_DRAWS:
        raise ValueError(f"{resamples} resamples of {len(ours.scores)} questions: at most {_MOST_DRAWS:,} draws in all")
    check_whole("seed", seed, 0)
    check_number("level", level)
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, not {level!r}")
    pairs = zip(ours.scores, theirs.scores, strict=True)
    differences = np.array([float(getattr(one, metric)) - float(getattr(other, metric)) for one, other in pairs])
    return Interval(float(differences.mean()), *_bounds(differences, int(resamples), level, seed), level)


def _bounds(differences: np.ndarray, resamples: int, level: float, seed: int) -> tuple[float, float]:
    # One question, or the same difference everywhere, can be drawn in one way only, and scipy takes two or more.
    if (differences == differences[0]).all():
        return (float(differences.mean()),) * 2
    from scipy.stats import bootstrap

    how = {"confidence_level": level, "method": "percentile", "rng": np.random.default_rng(seed)}
    batch = max(1, _DRAWS_AT_ONCE // len(differences))
    with warnings.catch_warnings(action="ignore", category=RuntimeWarning):  # a single resample has no spread
        found = bootstrap((differences,), np.mean, n_resamples=resamples, batch=batch, **how)
    return tuple(map(float, found.confidence_interval))
