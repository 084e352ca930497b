"""Several corpora in one run, each with its share: a pure function of (seed, epoch).

Each corpus is read as an endless stream of its pairs, shuffled anew at each turn, and
an epoch takes the next so many from each stream. So every pair of a corpus comes
equally often, and where a run stands follows from the epoch alone.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Mixture:
    """Corpora that follow each other in a store, and what share each gets."""

    sizes: tuple[int, ...]  # pairs of each corpus, none of them empty
    weights: tuple[float, ...]

    @property
    def counts(self) -> tuple[int, ...]:
        """The pairs that an epoch takes from each: as many in all as there are."""
        pairs, total = sum(self.sizes), sum(self.weights)
        return tuple(max(1, round(pairs * w / total)) for w in self.weights)

    def pairs(self, seed: int, epoch: int) -> NDArray[np.int32]:
        """Give the pairs of an epoch, corpus after corpus."""
        starts = np.cumsum((0, *self.sizes[:-1]))
        taken = [
            int(start) + self._stretch(corpus, seed, epoch)
            for corpus, start in enumerate(starts)
        ]
        return np.concatenate(taken).astype(np.int32)

    def _stretch(self, corpus: int, seed: int, epoch: int) -> NDArray[np.int64]:
        """Give an epoch's stretch of one corpus's stream."""
        size, count = self.sizes[corpus], self.counts[corpus]
        turn, offset = divmod(epoch * count, size)
        last = (epoch * count + count - 1) // size
        turns = [
            np.random.default_rng((seed, corpus, number)).permutation(size)
            for number in range(turn, last + 1)
        ]
        return np.concatenate(turns)[offset : offset + count]
