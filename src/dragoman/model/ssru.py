"""A Transformer whose decoder remembers in one vector, and not by self-attention.

Each layer keeps a cell that forgets a share of itself at each word: the simpler simple
recurrent unit, f = σ(xW_f + b_f), c = f·c + (1 − f)·xW, output max(0, c) (Kim et al.,
2019). A step costs the same however long the target is, which is why Firefox
translates with such decoders.
"""

from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor, nn

from dragoman.config import ModelConfig
from dragoman.model.layers import (
    KeysValues,
    Residual,
    SourceReader,
    build_attention,
    build_feed_forward,
)
from dragoman.model.linear import Linear
from dragoman.model.norms import normalized
from dragoman.model.row_groups import RowGroups
from dragoman.model.stacks import Decoder
from dragoman.model.transformer import Transformer, TransformerMemory

# Moving what was read costs more than a few sentences that nobody asks about.
KEPT_WITHOUT_ROWS = 0.8


class SSRU(nn.Module):
    """max(0, c) with c = f·c + (1 − f)·xW, where f = σ(xW_f + b_f)."""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.forget = Linear(d_model, d_model)  # W_f, b_f
        self.write = nn.Linear(d_model, d_model, bias=False)  # W

    def forward(self, x: Tensor) -> Tensor:
        """Give what each place (batch, length, d_model) says of those before it."""
        kept, offered = self._gates(x)
        cell, cells = torch.zeros_like(offered[:, 0]), []
        for place in range(x.shape[1]):
            cell = kept[:, place] * cell + offered[:, place]
            cells.append(cell)
        return torch.stack(cells, dim=1).relu()

    def step(self, x: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
        """Read the newest token of each row (row, d_model); give its cell too."""
        kept, offered = self._gates(x)
        cell = kept * cell + offered
        return cell.relu(), cell

    def _gates(self, x: Tensor) -> tuple[Tensor, Tensor]:
        kept = self.forget(x).sigmoid()
        return kept, (1 - kept) * self.write(x)


class SSRULayer(SourceReader):
    """A recurrent unit, attention to the source, then feed-forward."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.recurrence = SSRU(config.d_model)
        self.cross_attention = build_attention(config)
        self.feed_forward = build_feed_forward(config)
        self.around_recurrence = Residual(config)
        self.around_cross_attention = Residual(config)
        self.around_feed_forward = Residual(config)

    def forward(
        self,
        x: Tensor,
        source: KeysValues,
        source_mask: Tensor,
        words: Tensor | None = None,
    ) -> Tensor:
        """Read a whole target, each position the earlier ones only, and the source."""
        around = self.around_recurrence
        x = around.after(x, self.recurrence(around.before(x, words)), words)
        return self.read_source(x, source, source_mask, words)

    def step(
        self,
        x: Tensor,
        cell: Tensor,
        source: KeysValues,
        source_mask: Tensor,
        groups: RowGroups,
    ) -> tuple[Tensor, Tensor]:
        """Read the newest token of each row (row, d_model): the same computation."""
        around = self.around_recurrence
        written, cell = self.recurrence.step(around.before(x), cell)
        x = around.after(x, written)
        return self.read_source_rows(x, source, source_mask, groups), cell


@dataclass(frozen=True)
class SSRUState:
    """The layers' cells, one row per hypothesis, and the source by sentence."""

    cells: tuple[Tensor, ...]  # each (row, d_model)
    groups: RowGroups
    source: tuple[KeysValues, ...]
    source_mask: Tensor
    length: int  # target tokens read

    def reorder(self, indices: Tensor) -> Self:
        """Keep the rows named by `indices`, in that order; a row may be repeated."""
        cells = tuple(cell.index_select(0, indices) for cell in self.cells)
        numbers = self.groups.groups.index_select(0, indices)
        count, present = self.groups.num_groups, numbers.unique()
        if len(present) > KEPT_WITHOUT_ROWS * count:
            return replace(self, cells=cells, groups=RowGroups.of(numbers, count))
        numbers = torch.searchsorted(present, numbers)
        return replace(
            self,
            cells=cells,
            groups=RowGroups.of(numbers, len(present)),
            source=tuple(
                (keys.index_select(0, present), values.index_select(0, present))
                for keys, values in self.source
            ),
            source_mask=self.source_mask.index_select(0, present),
        )


class SSRUDecoder(Decoder):
    """N layers with a recurrent unit each, which read the target and the source."""

    def _build_layer(self, config: ModelConfig) -> SourceReader:
        return SSRULayer(config)

    def forward(
        self,
        x: Tensor,
        source: tuple[KeysValues, ...],
        source_mask: Tensor,
        words: Tensor | None = None,
    ) -> Tensor:
        """Turn embedded target words into predictions of the next."""
        for layer, read in zip(self.layers, source, strict=True):
            x = layer(x, read, source_mask, words)
        return normalized(self.norm, x, words)

    def advance(self, x: Tensor, state: SSRUState) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Turn the newest word of each row into its prediction; give the cells too."""
        cells = []
        for layer, cell, read in zip(
            self.layers, state.cells, state.source, strict=True
        ):
            assert isinstance(layer, SSRULayer)
            x, after = layer.step(x, cell, read, state.source_mask, state.groups)
            cells.append(after)
        normed: Tensor = self.norm(x)
        return normed, tuple(cells)


class SSRUTransformer(Transformer):
    """A Transformer's encoder, and a decoder of recurrent units that attends to it."""

    decoder: SSRUDecoder

    def _build_decoder(self, config: ModelConfig) -> Decoder:
        return SSRUDecoder(config)

    def start(self, memory: TransformerMemory) -> SSRUState:  # type: ignore[override]
        """Make the decoder's state before the first token."""
        batch, _, d_model = memory.output.shape
        nothing = memory.output.new_zeros(batch, d_model)
        return SSRUState(
            cells=(nothing,) * len(self.decoder.layers),
            groups=RowGroups.single(batch, memory.output.device),
            source=self.decoder.read_source(memory.output),
            source_mask=memory.mask,
            length=0,
        )

    @torch.no_grad()  # as for every kind: nothing learns from steps
    def advance(  # type: ignore[override]
        self, last_tokens: Tensor, state: SSRUState
    ) -> tuple[Tensor, SSRUState]:
        """Give the decoder's output (batch, d_model) after `last_tokens`."""
        x = self.embed_target(last_tokens[:, None], start=state.length)[:, 0]
        x, cells = self.decoder.advance(x, state)
        return x, replace(state, cells=cells, length=state.length + 1)
