"""Rows of unequal length, laid end to end in one array."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Ragged:
    """Token rows as one flat array and the length of each row."""

    tokens: NDArray[Any]
    lengths: NDArray[np.int32]

    @classmethod
    def from_rows(cls, rows: Sequence[Sequence[int] | NDArray[Any]]) -> Self:
        """Lay rows of token ids end to end."""
        lengths = np.fromiter(map(len, rows), np.int32, len(rows))
        if len(rows) and isinstance(rows[0], np.ndarray):
            return cls(np.concatenate(rows), lengths)
        flat = chain.from_iterable(rows)
        return cls(np.fromiter(flat, np.int64, int(lengths.sum())), lengths)

    def __len__(self) -> int:
        return len(self.lengths)

    def padded(self, pad: int, width: int) -> NDArray[np.int64]:
        """Give a (rows, width) matrix, each row filled up with `pad`."""
        matrix = np.full((len(self), width), pad, np.int64)
        matrix[np.arange(width) < self.lengths[:, None]] = self.tokens
        return matrix


def positions(
    starts: NDArray[np.integer[Any]], lengths: NDArray[np.integer[Any]]
) -> NDArray[np.int64]:
    """List every index of the runs that begin at `starts`, run after run."""
    ends = np.cumsum(lengths, dtype=np.int64)
    # Within one run the index grows with the position; only its offset is the run's.
    offsets = np.repeat(starts - (ends - lengths), lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total, dtype=np.int64) + offsets
