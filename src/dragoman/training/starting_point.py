"""Fine-tuning: a run that begins from a model which has learned already."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dragoman import durable
from dragoman.config import Config
from dragoman.errors import ConfigError, TrainingError
from dragoman.model.network import TranslationNetwork
from dragoman.model.weights import get_weights, set_weights
from dragoman.model_files import WEIGHTS
from dragoman.model_folder import SavedModel, load_model
from dragoman.setting_rules import DROPPED_SHARES
from dragoman.training.schedule import paper_rate

# Of the highest rate that the model has learned at: enough to learn something new, too
# little to forget what it knows.
RATE_SHARE = 0.2
WARMUP_SHARE = 0.05
STEPS_SHARE = 0.1


@dataclass(frozen=True)
class StartingPoint:
    """The model that a run begins from."""

    folder: Path
    fingerprint: str  # SHA-256 of its weights
    saved: SavedModel

    @classmethod
    def load(cls, folder: Path, run: Path) -> "StartingPoint":
        """Read the model folder that the run in another folder begins from."""
        if folder.resolve() == run.resolve():
            raise TrainingError(
                f"{run} cannot begin from itself: give the tuned model a folder of its "
                "own"
            )
        saved = load_model(folder)
        return cls(folder, durable.sha256(folder / WEIGHTS), saved)

    def give_weights(self, model: TranslationNetwork) -> None:
        """Let a model of the same shape know what this one knows."""
        set_weights(model, get_weights(self.saved.model))

    def config(self, settings: Mapping[str, Any]) -> Config:
        """Take over the model's settings, learn gently, and change what was asked."""
        known = self.saved.config
        wanted = known.with_settings(gentle_settings(known) | dict(settings))
        self._refuse_another_shape(known, wanted)
        return wanted

    def _refuse_another_shape(self, known: Config, wanted: Config) -> None:
        before, after = known.to_dict(), wanted.to_dict()
        for section in ("model", "tokenizer"):
            for key, value in before[section].items():
                name = f"{section}.{key}"
                if after[section][key] != value and name not in DROPPED_SHARES:
                    raise ConfigError(
                        f"{name} = {after[section][key]} was asked for, but "
                        f"{self.folder} has {value} and tuning keeps its shape and "
                        "vocabulary: leave that setting out, or train without --from"
                    )

    def describe(self) -> str:
        """Say for the card what was tuned."""
        return (
            f"Tuned from `{self.folder.resolve().name}` (SHA-256 of its weights: "
            f"`{self.fingerprint}`)."
        )


def gentle_settings(known: Config) -> dict[str, Any]:
    """Give a low rate with a short warm-up, down to zero at the end of the budget."""
    settings = known.training
    peak = settings.learning_rate
    if settings.schedule == "paper":
        warmup = max(1, settings.warmup_steps)
        peak *= paper_rate(warmup, known.model.d_model, warmup)
    return {
        "training.schedule": "linear",
        "training.learning_rate": RATE_SHARE * peak,
        "training.warmup_share": WARMUP_SHARE,
        "training.dropout_growth": 0.0,
        "training.max_steps": max(1, round(STEPS_SHARE * settings.max_steps)),
    }


def refuse_another_start(
    folder: Path, earlier: str | None, start: StartingPoint | None
) -> None:
    """Say in one line that the run in the folder began from something else."""
    if earlier != (None if start is None else start.fingerprint):
        began = "random weights" if earlier is None else "another model"
        said = "none" if start is None else str(start.folder)
        raise TrainingError(
            f"{folder} holds a run that began from {began}, and this command says "
            f"--from {said}: give the same to go on, or another folder for another run"
        )
