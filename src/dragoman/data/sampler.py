"""The order of the pairs: a pure function of (seed, epoch), cut into batches."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dragoman.data.token_store import TokenStore
from dragoman.errors import CorpusError

# Pairs are sorted by length within pools of this many, which bounds working memory.
POOL = 2**20
# Source tokens may fill this much more than the budget, as some languages are longer.
SOURCE_ALLOWANCE = 1.5

Lengths = NDArray[np.integer[Any]]


@dataclass(frozen=True)
class Position:
    """Where training stands: the next batch to take."""

    epoch: int
    batch: int


@dataclass(frozen=True)
class EpochOrder:
    """All batches of one epoch; batch k holds the pairs `pairs[starts[k]:ends[k]]`."""

    pairs: NDArray[np.int32]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, batch: int) -> NDArray[np.int32]:
        return self.pairs[self.starts[batch] : self.ends[batch]]


def epoch_batches(
    source_lengths: Lengths,
    target_lengths: Lengths,
    *,
    batch_tokens: int,
    seed: int,
    epoch: int,
    pairs: NDArray[np.int32] | None = None,
) -> EpochOrder:
    """Shuffle the pairs, gather those of like length, cut by budget, shuffle batches.

    A batch of r rows satisfies r × (longest target + END) ≤ `batch_tokens`, padding
    included; only a pair that is longer than the budget by itself breaks it. An epoch
    holds every pair once, unless `pairs` says which it holds, and how often.
    """
    random = np.random.default_rng((seed, epoch))
    every = np.arange(len(target_lengths), dtype=np.int32)
    pairs = every if pairs is None else pairs.copy()
    random.shuffle(pairs)
    cuts = [0]
    for start in range(0, len(pairs), POOL):
        pool = pairs[start : start + POOL]
        source, target = _sort_by_length(pool, source_lengths, target_lengths)
        cuts += [start + cut for cut in _cut(source, target, batch_tokens)]
    bounds = np.array(cuts, np.int64)
    order = random.permutation(len(bounds) - 1)
    return EpochOrder(pairs, bounds[:-1][order], bounds[1:][order])


def _sort_by_length(
    pool: NDArray[np.int32], source_lengths: Lengths, target_lengths: Lengths
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sort a pool in place; give its lengths, END included, in the new order."""
    source = source_lengths[pool].astype(np.int64) + 1
    target = target_lengths[pool].astype(np.int64) + 1
    # By the longer side, then by how much longer it is: this wastes far less on the
    # source than sorting by target does. The difference rises and falls in turn, so
    # that neighbours stay alike where one length gives way to the next.
    longer = np.maximum(source, target)
    widest = longer.max()
    difference = np.where(longer % 2, source - target, target - source) + widest
    # One number holds all this and, to break ties, the place in the shuffle.
    place = np.arange(len(pool), dtype=np.int64)
    keys = (longer * (2 * widest) + difference) * len(pool) + place
    keys.sort()
    order = keys % len(pool)
    pool[:] = pool[order]
    return source[order], target[order]


def _cut(
    source: NDArray[np.int64], target: NDArray[np.int64], batch_tokens: int
) -> Iterator[int]:
    """Say where each batch ends, filling one after the other up to the budget."""
    source_tokens = int(batch_tokens * SOURCE_ALLOWANCE)
    start = 0
    while start < len(target):
        # No later pair is shorter, so this one says how many rows there can be.
        longer = max(int(source[start]), int(target[start]))
        rows = np.arange(1, max(1, source_tokens // longer) + 1)
        rows = rows[: len(target) - start]
        window = slice(start, start + len(rows))
        target_cost = rows * np.maximum.accumulate(target[window])
        source_cost = rows * np.maximum.accumulate(source[window])
        fitting = min(
            np.searchsorted(target_cost, batch_tokens, "right"),
            np.searchsorted(source_cost, source_tokens, "right"),
        )
        start += max(1, int(fitting))
        yield start


class Sampler:
    """Walks through the epochs of a store without end."""

    def __init__(self, store: TokenStore, *, batch_tokens: int, seed: int) -> None:
        assert len(store), "an empty corpus has no batches"
        self._store = store
        self._batch_tokens = batch_tokens
        self._seed = seed

    def order(self, epoch: int) -> EpochOrder:
        """Give the batches of one epoch."""
        mixture = self._store.mixture
        return epoch_batches(
            self._store.source_lengths,
            self._store.target_lengths,
            batch_tokens=self._batch_tokens,
            seed=self._seed,
            epoch=epoch,
            pairs=None if mixture is None else mixture.pairs(self._seed, epoch),
        )

    def batches(
        self, position: Position
    ) -> Iterator[tuple[NDArray[np.int32], Position]]:
        """Yield pair indices and the position after them, from `position` onwards."""
        epoch, batch = position.epoch, position.batch
        while True:
            order = self.order(epoch)
            if batch >= len(order):
                raise CorpusError(
                    f"epoch {epoch} has {len(order)} batches and none at position "
                    f"{batch}: the corpus or the batch size has changed, start anew"
                )
            for current in range(batch, len(order)):
                last = current + 1 == len(order)
                after = Position(epoch + 1, 0) if last else Position(epoch, current + 1)
                yield order[current], after
            epoch, batch = epoch + 1, 0
