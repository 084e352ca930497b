"""The largest few of each row: the innermost work of every search."""

import torch
from torch import Tensor

from dragoman.kernels import likeliest as kernel

BLOCK = 64


def largest(values: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Give the `count` largest of each row, best first, and the columns they stand in.

    Of equal values the one in the lower column comes first. A row with fewer than
    `count` columns gives all it has.
    """
    if count >= values.shape[1]:
        return _sorted(values, count)
    if kernel.suits(values):
        return kernel.largest(values, count)
    # One more than asked for shows whether the last one asked for has an equal.
    top, columns = _by_blocks(values, count + 1)
    tied = (top[:, 1:] == top[:, :-1]).any(dim=1)
    if tied.any():
        top[tied], columns[tied] = _sorted(values[tied], count + 1)
    return top[:, :count], columns[:, :count]


def _sorted(values: Tensor, count: int) -> tuple[Tensor, Tensor]:
    ordered, columns = values.sort(dim=1, descending=True, stable=True)
    return ordered[:, :count], columns[:, :count]


def _by_blocks(values: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Look only where the largest can be, taking equal values in any order.

    The `count` largest of a row lie in the `count` blocks with the largest maxima, or
    in the rest that fills no block. The maxima cost one quick pass, where `topk` over a
    whole vocabulary would cost more than the output projection that made it.
    """
    num_blocks, rest = divmod(values.shape[1], BLOCK)
    if num_blocks <= count:
        top, columns = values.topk(count, dim=1)
        return top, columns
    blocks = values[:, : num_blocks * BLOCK].view(-1, num_blocks, BLOCK)
    best_blocks = blocks.amax(dim=2).topk(count, dim=1).indices
    within = torch.arange(BLOCK, device=values.device)
    columns = (best_blocks[:, :, None] * BLOCK + within).flatten(1)
    if rest:
        last = torch.arange(num_blocks * BLOCK, values.shape[1], device=values.device)
        columns = torch.cat([columns, last.expand(len(values), rest)], dim=1)
    top, picks = values.gather(1, columns).topk(count, dim=1)
    return top, columns.gather(1, picks)
