"""Which files make up a token store on disk, and what its description says."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from dragoman.errors import CorpusError

FORMAT = 1
SIDES = ("source", "target")
DESCRIPTION = "store.json"


def file_types(vocabulary_size: int) -> dict[str, np.dtype[Any]]:
    """Give each file's name and the type of its entries."""
    # Two bytes per token where the vocabulary allows it, otherwise four.
    token = np.dtype("<u2" if vocabulary_size <= 2**16 else "<u4")
    kinds = {"tokens": token, "lengths": np.dtype("<i4"), "starts": np.dtype("<i8")}
    return {f"{side}.{name}": kinds[name] for name in kinds for side in SIDES}


@dataclass(frozen=True)
class Description:
    """What `store.json` says of the files beside it."""

    format: int
    vocabulary_size: int
    pairs: int
    source_tokens: int
    target_tokens: int
    fingerprint: str

    def file_counts(self) -> dict[str, int]:
        """Say how many entries each file has."""
        return {
            "source.tokens": self.source_tokens,
            "target.tokens": self.target_tokens,
            "source.lengths": self.pairs,
            "target.lengths": self.pairs,
            "source.starts": self.pairs,
            "target.starts": self.pairs,
        }

    def to_json(self) -> str:
        """Write as JSON."""
        return json.dumps(asdict(self), indent=2) + "\n"

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read a store's description, or say in one line what is wrong with it."""
        try:
            values = json.loads((folder / DESCRIPTION).read_text("utf-8"))
        except FileNotFoundError:
            raise CorpusError(
                f"there is no prepared corpus in {folder}: prepare it first"
            ) from None
        except (OSError, ValueError):
            raise damaged(folder, f"{DESCRIPTION} cannot be read") from None
        try:
            description = cls(**values)
        except TypeError:
            raise damaged(folder, f"{DESCRIPTION} has unknown contents") from None
        if not description._is_sound():
            raise damaged(folder, f"{DESCRIPTION} has unknown contents")
        if description.format != FORMAT:
            raise CorpusError(
                f"the prepared corpus in {folder} has format {description.format}, but "
                f"this version reads format {FORMAT}: delete the folder to prepare anew"
            )
        return description

    def _is_sound(self) -> bool:
        numbers = (
            self.format,
            self.vocabulary_size,
            self.pairs,
            self.source_tokens,
            self.target_tokens,
        )
        return isinstance(self.fingerprint, str) and all(
            type(number) is int and number >= 0 for number in numbers
        )


def fingerprint(vocabulary_size: int, hashes: Mapping[str, str]) -> str:
    """Give one SHA-256 for all files of a store, from the SHA-256 of each."""
    lines = [f"{name} {hashes[name]}" for name in file_types(vocabulary_size)]
    text = "\n".join([f"vocabulary {vocabulary_size}", *lines])
    return hashlib.sha256(text.encode()).hexdigest()


def damaged(folder: Path, what: str) -> CorpusError:
    """Make the error for a store that cannot be trusted."""
    return CorpusError(
        f"the prepared corpus in {folder} is damaged ({what}): "
        "delete the folder and prepare it again"
    )
