"""Products of matrices in float32, where ours are faster than those that torch calls.

Torch calls MKL, which is made for Intel's processors: on AMD's it uses no AVX-512, and
leaves a tenth of the speed of AVX2 unused (benchmarks/processors.md).
"""

import ctypes
from functools import cache

import torch
import torch.nn.functional as F  # noqa: N812 (the name everyone knows)
from torch import Tensor

from dragoman.kernels.choice import kernels
from dragoman.kernels.instructions import processor
from dragoman.kernels.pointers import pointer, threads

FEW = 128 * 1024  # weights, whose gradients stay in a core's cache


@cache
def ours_are_faster() -> bool:
    """Whether this processor is one where they were measured to be.

    The processor alone decides, not a trial: a run must go on as it began.
    """
    here = processor()
    return "AMD" in here.name and {"avx2", "fma"} <= here.instructions


class _MatrixStruct(ctypes.Structure):
    """`Matrix` of matrix_product.c."""

    _fields_ = (
        ("at", ctypes.c_void_p),
        ("row", ctypes.c_int64),
        ("column", ctypes.c_int64),
    )


class RightFactor:
    """A matrix that others are multiplied with, laid out once for all of them."""

    def __init__(self, b: Tensor) -> None:
        self.depth, self.columns = b.shape
        width = kernels().panel_width()
        self._missing = -self.columns % width  # columns of the last panel
        self._panels = b.new_empty(self.depth * (self.columns + self._missing))
        b = _by_rows_or_columns(b)
        kernels().lay_out(
            ctypes.byref(_struct(b)),
            ctypes.c_int(self.depth),
            ctypes.c_int(self.columns),
            pointer(self._panels),
            threads(),
        )

    def times(
        self, a: Tensor, *, bias: Tensor | None = None, out: Tensor | None = None
    ) -> Tensor:
        """Give ab + bias; `out`, if any, receives it."""
        if out is None:
            out = a.new_empty(len(a), self.columns)
        if bias is not None and self._missing:
            bias = F.pad(bias, (0, self._missing))
        self._multiply(a, out, bias=bias)
        return out

    def times_and_sums(self, a: Tensor) -> tuple[Tensor, Tensor]:
        """Give ab, and the sum of each row of a, which is passed over anyway."""
        product, sums = a.new_empty(len(a), self.columns), a.new_zeros(len(a))
        self._multiply(a, product, sums=sums)
        return product, sums

    def add_times(self, a: Tensor, total: Tensor) -> None:
        """Add ab to a total, in place."""
        self._multiply(a, total, added=True)

    def gradients(self, gradient: Tensor, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Give gW, gᵀx and the sums of g's columns, where W, this matrix, is small."""
        gradient, x = _by_rows_or_columns(gradient), _by_rows_or_columns(x)
        groups = kernels().groups_of_rows()
        at_once = torch.get_num_threads() * kernels().rows_laid_out_at_once()
        given = x.new_empty(x.shape)
        learned = x.new_empty(self.depth, self.columns)
        others = x.new_empty(groups - 1, *learned.shape)
        sums = x.new_zeros(groups, self.depth)
        room = x.new_empty(at_once, self.columns + self._missing)
        kernels().linear_backward(
            ctypes.byref(_struct(gradient)),
            ctypes.byref(_struct(x)),
            pointer(self._panels),
            pointer(given),
            pointer(learned),
            pointer(others),
            pointer(sums),
            ctypes.c_int(len(x)),
            ctypes.c_int(self.depth),
            ctypes.c_int(self.columns),
            pointer(room),
            threads(),
        )
        return given, learned, sums[0]

    def _multiply(
        self,
        a: Tensor,
        out: Tensor,
        *,
        bias: Tensor | None = None,
        sums: Tensor | None = None,
        added: bool = False,
    ) -> None:
        a = _by_rows_or_columns(a)
        kernels().matrix_product(
            ctypes.byref(_struct(a)),
            pointer(self._panels),
            None if bias is None else pointer(bias),
            pointer(out),
            None if sums is None else pointer(sums),
            ctypes.c_int(len(a)),
            ctypes.c_int(self.depth),
            ctypes.c_int(self.columns),
            ctypes.c_int(added),
            threads(),
        )


def _by_rows_or_columns(x: Tensor) -> Tensor:
    return x if 1 in x.stride() else x.contiguous()


def _struct(x: Tensor) -> _MatrixStruct:
    return _MatrixStruct(x.data_ptr(), *x.stride())


def linear_gradients(
    gradient: Tensor, x: Tensor, weight: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Give what x, W and b get of a gradient by xWᵀ + b: gW, gᵀx and its sums."""
    factor = RightFactor(weight)
    if weight.numel() > FEW:
        return factor.times(gradient), *RightFactor(x).times_and_sums(gradient.T)
    return factor.gradients(gradient, x)
