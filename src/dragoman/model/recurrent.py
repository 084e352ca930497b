"""A recurrent encoder and decoder: what translated before the Transformer did.

Without attention the decoder knows of the source only what the encoder's last state
says: the whole sentence in one vector. With attention it looks back at each word. The
decoder's states do not depend on where it looks, so training computes all of them
first and all of the attention after that (Luong's way).
"""

from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor, nn

from dragoman.config import ModelConfig
from dragoman.model.dropout import Dropout
from dragoman.model.embeddings import Embed, token_embedding
from dragoman.model.network import TranslationNetwork
from dragoman.model.positions import NoPositions
from dragoman.model.recurrent_cells import CellState
from dragoman.model.recurrent_layers import (
    RecurrentDecoder,
    RecurrentEncoder,
    SourceWords,
)
from dragoman.model.row_groups import RowGroups
from dragoman.model.source_attention import SourceAttention, build_source_attention

# Moving what was read costs more than a few sentences that nobody asks about.
KEPT_WITHOUT_ROWS = 0.8


@dataclass(frozen=True)
class RecurrentMemory:
    """What the encoder shows at each word, and its last state in each layer."""

    output: Tensor  # (batch, source_length, d_model)
    mask: Tensor  # (batch, 1, source_length)
    last: tuple[CellState, ...]


@dataclass(frozen=True)
class SourceRead:
    """What a decoder with attention looks at, once for each sentence."""

    keys: Tensor  # (sentence, source_length, d_model)
    values: Tensor
    mask: Tensor  # (sentence, 1, source_length)

    def select(self, sentences: Tensor) -> Self:
        """Keep these sentences."""
        return type(self)(
            self.keys.index_select(0, sentences),
            self.values.index_select(0, sentences),
            self.mask.index_select(0, sentences),
        )


@dataclass(frozen=True)
class RecurrentState:
    """The cells' states, one row per hypothesis, and the source by sentence."""

    layers: tuple[CellState, ...]
    groups: RowGroups
    source: SourceRead | None  # None: it was never more than the first state
    length: int  # target tokens read

    def reorder(self, indices: Tensor) -> Self:
        """Keep the rows named by `indices`, in that order; a row may be repeated."""
        layers = tuple(
            tuple(part.index_select(0, indices) for part in state)
            for state in self.layers
        )
        numbers = self.groups.groups.index_select(0, indices)
        count, source = self.groups.num_groups, self.source
        present = numbers.unique()
        if len(present) <= KEPT_WITHOUT_ROWS * count:
            numbers, count = torch.searchsorted(present, numbers), len(present)
            source = None if source is None else source.select(present)
        groups = RowGroups.of(numbers, count)
        return replace(self, layers=layers, groups=groups, source=source)


class Joined(nn.Module):
    """tanh(W [context; state]): where a decoder looked, joined with where it is."""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.linear = nn.Linear(2 * d_model, d_model)
        nn.init.xavier_uniform_(self.linear.weight)
        nn.init.zeros_(self.linear.bias)

    def forward(self, context: Tensor, states: Tensor) -> Tensor:
        """Join both into one vector for each state."""
        joined: Tensor = self.linear(torch.cat([context, states], dim=-1))
        return joined.tanh()


class RecurrentModel(TranslationNetwork):
    """Encoder, decoder and, if wanted, attention between them."""

    def __init__(
        self,
        config: ModelConfig,
        source_vocabulary: int,
        target_vocabulary: int,
        shared_vocabulary: bool,
    ) -> None:
        super().__init__()
        d_model, rates = config.d_model, (config.dropout, config.word_dropout)
        target = token_embedding(target_vocabulary, d_model)
        one_matrix = shared_vocabulary and config.tie_embeddings
        source = target if one_matrix else token_embedding(source_vocabulary, d_model)
        # Who reads word after word needs no positions.
        self.embed_source = Embed(source, NoPositions(d_model), *rates)
        self.embed_target = Embed(target, NoPositions(d_model), *rates)
        self.encoder = RecurrentEncoder(config)
        self.decoder = RecurrentDecoder(config)
        self.attention: SourceAttention | None = build_source_attention(config)
        self.joined = None if self.attention is None else Joined(d_model)
        self.dropout = Dropout(config.dropout)
        self.untied_output = None
        if not config.tie_embeddings:
            self.untied_output = token_embedding(target_vocabulary, d_model)

    def encode(self, source: Tensor, truncate: int = 0) -> RecurrentMemory:
        """Read the source sentences."""
        words = SourceWords.of(source)
        output, last = self.encoder(self.embed_source(source), words, truncate)
        return RecurrentMemory(output, words.mask[:, None], last)

    def start(self, memory: RecurrentMemory) -> RecurrentState:
        """Make the decoder's state before the first token."""
        return RecurrentState(
            layers=self.decoder.first_states(memory.last),
            groups=RowGroups.single(len(memory.output), memory.output.device),
            source=self._read_source(memory),
            length=0,
        )

    @torch.no_grad()  # as for every kind: nothing learns from steps
    def advance(
        self, last_tokens: Tensor, state: RecurrentState
    ) -> tuple[Tensor, RecurrentState]:
        """Give the decoder's output (batch, d_model) after `last_tokens`."""
        x = self.embed_target(last_tokens[:, None])[:, 0]
        x, layers = self.decoder.step(x, state.layers)
        if state.source is None:
            features = self._written(x, None)
        else:  # all hypotheses of a sentence look at it together
            looking = state.groups.spread(x)
            features = state.groups.collect(self._written(looking, state.source))
        return features, replace(state, layers=layers, length=state.length + 1)

    def features(self, source: Tensor, target_in: Tensor, truncate: int = 0) -> Tensor:
        """Give the decoder's output (batch, target_length, d_model), unprojected."""
        memory = self.encode(source, truncate)
        first = self.decoder.first_states(memory.last)
        states = self.decoder(self.embed_target(target_in), first, truncate)
        return self._written(states, self._read_source(memory))

    def _read_source(self, memory: RecurrentMemory) -> SourceRead | None:
        if self.attention is None:
            return None
        keys = self.attention.read_source(memory.output)
        return SourceRead(keys, memory.output, memory.mask)

    def _written(self, states: Tensor, source: SourceRead | None) -> Tensor:
        """Look at the source from each state, if there is attention."""
        if source is not None:
            assert self.attention is not None
            assert self.joined is not None
            context = self.attention(states, source.keys, source.values, source.mask)
            states = self.joined(context, states)
        written: Tensor = self.dropout(states)
        return written
