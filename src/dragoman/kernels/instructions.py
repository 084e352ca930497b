"""What instructions kernels may use: the processor's, or those of a level held to.

Compilers know four levels of x86-64 by name, and Linux names what a processor and the
system both can do. DRAGOMAN_KERNELS=x86-64-v3 lets everything here behave as if the
processor had just that level, which is how one machine stands in for many in tests.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from dragoman.errors import ConfigError

VARIABLE = "DRAGOMAN_KERNELS"
CPU_TABLE = Path("/proc/cpuinfo")

_V2 = frozenset(("cx16", "lahf_lm", "pni", "popcnt", "sse4_1", "sse4_2", "ssse3"))
_V3 = _V2 | {"abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "xsave"}
_V4 = _V3 | {"avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"}

# The lowest first; each has what the one before it has.
LEVELS = {
    "aarch64": frozenset({"asimd"}),
    "x86-64-v2": _V2,
    "x86-64-v3": _V3,
    "x86-64-v4": _V4,
}
CHOICES = ("auto", "plain", "native", *LEVELS)


@dataclass(frozen=True)
class Processor:
    """A processor by its name and by what it can do, as Linux calls it."""

    name: str
    instructions: frozenset[str]

    @property
    def level(self) -> str | None:
        """The highest level all of whose instructions it has, if any."""
        known = [name for name, needed in LEVELS.items() if needed <= self.instructions]
        return known[-1] if known else None


def asked_for() -> str:
    """Give what DRAGOMAN_KERNELS asks for: one of `CHOICES`."""
    asked = os.environ.get(VARIABLE) or "auto"
    if asked not in CHOICES:
        raise ConfigError(
            f"{VARIABLE}={asked!r} is none of {', '.join(CHOICES)}: choose one of "
            "these, or unset it"
        )
    return asked


def whole_processor() -> Processor:
    """Give this machine's processor; where nothing is told of it, it can do nothing."""
    if not CPU_TABLE.exists():
        return Processor("", frozenset())
    told: dict[str, str] = {}
    for line in CPU_TABLE.read_text().splitlines():
        name, _, value = line.partition(":")
        told.setdefault(name.strip(), value.strip())
    instructions = told.get("flags") or told.get("Features") or ""
    return Processor(told.get("model name", ""), frozenset(instructions.split()))


def processor() -> Processor:
    """Give this machine's processor, with no more than the level that is held to."""
    whole, asked = whole_processor(), asked_for()
    if asked not in LEVELS:
        return whole
    if missing := LEVELS[asked] - whole.instructions:
        raise ConfigError(
            f"{VARIABLE}={asked} needs instructions that this processor lacks "
            f"({' '.join(sorted(missing))}): its own level is {whole.level}"
        )
    return Processor(whole.name, LEVELS[asked])
