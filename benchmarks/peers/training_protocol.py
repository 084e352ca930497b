"""What is asked of a peer that trains: a model's shape, and batches to learn from.

It is spoken with as `protocol` says; `outputs` are the mean losses of the last pass,
which show that everybody did the same work.
"""

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from peers.protocol import BEGIN, END, PAD, answer


@dataclass(frozen=True)
class TrainingJob:
    """The same work for everybody: Adam, float32, the same places of dropout."""

    model: dict[str, Any]  # the shape of the network, as in its settings
    vocabulary: int
    batches: list[list[tuple[list[int], list[int]]]]  # batch, pair, sides, tokens
    learning_rate: float
    label_smoothing: float
    clip_norm: float
    threads: int

    def padded(self) -> Iterator[tuple[list[list[int]], ...]]:
        """Give each batch as source, target begun by BEGIN, target ended by END."""
        for batch in self.batches:
            sources = [source for source, _ in batch]
            targets = [target for _, target in batch]
            yield (
                _rows([[*source, END] for source in sources]),
                _rows([[BEGIN, *target] for target in targets]),
                _rows([[*target, END] for target in targets]),
            )


def read_training_job() -> TrainingJob:
    """Read the job that the command line names."""
    return TrainingJob(**json.loads(Path(sys.argv[1]).read_text("utf-8")))


def answer_with_losses(batches: list[Any], update: Callable[[Any], float]) -> None:
    """Learn from every batch, once for warming up and then each time it is asked."""
    answer(lambda: [update(batch) for batch in batches])


def _rows(rows: list[list[int]]) -> list[list[int]]:
    width = max(map(len, rows))
    return [[*row, *[PAD] * (width - len(row))] for row in rows]
