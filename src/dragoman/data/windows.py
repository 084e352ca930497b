"""Running text for language models: cut into windows, and made into batches.

In a store, a window is a pair whose source is empty. END stands where a line of the
text ended, and nowhere else.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from dragoman.data.batching import Batch
from dragoman.data.token_store import TokenStore
from dragoman.special_tokens import BEGIN, END, PAD

# Of the words of a window, this share is to be found again (as BERT has it).
HIDDEN_SHARE = 0.15
# Of these, so many are replaced by MASK and so many by another word; the rest stays.
MASKED, EXCHANGED = 0.8, 0.1


def cut_windows(lines: Iterable[list[int]], size: int) -> Iterator[list[int]]:
    """Lay lines end to end, END after each, and cut what comes of it; none is lost."""
    stream: list[int] = []
    for line in lines:
        stream += line
        stream.append(END)
        whole = len(stream) - len(stream) % size
        for start in range(0, whole, size):
            yield stream[start : start + size]
        del stream[:whole]
    if stream:
        yield stream


def window_batch(store: TokenStore, indices: NDArray[np.integer[Any]]) -> Batch:
    """Read windows to be predicted word by word; the first is predicted from BEGIN."""
    windows = _windows(store, indices)
    target_in = np.roll(windows, 1, axis=1)
    target_in[:, 0] = BEGIN
    target_in[windows == PAD] = PAD
    source = np.full((len(windows), 1), END)
    return Batch(
        torch.from_numpy(source),
        torch.from_numpy(target_in),
        torch.from_numpy(windows),
    )


@dataclass(frozen=True)
class Masking:
    """What hides words: the id of MASK, and the vocabulary that others come from."""

    mask: int
    vocabulary_size: int

    def hide(
        self, windows: NDArray[np.int64], random: np.random.Generator
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Give windows with some words hidden, and where; at least one in each."""
        words = windows > END
        drawn = np.where(words, random.random(windows.shape), 1.0)
        least = drawn.min(axis=1, keepdims=True)
        chosen = words & ((drawn < HIDDEN_SHARE) | (drawn == least))
        how = random.random(windows.shape)
        ids = np.arange(END + 1, self.vocabulary_size)
        others = ids[ids != self.mask]
        exchanged = random.choice(others, windows.shape)
        seen = np.where(chosen & (how < MASKED), self.mask, windows)
        by_another = chosen & (how >= MASKED) & (how < MASKED + EXCHANGED)
        return np.where(by_another, exchanged, seen), chosen


def masked_batch(
    store: TokenStore,
    indices: NDArray[np.integer[Any]],
    masking: Masking,
    key: tuple[int, ...],
) -> Batch:
    """Read windows with words hidden; `key` alone decides which, so that it repeats."""
    windows = _windows(store, indices)
    seen, chosen = masking.hide(windows, np.random.default_rng(key))
    wanted = np.where(chosen, windows, PAD)
    source = torch.from_numpy(seen)
    return Batch(source, source, torch.from_numpy(wanted))


def _windows(store: TokenStore, indices: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    rows = store.targets(indices)
    return rows.padded(PAD, int(rows.lengths.max(initial=0)))
