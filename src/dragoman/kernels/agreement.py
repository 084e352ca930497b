"""R-Drop's gradient of two predictions of the same tokens, in place of their logits."""

import ctypes

import torch
from torch import Tensor

from dragoman.kernels.choice import kernels
from dragoman.kernels.pointers import pointer, threads


def agreement_gradient(
    logits: Tensor, targets: Tensor, known: float, weight: float
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Turn two passes' logits (2, rows, vocabulary) into the gradient by them.

    Gives for each pass and row lse(z), the target's logit, the highest one and how far
    this pass's prediction is from the other's. The logits may be in bfloat16, and the
    gradient then is.
    """
    _, rows, width = logits.shape
    found = torch.empty(2, rows, 4)
    asked = (
        pointer(logits),
        pointer(targets),
        ctypes.c_int64(rows),
        ctypes.c_int(width),
        ctypes.c_float(known),
        ctypes.c_float(weight),
        pointer(found),
    )
    if logits.dtype == torch.bfloat16:
        room = torch.empty(torch.get_num_threads(), 2, width)
        kernels().narrow_agreement_gradient(*asked, pointer(room), threads())
    else:
        kernels().agreement_gradient(*asked, threads())
    total, wanted, highest, divergence = found.unbind(dim=2)
    return total, wanted, highest, divergence
