"""What a run was asked to do, kept beside it so that going on means the same run."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dragoman import durable
from dragoman.config import Config, read_saved
from dragoman.errors import ConfigError, TrainingError
from dragoman.training.budget import Budget

FILE = "run.json"
# Settings that change how a run is watched, not what it learns.
FREE_TO_CHANGE = (
    "training.save_every",
    "training.valid_every",
    "training.patience",
    "training.max_steps",
    "training.valid_sentences",
)


@dataclass(frozen=True)
class RunRecord:
    """Settings, prepared data and budget of a run."""

    config: Config
    data_fingerprint: str
    budget: Budget
    finished: bool = False
    steps: int = 0  # once it is finished
    seconds: float = 0.0

    def write(self, folder: Path) -> None:
        """Keep the record in the model's folder."""
        plain = {
            "settings": self.config.to_dict(),
            "data": self.data_fingerprint,
            "budget": asdict(self.budget),
            "finished": self.finished,
            "steps": self.steps,
            "seconds": self.seconds,
        }
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
        )
    except (ConfigError, ValueError, KeyError, TypeError) as error:
        raise TrainingError(
            f"{path} cannot be read ({error}): delete {folder} to begin again"
        ) from error


def refuse_other_settings(folder: Path, earlier: Config, now: Config) -> None:
    """Say in one line which setting keeps this command from continuing the run."""
    changes = changed_settings(earlier, now)
    if changes:
        name, old, new = changes[0]
        raise TrainingError(
            f"{folder} holds a run with {name} = {old}, and this command says {new}: "
            "give the same settings to go on, or another folder for another run"
        )


def refuse_other_data(folder: Path, earlier: str, now: str) -> None:
    """Say in one line that the run in the folder learned from something else."""
    if earlier != now:
        raise TrainingError(
            f"{folder} holds a run on other data (the corpus has changed since): "
            "restore the corpus to go on, or give another folder for another run"
        )


def changed_settings(old: Config, new: Config) -> list[tuple[str, Any, Any]]:
    """List the settings that decide what is learned and differ."""
    before, after = old.to_dict(), new.to_dict()
    return [
        (f"{section}.{key}", value, after[section][key])
        for section, settings in before.items()
        for key, value in settings.items()
        if value != after[section][key]
        and section != "decoding"
        and f"{section}.{key}" not in FREE_TO_CHANGE
    ]
