"""Adam, the paper's optimizer (§5.3), with decoupled weight decay.

Only matrices decay: a gain or a bias that is drawn to zero is a layer switched off.
Written out rather than taken from `torch.optim`, whose import alone takes seconds.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence

import torch
from torch import Tensor, nn


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
        if all(map(_is_plain, self.parameters)):
            self._step_at_once(rate)
        else:
            self._step_one_by_one(rate)

    def _step_at_once(self, rate: float) -> None:
        """Let one kernel go over all numbers once, where there is one."""
        groups: dict[float, list[tuple[Tensor, ...]]] = defaultdict(list)
        for parameter, mean, square in zip(
            self.parameters, self.means, self.squares, strict=True
        ):
            if parameter.grad is not None:
                members = groups[self._decay(parameter)]
                members.append((parameter, parameter.grad, mean, square))
        for decay, members in groups.items():
            self._step_together(members, rate, decay)

    def _step_together(
        self, members: Sequence[tuple[Tensor, ...]], rate: float, decay: float
    ) -> None:
        parameters, gradients, means, squares = map(list, zip(*members, strict=True))
        steps = torch.tensor(float(self.steps), device=parameters[0].device)
        torch._fused_adamw_(
            parameters,
            gradients,
            means,
            squares,
            [],
            [steps] * len(members),
            lr=rate,
            beta1=self.betas[0],
            beta2=self.betas[1],
            weight_decay=decay,
            eps=self.epsilon,
            amsgrad=False,
            maximize=False,
        )
        # The kernel tells nobody; whoever keeps a copy of a weight must notice.
        torch.autograd.graph.increment_version(parameters)

    def _step_one_by_one(self, rate: float) -> None:
        """Do the same in plain words, for parameters of any kind."""
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
            parameter.mul_(1 - rate * self._decay(parameter))
            parameter.addcdiv_(mean, usual, value=-rate / mean_share)

    def _decay(self, parameter: nn.Parameter) -> float:
        return self.weight_decay if parameter.ndim > 1 else 0.0


def _is_plain(parameter: nn.Parameter) -> bool:
    """Say whether a parameter is whole and of a kind that the fused kernel knows."""
    kernel = parameter.device.type in ("cpu", "cuda")
    return kernel and type(parameter.data) is torch.Tensor
