"""Stacks of recurrent cells: one reads the source, there and back, one writes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor, nn

from dragoman.config import ModelConfig
from dragoman.model.dropout import Dropout
from dragoman.model.recurrent_cells import Cell, CellState, build_cell
from dragoman.special_tokens import PAD


@dataclass(frozen=True)
class SourceWords:
    """Which places of a padded batch are words, and where each sentence ends."""

    mask: Tensor  # (batch, length)
    last: Tensor  # (batch,): the place of the last word
    padding: bool  # whether there is any

    @classmethod
    def of(cls, source: Tensor) -> Self:
        """Look at a batch of tokens (batch, length)."""
        mask = source != PAD
        last = mask.sum(dim=1).clamp_min(1) - 1
        return cls(mask, last, not bool(mask.all()))

    def turned(self, x: Tensor) -> Tensor:
        """Turn each sentence (batch, length, …) round, its padding still behind it."""
        if not self.padding:
            return x.flip(1)
        places = torch.arange(x.shape[1], device=x.device)
        turned = self.last[:, None] - places
        places = torch.where(turned < 0, places, turned)
        return x.gather(1, places[:, :, None].expand_as(x))

    def at_last(self, x: Tensor) -> Tensor:
        """Take from (batch, length, …) what stands at each last word."""
        return x[torch.arange(len(x), device=x.device), self.last]


def read(
    cell: Cell, x: Tensor, state: CellState, words: Tensor | None, truncate: int
) -> tuple[Tensor, CellState]:
    """Read (batch, length, d_in) from a state on.

    Truncated back-propagation through time: after each `truncate` words the state goes
    on as a mere number, which no gradient goes back through; 0: it never does.
    """
    if not truncate:
        return _read_all(cell, x, state, words)
    shown = []
    for start in range(0, x.shape[1], truncate):
        part = slice(start, start + truncate)
        of_words = None if words is None else words[:, part]
        if start:
            state = tuple(carried.detach() for carried in state)
        seen, state = _read_all(cell, x[:, part], state, of_words)
        shown.append(seen)
    return torch.cat(shown, dim=1), state


def _read_all(
    cell: Cell, x: Tensor, state: CellState, words: Tensor | None
) -> tuple[Tensor, CellState]:
    read: tuple[Tensor, CellState] = cell(x, state, words)
    return read


class ReadingLayer(nn.Module):
    """One way through the source, or two, there and back, each half as wide."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        ways = 2 if config.bidirectional else 1
        d_model = config.d_model
        self.there = build_cell(config.cell, d_model, d_model // ways)
        self.back = None
        if config.bidirectional:
            self.back = build_cell(config.cell, d_model, d_model // ways)

    def forward(
        self, x: Tensor, words: SourceWords, truncate: int
    ) -> tuple[Tensor, CellState]:
        """Give what is shown at each word, and the state after the whole sentence."""
        shown, last = self._one_way(self.there, x, words, truncate)
        if self.back is None:
            return shown, last
        turned, first = self._one_way(self.back, words.turned(x), words, truncate)
        both = zip(last, first, strict=True)
        return (
            torch.cat([shown, words.turned(turned)], dim=-1),
            tuple(torch.cat(pair, dim=-1) for pair in both),
        )

    def _one_way(
        self, cell: Cell, x: Tensor, words: SourceWords, truncate: int
    ) -> tuple[Tensor, CellState]:
        mask = words.mask if words.padding else None
        shown, state = read(cell, x, cell.nothing(len(x), x), mask, truncate)
        # Padding leaves a memory as it is, but what is shown past the end is not it.
        return shown, (words.at_last(shown), *state[1:])


class RecurrentEncoder(nn.Module):
    """N layers that read the source."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        layers = [ReadingLayer(config) for _ in range(config.num_encoder_layers)]
        self.layers = nn.ModuleList(layers)
        self.dropout = Dropout(config.dropout)

    def forward(
        self, x: Tensor, words: SourceWords, truncate: int = 0
    ) -> tuple[Tensor, tuple[CellState, ...]]:
        """Give words in context, and each layer's last state."""
        last: list[CellState] = []
        for layer in self.layers:
            shown, state = layer(x, words, truncate)
            x = self.dropout(shown)
            last.append(state)
        return x, tuple(last)


class RecurrentDecoder(nn.Module):
    """N cells, each reading what the one below it shows."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        cells = [
            build_cell(config.cell, config.d_model, config.d_model)
            for _ in range(config.num_decoder_layers)
        ]
        self.layers = nn.ModuleList(cells)
        self.dropout = Dropout(config.dropout)

    def first_states(self, encoder: Sequence[CellState]) -> tuple[CellState, ...]:
        """Begin where the encoder ended, the top layer with the top layer's state."""
        above = len(encoder) - len(self.layers)
        return tuple(encoder[max(0, n + above)] for n in range(len(self.layers)))

    def forward(
        self, x: Tensor, states: Sequence[CellState], truncate: int = 0
    ) -> Tensor:
        """Read a whole target; its padding comes last and changes nothing before it."""
        for number, (cell, state) in enumerate(zip(self.layers, states, strict=True)):
            assert isinstance(cell, Cell)
            x, _ = read(cell, self.dropout(x) if number else x, state, None, truncate)
        return x

    def step(
        self, x: Tensor, states: Sequence[CellState]
    ) -> tuple[Tensor, tuple[CellState, ...]]:
        """Read the newest word of each row (row, d_model): the same computation."""
        after = []
        for number, (cell, state) in enumerate(zip(self.layers, states, strict=True)):
            assert isinstance(cell, Cell)
            state = cell.step(self.dropout(x) if number else x, state)
            x = state[0]
            after.append(state)
        return x, tuple(after)
