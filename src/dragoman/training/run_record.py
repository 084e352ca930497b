"""What a run was asked to do, kept beside it so that going on means the same run."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dragoman import durable
from dragoman.config import Config, read_saved
from dragoman.errors import ConfigError, TrainingError
from dragoman.setting_rules import DROPPED_SHARES
from dragoman.training.budget import Budget
from dragoman.training.disk import keeping

FILE = "run.json"
# Settings that change how a run is watched, not what it learns.
FREE_TO_CHANGE = (
    "training.save_every",
    "training.valid_every",
    "training.patience",
    "training.max_steps",
    "training.valid_sentences",
    "training.threads",  # how many really work is kept in each checkpoint
    "training.kernels",  # so is which of them
    "training.on_nonfinite",
    "training.max_skipped",
    "training.on_divergence",
    "training.divergence",
)
# Settings that decide what the weights and the optimizer's state are made of: no run
# can go on with others, but for shares that are dropped.
FIXED = ("model.", "tokenizer.", "training.optimizer")


@dataclass(frozen=True)
class RunRecord:
    """Settings, prepared data and budget of a run."""

    config: Config
    data_fingerprint: str
    budget: Budget
    finished: bool = False
    steps: int = 0  # once it is finished
    seconds: float = 0.0
    started_from: str | None = None  # SHA-256 of the weights it began from, if any
    speed: float | None = None  # target tokens a second, as measured to choose settings

    def write(self, folder: Path) -> None:
        """Keep the record in the model's folder."""
        plain = {
            "settings": self.config.to_dict(),
            "data": self.data_fingerprint,
            "budget": asdict(self.budget),
            "finished": self.finished,
            "steps": self.steps,
            "seconds": self.seconds,
            "started_from": self.started_from,
            "speed": self.speed,
        }
        with keeping(folder / FILE):
            durable.replace_text(folder / FILE, json.dumps(plain, indent=2) + "\n")


def read_record(folder: Path) -> RunRecord | None:
    """Read the record of an earlier run in this folder, if there was one."""
    path = folder / FILE
    if not path.exists():
        return None
    try:
        plain = json.loads(path.read_text("utf-8"))
        return RunRecord(
            config=read_saved(plain["settings"]),
            data_fingerprint=plain["data"],
            budget=Budget(**plain["budget"]),
            finished=plain["finished"],
            steps=plain["steps"],
            seconds=plain["seconds"],
            started_from=plain.get("started_from"),
            speed=plain.get("speed"),
        )
    except (ConfigError, ValueError, KeyError, TypeError) as error:
        raise TrainingError(
            f"{path} cannot be read ({error}): delete {folder} to begin again"
        ) from error


def refuse_other_settings(
    folder: Path, earlier: Config, now: Config, *, allow_changed: bool = False
) -> None:
    """Say in one line which setting keeps this command from continuing the run."""
    changes = changed_settings(earlier, now)
    advice = "give the same settings to go on, or another folder for another run"
    if allow_changed:
        changes = [change for change in changes if _is_fixed(change[0])]
    elif not any(_is_fixed(change[0]) for change in changes):
        advice += " (--allow-changed goes on with the new ones)"
    if changes:
        name, old, new = changes[0]
        raise TrainingError(
            f"{folder} holds a run with {name} = {old}, and this command says {new}: "
            f"{advice}"
        )


def other_data(folder: Path) -> TrainingError:
    """Say in one line that the run in the folder learned from something else."""
    return TrainingError(
        f"{folder} holds a run on other data (the corpus has changed since): restore "
        "the corpus to go on, give another folder for another run, or --allow-changed "
        "to go on with the new one"
    )


def changed_settings(old: Config, new: Config) -> list[tuple[str, Any, Any]]:
    """List the settings that decide what is learned and differ."""
    before, after = learned_settings(old), learned_settings(new)
    return [
        (name, value, after[name])
        for name, value in before.items()
        if value != after[name]
    ]


def learned_settings(config: Config) -> dict[str, Any]:
    """Give, by full name, the settings that decide what is learned."""
    return {
        f"{section}.{key}": value
        for section, settings in config.to_dict().items()
        for key, value in settings.items()
        if section != "decoding" and f"{section}.{key}" not in FREE_TO_CHANGE
    }


def _is_fixed(name: str) -> bool:
    return name.startswith(FIXED) and name not in DROPPED_SHARES
