"""Tokens become vectors, scaled and told their place (§3.4, §3.5)."""

import math

from torch import Tensor, nn

from dragoman.config import ModelConfig
from dragoman.model.dropout import Dropout, WordDropout
from dragoman.model.norms import build_norm, normalized
from dragoman.model.positions import build_positions
from dragoman.special_tokens import PAD


def token_embedding(vocabulary_size: int, d_model: int) -> nn.Embedding:
    """Make an embedding whose rows serve as output weights too: of length about 1."""
    embedding = nn.Embedding(vocabulary_size, d_model)
    nn.init.normal_(embedding.weight, std=d_model**-0.5)
    return embedding


class Embed(nn.Module):
    """Dropout(√d_model · embedding(token) + position); words may drop out whole.

    A norm before that dropout is what BART adds.
    """

    def __init__(
        self,
        tokens: nn.Embedding,
        positions: nn.Module,
        dropout: float,
        word_dropout: float = 0.0,
        norm: nn.Module | None = None,
    ) -> None:
        super().__init__()
        self.tokens = tokens
        self.positions = positions
        self.word_dropout = WordDropout(word_dropout)
        self.dropout = Dropout(dropout)
        self.norm = nn.Identity() if norm is None else norm
        self.scale = math.sqrt(tokens.embedding_dim)

    def forward(self, tokens: Tensor, start: int = 0) -> Tensor:
        """Embed (batch, length) tokens that stand from position `start` on."""
        words = self.word_dropout(self.tokens(tokens) * self.scale)
        vectors = words + self.positions(start, tokens.shape[1])
        normed = normalized(self.norm, vectors, tokens != PAD)
        embedded: Tensor = self.dropout(normed)
        return embedded


def build_embed(config: ModelConfig, tokens: nn.Embedding) -> Embed:
    """Embed tokens in the way that the settings name."""
    return Embed(
        tokens,
        build_positions(config),
        config.dropout,
        config.word_dropout,
        build_norm(config) if config.embedding_norm else None,
    )
