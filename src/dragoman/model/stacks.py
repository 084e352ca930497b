"""The two stacks of layers, encoder and decoder (§3.1)."""

from torch import Tensor, nn

from dragoman.config import ModelConfig
from dragoman.model.decoder_cache import DecoderCache
from dragoman.model.layers import DecoderLayer, EncoderLayer, KeysValues, SourceReader
from dragoman.model.masks import causal_mask, priced_mask
from dragoman.model.norms import build_norm, normalized
from dragoman.model.relative_positions import build_relative_positions
from dragoman.model.row_groups import RowGroups


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
        layers = [self._build_layer(config) for _ in range(config.num_decoder_layers)]
        self.layers = nn.ModuleList(layers)
        self.relative_positions = build_relative_positions(config, causal=True)
        self.norm = last_norm(config)

    def _build_layer(self, config: ModelConfig) -> SourceReader:
        return DecoderLayer(config)

    def read_source(self, memory: Tensor) -> tuple[KeysValues, ...]:
        """Project the encoder's output once, for all steps that will attend to it."""
        read = []
        for layer in self.layers:
            assert isinstance(layer, SourceReader)
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
    """Close a pre-norm stack with the norm that its last residual still lacks.

    Post-norm stacks have it where the settings ask, as those of `nn.Transformer` do.
    """
    closed = config.norm == "pre" or config.last_norm
    return build_norm(config) if closed else nn.Identity()
