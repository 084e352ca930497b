"""Softmax and the gradient of cross-entropy, in place of the logits."""

import ctypes

from torch import Tensor

from dragoman.kernels.choice import kernels
from dragoman.kernels.pointers import pointer, threads


def softmax_gradient(
    logits: Tensor, targets: Tensor, known: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Turn logits (rows, vocabulary) into softmax(z) less `known` at the targets.

    Gives for each row lse(z), the target's logit and the highest one.
    """
    found = logits.new_empty(len(logits), 3)
    kernels().softmax_gradient(
        pointer(logits),
        pointer(targets),
        ctypes.c_int64(len(logits)),
        ctypes.c_int(logits.shape[1]),
        ctypes.c_float(known),
        pointer(found),
        threads(),
    )
    total, wanted, highest = found.unbind(dim=1)
    return total, wanted, highest
