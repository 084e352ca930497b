"""The Transformer: an encoder stack, a decoder stack and what joins them (§3)."""

from dataclasses import dataclass
from typing import Self

import torch.nn.functional as F  # noqa: N812 (the name everyone knows)
from torch import Tensor, nn

from dragoman.config import ModelConfig
from dragoman.model.attention import JointLinear
from dragoman.model.embeddings import Embed, token_embedding
from dragoman.model.layers import DecoderLayer, EncoderLayer, KeysValues
from dragoman.model.masks import padding_mask
from dragoman.model.positions import build_positions


@dataclass(frozen=True)
class TransformerMemory:
    """The encoder's output, and which of its positions are words."""

    output: Tensor  # (batch, source_length, d_model)
    mask: Tensor  # (batch, 1, 1, source_length)


@dataclass(frozen=True)
class TransformerState:
    """Keys and values, layer by layer: of the source, and of the target so far."""

    source: tuple[KeysValues, ...]
    source_mask: Tensor
    target: tuple[KeysValues, ...]

    @property
    def length(self) -> int:
        """How many target tokens were read."""
        return self.target[0][0].shape[2]

    def reorder(self, indices: Tensor) -> Self:
        """Keep the rows named by `indices`, in that order; a row may be repeated."""
        return type(self)(
            source=_select(self.source, indices),
            source_mask=self.source_mask.index_select(0, indices),
            target=_select(self.target, indices),
        )


def _select(layers: tuple[KeysValues, ...], rows: Tensor) -> tuple[KeysValues, ...]:
    return tuple((k.index_select(0, rows), v.index_select(0, rows)) for k, v in layers)


class Encoder(nn.Module):
    """N layers that read the source; a last norm where norms come first."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        layers = [EncoderLayer(config) for _ in range(config.num_encoder_layers)]
        self.layers = nn.ModuleList(layers)
        self.norm = last_norm(config)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Turn embedded source words into words in context."""
        for layer in self.layers:
            x = layer(x, mask)
        normed: Tensor = self.norm(x)
        return normed


class Decoder(nn.Module):
    """N layers that read the target so far and the source."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        layers = [DecoderLayer(config) for _ in range(config.num_decoder_layers)]
        self.layers = nn.ModuleList(layers)
        self.norm = last_norm(config)

    def read_source(self, memory: Tensor) -> tuple[KeysValues, ...]:
        """Project the encoder's output once, for all steps that will attend to it."""
        read = []
        for layer in self.layers:
            assert isinstance(layer, DecoderLayer)
            read.append(layer.cross_attention.project_keys_values(memory))
        return tuple(read)

    def forward(
        self,
        x: Tensor,
        source: tuple[KeysValues, ...],
        source_mask: Tensor,
        past: tuple[KeysValues, ...] | None = None,
    ) -> tuple[Tensor, tuple[KeysValues, ...]]:
        """Turn embedded target words into predictions of the next, and keep keys."""
        kept = []
        for number, layer in enumerate(self.layers):
            layer_past = None if past is None else past[number]
            x, keys_values = layer(x, source[number], source_mask, layer_past)
            kept.append(keys_values)
        return self.norm(x), tuple(kept)


def last_norm(config: ModelConfig) -> nn.Module:
    """Close a pre-norm stack with the norm that its last residual still lacks."""
    return nn.LayerNorm(config.d_model) if config.norm == "pre" else nn.Identity()


class Transformer(nn.Module):
    """The whole of Figure 1, from tokens to logits."""

    def __init__(
        self,
        config: ModelConfig,
        source_vocabulary: int,
        target_vocabulary: int,
        shared_vocabulary: bool,
    ) -> None:
        super().__init__()
        target = token_embedding(target_vocabulary, config.d_model)
        one_matrix = shared_vocabulary and config.tie_embeddings
        source = (
            target if one_matrix else token_embedding(source_vocabulary, config.d_model)
        )
        self.embed_source = Embed(source, build_positions(config), config.dropout)
        self.embed_target = Embed(target, build_positions(config), config.dropout)
        self.encoder = Encoder(config)
        self.decoder = Decoder(config)
        self.untied_output = None
        if not config.tie_embeddings:
            self.untied_output = token_embedding(target_vocabulary, config.d_model)
        initialize(self)

    @property
    def output_weight(self) -> Tensor:
        """The output projection (vocabulary, d_model): the embedding itself if tied."""
        embedding = self.untied_output or self.embed_target.tokens
        return embedding.weight

    def encode(self, source: Tensor) -> TransformerMemory:
        """Read the source sentences."""
        mask = padding_mask(source)
        return TransformerMemory(self.encoder(self.embed_source(source), mask), mask)

    def start(self, memory: TransformerMemory) -> TransformerState:
        """Make the decoder's state before the first token."""
        source = self.decoder.read_source(memory.output)
        nothing = tuple((k[:, :, :0], v[:, :, :0]) for k, v in source)
        return TransformerState(source, memory.mask, nothing)

    def step(
        self, last_tokens: Tensor, state: TransformerState
    ) -> tuple[Tensor, TransformerState]:
        """Give logits (batch, vocabulary) after `last_tokens`, and the state."""
        x = self.embed_target(last_tokens[:, None], start=state.length)
        x, target = self.decoder(x, state.source, state.source_mask, state.target)
        logits = F.linear(x[:, 0], self.output_weight)
        return logits, TransformerState(state.source, state.source_mask, target)

    def features(self, source: Tensor, target_in: Tensor) -> Tensor:
        """Give the decoder's output (batch, target_length, d_model), unprojected."""
        memory = self.encode(source)
        read = self.decoder.read_source(memory.output)
        x, _ = self.decoder(self.embed_target(target_in), read, memory.mask)
        decoded: Tensor = x
        return decoded

    def forward(self, source: Tensor, target_in: Tensor) -> Tensor:
        """Give logits (batch, target_length, vocabulary) for known targets."""
        return F.linear(self.features(source, target_in), self.output_weight)


def initialize(model: nn.Module) -> None:
    """Start every matrix by Glorot's rule and every bias at zero."""
    for module in model.modules():
        if isinstance(module, JointLinear):
            module.reset_parameters()
        elif isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            nn.init.zeros_(module.bias)
