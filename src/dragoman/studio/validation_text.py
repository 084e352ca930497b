"""The validation text that a run keeps beside its model."""

from itertools import islice
from pathlib import Path

from dragoman.errors import StudioError


def first_sentences(folder: Path, count: int) -> list[str]:
    """Give the first source sentences of the validation text, if there is any."""
    path = folder / "prepared" / "valid.source"
    return _first(path, count) if path.is_file() else []


def first_pairs(folder: Path, count: int) -> list[tuple[str, str]]:
    """Give the first sentences of the validation text with their references."""
    source, target = (folder / "prepared" / f"valid.{s}" for s in ("source", "target"))
    if not source.is_file() or not target.is_file():
        raise StudioError(
            f"{folder} keeps no validation text: train with --valid-source and "
            "--valid-target to see this"
        )
    return list(zip(_first(source, count), _first(target, count), strict=False))


def _first(path: Path, count: int) -> list[str]:
    with path.open(encoding="utf-8") as lines:
        return [line.rstrip("\n") for line in islice(lines, count)]
