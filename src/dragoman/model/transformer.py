"""The Transformer: an encoder stack, a decoder stack and what joins them (§3)."""

from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor, nn

from dragoman.config import ModelConfig
from dragoman.model.decoder_cache import DecoderCache
from dragoman.model.embeddings import Embed, token_embedding
from dragoman.model.layers import DecoderLayer, EncoderLayer, KeysValues
from dragoman.model.linear import JointLinear
from dragoman.model.masks import causal_mask, padding_mask, priced_mask
from dragoman.model.network import TranslationNetwork
from dragoman.model.norms import build_norm, normalized
from dragoman.model.positions import build_positions
from dragoman.model.relative_positions import build_relative_positions
from dragoman.model.row_groups import RowGroups
from dragoman.special_tokens import PAD


@dataclass(frozen=True)
class TransformerMemory:
    """The encoder's output, and which of its positions are words."""

    output: Tensor  # (batch, source_length, d_model)
    mask: Tensor  # (batch, 1, 1, source_length)


# Moving keys and values costs more than a few sentences that nobody asks about.
KEPT_WITHOUT_ROWS = 0.8


@dataclass(frozen=True)
class TransformerState:
    """Keys and values of the source, once for each sentence, and of the target."""

    groups: RowGroups
    source: tuple[KeysValues, ...]
    source_mask: Tensor
    target: DecoderCache

    @property
    def length(self) -> int:
        """How many target tokens were read."""
        return self.target.length

    def reorder(self, indices: Tensor) -> Self:
        """Keep the rows named by `indices`, in that order; a row may be repeated."""
        groups = self.groups.groups.index_select(0, indices)
        target = self.target.select_rows(indices)
        if torch.equal(groups, self.groups.groups):  # most steps of a beam search
            return replace(self, target=target)
        kept = replace(
            self, groups=RowGroups.of(groups, self.groups.num_groups), target=target
        )
        present = groups.unique()
        if len(present) > KEPT_WITHOUT_ROWS * self.groups.num_groups:
            return kept
        return kept.without_others(present)

    def without_others(self, present: Tensor) -> Self:
        """Let go of the sentences that no row translates any more."""
        numbers = torch.searchsorted(present, self.groups.groups)
        return replace(
            self,
            groups=RowGroups.of(numbers, len(present)),
            source=tuple(
                (k.index_select(0, present), v.index_select(0, present))
                for k, v in self.source
            ),
            source_mask=self.source_mask.index_select(0, present),
            target=self.target.select_groups(present),
        )


class Encoder(nn.Module):
    """N layers that read the source; a last norm where norms come first."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        layers = [EncoderLayer(config) for _ in range(config.num_encoder_layers)]
        self.layers = nn.ModuleList(layers)
        self.relative_positions = build_relative_positions(config, causal=False)
        self.norm = last_norm(config)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Turn embedded source words into words in context."""
        turn, bias = self.relative_positions(x, 0, x.shape[1])
        words, mask = mask[:, 0, 0], priced_mask(mask, bias)
        for layer in self.layers:
            x = layer(x, mask, turn, words)
        return normalized(self.norm, x, words)


class Decoder(nn.Module):
    """N layers that read the target so far and the source."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        layers = [DecoderLayer(config) for _ in range(config.num_decoder_layers)]
        self.layers = nn.ModuleList(layers)
        self.relative_positions = build_relative_positions(config, causal=True)
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
        words: Tensor | None = None,
    ) -> Tensor:
        """Turn embedded target words into predictions of the next."""
        turn, bias = self.relative_positions(x, 0, x.shape[1])
        mask = None
        if bias is not None:
            mask = priced_mask(causal_mask(x.shape[1], x.device), bias)
        for layer, read in zip(self.layers, source, strict=True):
            x = layer(x, read, source_mask, mask, turn, words)
        return normalized(self.norm, x, words)

    def step(
        self,
        x: Tensor,
        source: tuple[KeysValues, ...],
        source_mask: Tensor,
        groups: RowGroups,
        target: DecoderCache,
    ) -> Tensor:
        """Turn the newest word of each row (row, d_model) into its prediction."""
        newest = target.length - 1
        turn, bias = self.relative_positions(x, newest, 1, target.positions)
        past = target.layers(groups, bias)
        for layer, read, layer_past in zip(self.layers, source, past, strict=True):
            assert isinstance(layer, DecoderLayer)
            x = layer.step(x, read, source_mask, layer_past, turn)
        normed: Tensor = self.norm(x)
        return normed


def last_norm(config: ModelConfig) -> nn.Module:
    """Close a pre-norm stack with the norm that its last residual still lacks."""
    return build_norm(config) if config.norm == "pre" else nn.Identity()


class Transformer(TranslationNetwork):
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

    def encode(self, source: Tensor) -> TransformerMemory:
        """Read the source sentences."""
        mask = padding_mask(source)
        return TransformerMemory(self.encoder(self.embed_source(source), mask), mask)

    def start(self, memory: TransformerMemory) -> TransformerState:
        """Make the decoder's state before the first token."""
        source = self.decoder.read_source(memory.output)
        keys, _ = source[0]
        return TransformerState(
            groups=RowGroups.single(len(keys), keys.device),
            source=source,
            source_mask=memory.mask,
            target=DecoderCache.empty(len(source), len(keys), keys.shape[1], keys),
        )

    @torch.no_grad()  # keys and values are written in place: nothing learns from steps
    def advance(
        self, last_tokens: Tensor, state: TransformerState
    ) -> tuple[Tensor, TransformerState]:
        """Give the decoder's output (batch, d_model) after `last_tokens`."""
        x = self.embed_target(last_tokens[:, None], start=state.length)[:, 0]
        target = state.target.open(state.groups)
        x = self.decoder.step(x, state.source, state.source_mask, state.groups, target)
        return x, replace(state, target=target)

    def features(self, source: Tensor, target_in: Tensor) -> Tensor:
        """Give the decoder's output (batch, target_length, d_model), unprojected."""
        memory = self.encode(source)
        read = self.decoder.read_source(memory.output)
        embedded, words = self.embed_target(target_in), target_in != PAD
        decoded: Tensor = self.decoder(embedded, read, memory.mask, words)
        return decoded


def initialize(model: nn.Module) -> None:
    """Start every matrix by Glorot's rule and every bias at zero."""
    for module in model.modules():
        if isinstance(module, JointLinear):
            module.reset_parameters()
        elif isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            nn.init.zeros_(module.bias)
