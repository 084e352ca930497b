"""Puts kernels for every level of one machine into a wheel, where that is asked for.

`DRAGOMAN_WHEEL=x86-64` (or aarch64) asks for it, and `make wheels` sets it. Any other
wheel holds Python and C alone, and is the same on every machine: no compiler is needed
to install from source.
"""

import os
import platform
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

VARIABLE = "DRAGOMAN_WHEEL"
GLIBC = (2, 28)  # the oldest that torch's own wheels work with
MACHINES = {"x86-64": "x86_64", "aarch64": "aarch64"}  # as tags and compilers call them


class PrebuiltKernels(BuildHookInterface):  # type: ignore[type-arg]
    """Compiles for each level, and names the wheel for the machine."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Say what else belongs into the wheel; an editable install has no need."""
        asked = os.environ.get(VARIABLE)
        if not asked or version == "editable":
            return
        if asked not in MACHINES:
            sys.exit(f"{VARIABLE}={asked!r} is none of {', '.join(MACHINES)}")
        self._work = tempfile.TemporaryDirectory(prefix="dragoman-wheel-")
        built = compiled_for(asked, Path(self.root), Path(self._work.name))
        for level, file in built.items():
            inside = f"dragoman/kernels/prebuilt/{level}.so"
            build_data["force_include"][str(file)] = inside
        build_data["pure_python"] = False
        libc = "_".join(map(str, GLIBC))
        build_data["tag"] = f"py3-none-manylinux_{libc}_{MACHINES[asked]}"

    def finalize(
        self, version: str, build_data: dict[str, Any], artifact_path: str
    ) -> None:
        """Remove what was compiled."""
        if hasattr(self, "_work"):
            self._work.cleanup()


def compiled_for(asked: str, root: Path, work: Path) -> dict[str, Path]:
    """Compile every level of a machine, and make sure that others can load it."""
    sys.path.insert(0, str(root / "src"))
    from dragoman.kernels.compiling import compile_kernels, find_compiler
    from dragoman.kernels.instructions import LEVELS

    machine = MACHINES[asked]
    if machine == platform.machine():
        compiler = find_compiler()
    else:
        compiler = f"{machine}-linux-gnu-gcc"
    built = {}
    for level in (level for level in LEVELS if level.startswith(asked)):
        folder = work / level
        folder.mkdir()
        built[level] = compile_kernels(compiler, level, folder)
        if (needed := newest_glibc(built[level])) > GLIBC:
            sys.exit(f"{level} needs glibc {needed}: the wheel would promise {GLIBC}")
    return built


def newest_glibc(library: Path) -> tuple[int, ...]:
    """Give the newest version of glibc that a library names a function of."""
    names = re.findall(rb"GLIBC_(\d+)\.(\d+)", library.read_bytes())
    return max(tuple(map(int, name)) for name in names)
