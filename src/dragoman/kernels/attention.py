"""Scaled dot-product attention of short sentences."""

import ctypes
from typing import Any

import torch
from torch import Tensor

from dragoman.kernels.choice import kernel_for, kernels
from dragoman.kernels.heads import Heads, room_like
from dragoman.kernels.pointers import LANES, pointer, threads

LONGEST = 128  # words of a sentence, and dimensions of a head; as attention.c has it


class _Shape(ctypes.Structure):
    _fields_ = (
        ("sentences", ctypes.c_int64),
        ("heads", ctypes.c_int),
        ("queries", ctypes.c_int),
        ("keys", ctypes.c_int),
        ("width", ctypes.c_int),
        ("causal", ctypes.c_int),
        ("scale", ctypes.c_float),
        ("mask", ctypes.c_void_p),
    )


def suits(queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> bool:
    """Say whether kernels are at work, and made for these shapes and this mask."""
    longest = max(queries.shape[-2], *keys.shape[-2:])
    return (
        kernel_for(queries)
        and longest <= LONGEST
        and queries.shape[-1] % LANES == 0
        and queries.shape[:2] == keys.shape[:2]
        and all(x.stride(-1) == 1 for x in (queries, keys, values))
        and (mask is None or (mask.dtype == torch.bool and _of_keys(mask, keys)))
    )


def _of_keys(mask: Tensor, keys: Tensor) -> bool:
    return mask.shape == (keys.shape[0], 1, 1, keys.shape[2])


def attend(
    queries: Tensor,  # (batch, head, query_length, d_head)
    keys: Tensor,  # (batch, head, key_length, d_head)
    values: Tensor,
    mask: Tensor | None,  # (batch, 1, 1, key_length)
    causal: bool,
    scale: float,
) -> Tensor:
    """Give softmax(QKᵀ · scale) V."""
    attended: Tensor = _Attend.apply(  # type: ignore[no-untyped-call]
        queries, keys, values, mask, causal, scale
    )
    return attended


class _Attend(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        mask: Tensor | None,
        causal: bool,
        scale: float,
    ) -> Tensor:
        mask = None if mask is None else mask.contiguous()
        result = room_like(queries)
        totals = queries.new_empty(queries.shape[:3])
        told = _shape(queries, keys, mask, causal, scale)
        described = (Heads.of(x) for x in (queries, keys, values, result))
        kernels().attend(
            ctypes.byref(told),
            *map(ctypes.byref, described),
            pointer(totals),
            threads(),
        )
        ctx.save_for_backward(queries, keys, values, totals, mask)
        ctx.causal, ctx.scale = causal, scale
        return result

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        queries, keys, values, totals, mask = ctx.saved_tensors
        (gradient,) = gradients
        if gradient.stride(-1) != 1:
            gradient = gradient.contiguous()
        given = _together(queries, keys, values)
        told = _shape(queries, keys, mask, ctx.causal, ctx.scale)
        read = [Heads.of(x) for x in (queries, keys, values, gradient)]
        kernels().attend_backward(
            ctypes.byref(told),
            *map(ctypes.byref, read),
            pointer(totals),
            *map(ctypes.byref, map(Heads.of, given)),
            threads(),
        )
        return *given, None, None, None


def _shape(
    queries: Tensor, keys: Tensor, mask: Tensor | None, causal: bool, scale: float
) -> _Shape:
    batch, heads, length, width = queries.shape
    place = None if mask is None else mask.data_ptr()
    return _Shape(batch, heads, length, keys.shape[2], width, causal, scale, place)


def _together(*views: Tensor) -> list[Tensor]:
    """Make room for gradients: neighbours where their tensors are neighbours.

    So nobody has to copy the gradients of a joint projection together; but those of
    queries and keys that rotary positions turned lie by themselves.
    """
    storages = [view.untyped_storage().data_ptr() for view in views]
    reach: dict[int, tuple[int, int]] = {}
    for view, storage in zip(views, storages, strict=True):
        first = int(view.storage_offset())
        steps = zip(view.shape, view.stride(), strict=True)
        end = first + 1 + sum((size - 1) * step for size, step in steps)
        earlier = reach.get(storage, (first, end))
        reach[storage] = min(first, earlier[0]), max(end, earlier[1])
    rooms = {
        storage: views[0].new_empty(end - first)
        for storage, (first, end) in reach.items()
        if storages.count(storage) > 1
    }
    given = []
    for view, storage in zip(views, storages, strict=True):
        if storage not in rooms:
            given.append(room_like(view))
            continue
        offset = view.storage_offset() - reach[storage][0]
        given.append(rooms[storage].as_strided(view.shape, view.stride(), offset))
    return given
