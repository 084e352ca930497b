"""How much memory and swap the machine has, and what is left of both."""

from dataclasses import dataclass
from pathlib import Path

MEMORY_TABLE = Path("/proc/meminfo")


@dataclass(frozen=True)
class Memory:
    """Bytes of the machine's memory and of its swap space."""

    total: int
    free: int  # or could be freed
    swap: int
    swap_used: int


def memory_now() -> Memory | None:
    """Look at the machine's memory, where the system keeps a table of it."""
    if not MEMORY_TABLE.exists():
        return None
    rows = dict(
        line.split(":", 1)
        for line in MEMORY_TABLE.read_text().splitlines()
        if ":" in line
    )
    total, free, swap, swap_free = (
        1024 * int(rows[name].split()[0])
        for name in ("MemTotal", "MemAvailable", "SwapTotal", "SwapFree")
    )
    return Memory(total, free, swap, swap - swap_free)
