"""Notices a run that unlearns: its loss rises far above where it was, and stays."""

from dataclasses import dataclass

SMOOTHING = 0.98  # the running loss is that of some fifty updates
UPDATES_ABOVE = 50  # shorter rises are the noise of a batch or of a high rate


@dataclass
class LossLevel:
    """The running loss, the lowest it has been, and for how long it is far above."""

    running: float | None = None
    lowest: float | None = None
    lowest_step: int = 0
    updates_above: int = 0

    def diverges(self, loss: float, step: int, margin: float) -> bool:
        """Take in an update's loss; say whether this is where it counts as diverged.

        True once for each rise: the loss must come down before it is said again.
        """
        if self.running is None:
            self.running = loss
        self.running += (1 - SMOOTHING) * (loss - self.running)
        if self.lowest is None or self.running < self.lowest:
            self.lowest, self.lowest_step = self.running, step
        if self.running <= self.lowest + margin:
            self.updates_above = 0
            return False
        self.updates_above += 1
        return self.updates_above == UPDATES_ABOVE

    def describe(self) -> str:
        """Say how far the loss has risen."""
        return (
            f"the loss has risen to {self.running or 0:.2f} from "
            f"{self.lowest or 0:.2f} at update {self.lowest_step:,} and stays there: "
            "the run diverges"
        )
