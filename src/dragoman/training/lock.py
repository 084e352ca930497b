"""One run at a time in a folder."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dragoman.errors import TrainingError

FILE = ".lock"


@contextmanager
def only_run_in(folder: Path) -> Iterator[None]:
    """Keep other runs out of the folder, or say that there is one already.

    The system lets go of the lock when the process ends, however it ends.
    """
    if os.name != "posix":
        yield
        return
    import fcntl

    folder.mkdir(parents=True, exist_ok=True)
    with (folder / FILE).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise TrainingError(
                f"another run is at work in {folder}: wait for it, stop it, or give "
                "another folder"
            ) from error
        yield
