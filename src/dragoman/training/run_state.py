"""Where a run stands: what a checkpoint keeps of it besides tensors."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from dragoman.data.sampler import Position
from dragoman.training.divergence import LossLevel


@dataclass
class RunState:
    """Where the run stands; what a checkpoint keeps besides tensors."""

    step: int = 0
    epoch: int = 0
    batch: int = 0
    seconds: float = 0.0
    best_loss: float = math.inf
    validations_since_best: int = 0
    unvalidated: bool = False  # stopped before the validation that is due
    skipped_in_a_row: int = 0
    level: LossLevel = field(default_factory=LossLevel)

    @property
    def position(self) -> Position:
        """The next batch to take."""
        return Position(self.epoch, self.batch)

    def passes(self, batches_per_epoch: int) -> float:
        """Say how often the corpus was seen: epochs differ by a batch or two."""
        return self.epoch + min(1.0, self.batch / batches_per_epoch)

    def to_dict(self) -> dict[str, Any]:
        """Give plain data that JSON can hold, which has no infinity."""
        plain = asdict(self)
        plain["best_loss"] = None if math.isinf(self.best_loss) else self.best_loss
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """Read what `to_dict` gave; what an older version lacked is as at first."""
        kept = asdict(cls()) | {
            key: plain[key] for key in asdict(cls()) if key in plain
        }
        kept["best_loss"] = math.inf if kept["best_loss"] is None else kept["best_loss"]
        return cls(**kept | {"level": LossLevel(**kept["level"])})
