"""Fetches a source archive through pip, by its hash, and reads from it unopened."""

import hashlib
import io
import os
import subprocess
import sys
import tarfile
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from dragoman.errors import FetchError

PATIENCE_SECONDS = 600
LARGEST_MEMBER = 200_000_000  # bytes; more than that is not one of our corpora

# What pip writes, in any of its versions, when an index does not answer.
SIGNS_OF_NO_NETWORK = (
    "Retrying (",
    "ConnectionError",
    "ConnectTimeout",
    "NewConnectionError",
    "ReadTimeout",
    "ProxyError",
    "SSLError",
    "Max retries exceeded",
)


@dataclass(frozen=True)
class PackageArchive:
    """A source distribution that every package index holds, known by its hash."""

    package: str
    version: str
    sha256: str

    def member(self, path: str) -> str:
        """Name a file inside the archive by its path in the project."""
        return f"{self.package}-{self.version}/{path}"


def fetch_archive(archive: PackageArchive) -> bytes:
    """Let pip download the archive, from whatever index it is set up for."""
    with TemporaryDirectory(prefix="dragoman-fetch-") as folder:
        work = Path(folder)
        finished, output = _run_pip(archive, work)
        downloaded = sorted((work / "downloaded").glob("*.tar.gz"))
        if not finished or len(downloaded) != 1:
            raise FetchError(_cause(archive, output))
        content = downloaded[0].read_bytes()
    if hashlib.sha256(content).hexdigest() != archive.sha256:
        raise FetchError(_wrong_hash(archive))
    return content


def read_zipped_text(archive: bytes, zip_member: str, text_member: str) -> str:
    """Read one text from a zip inside a tar, in memory, unpacking nothing else."""
    try:
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as outer:
            member = outer.getmember(zip_member)
            _refuse_gigantic(zip_member, member.size)
            zipped = outer.extractfile(member)
            if zipped is None:
                raise FetchError(f"the archive's {zip_member} is not a file")
            with zipped, zipfile.ZipFile(zipped) as inner:
                _refuse_gigantic(text_member, inner.getinfo(text_member).file_size)
                return inner.read(text_member).decode("utf-8")
    except KeyError as error:
        raise FetchError(f"the archive lacks a file: {error.args[0]}") from error
    except (
        EOFError,
        OSError,
        UnicodeDecodeError,
        tarfile.TarError,
        zipfile.BadZipFile,
        zlib.error,
    ) as error:
        raise FetchError(
            f"the archive with {zip_member} is damaged: {error}; fetch it again"
        ) from error


def _refuse_gigantic(name: str, size: int) -> None:
    if size > LARGEST_MEMBER:
        raise FetchError(
            f"the archive's {name} claims {size:,} bytes; at most {LARGEST_MEMBER:,} "
            "are allowed, so it was not read"
        )


def _run_pip(archive: PackageArchive, work: Path) -> tuple[bool, str]:
    """Say whether pip finished well, and what it wrote."""
    requirement, constraint = work / "requirement.txt", work / "constraint.txt"
    requirement.write_text(
        f"{archive.package}=={archive.version} --hash=sha256:{archive.sha256}\n"
    )
    # pip asks the archive's old set-up script for its metadata, and newer setuptools
    # lack what it imports. pip before 25.3 reads the one variable, pip since the other.
    constraint.write_text("setuptools<80\n")
    environment = os.environ | {
        "PIP_CONSTRAINT": str(constraint),
        "PIP_BUILD_CONSTRAINT": str(constraint),
    }
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--require-hashes"]
    command += ["--no-binary", archive.package, "--requirement", str(requirement)]
    command += ["--dest", str(work / "downloaded"), "--no-input", "--retries", "2"]
    command += ["--progress-bar", "off", "--disable-pip-version-check"]
    log = work / "pip.log"  # a file, as pip's own children may outlive a pipe
    with log.open("wb") as output:
        try:
            result = subprocess.run(  # noqa: S603 (every word of it is ours)
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                timeout=PATIENCE_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return False, f"ERROR: no answer within {PATIENCE_SECONDS} seconds"
    return result.returncode == 0, log.read_text("utf-8", errors="replace")


def _cause(archive: PackageArchive, output: str) -> str:
    """Say in one line why pip failed, and what to do."""
    name = f"{archive.package} {archive.version}"
    if "No module named pip" in output:
        return f"pip is missing from {sys.executable}: run it with -m ensurepip"
    if "DO NOT MATCH THE HASHES" in output:
        return _wrong_hash(archive)
    if any(sign in output for sign in SIGNS_OF_NO_NETWORK):
        return (
            f"pip could not reach its package index for {name}: check the network, "
            "or where `pip config list` points"
        )
    if "No matching distribution found" in output:
        return (
            f"pip's package index does not offer {name}: check where "
            "`pip config list` points"
        )
    errors = [line for line in output.splitlines() if "ERROR:" in line]
    last = errors[-1].split("ERROR:")[-1].strip() if errors else "it did not say why"
    return f"pip could not fetch {name}: {last}; `pip download` would show more"


def _wrong_hash(archive: PackageArchive) -> str:
    return (
        f"the package index gave a {archive.package} {archive.version} that is not the "
        f"expected one (sha256 {archive.sha256[:12]}…), so nothing was kept: try "
        "again, or check where `pip config list` points"
    )
