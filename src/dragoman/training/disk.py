"""What is said when the disk does not take what a run wants to keep."""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from safetensors import SafetensorError
from torch import Tensor

from dragoman.errors import TrainingError


def size_of(*groups: Mapping[str, Tensor]) -> int:
    """Give the bytes that some named tensors take on disk, but for a short header."""
    return sum(tensor.nbytes for group in groups for tensor in group.values())


@contextmanager
def keeping(path: Path, needed: int = 0) -> Iterator[None]:
    """Say in one line that `path` cannot be written, and how much room there is."""
    try:
        yield
    except (OSError, SafetensorError) as error:
        said = error.strerror if isinstance(error, OSError) else str(error)
        room = f"{_free(path):,} bytes are free there"
        if needed:
            room = f"it needs about {needed:,} bytes, {room}"
        raise TrainingError(
            f"cannot write {path} ({said or error}; {room}): make room and give the "
            "same command again, to go on from what was saved before"
        ) from error


def _free(path: Path) -> int:
    """Give the room on the disk that a path, perhaps not there yet, belongs to."""
    there = next(place for place in (path, *path.absolute().parents) if place.exists())
    return shutil.disk_usage(there).free
