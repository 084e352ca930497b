"""The validation text that a training run keeps beside its model."""

from itertools import islice
from pathlib import Path


def validation_pairs(folder: Path, count: int) -> list[tuple[str, str]]:
    """Give the first pairs of a run's validation text; none where it has none."""
    sides = [folder / "prepared" / f"valid.{side}" for side in ("source", "target")]
    if not all(path.is_file() for path in sides):
        return []
    lines = [_first_lines(path, count) for path in sides]
    return list(zip(*lines, strict=False))


def _first_lines(path: Path, count: int) -> list[str]:
    with path.open(encoding="utf-8", errors="replace") as file:
        return [line.rstrip("\n") for line in islice(file, count)]
