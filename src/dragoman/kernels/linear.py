"""A linear map whose bias costs no copy, and its gradient no general sum.

Torch multiplies, or our own product where that is faster. Where products are narrow,
both factors of each are rounded to bfloat16, of which a processor that knows it
multiplies twice as many at once.
"""

import ctypes
from typing import Any

import torch
from torch import Tensor

from dragoman.kernels.choice import kernels, products_are_narrow
from dragoman.kernels.matrix_product import (
    RightFactor,
    linear_gradients,
    ours_are_faster,
)
from dragoman.kernels.pointers import pointer, threads

ROWS_AT_ONCE = 64  # numbers of rows that narrow products come in


class _TorchLinear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:  # noqa: ANN401
        ctx.save_for_backward(x, weight)
        rows = x.reshape(-1, x.shape[-1])
        result = torch.mm(rows, weight.T)
        kernels().add_bias(
            pointer(result),
            pointer(bias),
            ctypes.c_int64(len(rows)),
            ctypes.c_int(len(weight)),
            threads(),
        )
        return result.view(*x.shape[:-1], -1)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, ...]:  # noqa: ANN401
        x, weight, rows, gradient = _matrices(ctx, *gradients)
        given = torch.mm(gradient, weight).view_as(x)
        return given, torch.mm(gradient.T, rows), sum_of_rows(gradient)


class _PanelLinear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:  # noqa: ANN401
        ctx.save_for_backward(x, weight)
        rows = x.reshape(-1, x.shape[-1])
        result = RightFactor(weight.T).times(rows, bias=bias)
        return result.view(*x.shape[:-1], -1)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, ...]:  # noqa: ANN401
        x, weight, rows, gradient = _matrices(ctx, *gradients)
        given, *learned = linear_gradients(gradient, rows, weight)
        return given.view_as(x), *learned


def _matrices(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:  # noqa: ANN401
    """Give what was kept, and the rows and their gradient as matrices."""
    x, weight = ctx.saved_tensors
    rows = x.reshape(-1, x.shape[-1])
    return x, weight, rows, gradient.reshape(-1, len(weight))


class _NarrowLinear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:  # noqa: ANN401
        wide = x.reshape(-1, x.shape[-1])
        rows, narrow = narrow_rows(wide), weight.bfloat16()
        ctx.save_for_backward(rows, narrow)
        product = torch.mm(rows, narrow.T)
        result = x.new_empty(*x.shape[:-1], len(weight))
        kernels().widen_and_add_bias(
            pointer(product),
            pointer(bias),
            ctypes.c_int64(len(wide)),
            ctypes.c_int(len(weight)),
            pointer(result),
            threads(),
        )
        return result

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, ...]:  # noqa: ANN401
        rows, weight = ctx.saved_tensors
        wide = gradients[0].reshape(-1, len(weight)).contiguous()
        gradient = _room_for(wide)
        sums = sum_of_rows(wide, gradient)
        given = torch.mm(gradient, weight)[: len(wide)].float()
        return (
            given.view(*gradients[0].shape[:-1], -1),
            torch.mm(gradient.T, rows).float(),
            sums,
        )


def narrow_rows(x: Tensor) -> Tensor:
    """Round a matrix to bfloat16, with rows of zeros after it."""
    narrow = _room_for(x)
    narrow[: len(x)] = x
    return narrow


def _room_for(x: Tensor) -> Tensor:
    """Make room for a matrix in bfloat16; rows of zeros round up their number.

    For each shape that it has not met, torch composes machine code, which takes as long
    as the product itself: so few numbers of rows are better than many.
    """
    rows = -(-len(x) // ROWS_AT_ONCE) * ROWS_AT_ONCE
    narrow = x.new_empty(rows, x.shape[1], dtype=torch.bfloat16)
    narrow[len(x) :] = 0
    return narrow


def sum_of_rows(x: Tensor, narrow: Tensor | None = None) -> Tensor:
    """Sum a matrix (rows, width) over its rows; `narrow` gets a copy in bfloat16."""
    x = x.contiguous()
    sums = x.new_zeros(torch.get_num_threads(), x.shape[1])
    kernels().sum_rows(
        pointer(x),
        ctypes.c_int64(len(x)),
        ctypes.c_int(x.shape[1]),
        pointer(sums),
        None if narrow is None else pointer(narrow),
        threads(),
    )
    return sums[0]


def add_narrow(total: Tensor, product: Tensor) -> None:
    """Add a product in bfloat16 to a sum in float32, in place."""
    kernels().widen_and_add(
        pointer(product), ctypes.c_int64(product.numel()), pointer(total), threads()
    )


def linear(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Give xWᵀ + b."""
    function: type[torch.autograd.Function] = _TorchLinear
    if products_are_narrow():
        function = _NarrowLinear
    elif ours_are_faster():
        function = _PanelLinear
    mapped: Tensor = function.apply(x, weight, bias)
    return mapped
