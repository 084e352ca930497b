"""BLEU, chrF and TER of a set of translations, as sacreBLEU defines them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dragoman.evaluation.statistics import Statistics, gather_statistics


@dataclass(frozen=True)
class Score:
    """A corpus score, how it was computed, and its 95 % bootstrap interval."""

    score: float
    signature: str
    interval: tuple[float, float]

    def to_dict(self) -> dict[str, Any]:
        """Give plain data for JSON."""
        return {
            "score": self.score,
            "signature": self.signature,
            "interval": list(self.interval),
        }


@dataclass(frozen=True)
class Scores:
    """The three scores of one set of translations; in TER less is better."""

    bleu: Score
    chrf: Score
    ter: Score

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Give plain data for JSON."""
        return {
            "bleu": self.bleu.to_dict(),
            "chrf": self.chrf.to_dict(),
            "ter": self.ter.to_dict(),
        }

    def table(self) -> str:
        """Draw the scores as aligned text: score, 95 % interval and signature."""
        rows = [("BLEU", self.bleu), ("chrF2", self.chrf), ("TER", self.ter)]
        return "\n".join(
            f"{name:<5}  {row.score:>5.1f}  "
            f"[{row.interval[0]:>5.1f}, {row.interval[1]:>5.1f}]  {row.signature}"
            for name, row in rows
        )


def score(
    translations: Sequence[str],
    references: Sequence[str] | Sequence[Sequence[str]],
    *,
    lowercase: bool = False,
    tokenize: str | None = None,
    bootstrap: int = 1000,
    seed: int = 1,
) -> Scores:
    """Score translations against one reference each, or against several whole sets.

    `bootstrap` is how many resampled corpora the intervals are read from.
    """
    statistics = gather_statistics(
        translations, references, lowercase=lowercase, tokenize=tokenize
    )
    return Scores(
        bleu=_score(statistics["bleu"], bootstrap, seed),
        chrf=_score(statistics["chrf"], bootstrap, seed),
        ter=_score(statistics["ter"], bootstrap, seed),
    )


def corpus_bleu(
    translations: Sequence[str],
    references: Sequence[str] | Sequence[Sequence[str]],
    *,
    lowercase: bool = False,
    tokenize: str | None = None,
) -> float:
    """Give the BLEU score alone, quickly."""
    statistics = gather_statistics(
        translations,
        references,
        lowercase=lowercase,
        tokenize=tokenize,
        metrics=["bleu"],
    )
    return statistics["bleu"].score()


def _score(statistics: Statistics, bootstrap: int, seed: int) -> Score:
    resampled = statistics.resampled_scores(bootstrap, seed)
    low, high = np.percentile(resampled, [2.5, 97.5])
    return Score(statistics.score(), statistics.signature, (float(low), float(high)))
