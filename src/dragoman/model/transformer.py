"""The Transformer: an encoder stack, a decoder stack and what joins them (§3)."""

from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor, nn

from dragoman.config import ModelConfig
from dragoman.kernels.decoder_step import DecoderStep, Past
from dragoman.model.decoder_cache import DecoderCache
from dragoman.model.embeddings import build_embed, token_embedding
from dragoman.model.layers import KeysValues
from dragoman.model.linear import JointLinear
from dragoman.model.masks import padding_mask
from dragoman.model.network import TranslationNetwork, build_output_bias
from dragoman.model.relative_positions import Turn
from dragoman.model.row_groups import RowGroups
from dragoman.model.stacks import Decoder, Encoder
from dragoman.special_tokens import END, PAD


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
    kernel: DecoderStep | None = None  # what takes its steps, if not the layers

    @property
    def length(self) -> int:
        """How many target tokens were read."""
        return self.target.length

    def past(self, turn: Turn | None) -> Past:
        """Give what a kernel needs to know of it, and of the newest token's place."""
        return Past(
            target=self.target.buffer.places,
            visible=self.target.visible,
            source=self.source,
            words=self.source_mask[:, 0, 0],
            sentences=self.groups.groups,
            spots=self.groups.places,
            width=self.groups.width,
            turn=turn,
        )

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
        self.embed_source = build_embed(config, source)
        self.embed_target = build_embed(config, target)
        self.encoder = Encoder(config)
        self.decoder = self._build_decoder(config)
        self.untied_output = None
        if not config.tie_embeddings:
            self.untied_output = token_embedding(target_vocabulary, config.d_model)
        self.output_bias = build_output_bias(config, target_vocabulary)
        self.source_end = config.source_end
        initialize(self)

    def _build_decoder(self, config: ModelConfig) -> Decoder:
        return Decoder(config)

    def encode(self, source: Tensor) -> TransformerMemory:
        """Read the source sentences."""
        seen = source if self.source_end else source.masked_fill(source == END, PAD)
        mask = padding_mask(seen)
        return TransformerMemory(self.encoder(self.embed_source(source), mask), mask)

    def start(self, memory: TransformerMemory) -> TransformerState:
        """Make the decoder's state before the first token."""
        source = self.decoder.read_source(memory.output)
        keys, _ = source[0]
        kernel = self._step_kernels.decoder(self.decoder)
        size = (len(source), len(keys), keys.shape[1])
        return TransformerState(
            groups=RowGroups.single(len(keys), keys.device),
            source=source,
            source_mask=memory.mask,
            target=DecoderCache.empty(*size, keys, zeroed=kernel is None),
            kernel=kernel,
        )

    @torch.no_grad()  # keys and values are written in place: nothing learns from steps
    def advance(
        self, last_tokens: Tensor, state: TransformerState
    ) -> tuple[Tensor, TransformerState]:
        """Give the decoder's output (batch, d_model) after `last_tokens`."""
        x = self.embed_target(last_tokens[:, None], start=state.length)[:, 0]
        state = replace(state, target=state.target.open(state.groups))
        if state.kernel is not None:
            told = self.decoder.relative_positions(x, state.length - 1, 1)
            return state.kernel(x, state.past(told.turn)), state
        x = self.decoder.step(
            x, state.source, state.source_mask, state.groups, state.target
        )
        return x, state

    def features(self, source: Tensor, target_in: Tensor) -> Tensor:
        """Give the decoder's output (batch, target_length, d_model), unprojected."""
        memory = self.encode(source)
        read = self.decoder.read_source(memory.output)
        return self._decode(read, memory.mask, target_in)

    def forward_each(
        self, source: Tensor, sentences: Tensor, target_in: Tensor
    ) -> Tensor:
        """Do as `forward` for targets of which several may have the same source."""
        memory = self.encode(source)
        read = tuple(
            (keys.index_select(0, sentences), values.index_select(0, sentences))
            for keys, values in self.decoder.read_source(memory.output)
        )
        mask = memory.mask.index_select(0, sentences)
        return self.project(self._decode(read, mask, target_in))

    def _decode(
        self, source: tuple[KeysValues, ...], source_mask: Tensor, target_in: Tensor
    ) -> Tensor:
        embedded, words = self.embed_target(target_in), target_in != PAD
        decoded: Tensor = self.decoder(embedded, source, source_mask, words)
        return decoded


def initialize(model: nn.Module) -> None:
    """Start every matrix by Glorot's rule and every bias at zero."""
    for module in model.modules():
        if isinstance(module, JointLinear):
            module.reset_parameters()
        elif isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
