"""Positions told inside self-attention, by how far two words are apart.

The paper adds a position to each embedding. Here nothing is added there: queries and
keys are turned by their place, so that their product depends on the distance (rotary),
or a score is lowered the more, the farther its key is away (ALiBi). Both go on past the
longest sentence of training. Attention to the source is told nothing.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from dragoman.config import ModelConfig
from dragoman.kernels import turn as kernel
from dragoman.model.positions import SinusoidalPositions


class Turn(NamedTuple):
    """The cosines and sines (length, d_head) by which queries and keys are turned."""

    cosines: Tensor
    sines: Tensor

    def __call__(self, x: Tensor) -> Tensor:
        """Turn each pair of dimensions (i, i + d_head / 2) of (..., length, d_head)."""
        if kernel.suits(x, self.cosines):
            return kernel.turn(x, self.cosines, self.sines)
        first, second = x.chunk(2, dim=-1)
        across = torch.cat((-second, first), dim=-1)
        turned = x * self.cosines + across * self.sines
        return turned.to(x.dtype)  # where mixed precision made x a smaller number


class Told(NamedTuple):
    """What self-attention is told of places: a turn, a bias on scores, or nothing."""

    turn: Turn | None = None
    bias: Tensor | None = None  # (1, head, query, key)


class Rotary(nn.Module):
    """Turns pairs of dimensions by the angles of the sinusoids (§3.5)."""

    def __init__(self, d_head: int) -> None:
        super().__init__()
        self.angles = SinusoidalPositions(d_head)

    def forward(
        self, like: Tensor, start: int, length: int, keys: Tensor | None = None
    ) -> Told:
        """Tell the turn of `length` places from `start` on; keys were turned before."""
        del keys
        waves = self.angles(start, length).to(like).unflatten(1, (-1, 2))
        sines, cosines = waves.repeat(1, 2, 1).unbind(dim=-1)
        return Told(turn=Turn(cosines.contiguous(), sines.contiguous()))


class Alibi(nn.Module):
    """Lowers each score by the distance to its key times the head's own slope.

    In the encoder, looking ahead costs twice as much in every second head and looking
    back in the others: a distance alone reads the same in either direction.
    """

    def __init__(self, num_heads: int, *, causal: bool) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.causal = causal

    def forward(
        self, like: Tensor, start: int, length: int, keys: Tensor | None = None
    ) -> Told:
        """Tell the bias between `length` queries from `start` on and their keys.

        `keys` are the places of the keys, where they are not those of the queries.
        """
        queries = torch.arange(start, start + length, device=like.device)
        keys = queries if keys is None else keys
        ahead = (keys - queries[:, None]).to(like)  # (query, key)
        heads = torch.arange(self.num_heads, device=like.device)[:, None, None]
        slopes = torch.exp2(-8 * (heads + 1) / self.num_heads).to(like)
        distance = ahead.abs()
        if not self.causal:
            dearer = torch.where(heads % 2 == 0, ahead > 0, ahead < 0)
            distance = torch.where(dearer, 2 * distance, distance)
        return Told(bias=(-slopes * distance)[None])


class NothingToTell(nn.Module):
    """Positions are added to the embeddings, or there are none."""

    def forward(
        self, like: Tensor, start: int, length: int, keys: Tensor | None = None
    ) -> Told:
        """Tell nothing."""
        del like, start, length, keys
        return Told()


def build_relative_positions(config: ModelConfig, *, causal: bool) -> nn.Module:
    """Choose what the self-attention of a stack is told of places."""
    match config.positions:
        case "rotary":
            return Rotary(config.head_size)
        case "alibi":
            return Alibi(config.num_heads, causal=causal)
        case _:
            return NothingToTell()
