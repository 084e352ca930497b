"""The keys and values of the target so far, written once and never moved.

All hypotheses of a sentence share its places: at each step each of them writes one, and
a table says for each hypothesis which places are its own past. So when a search drops
some hypotheses and doubles others, only that table changes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor

from dragoman.model.masks import priced_mask
from dragoman.model.row_groups import RowGroups

FIRST_CAPACITY = 64


class Buffer:
    """Keys and values of all layers (2 × layer, group, head, place, d_head).

    It grows by doubling. `filled` places are taken: who knows of fewer, being an older
    state that is gone on from a second time, must write into a copy. Whoever reads only
    what a row sees does not need the rest `zeroed`.
    """

    def __init__(self, places: Tensor, filled: int, *, zeroed: bool = True) -> None:
        self.places = places
        self.filled = filled
        self.zeroed = zeroed

    @classmethod
    def empty(cls, shape: Sequence[int], like: Tensor, *, zeroed: bool) -> Self:
        """Make one in which nothing is written yet."""
        # What is masked must not be nan: nothing times nan is nan.
        places = like.new_zeros(shape) if zeroed else like.new_empty(shape)
        return cls(places, 0, zeroed=zeroed)

    def ready(self, filled: int, more: int) -> Self:
        """Give a buffer that can be written at `filled`: this one, if nobody has."""
        if filled == self.filled and filled + more <= self.places.shape[3]:
            return self
        capacity = self.places.shape[3]
        while capacity < filled + more:
            capacity *= 2
        return self._copy(self.places, filled, capacity)

    def select(self, groups: Tensor, filled: int) -> Self:
        """Keep what some groups have written."""
        written = self.places[:, :, :, :filled].index_select(1, groups)
        return self._copy(written, filled, self.places.shape[3])

    def _copy(self, written: Tensor, filled: int, capacity: int) -> Self:
        shape = (*written.shape[:3], capacity, written.shape[4])
        copy = self.empty(shape, written, zeroed=self.zeroed)
        copy.places[:, :, :, :filled] = written[:, :, :, :filled]
        copy.filled = filled
        return copy


@dataclass(frozen=True)
class DecoderCache:
    """What a decoder remembers of its target; `visible` (row, place) is the table."""

    buffer: Buffer
    visible: Tensor
    positions: Tensor  # (place,): where in its row the token of each place stands
    length: int  # tokens in each row

    @classmethod
    def empty(
        cls,
        num_layers: int,
        num_groups: int,
        num_heads: int,
        like: Tensor,
        *,
        zeroed: bool = True,
    ) -> Self:
        """Nothing yet, of the width and kind of `like` (..., d_head)."""
        # Room that nobody fills with zeros costs nothing until it is used.
        capacity = FIRST_CAPACITY if zeroed else 4 * FIRST_CAPACITY
        shape = (2 * num_layers, num_groups, num_heads, capacity, like.shape[-1])
        visible = torch.zeros((num_groups, 0), dtype=torch.bool, device=like.device)
        nowhere = torch.zeros(0, dtype=torch.long, device=like.device)
        return cls(Buffer.empty(shape, like, zeroed=zeroed), visible, nowhere, 0)

    def open(self, groups: RowGroups) -> Self:
        """Make room for one more token in each row, which sees itself and its past."""
        filled, width = self.visible.shape[1], groups.width
        buffer = self.buffer.ready(filled, width)
        buffer.filled = filled + width
        own = groups.places % width
        itself = torch.nn.functional.one_hot(own, width).bool()
        visible = torch.cat([self.visible, itself], dim=1)
        here = self.positions.new_full((width,), self.length)
        positions = torch.cat([self.positions, here])
        return type(self)(buffer, visible, positions, self.length + 1)

    def layers(
        self, groups: RowGroups, bias: Tensor | None = None
    ) -> list["LayerPast"]:
        """Give each layer its own part, and the mask that they share.

        A bias (1, head, 1, place) is the price of looking there.
        """
        # (row, place) -> (group, 1, place of the query, place)
        mask = priced_mask(groups.spread(self.visible)[:, None], bias)
        places = self.buffer.places[:, :, :, : mask.shape[3]]
        return [
            LayerPast(places[layer], places[layer + 1], mask, groups)
            for layer in range(0, len(places), 2)
        ]

    def select_rows(self, rows: Tensor) -> Self:
        """Follow a search that keeps some rows and drops others."""
        return replace(self, visible=self.visible.index_select(0, rows))

    def select_groups(self, groups: Tensor) -> Self:
        """Forget the other groups: the one time that keys and values are moved."""
        filled = self.visible.shape[1]
        return replace(self, buffer=self.buffer.select(groups, filled))


@dataclass(frozen=True)
class LayerPast:
    """The keys and values of one layer, with room at the end for the newest token."""

    keys: Tensor
    values: Tensor
    mask: Tensor
    groups: RowGroups

    def write(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Put the newest down, and give all there are."""
        width = self.groups.width
        self.keys[:, :, -width:] = keys
        self.values[:, :, -width:] = values
        return self.keys, self.values
