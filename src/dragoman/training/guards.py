"""What becomes of an update whose loss or gradient is no number: it is never made."""

from dataclasses import dataclass
from pathlib import Path

from dragoman.config import TrainingConfig
from dragoman.errors import TrainingError
from dragoman.training.debug_batch import DebugBatch

FOLDER = "bad-batches"
KEPT = 3  # each holds the weights too


@dataclass(frozen=True)
class Guard:
    """Keeps the batch that gave no number, and decides whether the run goes on."""

    folder: Path  # the run's own
    settings: TrainingConfig
    rank: int = 0  # which of the run's processes this is

    def keep(self, batch: DebugBatch) -> str:
        """Write the batch beside the run; give in words where it is."""
        place = self.folder / FOLDER
        ending = f".{self.rank}.safetensors" if self.rank else ".safetensors"
        path = place / f"step-{batch.step}{ending}"
        try:
            batch.write(path)
        except TrainingError as error:
            return f"its batch could not be kept: {error}"
        older = sorted(place.glob(f"step-*[0-9]{ending}"), key=_age, reverse=True)
        for surplus in older[KEPT:]:
            surplus.unlink()
        return f"`dragoman train {self.folder} --debug-batch {path}` shows its batch"

    def skips(self, in_a_row: int) -> bool:
        """Say whether the settings allow going on after so many in a row."""
        wanted = self.settings.on_nonfinite == "skip"
        return wanted and in_a_row <= self.settings.max_skipped


def _age(path: Path) -> int:
    return path.stat().st_mtime_ns


def refusal(what: str, step: int, kept: str, saved: bool, in_a_row: int) -> str:
    """Say in one line why the run ends, what is safe and what to do."""
    many = f" ({in_a_row} in a row)" if in_a_row > 1 else ""
    safe = (
        f"saved after update {step - 1:,}" if saved else "no update was made before it"
    )
    return (
        f"the {what} is not a finite number at step {step:,}{many}, so nothing was "
        f"learned from it; {safe}; {kept}: lower training.learning_rate (with "
        "--allow-changed), or skip such batches with training.on_nonfinite=skip"
    )
