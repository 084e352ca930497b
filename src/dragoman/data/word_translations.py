"""Which target tokens translate which source tokens: IBM model 1 on a prepared corpus.

Every target token is thought to come from one of its sentence's source tokens, END
among them, which stands for none in particular. Rounds of expectation and maximisation
turn mere company into likely translation.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from dragoman.data.ragged import positions
from dragoman.data.token_store import TokenStore
from dragoman.special_tokens import END

ROUNDS = 4
MOST_MEETINGS = 10_000_000  # of a source and a target token: a few seconds, 500 MB


@dataclass(frozen=True)
class WordTranslations:
    """How often each pair of tokens is a translation, and how often targets come."""

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    expected: NDArray[np.float64]  # times that this source token gave this target token
    frequency: NDArray[np.int64]  # (target_vocabulary,)

    @classmethod
    def learn(cls, store: TokenStore, vocabulary: int, seed: int = 1) -> Self:
        """Learn from as many pairs, chosen at random, as are worked off in seconds."""
        chosen = _choose(store, seed)
        sources, targets = store.sources(chosen), store.targets(chosen)
        lengths = sources.lengths.astype(np.int64) + 1
        read = np.full(int(lengths.sum()), END, np.int64)
        read[positions(np.cumsum(lengths) - lengths, lengths - 1)] = sources.tokens
        reader, said = _meetings(lengths, targets.lengths.astype(np.int64))
        keys, which = np.unique(
            read[reader] * vocabulary + targets.tokens[said], return_inverse=True
        )
        source, target = np.divmod(keys, vocabulary)
        chances: NDArray[np.float64] = np.ones(len(keys))
        expected = chances
        for _ in range(ROUNDS):
            share = chances[which]
            share /= np.bincount(said, weights=share)[said]  # among all that were read
            summed = np.bincount(which, weights=share, minlength=len(keys))
            expected = summed.astype(np.float64, copy=False)
            chances = expected / np.bincount(source, weights=expected)[source]
        frequency = np.bincount(targets.tokens, minlength=vocabulary)
        return cls(source, target, expected, frequency)

    def candidates(
        self, source_vocabulary: int, count: int, nothing: int
    ) -> NDArray[np.int64]:
        """Give the likeliest targets of each source token, best first, in a table.

        Where there are fewer than `count`, the rest of the row says `nothing`.
        """
        order = np.lexsort((self.target, -self.expected, self.source))
        source = self.source[order]
        starts = np.searchsorted(source, np.arange(source_vocabulary))
        rank = np.arange(len(source)) - starts[source]
        best = rank < count
        table = np.full((source_vocabulary, count), nothing, np.int64)
        table[source[best], rank[best]] = self.target[order][best]
        return table

    def commonest(self, count: int) -> NDArray[np.int64]:
        """Give the target tokens that come most often, the commonest first."""
        return np.argsort(-self.frequency, kind="stable")[:count]


def _choose(store: TokenStore, seed: int) -> NDArray[np.int64]:
    order = np.random.default_rng(seed).permutation(len(store))
    meetings = (store.source_lengths[order] + 1).astype(np.int64)
    meetings *= store.target_lengths[order]
    enough = int(np.searchsorted(np.cumsum(meetings), MOST_MEETINGS)) + 1
    chosen: NDArray[np.int64] = np.sort(order[:enough])
    return chosen


def _meetings(
    source_lengths: NDArray[np.int64], target_lengths: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Let each source position meet each target position of its sentence.

    Gives the places of both in the flat arrays.
    """
    sizes = source_lengths * target_lengths
    within = positions(np.zeros_like(sizes), sizes)
    columns = np.repeat(target_lengths, sizes)
    source_starts = np.repeat(np.cumsum(source_lengths) - source_lengths, sizes)
    target_starts = np.repeat(np.cumsum(target_lengths) - target_lengths, sizes)
    return source_starts + within // columns, target_starts + within % columns
