"""How many cores there are for this process, and how many others want them."""

import math
import os
from dataclasses import dataclass
from pathlib import Path

# What a container may use, of version 2 and 1 of Linux's control groups.
QUOTA = Path("/sys/fs/cgroup/cpu.max")
OLD_QUOTA = Path("/sys/fs/cgroup/cpu/cpu.cfs_quota_us")
OLD_PERIOD = Path("/sys/fs/cgroup/cpu/cpu.cfs_period_us")


@dataclass(frozen=True)
class Cores:
    """The machine's cores, and what this process gets of them."""

    present: int
    allowed: int  # to this process, which may be bound to some of them
    quota: float | None  # of a container: so many cores' time, if it is limited
    load: float | None  # programs that want to run, over the last minute

    @property
    def usable(self) -> float:
        """How many cores this process can keep busy."""
        return min(self.allowed, self.quota or math.inf)

    @property
    def busy(self) -> bool:
        """Whether programs have to wait for a core."""
        return self.load is not None and self.load > self.present + 0.5

    def describe_load(self) -> str:
        """Say how many programs share how many cores."""
        cores = "1 core" if self.present == 1 else f"{self.present} cores"
        return f"load {self.load:.1f} on {cores}"


def cores_now() -> Cores:
    """Look at the machine's cores."""
    present = os.cpu_count() or 1
    allowed = present
    if hasattr(os, "sched_getaffinity"):
        allowed = len(os.sched_getaffinity(0))
    return Cores(present, allowed, _quota(), _load())


def _load() -> float | None:
    try:
        return os.getloadavg()[0]
    except (AttributeError, OSError):  # as on Windows
        return None


def _quota() -> float | None:
    """Read the share of time that a container has, in cores."""
    try:
        if QUOTA.exists():
            quota, period = QUOTA.read_text().split()
        else:
            quota, period = OLD_QUOTA.read_text(), OLD_PERIOD.read_text()
        limit = float(quota) / float(period)
    except (OSError, ValueError):  # no container, or "max": no limit
        return None
    return limit if limit > 0 else None
