"""A checkpoint that is cut off or has lost a bit is noticed, named and passed over."""

import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from dragoman.errors import TrainingError
from dragoman.training.checkpoints import Checkpoints, read_checkpoint

FILES = ("model.safetensors", "optimizer.safetensors", "state.json", "manifest.json")


@pytest.fixture
def checkpoints(whole: Any, tmp_path: Path) -> Checkpoints:
    shutil.copytree(whole.folder / "checkpoints", tmp_path / "checkpoints")
    return Checkpoints(tmp_path / "checkpoints", keep=3)


def noticed(checkpoints: Checkpoints, path: Path, damaged: bytes) -> bool:
    """Put damaged bytes in a file's place; say whether all is as it should be then."""
    whole = path.read_bytes()
    older = checkpoints.saved()[-2]
    said: list[str] = []
    try:
        path.write_bytes(damaged)
        with pytest.raises(TrainingError):
            read_checkpoint(path.parent)
        found = checkpoints.latest(said.append)
    finally:
        path.write_bytes(whole)
    assert found is not None
    went_back = f"step-{found.step}" == older.name
    return went_back and len(said) == 1 and str(path.parent) in said[0]


def cut_everywhere(checkpoints: Checkpoints, every: int) -> int:
    trials = 0
    for name in FILES:
        path = checkpoints.saved()[-1] / name
        whole = path.read_bytes()
        for length in range(0, len(whole), every):
            assert noticed(checkpoints, path, whole[:length]), (name, length)
            trials += 1
    return trials


def flip_bits(checkpoints: Checkpoints, count: int, seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(count):
        path = checkpoints.saved()[-1] / chance.choice(FILES)
        content = bytearray(path.read_bytes())
        place = chance.randrange(len(content))
        content[place] ^= 1 << chance.randrange(8)
        assert noticed(checkpoints, path, bytes(content)), (path, place)


def test_a_few_cuts(checkpoints: Checkpoints) -> None:
    assert cut_everywhere(checkpoints, every=20_011) > 4


def test_a_few_lost_bits(checkpoints: Checkpoints) -> None:
    flip_bits(checkpoints, 8, seed=5)


@pytest.mark.faults
def test_cuts_at_every_37_bytes(checkpoints: Checkpoints, report: Any) -> None:
    trials = cut_everywhere(checkpoints, every=37)
    report(
        "newest checkpoint cut off, at every 37 bytes of each of its files",
        trials,
        "noticed and named, the one before it used",
        f"{trials} of {trials}",
    )


@pytest.mark.faults
def test_a_thousand_lost_bits(checkpoints: Checkpoints, report: Any) -> None:
    flip_bits(checkpoints, 1000, seed=6)
    report(
        "one bit of the newest checkpoint flipped",
        1000,
        "noticed and named, the one before it used",
        "1,000 of 1,000",
    )
