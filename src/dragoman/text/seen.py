"""A compact memory of 64-bit fingerprints, some 16 bytes for each."""

import numpy as np
from numpy.typing import NDArray

Fingerprints = NDArray[np.uint64]

_EMPTY = np.uint64(0)
_MOST_FILLED = 0.6


class Seen:
    """A growing set of fingerprints: one open-addressing table, probed many at once."""

    def __init__(self, capacity: int = 1 << 16) -> None:
        size = 1 << max(4, (capacity - 1).bit_length())
        self._table: Fingerprints = np.zeros(size, dtype=np.uint64)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def num_bytes(self) -> int:
        """How much memory the table takes."""
        return self._table.nbytes

    def add_many(self, fingerprints: Fingerprints) -> NDArray[np.bool_]:
        """Remember the fingerprints and tell for each whether it was new."""
        # Zero marks an empty slot, so it shares the fate of one.
        keys, firsts = np.unique(np.maximum(fingerprints, 1), return_index=True)
        while self._count + len(keys) > _MOST_FILLED * len(self._table):
            self._grow()
        added = _insert(self._table, keys)
        self._count += int(added.sum())
        new = np.zeros(len(fingerprints), dtype=np.bool_)
        new[firsts[added]] = True
        return new

    def _grow(self) -> None:
        kept = self._table[self._table != _EMPTY]
        self._table = np.zeros(2 * len(self._table), dtype=np.uint64)
        _insert(self._table, kept)


def _insert(table: Fingerprints, keys: Fingerprints) -> NDArray[np.bool_]:
    """Put distinct keys into the table; tell for each whether it was not there."""
    added = np.zeros(len(keys), dtype=np.bool_)
    mask = np.uint64(len(table) - 1)
    slots = keys & mask
    waiting = np.arange(len(keys))
    while len(waiting):
        slot, key = slots[waiting], keys[waiting]
        free = table[slot] == _EMPTY
        # Several keys may want one free slot: the last written has it, others go on.
        table[slot[free]] = key[free]
        landed = table[slot] == key
        added[waiting[free & landed]] = True
        waiting = waiting[~landed]
        slots[waiting] = (slots[waiting] + np.uint64(1)) & mask
    return added
