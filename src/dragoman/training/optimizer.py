"""One optimizer for the whole model: Adam for all of it, or Muon for the matrices.

It also moves the average of the weights on, where the settings ask for one.
"""

from collections.abc import Iterable, Mapping

import torch
from torch import Tensor, nn

from dragoman.config import TrainingConfig
from dragoman.model.linear import JointLinear
from dragoman.training.adam import Adam
from dragoman.training.distributed import whole
from dragoman.training.moving_average import MovingAverage
from dragoman.training.muon import Muon


class Optimizer:
    """Updates the parameters, and gives its whole state as named tensors."""

    def __init__(self, model: nn.Module, settings: TrainingConfig) -> None:
        self.settings = settings
        self.parameters = dict(model.named_parameters())
        stacked = _matrices(model) if settings.optimizer == "muon" else {}
        self.matrices = {n: p for n, p in self.parameters.items() if p in stacked}
        self.others = {n: p for n, p in self.parameters.items() if p not in stacked}
        self.muon = Muon(
            [(matrix, stacked[matrix]) for matrix in self.matrices.values()],
            weight_decay=settings.weight_decay,
        )
        self.adam = Adam(
            self.others.values(),
            betas=settings.adam_betas,
            epsilon=settings.adam_epsilon,
            weight_decay=settings.weight_decay,
        )
        self.average = None
        if settings.averaging == "ema":
            self.average = MovingAverage(self.parameters, settings.ema_decay)

    def step(self, rate: float) -> None:
        """Apply the gradients at this learning rate."""
        if self.matrices:
            self.muon.step(rate)
            rate *= self.settings.adam_share
        self.adam.step(rate)
        if self.average is not None:
            self.average.follow()

    def clip(self) -> float:
        """Shrink the gradient to the limit if it is longer; give its norm before."""
        limit = self.settings.clip_norm or float("inf")
        parameters = list(self.parameters.values())
        gradients = [p.grad for p in parameters if p.grad is not None]
        total = nn.utils.get_total_norm(gradients)
        norm = float(whole(total))
        if norm > limit:  # else there is nothing to multiply all gradients by
            nn.utils.clip_grads_with_norm_(parameters, limit, total)
        return norm

    def forget_gradients(self) -> None:
        """Drop the gradients of the last update."""
        for parameter in self.parameters.values():
            parameter.grad = None

    def weights(self) -> dict[str, Tensor]:
        """Give what it updates, by name."""
        return {name: weight.detach() for name, weight in self.parameters.items()}

    @torch.no_grad()
    def set_weights(self, weights: Mapping[str, Tensor]) -> None:
        """Copy weights of the same names into those that it updates."""
        for name, parameter in self.parameters.items():
            parameter.copy_(weights[name])

    def state(self) -> dict[str, Tensor]:
        """Give everything that the next update depends on."""
        return self._tensors() | {"adam.steps": torch.tensor(self.adam.steps)}

    def load(self, tensors: Mapping[str, Tensor]) -> None:
        """Take up a state that `state` gave."""
        self.adam.steps = int(tensors["adam.steps"])
        if self.average is not None:
            self.average.updates = self.adam.steps
        for name, tensor in self._tensors().items():
            tensor.copy_(tensors[name])

    def _tensors(self) -> dict[str, Tensor]:
        """Name what is kept for each parameter: moments, and its average."""
        average = {} if self.average is None else self.average.weights
        return {
            **_named("ema", average, average.values()),
            **_named("muon.momentum", self.matrices, self.muon.buffers),
            **_named("adam.mean", self.others, self.adam.means),
            **_named("adam.square", self.others, self.adam.squares),
        }


def moving_average(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Take the average of the weights out of an optimizer's state."""
    kind = "ema."
    return {n.removeprefix(kind): t for n, t in state.items() if n.startswith(kind)}


def _named(
    kind: str, names: Iterable[str], tensors: Iterable[Tensor]
) -> dict[str, Tensor]:
    return {
        f"{kind}.{name}": tensor for name, tensor in zip(names, tensors, strict=True)
    }


def _matrices(model: nn.Module) -> dict[Tensor, tuple[int, ...]]:
    """Find the weights of linear maps, and the rows of each map that they hold."""
    return {
        module.weight: module.sizes
        if isinstance(module, JointLinear)
        else (module.out_features,)
        for module in model.modules()
        if isinstance(module, nn.Linear)
    }
