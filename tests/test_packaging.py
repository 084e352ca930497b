import re
import subprocess
import tomllib
from importlib import import_module, metadata, resources
from pathlib import Path
from typing import Any

import pytest

import dragoman
from dragoman.config import PRESETS

ROOT = Path(__file__).parents[1]
DATA = (
    "py.typed",
    "text/phrasebook/en-es.tsv",
    "text/phrasebook/README.md",
    *(f"presets/{preset}.toml" for preset in PRESETS),
)
# Which index a person installs from is their own affair; only tests speak to one, on
# their own machine. (The brackets keep these lines from finding themselves.)
INDEX = re.compile(
    r"py[p]i\.org|pythonhos[t]ed|anacond[a]\.(org|com)|download\.pytorc[h]|"
    r"//(?!127\.)[^/\s]+[^\s]*/simpl[e]\b",
    re.IGNORECASE,
)


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    described = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert isinstance(described, dict)
    return described


def tracked() -> list[Path]:
    """List the project's files as git knows them."""
    if not (ROOT / ".git").exists():
        pytest.skip("this is no checkout: nothing says which files are the project's")
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True
    )
    return [ROOT / name for name in listed.stdout.decode().split("\0") if name]


def pinned() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    return dict(line.split("==") for line in lines)


def test_the_command_is_installed(project: dict[str, Any]) -> None:
    (script,) = metadata.entry_points(group="console_scripts", name="dragoman")
    assert project["scripts"] == {"dragoman": script.value}
    module, _, function = script.value.partition(":")
    assert callable(getattr(import_module(module), function))


def test_the_metadata_are_the_projects(project: dict[str, Any]) -> None:
    installed = metadata.metadata("dragoman")
    assert installed["Version"] == dragoman.__version__
    assert installed["License-Expression"] == project["license"]
    assert installed["Requires-Python"] == project["requires-python"]
    assert installed["Summary"] == project["description"]


@pytest.mark.parametrize("name", DATA)
def test_data_can_be_read_from_the_package(name: str) -> None:
    file = resources.files("dragoman").joinpath(*name.split("/"))
    assert file.is_file()
    assert file.read_bytes() or name == "py.typed"


def test_a_wheel_holds_every_file_of_the_package() -> None:
    builder = pytest.importorskip("hatchling.builders.wheel").WheelBuilder(str(ROOT))
    packed = {file.distribution_path for file in builder.recurse_included_files()}
    source = ROOT / "src"
    there = {
        path.relative_to(source).as_posix()
        for path in (source / "dragoman").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert packed == there
    assert {f"dragoman/{name}" for name in DATA} <= packed


def test_torch_may_be_any_since_the_oldest_that_is_known_to_work(
    project: dict[str, Any],
) -> None:
    assert "torch>=2.10" in project["dependencies"]
    assert pinned()["torch"] == "2.13.0"


def test_everything_the_project_needs_is_pinned(project: dict[str, Any]) -> None:
    extras = project["optional-dependencies"].values()
    wanted = [*project["dependencies"], *(name for extra in extras for name in extra)]
    names = {re.split(r"[\[<>=]", requirement)[0] for requirement in wanted}
    known = {name.lower().replace("_", "-") for name in pinned()}
    assert names - {"dragoman"} <= known


def test_nothing_is_required_without_a_lower_bound(project: dict[str, Any]) -> None:
    assert all(">=" in requirement for requirement in project["dependencies"])


def test_no_file_names_a_package_index() -> None:
    found = []
    for path in tracked():
        try:
            text = path.read_text("utf-8")
        except (UnicodeDecodeError, FileNotFoundError):  # a picture; a file just moved
            continue
        found += [
            f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
            for number, line in enumerate(text.splitlines(), start=1)
            if INDEX.search(line)
        ]
    assert found == []


def test_what_looks_like_an_index_is_found() -> None:
    for text in ("https://PyP" + "I.org/project", "http://a.example/b/" + "simple/"):
        assert INDEX.search(text)
    assert not INDEX.search("a simple/plain way; pip's package index")
