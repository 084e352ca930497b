"""Models around a model: each keeps the contract and changes one thing about it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import torch
from torch import Tensor

from dragoman.engines.pytorch import TranslationModule
from dragoman.special_tokens import PAD

AnyModel = TranslationModule[Any, Any]


class WrappedModel:
    """A model that answers as the one inside it does."""

    def __init__(self, model: AnyModel) -> None:
        self.model = model
        self.training = model.training

    def train(self, mode: bool = True) -> Self:
        """Choose between training and evaluation, as `torch.nn.Module` does."""
        self.model.train(mode)
        self.training = mode
        return self

    def to(self, device: torch.device) -> Self:
        """Move the weights, as `torch.nn.Module` does."""
        self.model.to(device)
        return self

    @property
    def output_weight(self) -> Tensor:
        """The output projection (vocabulary, d_model)."""
        return self.model.output_weight

    @property
    def output_bias(self) -> Tensor | None:
        """What is added to the logits (vocabulary,), where anything is."""
        return self.model.output_bias

    def encode(self, source: Tensor) -> Any:  # noqa: ANN401
        """Read the source sentences."""
        return self.model.encode(source)

    def start(self, memory: Any) -> Any:  # noqa: ANN401
        """Make the decoder's state before the first token."""
        return self.model.start(memory)

    def step(self, last_tokens: Tensor, state: Any) -> tuple[Tensor, Any]:  # noqa: ANN401
        """Give logits (batch, vocabulary) after `last_tokens`, and the state."""
        return self.model.step(last_tokens, state)

    def forward(self, source: Tensor, target_in: Tensor) -> Tensor:
        """Give logits (batch, target_length, vocabulary) for known targets."""
        return self.model.forward(source, target_in)

    def features(self, source: Tensor, target_in: Tensor) -> Tensor:
        """Give the decoder's output (batch, target_length, d_model), unprojected."""
        return self.model.features(source, target_in)


@dataclass(frozen=True)
class UncachedState:
    """Source and target so far, as tokens."""

    source: Tensor
    target: Tensor

    def reorder(self, indices: Tensor) -> Self:
        """Keep the rows named by `indices`, in that order; a row may be repeated."""
        return type(self)(self.source[indices], self.target[indices])


class UncachedModel(WrappedModel):
    """A model that reads the whole target anew at each step.

    What happens at a place then happens there at every step, and where the mask is
    taken away, earlier places do see later ones.
    """

    def encode(self, source: Tensor) -> Tensor:
        """Keep the source for later."""
        return source

    def start(self, memory: Tensor) -> UncachedState:
        """Begin with no target at all."""
        return UncachedState(memory, memory[:, :0])

    def step(
        self, last_tokens: Tensor, state: UncachedState
    ) -> tuple[Tensor, UncachedState]:
        """Read everything once more and give the logits of the last place."""
        target = torch.cat([state.target, last_tokens[:, None]], dim=1)
        logits = self.model.forward(state.source, target)[:, -1]
        return logits, UncachedState(state.source, target)


@dataclass(frozen=True)
class ForcedState:
    """A decoder's state, and how many tokens were read."""

    inner: Any
    length: int

    def reorder(self, indices: Tensor) -> Self:
        """Keep the rows named by `indices`, in that order; a row may be repeated."""
        return type(self)(self.inner.reorder(indices), self.length)


class ForcedModel(WrappedModel):
    """A model whose translation has to begin with certain tokens."""

    def __init__(self, model: AnyModel, prefix: Sequence[int]) -> None:
        super().__init__(model)
        self.prefix = tuple(prefix)

    def start(self, memory: Any) -> ForcedState:  # noqa: ANN401
        """Make the decoder's state before the first token."""
        return ForcedState(self.model.start(memory), 0)

    def step(
        self, last_tokens: Tensor, state: ForcedState
    ) -> tuple[Tensor, ForcedState]:
        """Leave, while the prefix lasts, no token a chance but the next of it."""
        logits, inner = self.model.step(last_tokens, state.inner)
        if state.length < len(self.prefix):
            logits = _only(logits, self.prefix[state.length])
        return logits, ForcedState(inner, state.length + 1)


def _only(logits: Tensor, token: int) -> Tensor:
    """Keep one token's probability and give the others' to PAD, which nobody chooses.

    So the search counts for a forced token what the model thought of it.
    """
    log_probability = logits.log_softmax(dim=1)[:, token]
    forced = torch.full_like(logits, -math.inf)
    forced[:, PAD] = (-log_probability.expm1()).log()
    forced[:, token] = log_probability
    return forced
