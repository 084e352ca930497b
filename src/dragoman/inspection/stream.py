"""The residual stream: what each sublayer found, wrote and left (§3.1)."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from torch import Tensor

Stack = Literal["encoder", "decoder"]
STACKS: tuple[Stack, ...] = ("encoder", "decoder")
SublayerName = Literal[
    "self-attention", "recurrence", "cross-attention", "feed-forward"
]


@dataclass(frozen=True)
class Norm:
    """One normalisation at work; layer norm is γ (x − mean) / √(variance + ε) + β."""

    kind: str  # as `model.norm_kind`
    input: Tensor  # (length, d_model)
    output: Tensor
    gamma: Tensor  # (d_model): 1 where there is none
    beta: Tensor  # (d_model): 0 where there is none
    epsilon: float

    @cached_property
    def mean(self) -> Tensor:
        """The mean of each input vector (length)."""
        return self.input.mean(dim=-1)

    @cached_property
    def variance(self) -> Tensor:
        """The variance of each input vector (length), divided by d_model."""
        return self.input.var(dim=-1, correction=0)

    @cached_property
    def output_mean(self) -> Tensor:
        """The mean of each vector that came out (length)."""
        return self.output.mean(dim=-1)

    @cached_property
    def output_variance(self) -> Tensor:
        """The variance of each vector that came out (length)."""
        return self.output.var(dim=-1, correction=0)


@dataclass(frozen=True)
class Sublayer:
    """One sublayer of one layer: each tensor is (length, d_model)."""

    stack: Stack
    layer: int
    name: SublayerName
    before: Tensor  # the stream as it came
    read: Tensor  # what the sublayer read: the stream, or its norm where norms go first
    written: Tensor  # what it wrote
    after: Tensor  # the stream as it left
    norm: Norm

    @cached_property
    def lengths(self) -> Tensor:
        """The Euclidean norm of the stream after this sublayer (length)."""
        lengths: Tensor = self.after.norm(dim=-1)
        return lengths

    @cached_property
    def written_lengths(self) -> Tensor:
        """The Euclidean norm of what the sublayer wrote (length)."""
        lengths: Tensor = self.written.norm(dim=-1)
        return lengths
