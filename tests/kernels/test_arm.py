"""Kernels compiled for ARM do what their plain twins do, in an emulator."""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMPILER = "aarch64-linux-gnu-gcc"
EMULATOR = "qemu-aarch64"
PACKAGES = "apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user"
SAMPLE = ("dropout", "norm", "turn", "attention")
OTHERS = (
    *("agreement", "cross_entropy", "likeliest", "linear", "matrix_product", "product"),
    "residual",
)


@pytest.fixture
def _emulator(in_ci: bool) -> None:
    if platform.machine() == "aarch64":
        pytest.skip("this is such a machine: the other tests show it")
    for name in (COMPILER, EMULATOR):
        if shutil.which(name) is None:
            message = f"there is no {name} here: {PACKAGES}"
            if in_ci:
                pytest.fail(message)
            pytest.skip(message)


def run(folder: Path, *tests: str) -> None:
    """Run tests of kernels with those for ARM instead of this machine's own."""
    other = {
        "OTHER_LEVEL": "aarch64",
        "OTHER_COMPILER": COMPILER,
        "OTHER_EMULATOR": EMULATOR,
        "PYTHONPATH": str(Path(__file__).parent),
        "DRAGOMAN_KERNELS": "auto",
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "other_machine", "-x"]
    command += [f"--basetemp={folder / 'inner'}", *tests]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, **other},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.usefixtures("_emulator")
def test_kernels_for_arm_agree_with_their_plain_twins(tmp_path: Path) -> None:
    files = [f"tests/kernels/test_{name}.py" for name in SAMPLE]
    run(tmp_path, "-k", "not 128-128", *files)


@pytest.mark.faults
@pytest.mark.usefixtures("_emulator")
@pytest.mark.parametrize("name", OTHERS)
def test_the_other_kernels_for_arm_do_so_too(name: str, tmp_path: Path) -> None:
    # Of matrices, those that lie in other ways than by rows are many, and all alike.
    file = f"tests/kernels/test_{name}.py"
    run(tmp_path, "-k", "not (turned or part_of)", file)


@pytest.mark.faults
@pytest.mark.usefixtures("_emulator")
def test_a_decoders_steps_on_arm_are_those_of_its_layers(tmp_path: Path) -> None:
    run(tmp_path, "tests/model/test_native_steps.py")
