"""What a search asks of logits: their logarithmic softmax, and the largest few."""

import ctypes

import torch
from torch import Tensor

from dragoman.kernels.choice import kernel_reads, kernels
from dragoman.kernels.pointers import pointer, threads


def suits(values: Tensor) -> bool:
    """Say whether kernels are at work, and the rows lie one behind the other."""
    return kernel_reads(values) and values.dim() == 2 and values.is_contiguous()


def log_softmax(logits: Tensor) -> Tensor:
    """Give the logarithmic softmax of each row."""
    result = torch.empty_like(logits)
    kernels().log_softmax(
        pointer(logits),
        ctypes.c_int64(len(logits)),
        ctypes.c_int(logits.shape[1]),
        pointer(result),
        threads(),
    )
    return result


def largest(values: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Give the `count` largest of each row, best first, and the columns they stand in.

    Of equal values the one in the lower column comes first.
    """
    best = values.new_empty(len(values), count)
    columns = torch.empty(best.shape, dtype=torch.int64)
    kernels().largest(
        pointer(values),
        ctypes.c_int64(len(values)),
        ctypes.c_int(values.shape[1]),
        ctypes.c_int(count),
        pointer(best),
        pointer(columns),
        threads(),
    )
    return best, columns
