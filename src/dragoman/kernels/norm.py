"""Layer norm."""

import ctypes
from typing import Any

import torch
from torch import Tensor

from dragoman.kernels.choice import kernel_for, kernels
from dragoman.kernels.pointers import LANES, pointer, threads


class _LayerNorm(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401
        x: Tensor,
        gain: Tensor,
        bias: Tensor,
        epsilon: float,
    ) -> Tensor:
        x = x.contiguous()
        width = x.shape[-1]
        rows = x.numel() // width
        result, mean, rate = torch.empty_like(x), x.new_empty(rows), x.new_empty(rows)
        kernels().norm_forward(
            *map(pointer, (x, gain, bias)),
            ctypes.c_int64(rows),
            ctypes.c_int(width),
            ctypes.c_float(epsilon),
            *map(pointer, (result, mean, rate)),
            threads(),
        )
        ctx.save_for_backward(x, gain, mean, rate)
        return result

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        x, gain, mean, rate = ctx.saved_tensors
        gradient = gradients[0].contiguous()
        given, width = torch.empty_like(x), x.shape[-1]
        sums = x.new_zeros(torch.get_num_threads(), 2, width)
        kernels().norm_backward(
            *map(pointer, (gradient, x, gain, mean, rate)),
            ctypes.c_int64(len(mean)),
            ctypes.c_int(width),
            *map(pointer, (given, sums)),
            threads(),
        )
        return given, sums[0, 0], sums[0, 1], None


def suits(x: Tensor) -> bool:
    """Say whether kernels are at work, and rows hold a whole number of vectors."""
    return kernel_for(x) and x.shape[-1] % LANES == 0


def layer_norm(x: Tensor, gain: Tensor, bias: Tensor, epsilon: float) -> Tensor:
    """Give γ (x − mean) / √(variance + ε) + β of each row."""
    normed: Tensor = _LayerNorm.apply(x, gain, bias, epsilon)  # type: ignore[no-untyped-call]
    return normed
