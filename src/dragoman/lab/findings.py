"""What an experiment finds: numbers with their spread, claims, a table, a figure."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self

Outcome = Literal["held", "held in part", "did not hold", "could not be decided"]
Cell = str | int | float | None


@dataclass(frozen=True)
class Spread:
    """What several seeds gave: their mean, and the range that they fill."""

    mean: float
    low: float
    high: float
    count: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Self:
        """Sum up the values of all seeds."""
        return cls(sum(values) / len(values), min(values), max(values), len(values))

    def text(self, format_spec: str = ".3g") -> str:
        """Give the mean, and the range where there is one."""
        mean = format(self.mean, format_spec)
        if self.count == 1:
            return mean
        low, high = format(self.low, format_spec), format(self.high, format_spec)
        return f"{mean} [{low}, {high}]"


def larger(one: Spread, other: Spread) -> bool | None:
    """Say whether one is larger than the other: only if their ranges lie apart.

    A single seed has no range, so nobody knows what chance alone would have done.
    """
    if min(one.count, other.count) < 2:
        return None
    if one.low > other.high:
        return True
    return False if one.high < other.low else None


@dataclass(frozen=True)
class Claim:
    """One part of a prediction, and what was seen of it; None: cannot be decided."""

    expected: str
    held: bool | None
    saw: str

    def text(self) -> str:
        """Give the claim with the numbers that speak for or against it."""
        return f"{self.expected} ({self.saw})"


def outcome(claims: Sequence[Claim]) -> Outcome:
    """Say whether a prediction held, of which these are the parts."""
    decided = [claim.held for claim in claims if claim.held is not None]
    if not decided:
        return "could not be decided"
    if not any(decided):
        return "did not hold"
    return "held" if all(decided) and len(decided) == len(claims) else "held in part"


def verdict(claims: Sequence[Claim]) -> str:
    """Say in one plain sentence whether the prediction held, with the numbers."""
    parts = []
    for held, words in (
        (True, "as predicted, "),
        (False, "against the prediction, it is not so that "),
        (None, "this run cannot decide whether "),
    ):
        texts = [claim.text() for claim in claims if claim.held is held]
        if texts:
            parts.append(words + ", and ".join(texts))
    return f"The prediction {outcome(claims)}: {'; '.join(parts)}."


@dataclass(frozen=True)
class Table:
    """Rows of cells under names; None is a number that there is not."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    @property
    def finite(self) -> "Table":
        """The same, where what became infinite or undefined is no number either."""
        rows = (tuple(map(_finite, row)) for row in self.rows)
        return Table(self.columns, tuple(rows))


def _finite(cell: Cell) -> Cell:
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell


@dataclass(frozen=True)
class Line:
    """Points that belong together, with their range where seeds gave one."""

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] | None = None
    high: tuple[float, ...] | None = None
    expected: bool = False  # what theory says, not what was measured

    @classmethod
    def of(cls, label: str, points: Sequence[tuple[float, Spread]]) -> Self:
        """Draw spreads along x."""
        return cls(
            label,
            tuple(x for x, _ in points),
            tuple(spread.mean for _, spread in points),
            tuple(spread.low for _, spread in points),
            tuple(spread.high for _, spread in points),
        )


@dataclass(frozen=True)
class Curves:
    """A panel of lines."""

    title: str
    x_label: str
    y_label: str
    lines: tuple[Line, ...]
    log_x: bool = False
    log_y: bool = False


@dataclass(frozen=True)
class Bars:
    """A panel of named bars."""

    title: str
    x_label: str
    labels: tuple[str, ...]
    values: tuple[Spread, ...]
    log: bool = False


@dataclass(frozen=True)
class Heatmap:
    """A panel of numbers as colours."""

    title: str
    x_label: str
    y_label: str
    values: tuple[tuple[float, ...], ...]


Panel = Curves | Bars | Heatmap


@dataclass(frozen=True)
class Findings:
    """All that one experiment found."""

    claims: tuple[Claim, ...]
    table: Table
    panels: tuple[Panel, ...]
    caption: str  # what the panels show, for eyes and for those who hear it read
    seeds: int
    note: str = ""  # what else a reader must know to trust or doubt it
