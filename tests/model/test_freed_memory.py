"""Large tensors that come and go do not make the system clear the same pages again."""

import platform
import subprocess
import sys

import pytest

FAULTS = """
import resource, sys, torch
from dragoman.model.freed_memory import keep_freed_memory
if sys.argv[1] == "keep":
    assert keep_freed_memory()
torch.ones(4_000_000)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    one, two = torch.ones(16_000_000), torch.ones(16_000_000)
    del one, two
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def page_faults(mode: str) -> int:
    done = subprocess.run(
        [sys.executable, "-c", FAULTS, mode], capture_output=True, text=True, check=True
    )
    return int(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc is asked")
def test_freed_memory_is_used_again() -> None:
    assert page_faults("keep") < 0.5 * page_faults("give back")
