"""Checkpoints: folders from which a run goes on exactly where it was.

A checkpoint is written under a temporary name, brought to disk, renamed, and only then
named by LATEST; older ones are pruned last. So whenever the power fails, the newest
whole checkpoint is found. Each file's SHA-256 stands in the manifest.
"""

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from dragoman import durable
from dragoman.errors import TrainingError

WEIGHTS, OPTIMIZER, STATE, MANIFEST = (
    "model.safetensors",
    "optimizer.safetensors",
    "state.json",
    "manifest.json",
)
LATEST, BEST = "LATEST", "BEST"


@dataclass(frozen=True)
class Checkpoint:
    """All that the rest of a run depends on."""

    step: int
    weights: Mapping[str, Tensor]
    optimizer: Mapping[str, Tensor]
    state: Mapping[str, Any]  # plain data: sampler position, clock, best score, ...
    averaged: bool = True  # False for one that only an interruption called for


class Checkpoints:
    """The folder that holds a run's checkpoints, oldest to newest, and the best."""

    def __init__(self, folder: Path, keep: int) -> None:
        self.folder = folder
        self.keep = keep

    def save(self, checkpoint: Checkpoint, *, best: bool) -> Path:
        """Write a checkpoint safely, point at it, and prune what is not needed."""
        final = self._path(checkpoint.step)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            if not _holds(final, checkpoint):
                self._write(checkpoint, final)
        except (OSError, SafetensorError) as error:
            raise TrainingError(
                f"cannot save the checkpoint {final} ({error}): make room there and "
                "give the same command again, to go on from the one before it"
            ) from error
        durable.replace_text(self.folder / LATEST, final.name + "\n")
        if best:
            durable.replace_text(self.folder / BEST, final.name + "\n")
        self._prune()
        return final

    def latest(self) -> Checkpoint | None:
        """Read the newest checkpoint that is whole, or nothing if there is none."""
        if not self.folder.is_dir():
            return None
        damage = []
        for path in reversed(self.saved()):
            try:
                return read_checkpoint(path)
            except TrainingError as error:
                damage.append(str(error))
        if damage:
            raise TrainingError(
                f"no checkpoint in {self.folder} is whole ({damage[0]}): delete that "
                "folder to begin the run again"
            )
        return None

    def best(self) -> Path | None:
        """Give the checkpoint that did best on the validation set."""
        pointer = self.folder / BEST
        return self.folder / pointer.read_text().strip() if pointer.exists() else None

    def saved(self) -> list[Path]:
        """List all checkpoints, oldest first."""
        found = [p for p in self.folder.glob("step-*") if p.name[5:].isdecimal()]
        return sorted(found, key=step_of)

    def window(self, count: int) -> list[Path]:
        """List the last checkpoints, oldest first: those to average.

        One that was only saved because the run was interrupted does not count, so
        that the mean is that of a run never interrupted.
        """
        return [path for path in self.saved() if _is_averaged(path)][-count:]

    def _path(self, step: int) -> Path:
        return self.folder / f"step-{step}"

    def _write(self, checkpoint: Checkpoint, final: Path) -> None:
        unfinished = final.with_name(final.name + ".tmp")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir()
        save_file(dict(checkpoint.weights), unfinished / WEIGHTS)
        save_file(dict(checkpoint.optimizer), unfinished / OPTIMIZER)
        state = {
            "step": checkpoint.step,
            "averaged": checkpoint.averaged,
            **checkpoint.state,
        }
        durable.write_text(unfinished / STATE, json.dumps(state, indent=2) + "\n")
        hashes = {}
        for name in (WEIGHTS, OPTIMIZER, STATE):
            with (unfinished / name).open("rb+") as file:
                durable.sync(file)
            hashes[name] = durable.sha256(unfinished / name)
        durable.write_text(unfinished / MANIFEST, json.dumps(hashes, indent=2) + "\n")
        if final.exists():  # damaged, or saved for an interruption alone
            shutil.rmtree(final)
        durable.rename_folder(unfinished, final)

    def _prune(self) -> None:
        needed = {*self.window(self.keep), *self.saved()[-2:], self.best()}
        for path in self.saved():
            if path not in needed:
                shutil.rmtree(path)
        for leftover in self.folder.glob("step-*.tmp"):
            shutil.rmtree(leftover)


def step_of(path: Path) -> int:
    """Give the update after which a checkpoint was written, from its name."""
    return int(path.name.partition("-")[2])


def _holds(path: Path, checkpoint: Checkpoint) -> bool:
    """Say whether a checkpoint is there already, whole and for the same use."""
    if not path.exists():
        return False
    try:
        return read_checkpoint(path).averaged >= checkpoint.averaged
    except TrainingError:
        return False


def _is_averaged(path: Path) -> bool:
    try:
        return json.loads((path / STATE).read_text("utf-8"))["averaged"] is True
    except (OSError, ValueError, KeyError):  # damaged: of no use to anyone
        return False


def read_weights(path: Path) -> dict[str, Tensor]:
    """Read the weights of one checkpoint, or say in one line what is wrong."""
    try:
        _check(path, WEIGHTS)
        return load_file(path / WEIGHTS)
    except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
        raise TrainingError(f"the checkpoint {path} cannot be read: {error}") from error


def _check(path: Path, *names: str) -> None:
    hashes = json.loads((path / MANIFEST).read_text("utf-8"))
    for name in names:
        if durable.sha256(path / name) != hashes[name]:
            raise TrainingError(f"{path / name} was damaged or altered")


def read_checkpoint(path: Path) -> Checkpoint:
    """Read one checkpoint, or say in one line what is wrong with it."""
    try:
        _check(path, WEIGHTS, OPTIMIZER, STATE)
        state = json.loads((path / STATE).read_text("utf-8"))
        return Checkpoint(
            step=state["step"],
            weights=load_file(path / WEIGHTS),
            optimizer=load_file(path / OPTIMIZER),
            state=state,
            averaged=state["averaged"],
        )
    except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
        raise TrainingError(f"the checkpoint {path} cannot be read: {error}") from error
