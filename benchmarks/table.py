"""One row a comparison: what was measured, ours, theirs, the ratio and its limit."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

HEADINGS = ("what", "Dragoman", "beside", "it has", "ratio", "limit", "met")


@dataclass(frozen=True)
class Row:
    """A comparison in words; `met` is None where no limit was set."""

    what: str
    ours: str
    peer: str = ""
    theirs: str = ""
    ratio: str = ""
    limit: str = ""
    met: bool | None = None

    def line(self) -> str:
        """Give it as a row of the Markdown table."""
        met = "" if self.met is None else ("yes" if self.met else "**no**")
        cells = (
            self.what,
            self.ours,
            self.peer,
            self.theirs,
            self.ratio,
            self.limit,
            met,
        )
        return f"| {' | '.join(cells)} |"


def heading() -> str:
    """Give the head of the Markdown table."""
    return f"| {' | '.join(HEADINGS)} |\n|---|--:|---|--:|--:|--:|---|"


def spread(values: Sequence[float], digits: int = 2) -> str:
    """Give the median with the lowest and the highest."""
    low, high = min(values), max(values)
    middle = statistics.median(values)
    return f"{middle:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


def ratios(theirs: Sequence[float], ours: Sequence[float]) -> list[float]:
    """Give how often our seconds go into theirs, round by round."""
    return [slow / fast for slow, fast in zip(theirs, ours, strict=True)]
