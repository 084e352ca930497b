"""Adam, the paper's optimizer (§5.3), with decoupled weight decay.

Written out rather than taken from `torch.optim`, whose import alone takes seconds.
"""

import math
from collections.abc import Iterable

import torch
from torch import nn


class Adam:
    """Steps along the mean gradient, each element divided by its usual size."""

    def __init__(
        self,
        parameters: Iterable[nn.Parameter],
        betas: tuple[float, float],
        epsilon: float,
        weight_decay: float,
    ) -> None:
        self.parameters = list(parameters)
        self.betas = betas
        self.epsilon = epsilon
        self.weight_decay = weight_decay
        self.steps = 0
        self.means = [torch.zeros_like(parameter) for parameter in self.parameters]
        self.squares = [torch.zeros_like(parameter) for parameter in self.parameters]

    @torch.no_grad()
    def step(self, rate: float) -> None:
        """Update every parameter that has a gradient."""
        self.steps += 1
        beta1, beta2 = self.betas
        # Both moments begin at zero; these undo what that takes from them.
        mean_share, square_share = 1 - beta1**self.steps, 1 - beta2**self.steps
        for parameter, mean, square in zip(
            self.parameters, self.means, self.squares, strict=True
        ):
            gradient = parameter.grad
            if gradient is None:
                continue
            mean.lerp_(gradient, 1 - beta1)
            square.mul_(beta2).addcmul_(gradient, gradient, value=1 - beta2)
            usual = square.sqrt().div_(math.sqrt(square_share)).add_(self.epsilon)
            if self.weight_decay:
                parameter.mul_(1 - rate * self.weight_decay)
            parameter.addcdiv_(mean, usual, value=-rate / mean_share)
