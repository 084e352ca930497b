"""The moving average of the weights: an alternative to averaging checkpoints.

The average follows the weights at a distance of some 1 / (1 - decay) updates. At the
beginning it follows faster, so that it does not remember the random start.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor, nn


def decay_at(update: int, decay: float) -> float:
    """Give the share of the average that update number `update` (from 1) leaves."""
    return min(decay, update / (update + 9))


class MovingAverage:
    """Keeps an average of parameters, moved on after each update."""

    def __init__(self, parameters: Mapping[str, nn.Parameter], decay: float) -> None:
        self.parameters = parameters
        self.decay = decay
        self.updates = 0
        self.weights = {
            name: parameter.detach().clone() for name, parameter in parameters.items()
        }

    @torch.no_grad()
    def follow(self) -> None:
        """Move the average towards the weights as they are now."""
        self.updates += 1
        torch._foreach_lerp_(
            list(self.weights.values()),
            list(self.parameters.values()),
            1 - decay_at(self.updates, self.decay),
        )

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Let the model have the average for its weights, for a while."""
        own = {name: p.detach().clone() for name, p in self.parameters.items()}
        self._set(self.weights)
        try:
            yield
        finally:
            self._set(own)

    @torch.no_grad()
    def _set(self, weights: Mapping[str, Tensor]) -> None:
        for name, parameter in self.parameters.items():
            parameter.copy_(weights[name])
