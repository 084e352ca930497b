"""Tokens become vectors, scaled and told their place (§3.4, §3.5)."""

import math

from torch import Tensor, nn

from dragoman.model.dropout import Dropout, WordDropout


def token_embedding(vocabulary_size: int, d_model: int) -> nn.Embedding:
    """Make an embedding whose rows serve as output weights too: of length about 1."""
    embedding = nn.Embedding(vocabulary_size, d_model)
    nn.init.normal_(embedding.weight, std=d_model**-0.5)
    return embedding


class Embed(nn.Module):
    """Dropout(√d_model · embedding(token) + position); words may drop out whole."""

    def __init__(
        self,
        tokens: nn.Embedding,
        positions: nn.Module,
        dropout: float,
        word_dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.tokens = tokens
        self.positions = positions
        self.word_dropout = WordDropout(word_dropout)
        self.dropout = Dropout(dropout)
        self.scale = math.sqrt(tokens.embedding_dim)

    def forward(self, tokens: Tensor, start: int = 0) -> Tensor:
        """Embed (batch, length) tokens that stand from position `start` on."""
        words = self.word_dropout(self.tokens(tokens) * self.scale)
        vectors = words + self.positions(start, tokens.shape[1])
        embedded: Tensor = self.dropout(vectors)
        return embedded
