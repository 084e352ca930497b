"""Batches that grow over a run: many small updates first, fewer and surer ones later.

Early on, any few sentences say in which direction to go, and it is better to go often.
Near the end, what one batch says is mostly chance: several together tell more, and the
optimizer's own work is done less often.
"""

from collections.abc import Callable, Iterator

from dragoman.training.batch_source import Delivery


class BatchGrowth:
    """Says how many batches an update takes together, by how much of a run is over."""

    def __init__(self, most: int) -> None:
        """Grow from one batch to this many, each for an equal share of the run."""
        self.most = most

    def batches(self, progress: float) -> int:
        """Give the number of batches for an update at this share of the run."""
        return min(self.most, 1 + int(progress * self.most))

    def gather(
        self, batches: Iterator[Delivery], progress: Callable[[], float]
    ) -> Iterator[Delivery]:
        """Yield the parts of each update: those of as many batches as it takes."""
        taken: list[Delivery] = []
        for delivery in batches:
            taken.append(delivery)
            if len(taken) >= self.batches(progress()):
                yield [part for parts, _ in taken for part in parts], delivery[1]
                taken = []
