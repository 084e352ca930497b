"""Several models that predict together: their probabilities are averaged."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class EnsembleState:
    """The states of all members."""

    members: tuple[Any, ...]

    def reorder(self, indices: Tensor) -> Self:
        """Keep the rows named by `indices`, in that order; a row may be repeated."""
        return type(self)(tuple(state.reorder(indices) for state in self.members))


class Ensemble(nn.Module):
    """Keeps the contract of a predictor; its members share their vocabularies."""

    def __init__(self, members: Sequence[nn.Module]) -> None:
        super().__init__()
        self.members: Any = nn.ModuleList(members)

    def encode(self, source: Tensor) -> tuple[Any, ...]:
        """Let each member read the source sentences."""
        return tuple(member.encode(source) for member in self.members)

    def start(self, memory: tuple[Any, ...]) -> EnsembleState:
        """Make the state before the first token."""
        pairs = zip(self.members, memory, strict=True)
        return EnsembleState(tuple(member.start(read) for member, read in pairs))

    def step(
        self, last_tokens: Tensor, state: EnsembleState
    ) -> tuple[Tensor, EnsembleState]:
        """Give the mean prediction as logits (batch, vocabulary), and the state."""
        pairs = zip(self.members, state.members, strict=True)
        steps = [member.step(last_tokens, part) for member, part in pairs]
        logits = _mean([logits for logits, _ in steps])
        return logits, EnsembleState(tuple(part for _, part in steps))

    def forward(self, source: Tensor, target_in: Tensor) -> Tensor:
        """Give the mean prediction (batch, target_length, vocabulary) as logits."""
        return _mean([member(source, target_in) for member in self.members])


def _mean(logits: Sequence[Tensor]) -> Tensor:
    """Give the logarithm of the mean probability."""
    stacked = torch.stack([one.log_softmax(dim=-1) for one in logits])
    return stacked.logsumexp(dim=0) - math.log(len(logits))
