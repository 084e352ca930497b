"""The paper's LayerNorm(x + Dropout(Sublayer(x))) in one pass."""

import ctypes
from typing import Any

import torch
from torch import Tensor

from dragoman.kernels import norm
from dragoman.kernels.choice import kernels
from dragoman.kernels.dropout import draw_seed
from dragoman.kernels.pointers import pointer, threads

WIDEST = 4096  # elements of a row; BLOCK of dropout.h


class _NormedSum(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401
        x: Tensor,
        written: Tensor,
        threshold: int,
        gain: Tensor,
        bias: Tensor,
        epsilon: float,
    ) -> Tensor:
        x, written = x.contiguous(), written.contiguous()
        width = x.shape[-1]
        rows = x.numel() // width
        ctx.mask = ctypes.c_uint64(draw_seed() % 2**64), ctypes.c_int(threshold)
        summed, result = torch.empty_like(x), torch.empty_like(x)
        mean, rate = x.new_empty(rows), x.new_empty(rows)
        kernels().residual_forward(
            *map(pointer, (x, written)),
            *ctx.mask,
            *map(pointer, (gain, bias)),
            ctypes.c_int64(rows),
            ctypes.c_int(width),
            ctypes.c_float(epsilon),
            *map(pointer, (summed, result, mean, rate)),
            threads(),
        )
        ctx.save_for_backward(summed, gain, mean, rate)
        return result

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        summed, gain, mean, rate = ctx.saved_tensors
        gradient, width = gradients[0].contiguous(), summed.shape[-1]
        given, dropped = torch.empty_like(summed), torch.empty_like(summed)
        sums = summed.new_zeros(torch.get_num_threads(), 2, width)
        kernels().residual_backward(
            *map(pointer, (gradient, summed)),
            *ctx.mask,
            *map(pointer, (gain, mean, rate)),
            ctypes.c_int64(len(mean)),
            ctypes.c_int(width),
            *map(pointer, (given, dropped, sums)),
            threads(),
        )
        return given, dropped, None, sums[0, 0], sums[0, 1], None


def suits(x: Tensor, written: Tensor) -> bool:
    """Say whether kernels are at work, and made for these rows."""
    alike = x.shape == written.shape and x.dtype == written.dtype
    return norm.suits(written) and alike and x.shape[-1] <= WIDEST


def normed_sum(
    x: Tensor,
    written: Tensor,
    threshold: int,
    gain: Tensor,
    bias: Tensor,
    epsilon: float,
) -> Tensor:
    """Give LayerNorm(x + dropout(written))."""
    normed: Tensor = _NormedSum.apply(x, written, threshold, gain, bias, epsilon)  # type: ignore[no-untyped-call]
    return normed
