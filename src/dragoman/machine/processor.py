"""What the processor is called, and which of its instructions matter here."""

import platform
from dataclasses import dataclass
from pathlib import Path

CPU_TABLE = Path("/proc/cpuinfo")
# As Linux names them, the narrowest first: what products of matrices are made of.
KNOWN = (
    "sse4_2",
    "avx",
    "avx2",
    "fma",
    "avx512f",
    "avx_vnni",
    "avx512_vnni",
    "avx512_bf16",
    "amx_bf16",
    "asimd",
    "sve",
    "bf16",
)


@dataclass(frozen=True)
class Processor:
    """A processor's name, and those of its instructions that make learning fast."""

    name: str
    instructions: tuple[str, ...]


def processor_here() -> Processor:
    """Read what the processor says of itself, as far as the system tells it."""
    told: dict[str, str] = {}
    if CPU_TABLE.exists():
        for line in CPU_TABLE.read_text().splitlines():
            name, _, value = line.partition(":")
            told.setdefault(name.strip(), value.strip())
    has = (told.get("flags") or told.get("Features") or "").split()
    name = told.get("model name") or platform.processor() or platform.machine()
    return Processor(name, tuple(known for known in KNOWN if known in has))
