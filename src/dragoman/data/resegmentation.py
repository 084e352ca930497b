"""Split subwords anew by chance, from a table of ways to spell each of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from dragoman.data.ragged import Ragged, positions


@dataclass(frozen=True)
class SegmentationTable:
    """For each token id the same number of spellings, all laid end to end."""

    tokens: NDArray[np.int32]
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    spellings: int

    @classmethod
    def build(cls, segmentations: Sequence[Sequence[Sequence[int]]]) -> Self:
        """Build from `segmentations[token][choice]`, each a list of token ids."""
        spellings = len(segmentations[0])
        rows = [choice for choices in segmentations for choice in choices]
        assert len(rows) == spellings * len(segmentations), "as many for each token"
        flat = Ragged.from_rows(rows)
        lengths = flat.lengths.astype(np.int64)
        starts = np.cumsum(lengths) - lengths
        # Last comes every token as it is, for rows that may not be spelled anew.
        tokens = np.concatenate((flat.tokens, np.arange(len(segmentations))))
        return cls(tokens.astype(np.int32), starts, lengths, spellings)

    def apply(
        self, rows: Ragged, random: np.random.Generator, longest: int | None = None
    ) -> Ragged:
        """Replace each token by one of its spellings, chosen at random.

        A row that would grow beyond `longest` tokens stays as it is.
        """
        choice = random.integers(self.spellings, size=len(rows.tokens))
        entry = rows.tokens.astype(np.int64) * self.spellings + choice
        starts, counts = self.starts[entry], self.lengths[entry]
        if longest is not None:
            too_long = _row_sums(counts, rows.lengths) > longest
            kept = np.repeat(too_long, rows.lengths)
            starts[kept] = self.lengths.sum() + rows.tokens[kept]
            counts[kept] = 1
        tokens = self.tokens[positions(starts, counts)]
        return Ragged(tokens, _row_sums(counts, rows.lengths))


@dataclass(frozen=True)
class Resegmentation:
    """The tables of the two languages; with a shared vocabulary they are the same."""

    source: SegmentationTable
    target: SegmentationTable
    longest: int | None = None  # no sentence may grow beyond so many tokens


def _row_sums(
    counts: NDArray[np.int64], lengths: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Add up each row's share of `counts`; rows may be empty."""
    sums = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=sums[1:])
    ends = np.cumsum(lengths, dtype=np.int64)
    row_sums: NDArray[np.int64] = sums[ends] - sums[ends - lengths]
    return row_sums.astype(np.int32)
