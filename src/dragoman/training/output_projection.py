"""The products of the output projection hWᵀ and its gradients, some rows at a time."""

from functools import cached_property

import torch
from torch import Tensor

from dragoman.kernels.choice import kernel_for, products_are_narrow
from dragoman.kernels.linear import add_narrow, narrow_rows
from dragoman.kernels.matrix_product import RightFactor, ours_are_faster


class OutputProjection:
    """Products by torch, of the numbers as they are."""

    rows_at_once = 128

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        self.weight = weight  # (vocabulary, d_model)
        self.bias = bias  # (vocabulary,)

    def factor(self, rows: Tensor) -> Tensor:
        """Give what stands for these rows in the products below."""
        return rows

    def logits(self, rows: Tensor, out: Tensor) -> Tensor:
        """Give hWᵀ + b, in the room that there is for it."""
        product = self._product(rows, out)
        return product if self.bias is None else product.add_(self.bias)

    def mean_logits(self, rows: Tensor, mean_weight: Tensor) -> Tensor:
        """Give the mean of each row's logits without making them."""
        means = rows @ mean_weight
        return means if self.bias is None else means + self.bias.mean()

    def _product(self, rows: Tensor, out: Tensor) -> Tensor:
        return torch.mm(rows, self.weight.T, out=out)

    def row_gradient(self, logit_gradient: Tensor) -> Tensor:
        """Give the gradient by h."""
        return torch.mm(logit_gradient, self.weight)

    def learn(self, total: Tensor, logit_gradient: Tensor, rows: Tensor) -> None:
        """Add the gradient by W to a sum of them."""
        total.addmm_(logit_gradient.T, rows)


class NarrowOutputProjection(OutputProjection):
    """Products of numbers rounded to bfloat16; sums over all rows stay in float32."""

    rows_at_once = 512  # half as large each, and gradients are summed less often

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        super().__init__(weight.bfloat16(), bias)

    def factor(self, rows: Tensor) -> Tensor:
        """Round the rows; more of them, of zeros, may follow."""
        return narrow_rows(rows)

    def learn(self, total: Tensor, logit_gradient: Tensor, rows: Tensor) -> None:
        """Add the gradient by W to a sum of them."""
        add_narrow(total, torch.mm(logit_gradient.T, rows))


class PanelOutputProjection(OutputProjection):
    """Products of our own, with W laid out once for all rows."""

    rows_at_once = 384  # the sum of W's gradients is read and written less often

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        super().__init__(weight, bias)
        self._forward = RightFactor(weight.T)

    @cached_property
    def _backward(self) -> RightFactor:
        return RightFactor(self.weight)

    def _product(self, rows: Tensor, out: Tensor) -> Tensor:
        return self._forward.times(rows, out=out)

    def row_gradient(self, logit_gradient: Tensor) -> Tensor:
        """Give the gradient by h."""
        return self._backward.times(logit_gradient)

    def learn(self, total: Tensor, logit_gradient: Tensor, rows: Tensor) -> None:
        """Add the gradient by W to a sum of them."""
        RightFactor(rows).add_times(logit_gradient.T, total)


def projection_for(rows: Tensor) -> type[OutputProjection]:
    """Choose by what is to learn from these rows."""
    if not kernel_for(rows):
        return OutputProjection
    if products_are_narrow():
        return NarrowOutputProjection
    return PanelOutputProjection if ours_are_faster() else OutputProjection
