"""Gradients in float16 that neither vanish nor overflow."""

from collections.abc import Iterable, Mapping

import torch
from torch import Tensor, nn

NAME = "loss_scale"
FIRST = 2.0**16
GROW_AFTER = 2000  # updates without an overflow


class LossScale:
    """A factor on the loss, as large as float16 can bear: found by trying.

    Small gradients would be rounded to zero; multiplied, they are not. Now and then
    the factor proves too large: that update is left out, and the factor halved.
    Without float16 it is one and stays so.
    """

    def __init__(self, precision: str) -> None:
        self.active = precision == "float16"
        self.value = FIRST if self.active else 1.0
        self.good = 0

    def undo(self, parameters: Iterable[nn.Parameter]) -> None:
        """Give the gradients their true size."""
        if not self.active:
            return
        for parameter in parameters:
            if parameter.grad is not None:
                parameter.grad.div_(self.value)

    def succeeded(self) -> None:
        """Note an update without overflow; after many of them, try a larger factor."""
        if not self.active:
            return
        self.good += 1
        if self.good == GROW_AFTER:
            self.value, self.good = 2 * self.value, 0

    def lowered(self) -> bool:
        """Halve the factor after an overflow, if it can be to blame; say if it can."""
        if not self.active or self.value <= 1:
            return False
        self.value, self.good = self.value / 2, 0
        return True

    def state(self) -> dict[str, Tensor]:
        """Give what the next update depends on."""
        if not self.active:
            return {}
        return {NAME: torch.tensor([self.value, self.good], dtype=torch.float64)}

    def load(self, tensors: Mapping[str, Tensor]) -> None:
        """Take up a state that `state` gave."""
        if NAME in tensors:
            value, good = tensors[NAME].tolist()
            self.value, self.good = value, int(good)
