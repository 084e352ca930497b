"""Kept sentence pairs in temporary files, so that memory does not grow with them."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from dragoman.text.cleaning import Pair

# A portion holds source text of about this many bytes: enough to keep a tokenizer
# busy, little enough to forget.
PORTION_BYTES = 2**20
SIDES = ("source", "target")


@dataclass(frozen=True)
class Portion:
    """Some successive pairs, with the lines of the corpus that they stood on."""

    sources: list[str]
    targets: list[str]
    lines: list[int]


class KeptText:
    """Pairs written one by one, then read back as often as needed."""

    def __init__(self, folder: Path, name: str) -> None:
        self._paths = {side: folder / f"{name}.{side}.kept" for side in SIDES}
        self._lines_path = folder / f"{name}.lines.kept"
        self._source, self._target = (
            path.open("w", encoding="utf-8", newline="\n")
            for path in self._paths.values()
        )
        self._lines = self._lines_path.open("wb")
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, pair: Pair) -> None:
        """Append a pair."""
        self._source.write(pair.source + "\n")
        self._target.write(pair.target + "\n")
        self._lines.write(pair.line.to_bytes(8, "little"))
        self._count += 1

    def finish(self) -> None:
        """End writing; from here on the pairs can be read."""
        for file in (self._source, self._target, self._lines):
            file.close()

    def delete(self) -> None:
        """Remove the files."""
        self.finish()
        for path in (*self._paths.values(), self._lines_path):
            path.unlink(missing_ok=True)

    def portions(self) -> Iterator[Portion]:
        """Read all pairs back, portion by portion."""
        with (
            self._paths["source"].open("rb") as source,
            self._paths["target"].open("rb") as target,
            self._lines_path.open("rb") as lines,
        ):
            while texts := source.readlines(PORTION_BYTES):
                mates = list(islice(target, len(texts)))
                numbers = np.frombuffer(lines.read(8 * len(texts)), "<i8")
                yield Portion(_decoded(texts), _decoded(mates), numbers.tolist())

    def sample(self, side: str, most: int, seed: int) -> Iterator[str]:
        """Stream the lines of one side, or a random choice of at most `most`."""
        with self._paths[side].open("rb") as file:
            for skipped in _gaps(self._count, most, seed):
                yield next(islice(file, skipped, None))[:-1].decode()


def _gaps(count: int, most: int, seed: int) -> Iterator[int]:
    """Say how many lines to pass over before each chosen one."""
    if count <= most:
        return iter([0] * count)
    # One from each of `most` equal stretches; two that fall together count once.
    places = np.arange(most) + np.random.default_rng(seed).random(most)
    chosen = np.unique((places * (count / most)).astype(np.int64))
    return iter((np.diff(chosen, prepend=-1) - 1).tolist())


def _decoded(lines: list[bytes]) -> list[str]:
    return b"".join(lines).decode().split("\n")[:-1]
