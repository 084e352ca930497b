"""A language model: the Transformer's decoder, with no source to look at.

It keeps the contract of a translation model whose source says nothing, so that the
same trainer and the same searches serve it.
"""

from dataclasses import replace

import torch
from torch import Tensor, nn

from dragoman.config import ModelConfig
from dragoman.model.decoder_cache import DecoderCache
from dragoman.model.embeddings import build_embed, token_embedding
from dragoman.model.layers import EncoderLayer
from dragoman.model.masks import causal_mask, priced_mask
from dragoman.model.network import TranslationNetwork, build_output_bias
from dragoman.model.norms import normalized
from dragoman.model.relative_positions import build_relative_positions
from dragoman.model.row_groups import RowGroups
from dragoman.model.stacks import last_norm
from dragoman.model.transformer import TransformerState, initialize
from dragoman.special_tokens import PAD


class CausalStack(nn.Module):
    """N layers of self-attention and feed-forward that see no later word."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        layers = [EncoderLayer(config) for _ in range(config.num_decoder_layers)]
        self.layers = nn.ModuleList(layers)
        self.relative_positions = build_relative_positions(config, causal=True)
        self.norm = last_norm(config)

    def forward(self, x: Tensor, words: Tensor) -> Tensor:
        """Turn embedded words into predictions of the next."""
        turn, bias = self.relative_positions(x, 0, x.shape[1])
        mask = None
        if bias is not None:
            mask = priced_mask(causal_mask(x.shape[1], x.device), bias)
        for layer in self.layers:
            x = layer(x, mask, turn, words)
        return normalized(self.norm, x, words)

    def step(self, x: Tensor, groups: RowGroups, past: DecoderCache) -> Tensor:
        """Turn the newest word of each row (row, d_model) into its prediction."""
        turn, bias = self.relative_positions(x, past.length - 1, 1, past.positions)
        layers = past.layers(groups, bias)
        for layer, layer_past in zip(self.layers, layers, strict=True):
            assert isinstance(layer, EncoderLayer)
            x = layer.step(x, layer_past, turn)
        normed: Tensor = self.norm(x)
        return normed


class DecoderOnly(TranslationNetwork):
    """Predicts each word of a text from those before it."""

    def __init__(self, config: ModelConfig, vocabulary: int) -> None:
        super().__init__()
        tokens = token_embedding(vocabulary, config.d_model)
        self.embed_target = build_embed(config, tokens)
        self.decoder = CausalStack(config)
        self.untied_output = None
        if not config.tie_embeddings:
            self.untied_output = token_embedding(vocabulary, config.d_model)
        self.output_bias = build_output_bias(config, vocabulary)
        self.kv_shape = (config.shared_heads, config.head_size)
        initialize(self)

    def encode(self, source: Tensor) -> Tensor:
        """Take the source for what it is worth: a number of rows."""
        return source

    def start(self, memory: Tensor) -> TransformerState:
        """Make the state before the first token."""
        weight = self.output_weight
        rows, (heads, d_head) = len(memory), self.kv_shape
        like = weight.new_zeros(d_head)
        return TransformerState(
            groups=RowGroups.single(rows, weight.device),
            source=(),
            source_mask=memory.new_ones((rows, 1, 1, 0), dtype=torch.bool),
            target=DecoderCache.empty(len(self.decoder.layers), rows, heads, like),
        )

    @torch.no_grad()  # keys and values are written in place: nothing learns from steps
    def advance(
        self, last_tokens: Tensor, state: TransformerState
    ) -> tuple[Tensor, TransformerState]:
        """Give the output (batch, d_model) after `last_tokens`, and the state."""
        x = self.embed_target(last_tokens[:, None], start=state.length)[:, 0]
        target = state.target.open(state.groups)
        x = self.decoder.step(x, state.groups, target)
        return x, replace(state, target=target)

    def features(self, source: Tensor, target_in: Tensor) -> Tensor:
        """Give the output (batch, length, d_model) for known words, unprojected."""
        del source
        embedded = self.embed_target(target_in)
        decoded: Tensor = self.decoder(embedded, target_in != PAD)
        return decoded
