"""A joint projection taken apart, and its gradient put together without a copy."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor


class _Split(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, joint: Tensor, sizes: Sequence[int]) -> tuple[Tensor, ...]:  # noqa: ANN401
        return tuple(joint.split(list(sizes), dim=-1))

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:  # noqa: ANN401
        first = gradients[0]
        if not _are_neighbours(gradients):
            return torch.cat(gradients, dim=-1), None
        width = sum(gradient.shape[-1] for gradient in gradients)
        shape = (*first.shape[:-1], width)
        return first.as_strided(shape, first.stride()), None


def _are_neighbours(parts: Sequence[Tensor]) -> bool:
    """Say whether each part begins where the one before it ends, row by row."""
    return all(
        before.untyped_storage().data_ptr() == after.untyped_storage().data_ptr()
        and before.storage_offset() + before.shape[-1] == after.storage_offset()
        and before.stride() == after.stride()
        and before.stride(-1) == 1
        for before, after in pairwise(parts)
    )


def split(joint: Tensor, sizes: Sequence[int]) -> tuple[Tensor, ...]:
    """Take the last dimension apart into parts of these sizes."""
    parts: tuple[Tensor, ...] = _Split.apply(joint, sizes)  # type: ignore[no-untyped-call]
    return parts
