"""Positional encodings: what tells attention the order of the words (§3.5)."""

import math

import torch
from torch import Tensor, nn

from dragoman.config import ModelConfig
from dragoman.errors import ConfigError


def sinusoids(length: int, d_model: int) -> Tensor:
    """Give PE(p, 2i) = sin(p / 10000^(2i/d)) and PE(p, 2i+1) = cos of the same."""
    position = torch.arange(length, dtype=torch.float64)[:, None]
    frequency = torch.exp(
        torch.arange(0, d_model, 2, dtype=torch.float64)
        * (-math.log(10000.0) / d_model)
    )
    angles = position * frequency  # (length, d_model / 2)
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1)


class SinusoidalPositions(nn.Module):
    """The paper's fixed sinusoids, computed once and extended where more are needed."""

    table: Tensor

    def __init__(self, d_model: int, length: int = 256) -> None:
        super().__init__()
        self.d_model = d_model
        table = sinusoids(length, d_model).to(torch.get_default_dtype())
        self.register_buffer("table", table, persistent=False)

    def forward(self, start: int, length: int) -> Tensor:
        """Give the encodings (length, d_model) of the positions from `start` on."""
        table, end = self.table, start + length
        if end > len(table):
            with torch.inference_mode(False):  # training may go on with this table
                longer = sinusoids(2 * end, self.d_model).to(torch.get_default_dtype())
                self.table = table = longer.to(table)
        return table[start:end]


class LearnedPositions(nn.Module):
    """One learned vector for each position, up to a fixed end (Table 3, row E)."""

    def __init__(self, d_model: int, max_positions: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.empty(max_positions, d_model))
        nn.init.normal_(self.table, std=d_model**-0.5)

    def forward(self, start: int, length: int) -> Tensor:
        """Give the vectors (length, d_model) of the positions from `start` on."""
        end = start + length
        if end > len(self.table):
            raise ConfigError(
                f"a sequence of {end} tokens is longer than the {len(self.table)} "
                "learned positions: shorten it, or train with a larger "
                'model.max_positions or with model.positions="sinusoidal"'
            )
        return self.table[start:end]


class NoPositions(nn.Module):
    """No order at all: attention then sees a bag of words, if it is told nothing.

    Rotary and ALiBi positions are told there; see `model.relative_positions`.
    """

    zero: Tensor

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.register_buffer("zero", torch.zeros(1, d_model), persistent=False)

    def forward(self, start: int, length: int) -> Tensor:
        """Give zeros, whatever the position."""
        return self.zero.expand(length, -1)


def build_positions(config: ModelConfig) -> nn.Module:
    """Choose the positional encoding that the settings name."""
    match config.positions:
        case "sinusoidal":
            return SinusoidalPositions(config.d_model)
        case "learned":
            return LearnedPositions(config.d_model, config.max_positions)
        case _:
            return NoPositions(config.d_model)
