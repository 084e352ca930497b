"""How much memory this process holds, and has held."""

import mmap
import sys
from pathlib import Path

OWN_TABLE = Path("/proc/self/statm")


def resident_memory() -> int:
    """Give the memory that this process holds now, in bytes."""
    if not OWN_TABLE.exists():
        return peak_memory()
    pages = int(OWN_TABLE.read_text().split()[1])
    return pages * mmap.PAGESIZE


def peak_memory() -> int:
    """Give the most memory this process has held so far, in bytes.

    It is 0 on Windows, which has no such table and does not tell it in this way.
    """
    try:
        import resource
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak
