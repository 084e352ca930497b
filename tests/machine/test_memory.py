from pathlib import Path

import pytest

from dragoman.machine import memory as module
from dragoman.machine.memory import Memory, memory_now

TABLE = """\
MemTotal:       1000 kB
MemFree:         100 kB
MemAvailable:    400 kB
SwapTotal:       500 kB
SwapFree:        200 kB
HugePages_Total:   0
"""


def test_memory_is_read_from_the_systems_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "meminfo"
    monkeypatch.setattr(module, "MEMORY_TABLE", file)
    assert memory_now() is None
    file.write_text(TABLE)
    assert memory_now() == Memory(
        total=1000 * 1024, free=400 * 1024, swap=500 * 1024, swap_used=300 * 1024
    )
