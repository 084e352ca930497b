"""Scores by the length of the source sentence."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dragoman.errors import EvaluationError
from dragoman.evaluation.statistics import gather_statistics

BUCKETS = ((0, 0), (1, 5), (6, 10), (11, 20), (21, 30), (31, 50), (51, math.inf))


@dataclass(frozen=True)
class LengthBucket:
    """The scores of the sentences of some lengths, counted in words."""

    words: str
    count: int
    bleu: float
    chrf: float

    def to_dict(self) -> dict[str, Any]:
        """Give plain data for JSON."""
        return {
            "words": self.words,
            "count": self.count,
            "bleu": self.bleu,
            "chrf": self.chrf,
        }


def by_length(
    sources: Sequence[str],
    translations: Sequence[str],
    references: Sequence[str] | Sequence[Sequence[str]],
    *,
    lowercase: bool = False,
    tokenize: str | None = None,
) -> list[LengthBucket]:
    """Score sentences by how many words, parted by white space, their source has.

    Lengths that do not occur are left out.
    """
    if len(sources) != len(translations):
        raise EvaluationError(
            f"{len(translations)} translations cannot be those of {len(sources)} "
            "source sentences: give one translation for each, in the same order"
        )
    statistics = gather_statistics(
        translations,
        references,
        lowercase=lowercase,
        tokenize=tokenize,
        metrics=["bleu", "chrf"],
    )
    lengths = np.array([len(source.split()) for source in sources])
    buckets = []
    for low, high in BUCKETS:
        members = (low <= lengths) & (lengths <= high)
        if members.any():
            weights = members.astype(np.float64)
            bucket = LengthBucket(
                words=_label(low, high),
                count=int(members.sum()),
                bleu=statistics["bleu"].score(weights),
                chrf=statistics["chrf"].score(weights),
            )
            buckets.append(bucket)
    return buckets


def breakdown_table(buckets: Sequence[LengthBucket]) -> str:
    """Draw the scores by length as aligned text."""
    lines = [f"{'words':>5}  {'sentences':>9}  {'BLEU':>5}  {'chrF2':>5}"]
    lines += [
        f"{row.words:>5}  {row.count:>9,}  {row.bleu:>5.1f}  {row.chrf:>5.1f}"
        for row in buckets
    ]
    return "\n".join(lines)


def _label(low: float, high: float) -> str:
    if low == high:
        return f"{low}"
    return f"{low}+" if high == math.inf else f"{low}-{high}"
