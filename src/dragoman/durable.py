"""Bring files and folders safely to disk: a crash leaves the old or the new."""

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor


def sync(file: IO[Any]) -> None:
    """Wait until all that was written to an open file is on the disk."""
    file.flush()
    os.fsync(file.fileno())


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file and wait until it is on the disk."""
    with path.open("wb") as file:
        file.write(content)
        sync(file)


def write_text(path: Path, text: str) -> None:
    """Write a text file and wait until it is on the disk."""
    # A text may name files, whose names may hold bytes that are no text.
    write_bytes(path, text.encode("utf-8", "backslashreplace"))


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a name to write under that then takes the place of `path` atomically."""
    beside = path.with_name(path.name + ".tmp")
    try:
        yield beside
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)  # half a file on a full disk helps nobody
    sync_folder(path.parent)


def replace_bytes(path: Path, content: bytes) -> None:
    """Write a file whole, or leave the one that was there."""
    with replacing(path) as beside:
        write_bytes(beside, content)


def replace_text(path: Path, text: str) -> None:
    """Write a text file whole, or leave the one that was there."""
    with replacing(path) as beside:
        write_text(beside, text)


def replace_tensors(
    path: Path,
    tensors: "Mapping[str, Tensor]",
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Write a safetensors file whole, with the mode that the umask leaves new files.

    safetensors by itself leaves a file that only its owner can read.
    """
    from safetensors.torch import save_file  # loads PyTorch

    with replacing(path) as beside:
        beside.unlink(missing_ok=True)
        beside.touch()
        mode = beside.stat().st_mode
        save_file(dict(tensors), beside, None if metadata is None else dict(metadata))
        beside.chmod(mode)
        with beside.open("rb+") as file:
            sync(file)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder last through a power cut, where the system can."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def rename_folder(written: Path, final: Path) -> None:
    """Give a wholly written folder its final name at one stroke."""
    sync_folder(written)
    written.rename(final)
    sync_folder(final.parent)


def forget_cached(path: Path) -> None:
    """Let the next reading of a file come from the disk, where the system can."""
    if not hasattr(os, "posix_fadvise"):
        return
    with path.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def sha256(path: Path) -> str:
    """Give the SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
