"""Dropout that does not cost more than what it drops (§5.4).

On a CPU, drawing one float per element takes longer than the matrix multiplications
around it. One random byte per element is enough: an element is kept when its byte is
at or above a threshold, and kept ones are scaled by the exact share that is kept, so
the expectation is right although the rate is rounded to a 256th.
"""

from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 (the name everyone knows)
from torch import Tensor, nn


def random_bytes(count: int) -> Tensor:
    """Draw independent uniform bytes from torch's own CPU generator."""
    words = torch.empty((count + 7) // 8, dtype=torch.int64)
    return words.random_(-(2**63), None).view(torch.uint8)[:count]


def byte_threshold(rate: float) -> int:
    """Give how many of the 256 byte values mean "drop"."""
    return min(255, round(rate * 256))


class _ByteDropout(torch.autograd.Function):
    """Multiply by a random mask of zeros and 1 / (kept share)."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, threshold: int) -> Tensor:  # noqa: ANN401
        drawn = random_bytes(x.numel()).view(x.shape)
        # Written as floats at once: multiplying by a mask of bools is far slower.
        mask = torch.ge(drawn, threshold, out=torch.empty_like(x))
        scale = 256 / (256 - threshold)
        ctx.save_for_backward(mask)
        ctx.scale = scale
        return (x * mask).mul_(scale)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:  # noqa: ANN401
        (mask,) = ctx.saved_tensors
        return (gradients[0] * mask).mul_(ctx.scale), None


class Dropout(nn.Module):
    """Zero a share of the elements while training; native where that is faster."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def forward(self, x: Tensor) -> Tensor:
        """Drop, if training."""
        if not self.training or not self.rate:
            return x
        if x.device.type != "cpu" or torch.compiler.is_compiling():
            return F.dropout(x, self.rate)
        dropped: Tensor = _ByteDropout.apply(  # type: ignore[no-untyped-call]
            x, byte_threshold(self.rate)
        )
        return dropped

    def extra_repr(self) -> str:
        """Show the rate where the model is printed."""
        return f"rate={self.rate}"
