"""Dropout alone, in a residual sum, and behind a rectifier."""

import ctypes
from typing import Any

import torch
from torch import Tensor

from dragoman.kernels.choice import kernels
from dragoman.kernels.pointers import pointer, threads


def draw_seed() -> int:
    """Take one number from torch's own CPU generator."""
    return int(torch.empty((), dtype=torch.int64).random_(-(2**63), None))


def drop(x: Tensor | None, written: Tensor, seed: int, threshold: int) -> Tensor:
    """Give x + mask · written; which elements drop follows from seed and place."""
    result = torch.empty_like(written)
    kernels().drop(
        None if x is None else pointer(x),
        pointer(written),
        ctypes.c_int64(written.numel()),
        ctypes.c_uint64(seed % 2**64),
        ctypes.c_int(threshold),
        pointer(result),
        threads(),
    )
    return result


class _DroppedSum(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401
        x: Tensor | None,
        written: Tensor,
        threshold: int,
    ) -> Tensor:
        ctx.seed, ctx.threshold, ctx.alone = draw_seed(), threshold, x is None
        base = None if x is None else x.contiguous()
        return drop(base, written.contiguous(), ctx.seed, threshold)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, Tensor, None]:  # noqa: ANN401
        (gradient,) = gradients
        dropped = drop(None, gradient.contiguous(), ctx.seed, ctx.threshold)
        return None if ctx.alone else gradient, dropped, None


class _RectifyAndDrop(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, threshold: int) -> Tensor:  # noqa: ANN401
        x = x.contiguous()
        result = torch.empty_like(x)
        kernels().rectify_and_drop(
            pointer(x),
            ctypes.c_int64(x.numel()),
            ctypes.c_uint64(draw_seed() % 2**64 if threshold else 0),
            ctypes.c_int(threshold),
            pointer(result),
            threads(),
        )
        ctx.threshold = threshold
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:  # noqa: ANN401
        (result,) = ctx.saved_tensors
        gradient = gradients[0].contiguous()
        given = torch.empty_like(gradient)
        kernels().rectify_and_drop_backward(
            pointer(gradient),
            pointer(result),
            ctypes.c_int64(gradient.numel()),
            ctypes.c_int(ctx.threshold),
            pointer(given),
            threads(),
        )
        return given, None


def dropped_sum(x: Tensor | None, written: Tensor, threshold: int) -> Tensor:
    """Give x + dropout(written), or dropout(written) alone where x is None."""
    summed: Tensor = _DroppedSum.apply(x, written, threshold)  # type: ignore[no-untyped-call]
    return summed


def rectify_and_drop(x: Tensor, threshold: int) -> Tensor:
    """Give dropout(max(0, x)); a threshold of 0 drops nothing."""
    rectified: Tensor = _RectifyAndDrop.apply(x, threshold)  # type: ignore[no-untyped-call]
    return rectified
