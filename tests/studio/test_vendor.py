import hashlib
from pathlib import Path

import pytest

import dragoman

ROOT = Path(__file__).parents[2]
PAGE = Path(dragoman.__file__).parent / "studio/static/vendor"
FOLDERS = (PAGE, ROOT / "tests/browser/vendor")


@pytest.mark.parametrize("folder", FOLDERS)
def test_vendored_files_are_those_that_were_fetched(folder: Path) -> None:
    lines = (folder / "SHA256SUMS").read_text("utf-8").splitlines()
    noted = {
        name: digest for digest, _, name in (line.partition("  ") for line in lines)
    }
    files = {path for path in folder.iterdir() if path.name != "SHA256SUMS"}
    assert noted == {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files
    }


@pytest.mark.parametrize("folder", FOLDERS)
def test_each_package_comes_with_its_licence(folder: Path) -> None:
    table = (folder / "README.md").read_text("utf-8").splitlines()
    packages = [line.split("|")[1].strip() for line in table if line.startswith("| ")]
    licences = {path.name for path in folder.glob("LICENSE-*")}
    for package in packages[1:]:
        base = package.rpartition("/")[2].removesuffix("-core")
        assert any(base in licence for licence in licences), package


def test_the_page_imports_nothing_from_outside() -> None:
    for path in PAGE.parent.rglob("*"):
        if path.suffix in (".js", ".css", ".html") and "vendor" not in path.parts:
            text = path.read_text("utf-8").replace("http://www.w3.org/2000/svg", "")
            assert "http://" not in text, path
            assert "https://" not in text, path
            assert "innerHTML" not in text, path
