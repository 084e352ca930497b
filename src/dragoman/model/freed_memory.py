"""Memory that was freed is kept for the next tensor instead of given back.

An update allocates and frees the same large tensors as the one before it, and so does
a step of a search. glibc asks the system for each of them anew and hands it back, and
every page of it is then cleared and entered into the page table again, while the other
threads wait.
"""

import ctypes
import sys

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # as <malloc.h> numbers them
_NEVER_TRIM = 2**31 - 1
_LARGEST_FROM_THE_HEAP = 2**30


def keep_freed_memory() -> bool:
    """Ask the C library of this process to keep what is freed; say whether it does."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        change = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):  # a C library other than glibc
        return False
    return bool(
        change(_TRIM_THRESHOLD, _NEVER_TRIM)
        and change(_MMAP_THRESHOLD, _LARGEST_FROM_THE_HEAP)
    )
