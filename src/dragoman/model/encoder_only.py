"""A masked language model: the Transformer's encoder, asked for the words it misses."""

from typing import Any, NoReturn

from torch import Tensor

from dragoman.config import ModelConfig
from dragoman.errors import ConfigError
from dragoman.model.embeddings import build_embed, token_embedding
from dragoman.model.masks import padding_mask
from dragoman.model.network import TranslationNetwork, build_output_bias
from dragoman.model.stacks import Encoder
from dragoman.model.transformer import initialize

WRITES_NOTHING = (
    "a masked language model finds missing words and writes none by itself: train with "
    "--task lm for that"
)


class EncoderOnly(TranslationNetwork):
    """Predicts a word from all the others, on both sides of it."""

    def __init__(self, config: ModelConfig, vocabulary: int) -> None:
        super().__init__()
        tokens = token_embedding(vocabulary, config.d_model)
        self.embed_source = build_embed(config, tokens)
        self.encoder = Encoder(config)
        self.untied_output = None
        if not config.tie_embeddings:
            self.untied_output = token_embedding(vocabulary, config.d_model)
        self.output_bias = build_output_bias(config, vocabulary)
        initialize(self)

    @property
    def output_weight(self) -> Tensor:
        """The output projection (vocabulary, d_model): the embedding itself if tied."""
        return (self.untied_output or self.embed_source.tokens).weight

    def features(self, source: Tensor, target_in: Tensor) -> Tensor:
        """Give each word of the source in context (batch, length, d_model)."""
        del target_in
        return self.encode(source)

    def encode(self, source: Tensor) -> Tensor:
        """Read the words, padded with PAD."""
        encoded: Tensor = self.encoder(self.embed_source(source), padding_mask(source))
        return encoded

    def start(self, memory: Tensor) -> NoReturn:
        """Refuse: it has no next word."""
        del memory
        raise ConfigError(WRITES_NOTHING)

    def advance(self, last_tokens: Tensor, state: Any) -> NoReturn:  # noqa: ANN401
        """Refuse: it has no next word."""
        del last_tokens, state
        raise ConfigError(WRITES_NOTHING)
