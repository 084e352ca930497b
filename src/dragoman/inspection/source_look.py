"""How a recurrent decoder looks at the source: one share of each word, per state."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn

from dragoman.model.recurrent import RecurrentModel


@dataclass(frozen=True)
class SourceLook:
    """The attention of a recurrent model, as it ran on one sentence."""

    states: Tensor  # (target_length, d_model): what the decoder looks from
    words: Tensor  # (source_length, d_model): what it looks at
    weights: Tensor  # (target_length, source_length); each row sums to 1
    contexts: Tensor  # (target_length, d_model): what the model's own kernel gave

    @cached_property
    def largest_error(self) -> float:
        """The largest |shown − model| over the context vectors."""
        return float((self.weights @ self.words - self.contexts).abs().max())


@dataclass
class RecurrentLog:
    """What hooks saw of a recurrent model; of others, nothing."""

    memory: list[Tensor] = field(default_factory=list)
    looks: list[SourceLook] = field(default_factory=list)


@contextmanager
def watched_look(model: nn.Module) -> Iterator[RecurrentLog]:
    """Note what a recurrent encoder gives, and where the decoder looks."""
    log = RecurrentLog()

    def read(module: nn.Module, inputs: Any, output: Any) -> None:  # noqa: ANN401
        del module, inputs
        log.memory.append(_first(output[0]))

    def look(module: Any, inputs: tuple[Any, ...], output: Tensor) -> None:  # noqa: ANN401
        states, keys, words, mask = inputs
        weights = module.weights(states, keys, mask)
        log.looks.append(SourceLook(*map(_first, (states, words, weights, output))))

    with ExitStack() as hooks:
        if isinstance(model, RecurrentModel):
            hooks.callback(model.encoder.register_forward_hook(read).remove)
            if model.attention is not None:
                hooks.callback(model.attention.register_forward_hook(look).remove)
        yield log


def _first(tensor: Tensor) -> Tensor:
    """Take away the batch of one."""
    return tensor[0].detach().to("cpu", torch.float32, copy=True)
