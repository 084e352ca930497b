"""A translation model as a `torch.nn.Module`: what is trained, saved and inspected."""

from abc import ABC, abstractmethod
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 (the name everyone knows)
from torch import Tensor, nn

from dragoman.config import ModelConfig
from dragoman.model.embeddings import Embed
from dragoman.model.native_steps import StepKernels
from dragoman.model.step_layout import OutputCopy, lay_out_linear_maps


class TranslationNetwork(nn.Module, ABC):
    """Any kind of network that keeps the contract of `model.contract`."""

    embed_source: Embed
    embed_target: Embed
    untied_output: nn.Embedding | None
    output_bias: nn.Parameter | None
    _output_copy: OutputCopy | None = None

    def __init__(self) -> None:
        super().__init__()
        self.output_bias = None
        self._step_kernels = StepKernels()

    def lay_out_for_steps(self) -> None:
        """Make single steps quick on a CPU, for a model that learns no more."""
        lay_out_linear_maps(self)
        self._output_copy = OutputCopy.of(self.output_weight)

    @property
    def output_weight(self) -> Tensor:
        """The output projection (vocabulary, d_model): the embedding itself if tied."""
        embedding = self.untied_output or self.embed_target.tokens
        return embedding.weight

    @abstractmethod
    def encode(self, source: Tensor) -> Any:  # noqa: ANN401 (each kind has its own)
        """Read the source sentences."""

    @abstractmethod
    def start(self, memory: Any) -> Any:  # noqa: ANN401
        """Make the decoder's state before the first token."""

    @abstractmethod
    def advance(self, last_tokens: Tensor, state: Any) -> tuple[Tensor, Any]:  # noqa: ANN401
        """Give what `step` projects, (batch, d_model), and the state."""

    @torch.no_grad()  # nothing learns from steps
    def step(self, last_tokens: Tensor, state: Any) -> tuple[Tensor, Any]:  # noqa: ANN401
        """Give logits (batch, vocabulary) after `last_tokens`, and the state."""
        x, state = self.advance(last_tokens, state)
        weight, copy = self.output_weight, self._output_copy
        projected = self._step_kernels.project(x, weight, self.output_bias)
        if projected is not None:
            return projected, state
        if copy is not None and copy.is_of(weight):
            weight = copy.matrix
        return F.linear(x, weight, self.output_bias), state

    @abstractmethod
    def features(self, source: Tensor, target_in: Tensor) -> Tensor:
        """Give the decoder's output (batch, target_length, d_model), unprojected."""

    def forward(self, source: Tensor, target_in: Tensor) -> Tensor:
        """Give logits (batch, target_length, vocabulary) for known targets."""
        return self.project(self.features(source, target_in))

    def project(self, features: Tensor) -> Tensor:
        """Give the logits (…, vocabulary) of features (…, d_model)."""
        return F.linear(features, self.output_weight, self.output_bias)


def build_output_bias(config: ModelConfig, vocabulary: int) -> nn.Parameter | None:
    """Make what is added to each logit, where the settings ask for it."""
    return nn.Parameter(torch.zeros(vocabulary)) if config.output_bias else None
