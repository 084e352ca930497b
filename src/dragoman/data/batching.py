"""Padded tensors that a model can learn from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dragoman.data.ragged import Ragged
from dragoman.data.resegmentation import Resegmentation
from dragoman.data.token_store import TokenStore
from dragoman.special_tokens import BEGIN, END, PAD


@dataclass(frozen=True)
class Batch:
    """Sentence pairs side by side, each row filled up with PAD.

    `source` (batch, source_length) ends with END; `target_in` (batch, target_length)
    begins with BEGIN and `target_out` is the same one token later, ending with END.
    """

    source: Tensor
    target_in: Tensor
    target_out: Tensor

    @property
    def num_pairs(self) -> int:
        """The number of rows."""
        return len(self.source)

    @property
    def num_source_tokens(self) -> int:
        """Source tokens that are not padding, END included."""
        return int(torch.count_nonzero(self.source != PAD))

    @property
    def num_target_tokens(self) -> int:
        """Target tokens to predict, END included."""
        return int(torch.count_nonzero(self.target_out != PAD))

    @property
    def padding_share(self) -> float:
        """How much of both sides is padding, from 0 to 1."""
        places = self.source.numel() + self.target_out.numel()
        return 1 - (self.num_source_tokens + self.num_target_tokens) / places

    def without_targets(self) -> Self:
        """Give the same rows with nothing to predict: there is no loss in them."""
        nothing = torch.full_like(self.target_out, PAD)
        return type(self)(self.source, self.target_in, nothing)

    def to(self, device: torch.device | str) -> Self:
        """Move to a device."""
        return type(self)(
            self.source.to(device, non_blocking=True),
            self.target_in.to(device, non_blocking=True),
            self.target_out.to(device, non_blocking=True),
        )


def make_batch(
    sources: Sequence[NDArray[Any]], targets: Sequence[NDArray[Any]]
) -> Batch:
    """Make a batch from rows of token ids without BEGIN and END."""
    return _batch(Ragged.from_rows(sources), Ragged.from_rows(targets))


def read_batch(
    store: TokenStore,
    indices: NDArray[np.integer[Any]],
    segmentations: Resegmentation | None = None,
    key: tuple[int, ...] = (),
) -> Batch:
    """Read pairs from a store, their subwords split anew by chance where asked.

    `key` alone decides the chance, so that a resumed run sees what it would have seen.
    """
    sources, targets = store.sources(indices), store.targets(indices)
    if segmentations:
        random = np.random.default_rng(key)
        longest = segmentations.longest
        sources = segmentations.source.apply(sources, random, longest)
        targets = segmentations.target.apply(targets, random, longest)
    return _batch(sources, targets)


def _batch(sources: Ragged, targets: Ragged) -> Batch:
    source, target_out = _padded(sources), _padded(targets)
    target_in = np.roll(target_out, 1, axis=1)  # its last column is all padding
    target_in[:, 0] = BEGIN
    source[np.arange(len(sources)), sources.lengths] = END
    target_out[np.arange(len(targets)), targets.lengths] = END
    return Batch(
        torch.from_numpy(source),
        torch.from_numpy(target_in),
        torch.from_numpy(target_out),
    )


def _padded(rows: Ragged) -> NDArray[np.int64]:
    return rows.padded(PAD, int(rows.lengths.max(initial=0)) + 1)


def share_out(
    indices: NDArray[np.integer[Any]], processes: int, parts: int
) -> list[list[NDArray[np.integer[Any]]]]:
    """Divide a batch among processes, and each share into parts, all of like size.

    There are at most `parts` parts, and as many for each process. None is empty, unless
    there are fewer rows than processes.
    """
    assert parts > 0, "a batch has at least one part"
    shares = np.array_split(indices, processes)
    rows = min(len(share) for share in shares)
    return [np.array_split(share, min(parts, max(1, rows))) for share in shares]
