"""The learning rate over a run: the paper's, and shapes tied to a budget (§5.3).

All are pure functions of the update's number and of how much of the budget is spent.
"""

import math
from dataclasses import dataclass

from dragoman.config import TrainingConfig


@dataclass(frozen=True)
class Schedule:
    """Gives the rate of an update; `annealed` runs go down to zero at their end."""

    settings: TrainingConfig
    d_model: int
    annealed: bool

    def rate(self, step: int, progress: float) -> float:
        """Give the rate of update `step` (from 1) at this share of the budget."""
        if self.settings.schedule == "paper":
            shape = self._paper(step, progress)
        else:
            shape = self._warmup(progress) * self._descent(progress)
        return self.settings.learning_rate * shape

    def _paper(self, step: int, progress: float) -> float:
        warmup = float(max(1, self.settings.warmup_steps))
        cooldown = 1.0
        if self.annealed and progress > 0:
            expected_steps = step / progress
            warmup = min(warmup, max(1.0, self.settings.warmup_share * expected_steps))
            left = (1 - progress) / max(self.settings.cooldown_share, 1e-9)
            cooldown = min(1.0, left)
        noam = paper_rate(step, self.d_model, warmup)
        return noam * cooldown

    def _warmup(self, progress: float) -> float:
        share = self.settings.warmup_share
        return min(1.0, (progress + 1e-3) / share) if share else 1.0

    def _descent(self, progress: float) -> float:
        if self.settings.schedule == "cosine":
            return 0.5 * (1 + math.cos(math.pi * progress))
        return 1 - progress


def paper_rate(step: int, d_model: int, warmup: float) -> float:
    """Give d_model^-0.5 · min(step^-0.5, step · warmup^-1.5) (§5.3)."""
    return float(d_model**-0.5 * min(step**-0.5, step * warmup**-1.5))
