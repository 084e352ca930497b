"""How many updates a budget allows, and how many batches they take together."""

import math
from dataclasses import dataclass

from dragoman.training.budget import Budget


@dataclass(frozen=True)
class Pace:
    """What a run goes through, and how fast."""

    batches_per_epoch: float
    batch_seconds: float
    optimizer_seconds: float  # of an update, however many batches it takes


@dataclass(frozen=True)
class RunLength:
    """How much a run does until its budget is spent."""

    updates: float
    batches: float

    def seconds(self, pace: Pace) -> float:
        """Say how long that takes."""
        return self.batches * pace.batch_seconds + self.updates * pace.optimizer_seconds


def run_length(budget: Budget, growth: int, pace: Pace) -> RunLength:
    """Go through the shares of a run in which updates take 1, 2, ... batches.

    A share ends when any part of the budget is spent that far, and with the last one
    the run.
    """
    done = RunLength(0, 0)
    for size in range(1, growth + 1):
        share = size / growth
        room = []
        if budget.steps is not None:
            room.append(share * budget.steps - done.updates)
        if budget.epochs is not None:
            batches = math.ceil(budget.epochs * pace.batches_per_epoch)
            room.append((share * batches - done.batches) / size)
        if budget.minutes is not None:
            left = share * budget.minutes * 60 - done.seconds(pace)
            room.append(left / RunLength(1, size).seconds(pace))
        more = max(0.0, min(room))
        done = RunLength(done.updates + more, done.batches + more * size)
    return done
