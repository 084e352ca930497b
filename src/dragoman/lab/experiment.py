"""What an experiment is, and the bench that it works at."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from dragoman.lab.findings import Findings

Item = TypeVar("Item")
OnProgress = Callable[[int, int, str], None]


class LabStoppedError(Exception):
    """A signal came while a translator was trained; it is saved and can go on."""

    def __init__(self, number: int) -> None:
        super().__init__(f"stopped by signal {number}")
        self.number = number


def tell_nobody(done: int, total: int, label: str) -> None:
    """Keep quiet."""


@dataclass(frozen=True)
class Bench:
    """What an experiment is given: a place, how much to do, and whom to tell."""

    folder: Path  # what it makes on its way stays here, to go on from
    quick: bool = False
    seeds: int | None = None  # None: as many as the experiment thinks right
    steps: int | None = None  # updates of each translator; None: the experiment's own
    minutes: float | None = None  # of each translator, where time is the budget
    data: Path | None = None  # parallel text; None: the experiment's own
    on_progress: OnProgress = tell_nobody

    def seeds_for(self, own: int) -> range:
        """Give the seeds to work with."""
        return range(1, (self.seeds or own) + 1)

    def each(
        self, items: Sequence[Item], label: Callable[[Item], str]
    ) -> Iterator[Item]:
        """Go through the items and tell how far it is."""
        for number, item in enumerate(items):
            self.on_progress(number, len(items), label(item))
            yield item
        self.on_progress(len(items), len(items), "")


@dataclass(frozen=True)
class Experiment:
    """A question, what the paper predicts, how it is measured, and why it is so."""

    name: str
    title: str
    question: str
    prediction: str
    why: str
    measure: Callable[[Bench], Findings]
