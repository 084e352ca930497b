"""Softmax and the gradient of cross-entropy, in place of the logits."""

import ctypes

import torch
from torch import Tensor

from dragoman.kernels.choice import kernels
from dragoman.kernels.pointers import pointer, threads


def softmax_gradient(
    logits: Tensor, targets: Tensor, known: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Turn logits (rows, vocabulary) into softmax(z) less `known` at the targets.

    Gives for each row lse(z), the target's logit and the highest one. The logits may be
    in bfloat16, and the gradient then is.
    """
    rows, width = logits.shape
    found = torch.empty(rows, 3)
    asked = (
        pointer(logits),
        pointer(targets),
        ctypes.c_int64(rows),
        ctypes.c_int(width),
        ctypes.c_float(known),
        pointer(found),
    )
    if logits.dtype == torch.bfloat16:
        room = torch.empty(torch.get_num_threads(), width)
        kernels().narrow_softmax_gradient(*asked, pointer(room), threads())
    else:
        kernels().softmax_gradient(*asked, threads())
    total, wanted, highest = found.unbind(dim=1)
    return total, wanted, highest
