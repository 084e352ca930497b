from pathlib import Path

import pytest
import torch

from dragoman.planning import machine_memory
from dragoman.planning.machine_memory import free_memory

CPU = torch.device("cpu")


def test_a_container_may_allow_less_than_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, limit = tmp_path / "meminfo", tmp_path / "memory.max"
    table.write_text("MemTotal:  4000 kB\nMemAvailable:   3000 kB\n")
    monkeypatch.setattr(machine_memory, "MEMORY_TABLE", table)
    monkeypatch.setattr(machine_memory, "CONTAINER_LIMIT", limit)
    assert free_memory(CPU) == 3000 * 1024
    limit.write_text("max\n")
    assert free_memory(CPU) == 3000 * 1024
    limit.write_text("1000000\n")
    assert free_memory(CPU) == 1_000_000


def test_where_no_table_is_all_memory_counts_as_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine_memory, "MEMORY_TABLE", tmp_path / "none")
    assert free_memory(CPU) > 2**28
