"""What is published works where there is no compiler: each wheel is built and used."""

import json
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from dragoman.kernels.instructions import LEVELS, whole_processor

pytest.importorskip("hatchling")

ROOT = Path(__file__).parents[1]
MACHINES = {"x86-64": "x86_64", "aarch64": "aarch64"}

# What a person does first, and what was loaded for it.
FIRST_USE = """
import json, sys
from pathlib import Path
import dragoman
from dragoman.kernels.library import kernels_origin
from dragoman.text.public_corpora import get
files = get("phrasebook-en-es", Path("data"))
settings = {
    "model.d_model": 32, "model.d_ff": 64, "model.num_heads": 2,
    "tokenizer.vocabulary_size": 400, "training.batch_tokens": 600,
    "training.threads": 2, "training.valid_sentences": 5,
}
if kernels_origin().kind != "plain":
    settings["training.kernels"] = "native"
dragoman.train(
    Path(sys.argv[1]), source=files.train_source, target=files.train_target,
    valid_source=files.valid_source, valid_target=files.valid_target,
    preset="fast", steps=3, settings=settings, quiet=True,
)
translated = dragoman.Translator.load(Path(sys.argv[1])).translate(["Good morning!"])
origin, maps = kernels_origin(), Path("/proc/self/maps").read_text().splitlines()
print(json.dumps({
    "kind": origin.kind, "level": origin.level, "package": dragoman.__file__,
    "translated": len(translated), "mapped": sorted({m.split()[-1] for m in maps}),
}))
"""


def build(machine: str, folder: Path) -> Path:
    """Build a wheel for one kind of machine, or for any."""
    hatchling = [sys.executable, "-m", "hatchling"]
    command = [*hatchling, "build", "-t", "wheel", "-d", str(folder)]
    environment = {**os.environ, "DRAGOMAN_WHEEL": machine}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    (wheel,) = folder.glob("*.whl")
    return wheel


def compiler_for(machine: str) -> str:
    here = MACHINES[machine] == platform.machine()
    name = "cc" if here else f"{MACHINES[machine]}-linux-gnu-gcc"
    if shutil.which(name) is None:
        pytest.skip(f"there is no {name} here")
    return name


@pytest.fixture(scope="module")
def own_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel for this kind of machine."""
    for machine, name in MACHINES.items():
        if name == platform.machine() and sys.platform == "linux":
            compiler_for(machine)
            return build(machine, tmp_path_factory.mktemp("wheel"))
    pytest.skip(f"there are no wheels with kernels for {platform.machine()}")


def installed(wheel: Path, folder: Path) -> Path:
    """Install a wheel into a new environment that borrows only what it depends on."""
    venv.create(folder, with_pip=False)
    python = folder / "bin/python"
    pip = [sys.executable, "-m", "pip", "--quiet", "--python", str(python)]
    install = [*pip, "install", "--no-deps", "--no-index", str(wheel)]
    subprocess.run(install, check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    # A line in a file like this adds a folder, but not the editable installs in it.
    (packages / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python


def use(python: Path, work: Path, kernels: str = "auto") -> dict[str, object]:
    """Train and translate with nothing in PATH but the environment's own commands."""
    work.mkdir()
    environment = {
        "PATH": str(python.parent),
        "HOME": str(work),
        "DRAGOMAN_KERNELS": kernels,
    }
    for name in ("ATEN_CPU_CAPABILITY", "ONEDNN_MAX_CPU_ISA"):
        if name in os.environ:
            environment[name] = os.environ[name]
    done = subprocess.run(
        [python, "-c", FIRST_USE, "model"],
        cwd=work,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return told


def kernels_in(wheel: Path) -> set[str]:
    """List the levels that a wheel has kernels for."""
    files = map(Path, zipfile.ZipFile(wheel).namelist())
    return {file.stem for file in files if file.parent.name == "prebuilt"}


def test_a_wheel_holds_kernels_for_every_level_of_its_machine(own_wheel: Path) -> None:
    name = platform.machine()
    assert own_wheel.name.endswith(f"-py3-none-manylinux_2_28_{name}.whl")
    levels = {level for level in LEVELS if level.replace("-", "_").startswith(name)}
    assert kernels_in(own_wheel) == levels


def test_a_wheel_for_another_machine_is_built_here(tmp_path: Path) -> None:
    if platform.machine() == "aarch64":
        pytest.skip("this is the other machine")
    compiler_for("aarch64")
    wheel = build("aarch64", tmp_path)
    assert wheel.name.endswith("-py3-none-manylinux_2_28_aarch64.whl")
    assert kernels_in(wheel) == {"aarch64"}


def test_a_wheel_that_nobody_asked_for_is_for_every_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    wheel = build("", tmp_path)
    assert wheel.name.endswith("-py3-none-any.whl")
    assert not [name for name in zipfile.ZipFile(wheel).namelist() if ".so" in name]
    told = use(installed(wheel, tmp_path / "clean"), tmp_path / "work")
    assert (told["kind"], told["translated"]) == ("plain", 1)


def test_a_machine_that_there_is_no_wheel_for_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="'sparc' is none of x86-64, aarch64"):
        build("sparc", tmp_path)


def test_a_clean_machine_without_a_compiler_has_kernels(
    own_wheel: Path, tmp_path: Path
) -> None:
    python = installed(own_wheel, tmp_path / "clean")
    able = whole_processor().instructions
    levels = [level for level, needed in LEVELS.items() if needed <= able]
    for asked in ("auto", levels[0]):
        told = use(python, tmp_path / asked, asked)
        assert told["kind"] == "prebuilt"
        assert told["level"] == (levels[-1] if asked == "auto" else asked)
        assert told["translated"] == 1
        assert str(told["package"]).startswith(str(tmp_path))
        mapped = told["mapped"]
        assert isinstance(mapped, list)
        # Threads are torch's own: the system's library for them is not even looked at.
        threads = [name for name in mapped if "/libgomp" in name]
        assert all("/torch" in name for name in threads)
        own = [name for name in mapped if "/prebuilt/" in name]
        assert [Path(name).stem for name in own] == [told["level"]]
