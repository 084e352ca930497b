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

from dragoman.kernels import dropout as kernel
from dragoman.kernels.choice import kernel_for


def random_bytes(count: int) -> Tensor:
    """Draw independent uniform bytes from torch's own CPU generator."""
    words = torch.empty((count + 7) // 8, dtype=torch.int64)
    return words.random_(-(2**63), None).view(torch.uint8)[:count]


def byte_threshold(rate: float) -> int:
    """Give how many of the 256 byte values mean "drop"."""
    return min(255, round(rate * 256))


def random_mask(like: Tensor, threshold: int) -> Tensor:
    """Draw zeros and 1 / (kept share) in the shape of a tensor."""
    drawn = random_bytes(like.numel()).view(like.shape)
    # Written as floats at once: multiplying by a mask of bools is far slower.
    mask = torch.ge(drawn, threshold, out=torch.empty_like(like))
    return mask.mul_(256 / (256 - threshold))


class _ByteDropout(torch.autograd.Function):
    """Multiply by a random mask."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, threshold: int) -> Tensor:  # noqa: ANN401
        mask = random_mask(x, threshold)
        ctx.save_for_backward(mask)
        return x * mask

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:  # noqa: ANN401
        (mask,) = ctx.saved_tensors
        return gradients[0] * mask, None


class _DroppedSum(torch.autograd.Function):
    """Multiply by a random mask and add, in one pass over the memory."""

    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401
        x: Tensor,
        written: Tensor,
        threshold: int,
    ) -> Tensor:
        mask = random_mask(written, threshold)
        ctx.save_for_backward(mask)
        return torch.addcmul(x, written, mask)

    @staticmethod
    def backward(
        ctx: Any,  # noqa: ANN401
        *gradients: Tensor,
    ) -> tuple[Tensor, Tensor, None]:
        (mask,) = ctx.saved_tensors
        return gradients[0], gradients[0] * mask, None


class Dropout(nn.Module):
    """Zero a share of the elements while training; native where that is faster."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    @property
    def drops(self) -> bool:
        """Whether anything is dropped now."""
        return self.training and self.rate > 0

    def forward(self, x: Tensor) -> Tensor:
        """Drop, if training."""
        if not self.drops:
            return x
        if not self._by_bytes(x):
            return F.dropout(x, self.rate)
        if kernel_for(x):
            return kernel.dropped_sum(None, x, byte_threshold(self.rate))
        dropped: Tensor = _ByteDropout.apply(  # type: ignore[no-untyped-call]
            x, byte_threshold(self.rate)
        )
        return dropped

    def add(self, x: Tensor, written: Tensor) -> Tensor:
        """Give x + dropout(written), which a residual wants, at the cost of one."""
        if not self._by_bytes(written) or x.dtype != written.dtype:
            summed: Tensor = x + self(written)
            return summed
        if kernel_for(written) and x.shape == written.shape:
            return kernel.dropped_sum(x, written, byte_threshold(self.rate))
        added: Tensor = _DroppedSum.apply(  # type: ignore[no-untyped-call]
            x, written, byte_threshold(self.rate)
        )
        return added

    def of_rectified(self, x: Tensor) -> Tensor:
        """Give dropout(max(0, x)), which a feed-forward network wants."""
        if kernel_for(x):
            threshold = byte_threshold(self.rate) if self.training else 0
            return kernel.rectify_and_drop(x, threshold)
        rectified: Tensor = self(x.relu())  # in place, a view's gradient costs copies
        return rectified

    def _by_bytes(self, x: Tensor) -> bool:
        """Say whether our own dropout is at work, and faster than the native one."""
        on_cpu = x.device.type == "cpu" and not torch.compiler.is_compiling()
        return self.drops and on_cpu

    def extra_repr(self) -> str:
        """Show the rate where the model is printed."""
        return f"rate={self.rate}"


class WordDropout(Dropout):
    """Blank a share of the words while training (Gal and Ghahramani, 2016).

    A blank stands for a word that is not known, so the others are not scaled up for it.
    """

    def forward(self, x: Tensor) -> Tensor:
        """Blank words of (batch, length, d_model), if training."""
        if not self.drops:
            return x
        known = torch.rand(x.shape[:-1], device=x.device) >= self.rate
        return x * known[..., None].to(x.dtype)
