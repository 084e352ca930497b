"""kill -9 at any moment: the same command ends in the same weights, to the bit."""

import random
import signal
from pathlib import Path
from typing import Any

import pytest

KILLED = -signal.SIGKILL


def kill_once(
    nursery: Any, whole: Any, look: Any, folder: Path, **asked: Any
) -> int | None:
    """Kill a run, go on, and compare; give the updates done twice, or None if too late.

    A run that ended before it was killed tells nothing.
    """
    ended = nursery.train(folder, **asked)
    if ended.code == 0:
        return None
    assert ended.code == KILLED, nursery.said(folder)
    noted = look.steps_noted(folder)
    redone: int = (noted[-1] if noted else 0) - look.newest_step(folder)
    again = nursery.train(folder)
    assert again.code == 0, nursery.said(folder)
    assert look.fingerprint(folder) == whole.fingerprint
    assert look.steps_noted(folder) == list(range(1, look.steps + 1))
    leftovers = [
        *folder.rglob("*.tmp"),
        *folder.rglob("*.old"),
        *folder.rglob("*.gone"),
    ]
    assert leftovers == []
    return redone


def kill_at_random(
    nursery: Any, whole: Any, look: Any, tmp_path: Path, count: int, seed: int
) -> list[int]:
    """Kill so many runs, each at its own moment; every fourth from its first second."""
    chance = random.Random(seed)
    redone: list[int] = []
    number = 0
    while len(redone) < count:
        folder = tmp_path / f"run-{number}"
        if number % 4:
            nursery.prepared(folder)
        # An update and a moment after it: on a busy machine, the clock alone would
        # often come too late. Before the first update, it is all there is.
        lines = chance.randrange(look.steps)
        delay = chance.uniform(0, 0.1 if lines else whole.seconds / 2)
        after = [str(folder / "metrics.jsonl"), lines] if lines else ["", 0]
        signals = [(delay, signal.SIGKILL)]
        lost = kill_once(nursery, whole, look, folder, after=after, signals=signals)
        if lost is not None:
            redone.append(lost)
        number += 1
    return redone


def test_a_few_kills_at_random_moments(
    nursery: Any, whole: Any, look: Any, tmp_path: Path
) -> None:
    redone = kill_at_random(nursery, whole, look, tmp_path, 3, seed=1)
    assert max(redone) <= look.save_every


def kill_in_a_save(
    nursery: Any,
    whole: Any,
    look: Any,
    eve: Any,
    folder: Path,
    operation: int,
    **how: Any,
) -> int:
    nursery.copy(eve.folder, folder)
    redone = kill_once(nursery, whole, look, folder, save=1, die_at=operation, **how)
    assert redone is not None
    return redone


@pytest.mark.parametrize("halfway", [False, True])
def test_kills_at_a_few_operations_of_a_save(
    nursery: Any, whole: Any, look: Any, eve: Any, tmp_path: Path, halfway: bool
) -> None:
    for operation in (eve.operations // 3, eve.operations - 2):
        folder = tmp_path / f"run-{operation}"
        kill_in_a_save(nursery, whole, look, eve, folder, operation, halfway=halfway)


@pytest.mark.faults
def test_two_hundred_kills_at_random_moments(
    nursery: Any, whole: Any, look: Any, tmp_path: Path, report: Any
) -> None:
    redone = kill_at_random(nursery, whole, look, tmp_path, 200, seed=2)
    assert max(redone) <= look.save_every
    report(
        "kill −9 at a random moment of a run",
        len(redone),
        "same SHA-256 of the weights as the run never killed",
        f"at most {max(redone)} updates done twice (saved every {look.save_every})",
    )


@pytest.mark.faults
@pytest.mark.parametrize("halfway", [False, True])
def test_a_kill_at_every_operation_of_a_save(
    nursery: Any,
    whole: Any,
    look: Any,
    eve: Any,
    tmp_path: Path,
    report: Any,
    halfway: bool,
) -> None:
    redone = [
        kill_in_a_save(
            nursery, whole, look, eve, tmp_path / f"run-{k}", k, halfway=halfway
        )
        for k in range(1, eve.operations + 1)
    ]
    where = (
        "half-way through each write, after each" if halfway else "after each write,"
    )
    report(
        f"kill −9 {where} fsync, rename, unlink and mkdir of a save",
        len(redone),
        "same SHA-256 of the weights as the run never killed",
        f"at most {max(redone)} updates done twice (saved every {look.save_every})",
    )
