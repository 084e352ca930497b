import gzip
import hashlib
import io
import os
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from dragoman.errors import FetchError
from dragoman.text import package_archive
from dragoman.text.package_archive import (
    PackageArchive,
    fetch_archive,
    read_zipped_text,
)

TEXT = "Go.\tVe.\tsomeone\n"
ZIP = "sentences-1.0/data/text.zip"
HONEST_BACKEND = """
import os
def build_wheel(*_): raise SystemExit("installed!")
def build_sdist(*_): raise SystemExit("installed!")
def prepare_metadata_for_build_wheel(folder, config_settings=None):
    os.mkdir(os.path.join(folder, "sentences-1.0.dist-info"))
    with open(os.path.join(folder, "sentences-1.0.dist-info", "METADATA"), "w") as file:
        file.write("Metadata-Version: 2.1\\nName: sentences\\nVersion: 1.0\\n")
    return "sentences-1.0.dist-info"
"""
PROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
"""


def zipped(name: str = "text.txt", content: bytes = TEXT.encode()) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(name, content)
    return out.getvalue()


def tarred(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return out.getvalue()


def one_line(text: str) -> str:
    assert text == text.strip()
    assert "\n" not in text
    return text


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a folder that is all pip knows of the world."""
    for name in list(os.environ):
        if name.startswith("PIP_"):
            monkeypatch.delenv(name)
    folder = tmp_path / "shelf"
    folder.mkdir()
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def put(shelf: Path, backend: str = HONEST_BACKEND) -> PackageArchive:
    members = {"pyproject.toml": PROJECT.encode(), "backend.py": backend.encode()}
    members["PKG-INFO"] = b"Metadata-Version: 2.1\nName: sentences\nVersion: 1.0\n"
    members["data/text.zip"] = zipped()
    content = tarred({f"sentences-1.0/{name}": members[name] for name in members})
    (shelf / "sentences-1.0.tar.gz").write_bytes(content)
    return PackageArchive("sentences", "1.0", hashlib.sha256(content).hexdigest())


def test_pip_fetches_by_hash_and_installs_nothing(shelf: Path) -> None:
    archive = put(shelf)
    content = fetch_archive(archive)
    assert hashlib.sha256(content).hexdigest() == archive.sha256
    member = archive.member("data/text.zip")
    assert read_zipped_text(content, member, "text.txt") == TEXT


def test_another_hash_is_refused(shelf: Path) -> None:
    put(shelf)
    expected = PackageArchive("sentences", "1.0", "0" * 64)
    with pytest.raises(FetchError) as raised:
        fetch_archive(expected)
    assert one_line(str(raised.value)) == (
        "the package index gave a sentences 1.0 that is not the expected one (sha256 "
        "000000000000…), so nothing was kept: try again, or check where "
        "`pip config list` points"
    )


def test_an_unreachable_index_is_named_as_the_cause(
    shelf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    with pytest.raises(FetchError) as raised:
        fetch_archive(PackageArchive("sentences", "1.0", "0" * 64))
    assert one_line(str(raised.value)) == (
        "pip could not reach its package index for sentences 1.0: check the network, "
        "or where `pip config list` points"
    )


def test_an_index_without_the_archive_is_named_as_the_cause(shelf: Path) -> None:
    with pytest.raises(FetchError) as raised:
        fetch_archive(PackageArchive("sentences", "1.0", "0" * 64))
    assert one_line(str(raised.value)) == (
        "pip's package index does not offer sentences 1.0: check where "
        "`pip config list` points"
    )


def test_any_other_failure_ends_in_one_line(shelf: Path) -> None:
    archive = put(shelf, backend="raise RuntimeError('\\n\\nmuch noise\\n')")
    with pytest.raises(FetchError) as raised:
        fetch_archive(archive)
    message = one_line(str(raised.value))
    assert message.startswith("pip could not fetch sentences 1.0: ")
    assert message.endswith("; `pip download` would show more")


def test_a_python_without_pip_is_told_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    venv.create(tmp_path / "bare", with_pip=False, symlinks=os.name != "nt")
    binaries = "Scripts" if os.name == "nt" else "bin"
    python = tmp_path / "bare" / binaries / Path(sys.executable).name
    monkeypatch.setattr("sys.executable", str(python))
    monkeypatch.delenv("PYTHONPATH", raising=False)
    with pytest.raises(FetchError) as raised:
        fetch_archive(PackageArchive("sentences", "1.0", "0" * 64))
    assert one_line(str(raised.value)) == (
        f"pip is missing from {python}: run it with -m ensurepip"
    )


def test_a_pip_that_never_ends_is_given_up(
    shelf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(package_archive, "PATIENCE_SECONDS", 0.01)
    with pytest.raises(FetchError, match=r"no answer within 0\.01 seconds"):
        fetch_archive(put(shelf))


def test_a_lacking_file_is_named() -> None:
    archive = tarred({ZIP: zipped("other.txt")})
    with pytest.raises(FetchError, match=r"the archive lacks a file: .*text\.txt"):
        read_zipped_text(archive, ZIP, "text.txt")
    with pytest.raises(FetchError, match=r"the archive lacks a file: .*none\.zip"):
        read_zipped_text(archive, "none.zip", "text.txt")


@pytest.mark.parametrize(
    "archive",
    [
        b"",
        b"no archive",
        gzip.compress(b"no tar" * 200, mtime=0),
        tarred({ZIP: b"no zip"}),
        tarred({ZIP: zipped()})[:-40],
        tarred({ZIP: zipped(content=b"\xff\xfe")}),
    ],
)
def test_a_damaged_archive_says_so_in_one_line(archive: bytes) -> None:
    with pytest.raises(FetchError) as raised:
        read_zipped_text(archive, ZIP, "text.txt")
    message = one_line(str(raised.value))
    assert message.startswith(f"the archive with {ZIP} is damaged: ")
    assert message.endswith("; fetch it again")


def test_a_folder_in_place_of_the_file_is_refused() -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        member = tarfile.TarInfo(ZIP)
        member.type = tarfile.DIRTYPE
        archive.addfile(member)
    with pytest.raises(FetchError, match=f"the archive's {ZIP} is not a file"):
        read_zipped_text(out.getvalue(), ZIP, "text.txt")


def test_a_gigantic_member_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package_archive, "LARGEST_MEMBER", 1000)
    bomb = zipped(content=b"a" * 1001)
    with pytest.raises(FetchError) as raised:
        read_zipped_text(tarred({ZIP: bomb}), ZIP, "text.txt")
    assert "claims" in one_line(str(raised.value))
    squeezed = io.BytesIO()
    with zipfile.ZipFile(squeezed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("text.txt", b"a" * 100_000)
    assert len(squeezed.getvalue()) < 1000
    with pytest.raises(FetchError, match=r"text\.txt claims 100,000 bytes"):
        read_zipped_text(tarred({ZIP: squeezed.getvalue()}), ZIP, "text.txt")
