"""Words split into heads, as C wants to be told of them."""

import ctypes

from torch import Tensor


class Heads(ctypes.Structure):
    """Where the numbers of each sentence, head and word begin; as heads.h has it."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("sentence", ctypes.c_int64),
        ("head", ctypes.c_int64),
        ("word", ctypes.c_int64),
    )

    @classmethod
    def of(cls, x: Tensor) -> "Heads":
        """Describe a tensor (batch, head, length, d_head)."""
        return cls(x.data_ptr(), *x.stride()[:3])


def room_like(x: Tensor) -> Tensor:
    """Make room for as much (batch, head, length, d_head), a word's heads together."""
    batch, heads, length, width = x.shape
    return x.new_empty(batch, length, heads, width).transpose(1, 2)
