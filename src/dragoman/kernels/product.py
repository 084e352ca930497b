"""A matrix in panels, and the product of rows with it."""

import ctypes

import torch
from torch import Tensor

from dragoman.kernels.library import library
from dragoman.kernels.pointers import pointer, threads


class MapStruct(ctypes.Structure):
    """`Map` of product.h."""

    _fields_ = (
        ("panels", ctypes.c_void_p),
        ("bias", ctypes.c_void_p),
        ("inputs", ctypes.c_int),
        ("outputs", ctypes.c_int),
    )


class Panels:
    """xWᵀ + b for few rows x, with W laid out as (panel, input, output).

    Each number is summed over the inputs in their order: the rows that a row is
    multiplied together with change no bit of what becomes of it.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        width = library().panel_width()
        outputs, inputs = weight.shape
        missing = -outputs % width
        padded = torch.nn.functional.pad(weight.detach(), (0, 0, 0, missing))
        panels = padded.view(-1, width, inputs).transpose(1, 2).contiguous()
        self._kept = [panels]
        if bias is not None:
            self._kept.append(torch.nn.functional.pad(bias.detach(), (0, missing)))
        self.outputs = outputs
        self.struct = MapStruct(
            *(kept.data_ptr() for kept in self._kept),
            *([None] if bias is None else []),
            inputs,
            outputs,
        )

    def __call__(self, x: Tensor) -> Tensor:
        """Multiply rows (row, input)."""
        x = x.contiguous()
        product = x.new_empty(len(x), self.outputs)
        library().product(
            ctypes.byref(self.struct),
            pointer(x),
            pointer(product),
            ctypes.c_int(len(x)),
            threads(),
        )
        return product
