import platform
import shutil
import subprocess
from itertools import product
from pathlib import Path

import pytest

from dragoman.errors import KernelError
from dragoman.kernels import compiling
from dragoman.kernels.compiling import compile_kernels, find_compiler, options_for
from dragoman.kernels.instructions import LEVELS

HERE = platform.machine()
X86_64 = [level for level in LEVELS if level.startswith("x86-64")]


def compiler_for(level: str, name: str = "gcc") -> str:
    """Give a compiler for a level, of this kind of machine or of another."""
    if level == "aarch64" and HERE != "aarch64":
        name = f"aarch64-linux-gnu-{name}"
    elif level != "aarch64" and HERE != "x86_64":
        pytest.skip(f"{level} is not compiled for on {HERE}")
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"there is no {name} here")
    return path


@pytest.mark.parametrize(
    ("name", "level"),
    [*product(("gcc",), LEVELS), *product(("clang",), X86_64)],
)
def test_the_sources_compile_without_a_warning(
    name: str, level: str, tmp_path: Path
) -> None:
    strict = ["-Wall", "-Wextra", "-Werror", "-c"]
    sources = sorted(map(str, compiling.SOURCES.glob("*.c")))
    command = [compiler_for(level, name), *options_for(level), *strict, *sources]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def _own_compiler() -> str:
    return compiler_for("aarch64" if HERE == "aarch64" else "x86-64-v2")


def test_threads_are_left_to_whoever_has_loaded_them(tmp_path: Path) -> None:
    built = compile_kernels(_own_compiler(), "native", tmp_path)
    reader = shutil.which("readelf")
    if reader is None:
        pytest.skip("there is no readelf here")
    told = subprocess.run([reader, "-dW", built], capture_output=True, text=True)
    assert "libm.so" in told.stdout
    assert "gomp" not in told.stdout


def test_a_machine_without_a_compiler_is_told_of(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(KernelError, match="there is no C compiler 'no-such-compiler'"):
        find_compiler()


def test_a_compiler_that_fails_is_quoted_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiling, "OPTIONS", ["-std=no-such-standard"])
    with pytest.raises(KernelError, match=r"failed \(.*no-such-standard") as caught:
        compile_kernels(_own_compiler(), "native", tmp_path)
    assert "\n" not in str(caught.value)
