"""Linear maps: one, or several of one input in one matrix."""

from collections.abc import Sequence

import torch.nn.functional as F  # noqa: N812 (the name everyone knows)
from torch import Tensor, nn

from dragoman.kernels import linear as kernel
from dragoman.kernels import parts
from dragoman.kernels.choice import kernel_for


def linear(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Give xWᵀ + b."""
    if kernel_for(x):
        return kernel.linear(x, weight, bias)
    return F.linear(x, weight, bias)


class Linear(nn.Linear):
    """xWᵀ + b."""

    def forward(self, x: Tensor) -> Tensor:
        """Map the last dimension."""
        return linear(x, self.weight, self.bias)


class JointLinear(Linear):
    """Several projections of one input in one matrix: they cost one multiplication."""

    def __init__(self, d_in: int, sizes: Sequence[int]) -> None:
        self.sizes = tuple(sizes)
        super().__init__(d_in, sum(sizes))

    def reset_parameters(self) -> None:
        """Start each part as if it stood alone."""
        for part in self.weight.split(self.sizes):
            nn.init.xavier_uniform_(part)
        nn.init.zeros_(self.bias)


def split(joint: Tensor, sizes: Sequence[int]) -> Sequence[Tensor]:
    """Take what a joint projection gave apart."""
    if kernel_for(joint):
        return parts.split(joint, sizes)
    return tuple(joint.split(list(sizes), dim=-1))
