import mmap
from pathlib import Path

import pytest
import torch

from dragoman.training import process_memory
from dragoman.training.process_memory import peak_memory, resident_memory


def test_what_is_held_now_is_no_more_than_the_peak(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = resident_memory()
    # Asked of the system itself: an allocator might take what it kept of earlier tests.
    block = mmap.mmap(-1, 2**26)
    block.write(bytes(2**26))
    counted_late = 2**22  # the system adds pages up now and then
    assert before + 2**25 < resident_memory() <= peak_memory() + counted_late
    block.close()
    monkeypatch.setattr(process_memory, "OWN_TABLE", tmp_path / "none")
    assert resident_memory() == peak_memory()


def test_peak_memory_is_in_bytes_and_never_falls() -> None:
    before = peak_memory()
    torch.ones(2**22)
    assert peak_memory() >= before > 2**24
