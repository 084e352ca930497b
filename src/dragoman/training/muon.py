"""Muon: momentum whose update is made orthogonal, for the matrices of a network.

A gradient's few strong directions drown its many weak ones. Muon replaces the momentum
matrix by the nearest orthogonal one, so that every direction is learned at one speed;
a small translator then needs a fraction of the updates that Adam needs. The nearest
orthogonal matrix comes from a Newton-Schulz iteration: multiplications only, for all
matrices of one shape at once, in float32 unless products are narrow.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

import torch
from torch import Tensor, nn

from dragoman.kernels.choice import products_are_narrow

# Odd polynomials ax + bx³ + cx⁵, each of which leaves the least possible distance from
# 1 on the interval that the one before it maps to, beginning with [0.01, 1]. After
# these three, every singular value above a hundredth of the norm is within 0.27 of 1.
POLYNOMIALS = (
    (8.0877, -23.5963, 17.4255),
    (3.6353, -2.7202, 0.5361),
    (2.6620, -1.9775, 0.4526),
)


def orthogonalize(matrices: Tensor) -> Tensor:
    """Bring each (rows, columns) matrix of a stack near its closest orthogonal one."""
    tall = matrices.shape[-2] > matrices.shape[-1]
    x = matrices.mT if tall else matrices
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    if products_are_narrow():
        x = x.bfloat16()
    for a, b, c in POLYNOMIALS:
        gram = x @ x.mT
        polynomial = torch.baddbmm(gram, gram, gram, beta=b, alpha=c)
        polynomial.diagonal(dim1=-2, dim2=-1).add_(a)
        x = torch.bmm(polynomial, x)  # aX + bGX + cG²X
    return (x.mT if tall else x).to(matrices.dtype)


def orthogonalizing_flops(rows: int, columns: int) -> int:
    """Count the FLOPs of bringing one matrix near its closest orthogonal one."""
    short, long = sorted((rows, columns))
    return len(POLYNOMIALS) * (2 * 2 * short**2 * long + 2 * short**3)


class Muon:
    """Nesterov momentum, made orthogonal, scaled so that its size is Adam's."""

    def __init__(
        self,
        matrices: Iterable[tuple[nn.Parameter, Sequence[int]]],
        momentum: float = 0.95,
        weight_decay: float = 0.0,
    ) -> None:
        """Take parameters, each with the rows of the matrices stacked in it."""
        self.matrices = list(matrices)
        self.momentum = momentum
        self.weight_decay = weight_decay
        self.buffers = [torch.zeros_like(matrix) for matrix, _ in self.matrices]

    @property
    def flops(self) -> int:
        """The FLOPs of one update."""
        return sum(
            orthogonalizing_flops(rows, matrix.shape[1])
            for matrix, parts in self.matrices
            for rows in parts
        )

    @torch.no_grad()
    def step(self, rate: float) -> None:
        """Update every matrix, those of one shape together."""
        groups: dict[torch.Size, list[tuple[Tensor, Tensor]]] = defaultdict(list)
        for (matrix, parts), buffer in zip(self.matrices, self.buffers, strict=True):
            if matrix.grad is None:
                continue
            buffer.lerp_(matrix.grad, 1 - self.momentum)
            direction = matrix.grad.lerp(buffer, self.momentum)
            for part, update in zip(
                matrix.split(parts), direction.split(parts), strict=True
            ):
                groups[part.shape].append((part, update))
        for shape, members in groups.items():
            updates = orthogonalize(torch.stack([update for _, update in members]))
            size = 0.2 * max(shape) ** 0.5
            for (part, _), update in zip(members, updates, strict=True):
                part.mul_(1 - rate * self.weight_decay).sub_(update, alpha=rate * size)
