"""The attention that recurrent decoders had first: one state looks at the source.

Each source position gets a score, softmax makes shares of the scores, and the shares
mix the positions into one context vector. How states are scored is the only choice:
dot (s·h), general (s W·h) (both Luong's) or additive (v·tanh(W s + U h), Bahdanau's).
"""

import math
from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

from dragoman.config import ModelConfig
from dragoman.model.attention import ScaledDotProductAttention
from dragoman.model.dropout import Dropout


class SourceAttention(nn.Module, ABC):
    """From decoder states and what was read of the source to context vectors."""

    def read_source(self, memory: Tensor) -> Tensor:
        """Give what states are compared with (batch, source_length, d_model)."""
        return memory

    @abstractmethod
    def scores(self, states: Tensor, keys: Tensor) -> Tensor:
        """Say how well each key fits each state (batch, state, source_length)."""

    def weights(self, states: Tensor, keys: Tensor, mask: Tensor) -> Tensor:
        """Give softmax(scores) (batch, state, source_length)."""
        scores = self.scores(states, keys)
        return scores.masked_fill(~mask, -math.inf).softmax(dim=-1)

    @abstractmethod
    def forward(
        self,
        states: Tensor,  # (batch, state, d_model)
        keys: Tensor,  # (batch, source_length, d_model)
        values: Tensor,
        mask: Tensor,  # (batch, 1, source_length)
    ) -> Tensor:
        """Mix the values by how well each key fits the state."""


class DotAttention(SourceAttention):
    """Scores are s·h, or s W·h where `general`: one head of the paper's attention.

    They are not divided by √d_k: states of a recurrent network stay within ±1.
    """

    def __init__(self, d_model: int, dropout: float, *, general: bool) -> None:
        super().__init__()
        self.queries = nn.Linear(d_model, d_model, bias=False) if general else None
        if self.queries is not None:
            nn.init.xavier_uniform_(self.queries.weight)
        self.attention = ScaledDotProductAttention(dropout, scaling=False)

    def scores(self, states: Tensor, keys: Tensor) -> Tensor:
        """Multiply each state with each key; the fused kernel does so unseen."""
        return self._queries(states) @ keys.transpose(-2, -1)

    def forward(
        self, states: Tensor, keys: Tensor, values: Tensor, mask: Tensor
    ) -> Tensor:
        """Mix the values in one fused kernel."""
        queries = self._queries(states)[:, None]  # one head
        heads: Tensor = self.attention(
            queries, keys[:, None], values[:, None], mask[:, None], False
        )
        return heads[:, 0]

    def _queries(self, states: Tensor) -> Tensor:
        return states if self.queries is None else self.queries(states)


class AdditiveAttention(SourceAttention):
    """Scores are v·tanh(W s + U h): a small network compares each pair."""

    def __init__(self, d_model: int, dropout: float) -> None:
        super().__init__()
        self.queries = nn.Linear(d_model, d_model)  # W
        self.keys = nn.Linear(d_model, d_model, bias=False)  # U
        self.score = nn.Parameter(torch.empty(d_model))  # v
        nn.init.xavier_uniform_(self.queries.weight)
        nn.init.zeros_(self.queries.bias)
        nn.init.xavier_uniform_(self.keys.weight)
        nn.init.normal_(self.score, std=d_model**-0.5)
        self.dropout = Dropout(dropout)

    def read_source(self, memory: Tensor) -> Tensor:
        """Project the source once for all states."""
        keys: Tensor = self.keys(memory)
        return keys

    def scores(self, states: Tensor, keys: Tensor) -> Tensor:
        """Compare each state with each key."""
        pairs = self.queries(states)[:, :, None] + keys[:, None]
        scores: Tensor = pairs.tanh() @ self.score  # (batch, state, source_length)
        return scores

    def forward(
        self, states: Tensor, keys: Tensor, values: Tensor, mask: Tensor
    ) -> Tensor:
        """Mix the values."""
        weights: Tensor = self.dropout(self.weights(states, keys, mask))
        return weights @ values


def build_source_attention(config: ModelConfig) -> SourceAttention | None:
    """Choose the attention that the settings name; None where there is none."""
    match config.attention:
        case "none":
            return None
        case "additive":
            return AdditiveAttention(config.d_model, config.attention_dropout)
        case kind:
            general = kind == "general"
            return DotAttention(
                config.d_model, config.attention_dropout, general=general
            )
