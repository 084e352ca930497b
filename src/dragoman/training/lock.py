"""One run at a time in a folder."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from dragoman.errors import TrainingError

FILE = ".lock"


@contextmanager
def only_run_in(folder: Path) -> Iterator[None]:
    """Keep other runs out of the folder, or say that there is one already.

    The system lets go of the lock when the process ends, however it ends. Folders that
    were made for a run which then left nothing in them are removed.
    """
    made = [place for place in (folder, *folder.parents) if not place.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / FILE)
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise TrainingError(
            f"another run is at work in {folder}: wait for it, stop it, or give "
            "another folder"
        ) from error
    try:
        yield
    finally:
        lock.release()
        if made and {path.name for path in folder.iterdir()} <= {FILE}:
            _remove(folder, made)


def _remove(folder: Path, made: list[Path]) -> None:
    with suppress(OSError):  # another run may have begun in one of them
        (folder / FILE).unlink(missing_ok=True)
        for place in made:
            place.rmdir()
