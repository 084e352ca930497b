"""Which rows of a search translate the same sentence, so that they can share it.

A search holds several hypotheses of a sentence. What is the same for all of them, the
source above all, is kept once for the group; a row finds it by the number of its group.
"""

from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor


@dataclass(frozen=True)
class RowGroups:
    """The group of each row, and its place there; groups are padded to one width.

    `spread` brings rows (row, ...) into (group, place, ...), with an arbitrary row
    where a group has none, and `collect` takes them back.
    """

    groups: Tensor  # (row,)
    num_groups: int
    width: int
    places: Tensor  # (row,): where each row stands in (group × place)
    rows: Tensor | None  # (group × place,): who stands there; None: all, in order

    @classmethod
    def single(cls, num_groups: int, device: torch.device) -> Self:
        """One row for each group."""
        numbers = torch.arange(num_groups, device=device)
        return cls(numbers, num_groups, 1, numbers, None)

    @classmethod
    def of(cls, groups: Tensor, num_groups: int) -> Self:
        """Give each row the next free place of its group."""
        counts = torch.bincount(groups, minlength=num_groups)
        width = int(counts.max())
        ordered, rows = groups.sort(stable=True)
        numbers = torch.arange(len(groups), device=groups.device)
        before = counts.cumsum(0) - counts  # rows in earlier groups
        places = torch.empty_like(groups)
        places[rows] = ordered * width + numbers - before[ordered]
        if len(groups) == num_groups * width and bool((places == numbers).all()):
            return cls(groups, num_groups, width, places, None)
        standing = groups.new_zeros(num_groups * width)
        standing[places] = numbers
        return cls(groups, num_groups, width, places, standing)

    def spread(self, x: Tensor) -> Tensor:
        """Bring (row, ...) into (group, place, ...)."""
        if self.rows is not None:
            x = x.index_select(0, self.rows)
        return x.view(self.num_groups, self.width, *x.shape[1:])

    def collect(self, x: Tensor) -> Tensor:
        """Take (group, place, ...) back to (row, ...)."""
        x = x.flatten(0, 1)
        return x if self.rows is None else x.index_select(0, self.places)
