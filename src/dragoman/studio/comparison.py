"""Two models on the same sentences: scores by length, with their intervals."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dragoman.evaluation.breakdown import by_length
from dragoman.evaluation.statistics import gather_statistics

SAMPLES = 300
SEED = 1


@dataclass(frozen=True)
class BucketScore:
    """BLEU of the sentences of some lengths, and its 95 % bootstrap interval."""

    words: str
    count: int
    bleu: float
    low: float
    high: float


def bleu_by_length(
    sources: Sequence[str], translations: Sequence[str], references: Sequence[str]
) -> list[BucketScore]:
    """Score sentences by the number of words in their source."""
    whole = gather_statistics(translations, references, metrics=["bleu"])["bleu"]
    buckets = []
    for bucket in by_length(sources, translations, references):
        members = [_is_in(bucket.words, source) for source in sources]
        part = replace(whole, counts=whole.counts[np.array(members)])
        low, high = np.percentile(part.resampled_scores(SAMPLES, SEED), [2.5, 97.5])
        buckets.append(
            BucketScore(
                bucket.words, bucket.count, bucket.bleu, float(low), float(high)
            )
        )
    return buckets


def _is_in(words: str, source: str) -> bool:
    """Say whether a sentence has as many words as a bucket's label says."""
    low, _, high = words.rstrip("+").partition("-")
    length = len(source.split())
    if words.endswith("+"):
        return length >= int(low)
    return int(low) <= length <= int(high or low)
