"""Compiles the C sources of the kernels, for this machine or for others."""

import os
import shutil
import subprocess
from pathlib import Path

from dragoman.errors import KernelError

SOURCES = Path(__file__).parent / "source"
OPTIONS = ["-std=gnu11", "-O3", "-fopenmp", "-fPIC"]
MARCH = {"aarch64": "armv8-a"}  # what compilers call a level, where they call it else


def find_compiler() -> str:
    """Give the C compiler that $CC names, or cc."""
    name = os.environ.get("CC") or "cc"
    path = shutil.which(name)
    if path is None:
        raise KernelError(f"there is no C compiler {name!r} (gcc would do)")
    return path


def options_for(level: str) -> list[str]:
    """Give the options that compile for a level, or for this processor: "native"."""
    return [*OPTIONS, f"-march={MARCH.get(level, level)}"]


def version_of(compiler: str) -> str:
    """Give what a compiler says of itself."""
    return _run([compiler, "--version"])


def compile_kernels(compiler: str, level: str, work: Path) -> Path:
    """Compile in an empty folder, and give the library that is then there.

    GCC's is not told where its threads come from, so that it takes those that torch has
    loaded already: each of two runtimes would keep threads of its own. Clang's threads
    are its own library's.
    """
    sources = [str(source.resolve()) for source in sorted(SOURCES.glob("*.c"))]
    _run([compiler, *options_for(level), "-c", *sources], work)
    objects = [str(item) for item in sorted(work.glob("*.o"))]
    threads = ["-fopenmp"] if "clang" in version_of(compiler) else []
    built = work / "kernels.so"
    _run([compiler, "-shared", "-s", *threads, *objects, "-o", str(built), "-lm"])
    return built


def _run(command: list[str], folder: Path | None = None) -> str:
    try:
        done = subprocess.run(  # noqa: S603 (the compiler that this machine names)
            command, capture_output=True, text=True, check=True, timeout=120, cwd=folder
        )
    except subprocess.CalledProcessError as error:
        first = (error.stderr.strip() or "no reason given").splitlines()[0]
        raise KernelError(f"{command[0]} failed ({first})") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise KernelError(f"{command[0]} failed ({error})") from error
    return done.stdout
