"""Checkpoints: folders from which a run goes on exactly where it was.

A checkpoint is written under a temporary name, brought to disk, renamed, and only then
named by LATEST; older ones are pruned last, once the new one has been read back. So
whenever the power fails, the newest whole checkpoint is found. Each file's SHA-256
stands in the manifest.
"""

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from dragoman import durable
from dragoman.errors import TrainingError
from dragoman.training.disk import keeping, size_of

WEIGHTS, OPTIMIZER, STATE, MANIFEST = (
    "model.safetensors",
    "optimizer.safetensors",
    "state.json",
    "manifest.json",
)
FILES = (WEIGHTS, OPTIMIZER, STATE)
LATEST, BEST = "LATEST", "BEST"
UNFINISHED, REPLACED, GONE = ".tmp", ".old", ".gone"


def _silence(_line: str) -> None:
    """Warn of nothing."""


@dataclass(frozen=True)
class Checkpoint:
    """All that the rest of a run depends on."""

    step: int
    weights: Mapping[str, Tensor]
    optimizer: Mapping[str, Tensor]
    state: Mapping[str, Any]  # plain data: sampler position, clock, best score, ...
    averaged: bool = True  # False for one that only an interruption called for
    best: bool = False  # whether no other did better on the validation set so far


class Checkpoints:
    """The folder that holds a run's checkpoints, oldest to newest, and the best."""

    def __init__(self, folder: Path, keep: int) -> None:
        self.folder = folder
        self.keep = keep

    def save(self, checkpoint: Checkpoint) -> Path:
        """Write a checkpoint safely, point at it, and prune what is not needed."""
        final = self._path(checkpoint.step)
        needed = size_of(checkpoint.weights, checkpoint.optimizer)
        with keeping(final, needed):
            self.folder.mkdir(parents=True, exist_ok=True)
            if not _holds(final, checkpoint):
                self._write(checkpoint, final)
                _verify(final)
            self._point_at(final, best=checkpoint.best)
        self._prune(checkpoint.step)
        return final

    def latest(self, warn: Callable[[str], None] = _silence) -> Checkpoint | None:
        """Read the newest checkpoint that is whole, or nothing if there is none.

        `warn` is told of each one that is damaged and therefore passed over.
        """
        if not self.folder.is_dir():
            return None
        self._undo_half_a_replacement()
        damage: list[str] = []
        for path in reversed(self.saved()):
            try:
                found = read_checkpoint(path)
            except TrainingError as error:
                damage.append(str(error))
                continue
            for line in damage:
                warn(f"{line}: going on from {path.name} instead")
            with keeping(path):
                self._point_at(path, best=found.best)
            return found
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
        unfinished = final.with_name(final.name + UNFINISHED)
        shutil.rmtree(unfinished, ignore_errors=True)
        try:
            unfinished.mkdir()
            self._fill(unfinished, checkpoint)
            if final.exists():  # damaged, or saved for an interruption alone
                _rename_over(final, REPLACED)
            durable.rename_folder(unfinished, final)
        except (OSError, SafetensorError):
            shutil.rmtree(unfinished, ignore_errors=True)
            raise

    def _fill(self, folder: Path, checkpoint: Checkpoint) -> None:
        durable.replace_tensors(folder / WEIGHTS, checkpoint.weights)
        durable.replace_tensors(folder / OPTIMIZER, checkpoint.optimizer)
        state = {
            "step": checkpoint.step,
            "averaged": checkpoint.averaged,
            "best": checkpoint.best,
            "averaging_window": self._window_with(checkpoint),
            **checkpoint.state,
        }
        durable.write_text(folder / STATE, json.dumps(state, indent=2) + "\n")
        hashes = {name: durable.sha256(folder / name) for name in FILES}
        durable.write_text(folder / MANIFEST, json.dumps(hashes, indent=2) + "\n")

    def _window_with(self, checkpoint: Checkpoint) -> list[int]:
        """List the updates whose weights a run that ended here would average."""
        earlier = [step_of(path) for path in self.window(self.keep)]
        steps = {step for step in earlier if step < checkpoint.step}
        if checkpoint.averaged:
            steps.add(checkpoint.step)
        return sorted(steps)[-self.keep :]

    def _point_at(self, path: Path, *, best: bool) -> None:
        _point(self.folder / LATEST, path)
        if best:
            _point(self.folder / BEST, path)

    def _undo_half_a_replacement(self) -> None:
        """Take back what was about to be replaced when the power failed."""
        for replaced in self.folder.glob("step-*" + REPLACED):
            final = replaced.with_suffix("")
            if not final.exists():
                replaced.rename(final)

    def _prune(self, newest: int) -> None:
        # What claims to be newer is damaged: the run went on from before it.
        stale = [path for path in self.saved() if step_of(path) > newest]
        for path in stale:
            _rename_over(path, GONE)
        needed = {*self.window(self.keep), *self.saved()[-2:], self.best()}
        for path in self.saved():
            if path not in needed:
                _rename_over(path, GONE)  # half of one must not pass for a whole one
        for ending in (UNFINISHED, REPLACED, GONE):
            for leftover in self.folder.glob("step-*" + ending):
                shutil.rmtree(leftover)


def _rename_over(path: Path, ending: str) -> None:
    """Give a folder another ending, whatever may be left under that name."""
    other = path.with_name(path.name + ending)
    shutil.rmtree(other, ignore_errors=True)
    path.rename(other)


def _point(pointer: Path, path: Path) -> None:
    text = path.name + "\n"
    if not pointer.exists() or pointer.read_bytes() != text.encode():
        durable.replace_text(pointer, text)


def step_of(path: Path) -> int:
    """Give the update after which a checkpoint was written, from its name."""
    return int(path.name.partition("-")[2])


def _holds(path: Path, checkpoint: Checkpoint) -> bool:
    """Say whether a checkpoint is there already, whole and for the same use."""
    if not path.exists():
        return False
    try:
        found = read_checkpoint(path)
    except TrainingError:
        return False
    return found.averaged >= checkpoint.averaged and found.best >= checkpoint.best


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


def _verify(path: Path) -> None:
    """Read a new checkpoint back from the disk, before older ones may go."""
    for name in FILES:
        durable.forget_cached(path / name)
    try:
        _check(path, *FILES)
    except (TrainingError, ValueError, KeyError) as error:
        raise TrainingError(
            f"{error}: the disk does not give back what was written; the checkpoints "
            "before it are untouched, check the disk before going on"
        ) from error


def _check(path: Path, *names: str) -> None:
    hashes = json.loads((path / MANIFEST).read_text("utf-8"))
    for name in names:
        if durable.sha256(path / name) != hashes[name]:
            raise TrainingError(f"{path / name} was damaged or altered")


def read_checkpoint(path: Path) -> Checkpoint:
    """Read one checkpoint, or say in one line what is wrong with it."""
    try:
        _check(path, *FILES)
        state = json.loads((path / STATE).read_text("utf-8"))
        return Checkpoint(
            step=state["step"],
            weights=load_file(path / WEIGHTS),
            optimizer=load_file(path / OPTIMIZER),
            state=state,
            averaged=state["averaged"],
            best=state.get("best", False),
        )
    except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
        raise TrainingError(f"the checkpoint {path} cannot be read: {error}") from error
