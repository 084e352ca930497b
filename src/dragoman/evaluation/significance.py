"""Whether one system is better than another, or only luckier: paired bootstrap."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dragoman.evaluation.statistics import METRICS, Statistics, gather_statistics

LEVEL = 0.05


@dataclass(frozen=True)
class Comparison:
    """Two systems' scores by one metric; `difference` is a − b.

    `interval` holds 95 % of the difference's resamplings; `p_value` is how often chance
    alone would make a difference at least this large, in either direction.
    """

    metric: str
    a: float
    b: float
    difference: float
    p_value: float
    interval: tuple[float, float]

    @property
    def significant(self) -> bool:
        """Whether chance is an unlikely explanation (p < 0.05)."""
        return self.p_value < LEVEL

    def sentence(self) -> str:
        """Say in one line which is better and how sure that is."""
        name = {"bleu": "BLEU", "chrf": "chrF2", "ter": "TER"}[self.metric]
        is_better = self.difference < 0 if self.metric == "ter" else self.difference > 0
        verdict = "the difference may be chance"
        if self.significant:
            verdict = f"significantly {'better' if is_better else 'worse'}"
        low, high = self.interval
        return (
            f"{name}: {self.a:.1f} against {self.b:.1f}, {self.difference:+.1f} "
            f"[{low:+.1f}, {high:+.1f}], p = {self.p_value:.3f}: {verdict}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Give plain data for JSON."""
        return {
            "metric": self.metric,
            "a": self.a,
            "b": self.b,
            "difference": self.difference,
            "p_value": self.p_value,
            "interval": list(self.interval),
            "significant": self.significant,
        }


def compare(
    a: Sequence[str],
    b: Sequence[str],
    references: Sequence[str] | Sequence[Sequence[str]],
    *,
    lowercase: bool = False,
    tokenize: str | None = None,
    bootstrap: int = 1000,
    seed: int = 1,
) -> list[Comparison]:
    """Compare the translations of two systems by each metric."""
    statistics_a, statistics_b = (
        gather_statistics(
            translations, references, lowercase=lowercase, tokenize=tokenize
        )
        for translations in (a, b)
    )
    return [
        _compare(name, statistics_a[name], statistics_b[name], bootstrap, seed)
        for name in METRICS
    ]


def _compare(
    metric: str, a: Statistics, b: Statistics, bootstrap: int, seed: int
) -> Comparison:
    difference = a.score() - b.score()
    # One seed: both systems are scored on the same draws of sentences.
    resampled = a.resampled_scores(bootstrap, seed) - b.resampled_scores(
        bootstrap, seed
    )
    low, high = np.percentile(resampled, [2.5, 97.5])
    # Were there no difference, its resamplings would spread like this around zero.
    by_chance = np.abs(resampled - resampled.mean())
    as_large = int((by_chance >= abs(difference)).sum())
    return Comparison(
        metric=metric,
        a=a.score(),
        b=b.score(),
        difference=difference,
        p_value=(as_large + 1) / (bootstrap + 1),
        interval=(float(low), float(high)),
    )
