"""What a metric counts, sentence by sentence, from which any score is made.

BLEU, chrF and TER are all computed from sums of counts over sentences. Kept apart,
the counts give the score of the corpus, of any part of it, and of any resampling.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics import BLEU, CHRF, TER

from dragoman.arguments import check_choice
from dragoman.errors import EvaluationError

METRICS = ("bleu", "chrf", "ter")
# Those of sacreBLEU that need neither a download nor another package.
TOKENIZERS = ("13a", "intl", "char", "zh", "none")


@dataclass(frozen=True)
class Statistics:
    """One metric's counts (sentence, count) of one set of translations."""

    metric: Any  # a metric of sacreBLEU, which has no types
    counts: NDArray[np.float64]
    signature: str

    def score(self, weights: NDArray[np.float64] | None = None) -> float:
        """Give the corpus score, each sentence counted as often as its weight says."""
        sums = self.counts.sum(axis=0) if weights is None else weights @ self.counts
        # sacreBLEU's own bootstrap goes this way too; there is no public one.
        return float(self.metric._compute_score_from_stats(sums.tolist()).score)  # noqa: SLF001

    def resampled_scores(self, samples: int, seed: int) -> NDArray[np.float64]:
        """Score corpora drawn with replacement; one seed draws the same sentences."""
        if samples < 1:
            raise EvaluationError(
                f"{samples} bootstrap samples give no interval: draw at least 1"
            )
        random, size = np.random.default_rng(seed), len(self.counts)
        draws = (random.integers(size, size=size) for _ in range(samples))
        weights = (np.bincount(draw, minlength=size) for draw in draws)
        return np.array([self.score(weight.astype(np.float64)) for weight in weights])


def gather_statistics(
    translations: Sequence[str],
    references: Sequence[str] | Sequence[Sequence[str]],
    *,
    lowercase: bool = False,
    tokenize: str | None = None,
    metrics: Sequence[str] = METRICS,
) -> Mapping[str, Statistics]:
    """Count what each metric needs, against one reference per sentence or several.

    Several come as several whole sets. `tokenize` concerns only BLEU.
    """
    reference_sets = _reference_sets(translations, references)
    return {
        name: _count(_metric(name, lowercase, tokenize), translations, reference_sets)
        for name in metrics
    }


def _reference_sets(
    translations: Sequence[str], references: Sequence[str] | Sequence[Sequence[str]]
) -> list[list[str]]:
    single = [reference for reference in references if isinstance(reference, str)]
    sets = [single] if single else [list(reference_set) for reference_set in references]
    if not translations or not sets:
        raise EvaluationError(
            "there is nothing to score: give at least one translation and its reference"
        )
    for reference_set in sets:
        if len(reference_set) != len(translations):
            raise EvaluationError(
                f"{len(translations)} translations cannot be compared with "
                f"{len(reference_set)} references: give one reference for each "
                "translation, in the same order"
            )
    return sets


def _metric(name: str, lowercase: bool, tokenize: str | None) -> Any:  # noqa: ANN401
    if tokenize is not None:
        check_choice("BLEU tokenizer", tokenize, TOKENIZERS, EvaluationError)
    match name:
        case "bleu":
            # Without tokenizing, tokenized text is meant and needs no warning.
            return BLEU(lowercase, tokenize=tokenize, force=tokenize == "none")
        case "chrf":
            return CHRF(lowercase=lowercase)
        case "ter":
            return TER()  # by its definition never looks at case
    raise AssertionError(name)


def _count(
    metric: Any,  # noqa: ANN401
    translations: Sequence[str],
    reference_sets: Sequence[Sequence[str]],
) -> Statistics:
    counts = metric._extract_corpus_statistics(translations, reference_sets)  # noqa: SLF001
    signature = str(metric.get_signature())
    return Statistics(metric, np.array(counts, dtype=np.float64), signature)
