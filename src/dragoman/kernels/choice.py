"""Whether the kernels are at work: chosen here, once."""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from dragoman.errors import KernelError
from dragoman.kernels.library import library

_at_work: ctypes.CDLL | None = None


@contextmanager
def kernels_at_work() -> Iterator[None]:
    """Let kernels do what they can; where they cannot be had, say why not."""
    global _at_work
    before, _at_work = _at_work, library()
    try:
        yield
    finally:
        _at_work = before


def kernel_for(x: Tensor) -> bool:
    """Say whether kernels are to compute with this tensor."""
    return (
        _at_work is not None
        and x.device.type == "cpu"
        and x.dtype == torch.float32
        and torch.is_grad_enabled()
        and not torch.is_autocast_enabled("cpu")
        and not torch.compiler.is_compiling()
    )


def kernels_now() -> str:
    """Say which kernels this process computes with: native or plain."""
    return "plain" if _at_work is None else "native"


def kernels() -> ctypes.CDLL:
    """Give the kernels at work."""
    if _at_work is None:
        raise KernelError("no kernels are at work here")
    return _at_work
