"""How long a run may go on, and how far along it is."""

from dataclasses import dataclass

from dragoman.arguments import check_number, check_whole


@dataclass(frozen=True)
class Budget:
    """Updates, passes over the corpus or minutes, whichever ends first."""

    steps: int | None = None
    epochs: float | None = None
    minutes: float | None = None

    def __post_init__(self) -> None:
        if self.steps is not None:
            check_whole("steps", self.steps)
        for name in ("epochs", "minutes"):
            if (value := getattr(self, name)) is not None:
                check_number(name, value)

    @property
    def given(self) -> bool:
        """Whether the person set any limit."""
        return any(x is not None for x in (self.steps, self.epochs, self.minutes))

    def progress(self, steps: int, seconds: float, passes: float) -> float:
        """Give the share of the budget that is spent: from 0 to 1."""
        shares = [0.0]
        if self.steps is not None:
            shares.append(steps / self.steps)
        if self.epochs is not None:
            shares.append(passes / self.epochs)
        if self.minutes is not None:
            shares.append(seconds / (self.minutes * 60))
        return min(1.0, max(shares))
