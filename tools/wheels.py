"""Builds what is published: the source distribution, and a wheel for each machine.

    python tools/wheels.py dist
    python tools/wheels.py dist x86-64

The wheel for another machine needs a compiler for it, such as Debian's
gcc-aarch64-linux-gnu.
"""

import os
import subprocess
import sys
from pathlib import Path

from wheel_hook import MACHINES, VARIABLE

ROOT = Path(__file__).parents[1]


def build(target: str, folder: Path, machine: str = "") -> None:
    """Let hatchling build one distribution."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d"]
    asked = {**os.environ, VARIABLE: machine}
    subprocess.run([*command, str(folder.resolve())], cwd=ROOT, env=asked, check=True)


def main() -> None:
    """Build what was asked for, or everything."""
    folder, machines = Path(sys.argv[1]), sys.argv[2:]
    if not machines:
        build("sdist", folder)
    for machine in machines or MACHINES:
        build("wheel", folder, machine)


if __name__ == "__main__":
    main()
