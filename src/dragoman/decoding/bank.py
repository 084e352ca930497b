"""The hypotheses of a constrained search, and how the banks share its slots."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Self

from dragoman.decoding.constraints import Progress


@dataclass(frozen=True)
class Growing:
    """A hypothesis that may grow."""

    log_probability: float
    node: int  # where its last token is in the history
    progress: Progress
    row: int  # where the model holds it, or the one that it grew from
    token: int

    def in_row(self, row: int) -> Self:
        """Give the same, held in another row."""
        return replace(self, row=row)


@dataclass(frozen=True)
class Candidate:
    """A hypothesis and one more token."""

    log_probability: float
    parent: Growing
    token: int
    token_log_probability: float
    progress: Progress

    def grown(self, node: int) -> Growing:
        """Give the hypothesis with that token."""
        row = self.parent.row
        return Growing(self.log_probability, node, self.progress, row, self.token)


def share_among_banks(
    candidates: Sequence[Candidate], num_slots: int
) -> list[Candidate]:
    """Take the best of each bank in turn, from the highest bank down, and again.

    Of equal ones the earlier goes first.
    """
    banks: dict[int, list[Candidate]] = {}
    for candidate in sorted(candidates, key=lambda c: -c.log_probability):
        banks.setdefault(candidate.progress.bank, []).append(candidate)
    rounds = zip_longest(*(banks[bank] for bank in sorted(banks, reverse=True)))
    in_turn = [candidate for few in rounds for candidate in few if candidate]
    return in_turn[:num_slots]
