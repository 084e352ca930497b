"""The validation text that a run keeps beside its model, as the pages need it."""

from pathlib import Path

from dragoman.errors import StudioError
from dragoman.inspection.validation_pairs import validation_pairs


def first_sentences(folder: Path, count: int) -> list[str]:
    """Give the first source sentences of the validation text, if there is any."""
    return [source for source, _ in validation_pairs(folder, count)]


def first_pairs(folder: Path, count: int) -> list[tuple[str, str]]:
    """Give the first sentences of the validation text with their references."""
    pairs = validation_pairs(folder, count)
    if not pairs:
        raise StudioError(
            f"{folder} keeps no validation text: train with --valid-source and "
            "--valid-target to see this"
        )
    return pairs
