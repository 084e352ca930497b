"""Tensors and threads as C wants to be told of them."""

import ctypes

import torch
from torch import Tensor

LANES = 16  # numbers of a vector, as vectors.h has it


def pointer(x: Tensor) -> ctypes.c_void_p:
    """Give where a tensor's numbers begin."""
    return ctypes.c_void_p(x.data_ptr())


def threads() -> ctypes.c_int:
    """Give how many threads torch uses, which kernels use too."""
    return ctypes.c_int(torch.get_num_threads())
