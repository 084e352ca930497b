"""Rotary positions: queries and keys turned by their place."""

import ctypes
from typing import Any

import torch
from torch import Tensor

from dragoman.kernels.choice import kernel_for, kernels
from dragoman.kernels.heads import Heads, room_like
from dragoman.kernels.pointers import pointer, threads


def suits(x: Tensor, cosines: Tensor) -> bool:
    """Say whether kernels are at work, with a turn for each word."""
    return (
        kernel_for(x)
        and x.dim() == 4
        and x.stride(-1) == 1
        and x.shape[-2:] == cosines.shape
    )


def turn(x: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:
    """Turn each pair (i, i + d_head / 2) of (batch, head, length, d_head)."""
    turned: Tensor = _Turn.apply(x, cosines, sines)  # type: ignore[no-untyped-call]
    return turned


class _Turn(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:  # noqa: ANN401
        ctx.save_for_backward(cosines, sines)
        return _turned(x, cosines, sines)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:  # noqa: ANN401
        cosines, sines = ctx.saved_tensors
        (gradient,) = gradients
        if gradient.stride(-1) != 1:
            gradient = gradient.contiguous()
        return _turned(gradient, cosines, -sines), None, None


def _turned(x: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:
    batch, heads, length, width = x.shape
    result = room_like(x)
    kernels().turn_heads(
        *map(ctypes.byref, map(Heads.of, (x, result))),
        *map(pointer, (cosines, sines)),
        ctypes.c_int64(batch),
        *map(ctypes.c_int, (heads, length, width)),
        threads(),
    )
    return result
