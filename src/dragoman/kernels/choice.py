"""Whether the kernels are at work: chosen here, once."""

import ctypes
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from functools import cache

import torch
from torch import Tensor

from dragoman.errors import KernelError
from dragoman.kernels.library import library

# Of each thread: one may train while another translates.
_at_work: ContextVar[ctypes.CDLL | None] = ContextVar("kernels", default=None)
_narrow: ContextVar[bool] = ContextVar("narrow products", default=False)


@contextmanager
def kernels_at_work() -> Iterator[None]:
    """Let kernels do what they can; where they cannot be had, say why not."""
    token = _at_work.set(library())
    try:
        yield
    finally:
        _at_work.reset(token)


@contextmanager
def kernels_if_any() -> Iterator[None]:
    """Let kernels do what they can, where they can be had."""
    token = _at_work.set(_found())
    try:
        yield
    finally:
        _at_work.reset(token)


@contextmanager
def narrow_products() -> Iterator[None]:
    """Let kernels that learn multiply matrices in bfloat16; sums stay in float32."""
    token = _narrow.set(True)
    try:
        yield
    finally:
        _narrow.reset(token)


def products_are_narrow() -> bool:
    """Say whether kernels multiply matrices in bfloat16 here."""
    return _narrow.get()


@cache
def _found() -> ctypes.CDLL | None:
    try:
        return library()
    except KernelError:
        return None


def kernel_for(x: Tensor) -> bool:
    """Say whether kernels are to learn from this tensor."""
    return (
        _at_work.get() is not None
        and x.dtype == torch.float32
        and x.device.type == "cpu"
        and torch.is_grad_enabled()
        and not torch.is_autocast_enabled("cpu")
        and not torch.compiler.is_compiling()
    )


def kernel_reads(x: Tensor) -> bool:
    """Say whether kernels are to compute with this tensor where nothing learns."""
    return (
        _at_work.get() is not None
        and x.dtype == torch.float32
        and x.device.type == "cpu"
        and not torch.is_grad_enabled()
        and not torch.is_autocast_enabled("cpu")
        and not torch.compiler.is_compiling()
    )


def kernels_now() -> str:
    """Say which kernels this thread computes with, as `kernels_named` takes it."""
    if _at_work.get() is None:
        return "plain"
    return "bfloat16" if products_are_narrow() else "native"


@contextmanager
def kernels_named(name: str) -> Iterator[None]:
    """Put kernels to work: "plain" (none), "native", or with products in "bfloat16"."""
    with ExitStack() as stack:
        if name != "plain":
            stack.enter_context(kernels_at_work())
        if name == "bfloat16":
            stack.enter_context(narrow_products())
        yield


def kernels() -> ctypes.CDLL:
    """Give the kernels at work."""
    found = _at_work.get()
    if found is None:
        raise KernelError("no kernels are at work here")
    return found
