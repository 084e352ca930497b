"""A model that speaks only what a shortlist allows, in a small vocabulary."""

from dataclasses import dataclass, replace
from typing import Any, Self

import torch.nn.functional as F  # noqa: N812 (the name everyone knows)
from torch import Tensor

from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.shortlist import Shortlist
from dragoman.model.contract import NarrowableModel


@dataclass(frozen=True)
class NarrowedState:
    """The model's own state, and what each row may say."""

    inner: Any
    allowed: Tensor  # (row, token)

    def reorder(self, indices: Tensor) -> Self:
        """Keep the rows named by `indices`, in that order; a row may be repeated."""
        return replace(
            self,
            inner=self.inner.reorder(indices),
            allowed=self.allowed.index_select(0, indices),
        )


class Narrowed:
    """Keeps the contract of a predictor, over the tokens that a batch may call for.

    Its tokens are numbered by their place among those; `widen` gives the model's own.
    Each row is kept to its own sentence's list, so the batch decides what is computed,
    never what is chosen.
    """

    def __init__(
        self, model: NarrowableModel[Any, Any], shortlist: Shortlist, tokens: Tensor
    ) -> None:
        self._model = model
        self._shortlist = shortlist
        self._tokens = tokens
        self._weight = model.output_weight.index_select(0, tokens)
        bias = model.output_bias
        self._bias = None if bias is None else bias.index_select(0, tokens)

    def encode(self, source: Tensor) -> tuple[Any, Tensor]:
        """Read the source sentences, and look up what they may call for."""
        return self._model.encode(source), self._allowed(source)

    def start(self, memory: tuple[Any, Tensor]) -> NarrowedState:
        """Make the decoder's state before the first token."""
        read, allowed = memory
        return NarrowedState(self._model.start(read), allowed)

    def step(
        self, last_tokens: Tensor, state: NarrowedState
    ) -> tuple[Tensor, NarrowedState]:
        """Give logits (batch, token) after `last_tokens`, and the state."""
        features, inner = self._model.advance(self._tokens[last_tokens], state.inner)
        logits = F.linear(features, self._weight, self._bias)
        logits.masked_fill_(~state.allowed, -float("inf"))
        return logits, replace(state, inner=inner)

    def forward(self, source: Tensor, target_in: Tensor) -> Tensor:
        """Give logits (batch, target_length, token) for known targets."""
        features = self._model.features(source, self._tokens[target_in])
        logits = F.linear(features, self._weight, self._bias)
        return logits.masked_fill_(~self._allowed(source)[:, None], -float("inf"))

    def widen(self, hypothesis: Hypothesis) -> Hypothesis:
        """Give a hypothesis in the tokens of the model."""
        tokens = [self._tokens[token].item() for token in hypothesis.tokens]
        return replace(hypothesis, tokens=tuple(map(int, tokens)))

    def _allowed(self, source: Tensor) -> Tensor:
        return self._shortlist.allowed(source, self._tokens)
