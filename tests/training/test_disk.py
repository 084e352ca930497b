import errno
import os
from pathlib import Path

import pytest
import torch

from dragoman.errors import TrainingError
from dragoman.training.disk import keeping, size_of


def test_a_full_disk_is_said_with_path_and_bytes(tmp_path: Path) -> None:
    path = tmp_path / "not" / "there" / "yet"
    with (
        pytest.raises(TrainingError, match=r"bytes are free there\): make room") as e,
        keeping(path, needed=1234567),
    ):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    said = str(e.value)
    assert f"cannot write {path} (No space left on device; " in said
    assert "it needs about 1,234,567 bytes" in said
    assert "\n" not in said


def test_other_errors_are_left_alone() -> None:
    with pytest.raises(KeyError), keeping(Path("x")):
        raise KeyError("x")


def test_size_of_counts_every_byte() -> None:
    whole = torch.zeros(2, dtype=torch.int64)
    assert size_of({"a": torch.zeros(3)}, {"b": whole}) == 28
