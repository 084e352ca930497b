"""Compiles the C sources once for this machine, and loads what came of it."""

import ctypes
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from dragoman.errors import ConfigError, KernelError

SOURCES = Path(__file__).parent / "source"
OPTIONS = ["-std=gnu11", "-O3", "-march=native", "-fopenmp", "-shared", "-fPIC"]
VARIABLE = "DRAGOMAN_KERNELS"  # auto, or plain: PyTorch alone
CPU_TABLE = Path("/proc/cpuinfo")


@dataclass(frozen=True)
class Origin:
    """Where kernels come from: `level` is what they were compiled for, if they were."""

    kind: Literal["prebuilt", "compiled", "plain"]
    level: str | None
    why: str


def kernels_origin() -> Origin:
    """Say which kernels this process has, and why."""
    try:
        library()
        return Origin("compiled", "native", f"by {find_compiler()}")
    except KernelError as error:
        return Origin("plain", None, str(error))


@cache
def library() -> ctypes.CDLL:
    """Give the kernels, compiled anew only where sources, compiler or CPU changed."""
    asked = os.environ.get(VARIABLE, "auto")
    if asked == "plain":
        raise KernelError(f"{VARIABLE}=plain leaves them out")
    if asked != "auto":
        raise ConfigError(f"{VARIABLE}={asked!r} is neither auto nor plain: unset it")
    if not sys.platform.startswith("linux"):
        raise KernelError(
            f"kernels are compiled on Linux only, and this is {sys.platform}"
        )
    compiler = find_compiler()
    name = f"kernels-{_digest(compiler)}.so"
    folder = cache_folder()
    if not (folder / name).exists():
        folder = _compile(compiler, folder, name)
    try:
        return ctypes.CDLL(str(folder / name))
    except OSError as error:
        raise KernelError(f"the compiled kernels cannot be loaded ({error})") from error


def find_compiler() -> str:
    """Give the C compiler that $CC names, or cc."""
    name = os.environ.get("CC") or "cc"
    path = shutil.which(name)
    if path is None:
        raise KernelError(f"there is no C compiler {name!r} (gcc would do)")
    return path


def cache_folder() -> Path:
    """Give the folder where compiled kernels are kept from run to run."""
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "dragoman"


def _digest(compiler: str) -> str:
    """Name what decides the machine code: a home may be shared by many machines."""
    content = hashlib.sha256()
    for source in sorted(SOURCES.iterdir()):
        content.update(source.read_bytes())
    version = _run([compiler, "--version"])
    for part in (*OPTIONS, version, platform.machine(), cpu_features()):
        content.update(part.encode())
    return content.hexdigest()[:16]


def cpu_features() -> str:
    """Give what the processor says of itself, as far as it decides the machine code."""
    if not CPU_TABLE.exists():
        return ""
    lines = CPU_TABLE.read_text().splitlines()
    told = ("flags", "Features", "model name")
    return "\n".join(sorted({line for line in lines if line.startswith(told)}))


def _compile(compiler: str, folder: Path, name: str) -> Path:
    """Compile into the folder, or into one for this process where that is closed."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix="kernels-", dir=folder))
    except OSError:
        folder = work = Path(tempfile.mkdtemp(prefix="dragoman-kernels-"))
    built = work / name
    sources = [str(source) for source in sorted(SOURCES.glob("*.c"))]
    try:
        _run([compiler, *OPTIONS, *sources, "-o", str(built), "-lm"])
        built.replace(folder / name)  # whole, or not there
    finally:
        if work != folder:
            shutil.rmtree(work, ignore_errors=True)
    return folder


def _run(command: list[str]) -> str:
    try:
        done = subprocess.run(  # noqa: S603 (the compiler that this machine names)
            command, capture_output=True, text=True, check=True, timeout=120
        )
    except subprocess.CalledProcessError as error:
        first = (error.stderr.strip() or "no reason given").splitlines()[0]
        raise KernelError(f"{command[0]} failed ({first})") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise KernelError(f"{command[0]} failed ({error})") from error
    return done.stdout
