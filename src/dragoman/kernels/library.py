"""Finds the kernels for this machine: those that came along, or compiled here."""

import ctypes
import hashlib
import os
import platform
import shutil
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from dragoman.errors import KernelError
from dragoman.kernels import compiling
from dragoman.kernels.instructions import (
    LEVELS,
    VARIABLE,
    asked_for,
    processor,
    whole_processor,
)

PREBUILT = Path(__file__).parent / "prebuilt"  # only wheels for one system have it


@dataclass(frozen=True)
class Origin:
    """Where kernels come from: `level` is what they were compiled for, if they were."""

    kind: Literal["prebuilt", "compiled", "plain"]
    level: str | None
    why: str


@dataclass(frozen=True)
class Kernels:
    """The kernels, loaded, and where they come from."""

    library: ctypes.CDLL
    origin: Origin


def library() -> ctypes.CDLL:
    """Give the kernels, compiled anew only where sources, compiler or CPU changed."""
    return found_kernels().library


def kernels_origin() -> Origin:
    """Say which kernels this process has, and why."""
    try:
        return found_kernels().origin
    except KernelError as error:
        return Origin("plain", None, str(error))


@cache
def found_kernels() -> Kernels:
    """Take what came along for the best level, else compile, else say why not."""
    asked = asked_for()
    if asked == "plain":
        raise KernelError(f"{VARIABLE}=plain leaves them out")
    if not sys.platform.startswith("linux"):
        raise KernelError(f"kernels are for Linux only, and this is {sys.platform}")
    level = asked if asked in LEVELS else "native"
    why_not = f"{VARIABLE}={asked}"
    if asked != "native":
        file = _prebuilt(asked)
        try:
            if file is not None:
                why = "they came along with this package"
                return Kernels(load(file), Origin("prebuilt", file.stem, why))
            why_not = "none came along with this package for this processor"
        except KernelError as error:
            why_not = str(error)
    compiler = compiling.find_compiler()
    found = load(_compiled(compiler, level))
    return Kernels(found, Origin("compiled", level, f"by {compiler}: {why_not}"))


def _prebuilt(asked: str) -> Path | None:
    """Give those that came along for the level held to, or for the best there is."""
    wanted = [asked] if asked in LEVELS else [*reversed(LEVELS)]
    able = processor().instructions
    for level in wanted:
        file = PREBUILT / f"{level}.so"
        if LEVELS[level] <= able and file.is_file():
            return file
    return None


def load(file: Path) -> ctypes.CDLL:
    """Load kernels, whose threads are those that torch has loaded."""
    import torch  # noqa: F401 (which loads them for all)

    try:
        return ctypes.CDLL(str(file))
    except OSError as error:
        first = error
    try:  # a torch that was made otherwise may keep them to itself
        ctypes.CDLL("libgomp.so.1", ctypes.RTLD_GLOBAL)
        return ctypes.CDLL(str(file))
    except OSError:
        raise KernelError(f"the kernels cannot be loaded ({first})") from first


def cache_folder() -> Path:
    """Give the folder where compiled kernels are kept from run to run."""
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "dragoman"


def _compiled(compiler: str, level: str) -> Path:
    """Give the kernels compiled for a level, compiling them only if they are not there.

    A folder that cannot be written to is done without: each process has then its own.
    """
    folder, name = cache_folder(), f"kernels-{_digest(compiler, level)}.so"
    if (folder / name).exists():
        return folder / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix="kernels-", dir=folder))
    except OSError:
        folder = Path(tempfile.mkdtemp(prefix="dragoman-kernels-"))
        work = Path(tempfile.mkdtemp(dir=folder))
    try:
        built = compiling.compile_kernels(compiler, level, work)
        return built.replace(folder / name)  # whole, or not there
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _digest(compiler: str, level: str) -> str:
    """Name what decides the machine code: a home may be shared by many machines."""
    content = hashlib.sha256()
    for source in sorted(compiling.SOURCES.iterdir()):
        content.update(source.read_bytes())
    here = whole_processor()
    for part in (
        *compiling.options_for(level),
        compiling.version_of(compiler),
        platform.machine(),
        here.name,
        *sorted(here.instructions),
    ):
        content.update(part.encode())
    return content.hexdigest()[:16]
