"""Minimum Bayes risk: of many samples, the one that the others agree with most.

Each sample is scored by its mean chrF against all of them, as if each were the
reference with the probability that it was drawn with (Kumar and Byrne 2004).
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

ORDER = 6
BETA = 2

Matrix = NDArray[np.float64]


def expected_chrf(texts: Sequence[str]) -> list[float]:
    """Give the mean chrF2 of each text against all of them, from 0 to 100."""
    counts = Counter(texts)
    different = list(counts)
    weights = np.array([counts[text] for text in different]) / len(texts)
    means = chrf_matrix(different) @ weights
    found = dict(zip(different, means.tolist(), strict=True))
    return [found[text] for text in texts]


def chrf_matrix(texts: Sequence[str]) -> Matrix:
    """Give chrF2 of each text (row) against each as its reference (column).

    As in sacreBLEU: characters without blanks, precision and recall averaged over the
    orders that both texts are long enough for.
    """
    precision = np.zeros((len(texts), len(texts)))
    recall, orders = np.zeros_like(precision), np.zeros_like(precision)
    for order in range(1, ORDER + 1):
        counts = _ngram_counts(["".join(text.split()) for text in texts], order)
        matches = np.stack([np.minimum(row, counts).sum(axis=1) for row in counts])
        totals = counts.sum(axis=1)
        both = (totals[:, None] > 0) & (totals[None, :] > 0)
        orders += both
        precision += np.where(both, matches / np.maximum(totals[:, None], 1), 0.0)
        recall += np.where(both, matches / np.maximum(totals[None, :], 1), 0.0)
    precision, recall = (
        precision / np.maximum(orders, 1),
        recall / np.maximum(orders, 1),
    )
    denominator = BETA**2 * precision + recall
    product = (1 + BETA**2) * precision * recall
    return 100 * product / np.where(denominator > 0, denominator, 1.0)


def _ngram_counts(texts: Sequence[str], order: int) -> Matrix:
    """Count each n-gram of each text: (text, n-gram)."""
    columns: dict[str, int] = {}
    counters = [
        Counter(text[at : at + order] for at in range(len(text) - order + 1))
        for text in texts
    ]
    for counter in counters:
        for ngram in counter:
            columns.setdefault(ngram, len(columns))
    counts = np.zeros((len(texts), len(columns)))
    for row, counter in zip(counts, counters, strict=True):
        for ngram, number in counter.items():
            row[columns[ngram]] = number
    return counts
