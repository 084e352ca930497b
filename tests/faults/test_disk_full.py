"""A full disk: one line with path and bytes, the last checkpoint whole, no litter."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def small_disk(tmp_path: Path, in_ci: bool) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(place)]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        reason = f"a tmpfs cannot be mounted here, which takes root: {error}"
        pytest.fail(reason) if in_ci else pytest.skip(reason)
    yield place
    subprocess.run(["umount", str(place)], check=True)


def fill_up(nursery: Any, whole: Any, look: Any, disk: Path, room: int) -> str:
    """Run on a disk with so many bytes left; give what was said of it."""
    folder = nursery.prepared(disk / "run")
    filler = disk / "filler"
    filler.write_bytes(bytes(max(0, shutil.disk_usage(disk).free - room)))
    log: Path = nursery.folder / f"{room}.log"
    ended = nursery.train(folder, log=str(log))
    if ended.code == 0:
        return ""
    assert ended.code == 1, log.read_text("utf-8")
    leftovers = [
        *folder.rglob("*.tmp"),
        *folder.rglob("*.old"),
        *folder.rglob("*.gone"),
    ]
    assert leftovers == []
    noted = look.steps_noted(folder)
    assert (noted[-1] if noted else 0) - look.newest_step(folder) <= look.save_every
    filler.unlink()
    assert nursery.train(folder, log=str(log) + ".2").code == 0
    assert look.fingerprint(folder) == whole.fingerprint
    shutil.rmtree(folder)
    return log.read_text("utf-8").splitlines()[-1]


SAID = re.compile(
    r"dragoman: cannot write .* \(.*No space left.* bytes are free there\)"
)


def test_a_full_disk_harms_nothing(
    nursery: Any, whole: Any, look: Any, small_disk: Path
) -> None:
    line = fill_up(nursery, whole, look, small_disk, room=600_000)
    assert SAID.match(line), line


@pytest.mark.faults
def test_a_disk_that_is_full_at_any_moment(
    nursery: Any, whole: Any, look: Any, small_disk: Path, report: Any
) -> None:
    lines = []
    for room in range(0, 1_200_000, 40_000):
        line = fill_up(nursery, whole, look, small_disk, room)
        if not line:
            break  # enough for the whole run
        assert SAID.match(line), line
        lines.append(line)
    assert len(lines) > 10
    report(
        "disk full (8 MB tmpfs), with 0, 40, 80 … kB left at the start",
        len(lines),
        "one line with path and bytes, last checkpoint whole, no half-written file, "
        "same SHA-256 once there is room",
        f"{len(lines)} of {len(lines)}",
    )
