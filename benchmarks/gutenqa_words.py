"""Word matching beside vectors: BM25 over what is delivered, and a weighted sum of both scores."""

from collections.abc import Sequence

import bm25s
import numpy as np


class WordScores:
    """BM25 of some texts, English words in lower case without the most usual ones."""

    def __init__(self, texts: Sequence[str]):
        self._size, words = len(texts), _words(texts)
        self._found = bm25s.BM25() if any(words) else None
        if self._found:
            self._found.index(words, show_progress=False)

    def of(self, question: str) -> np.ndarray:
        """The score of each text, (n,), 0 where it shares no word with the question.

        Source: Robertson and Walker, "Some Simple Effective Approximations to the 2-Poisson Model", SIGIR 1994.
        """
        [words] = _words([question])
        if not (self._found and words):
            return np.zeros(self._size)
        return self._found.get_scores(words).astype(float)


def _words(texts: Sequence[str]) -> list[list[str]]:
    return bm25s.tokenize(list(texts), stopwords="en", return_ids=False, show_progress=False)


def weighted(dense: np.ndarray, words: np.ndarray, share: float) -> np.ndarray:
    """Add up two scores of the same texts, each scaled to 0 to 1 first; `share`, 0 to 1, is how much words count.

    Source: Bruch, Gai and Ingber, "An Analysis of Fusion Functions for Hybrid Retrieval", arXiv:2210.11934.
    """
    return (1 - share) * scaled(dense) + share * scaled(words)


def scaled(values: np.ndarray) -> np.ndarray:
    """Move the least of some numbers to 0 and the largest to 1; all are 0 where they are equal."""
    low, high = (values.min(), values.max()) if len(values) else (0.0, 0.0)
    return (values - low) / (high - low) if high > low else np.zeros(len(values))
