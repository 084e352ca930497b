"""How much memory there is here for a new process."""

import os
from pathlib import Path

import torch

MEMORY_TABLE = Path("/proc/meminfo")
CONTAINER_LIMIT = Path("/sys/fs/cgroup/memory.max")
UNKNOWN = 2**63  # more than there is: nobody is then warned


def free_memory(device: torch.device) -> int:
    """Give the bytes that a new process could have."""
    if device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(device)
        return int(free)
    if MEMORY_TABLE.exists():
        return min(_available(MEMORY_TABLE.read_text()), _limit())
    if hasattr(os, "sysconf"):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return UNKNOWN


def _available(table: str) -> int:
    """Read the row that says what is free or could be freed, in KiB."""
    rows = dict(line.split(":", 1) for line in table.splitlines() if ":" in line)
    return 1024 * int(rows["MemAvailable"].split()[0])


def _limit() -> int:
    """Give the most that a container allows; without one, more than there is."""
    text = CONTAINER_LIMIT.read_text().strip() if CONTAINER_LIMIT.exists() else "max"
    return int(text) if text.isdecimal() else UNKNOWN
