"""Sentence pairs as token ids on disk: written as a stream, read through a map."""

import hashlib
import shutil
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from dragoman import durable
from dragoman.data.mixture import Mixture
from dragoman.data.ragged import Ragged, positions
from dragoman.data.store_layout import (
    DESCRIPTION,
    FORMAT,
    SIDES,
    Description,
    damaged,
    file_types,
    fingerprint,
)

# Reading this much takes a fraction of a second; larger stores are believed, so that
# opening them stays instant.
BYTES_TO_CHECK = 2**28


class TokenStore:
    """A prepared corpus; opening a large one reads nothing but its description."""

    def __init__(
        self,
        folder: Path,
        description: Description,
        arrays: dict[str, NDArray[Any]],
        mixture: Mixture | None = None,
    ) -> None:
        self.folder = folder
        self.mixture = mixture
        self._description = description
        self._arrays = arrays

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Map a store's files into memory after checking that they are whole."""
        description = Description.read(folder)
        types = file_types(description.vocabulary_size)
        counts = description.file_counts()
        arrays = {
            name: _map(folder, name, types[name], count)
            for name, count in counts.items()
        }
        if sum(array.nbytes for array in arrays.values()) <= BYTES_TO_CHECK:
            _check_contents(folder, description)
        return cls(folder, description, arrays)

    def mixed(self, mixture: Mixture | None) -> Self:
        """Give the same store, whose corpora come as often as the mixture says."""
        assert mixture is None or sum(mixture.sizes) == len(self), "a share for all"
        return type(self)(self.folder, self._description, self._arrays, mixture)

    def __len__(self) -> int:
        return self._description.pairs

    @property
    def vocabulary_size(self) -> int:
        """Every token id is below this number."""
        return self._description.vocabulary_size

    @property
    def num_source_tokens(self) -> int:
        """All source tokens, without BEGIN and END."""
        return self._description.source_tokens

    @property
    def num_target_tokens(self) -> int:
        """All target tokens, without BEGIN and END."""
        return self._description.target_tokens

    @property
    def fingerprint(self) -> str:
        """Equal for equal contents in an equal mixture: a SHA-256."""
        written = self._description.fingerprint  # taken while the store was written
        if self.mixture is None:
            return written
        return hashlib.sha256(f"{written} {self.mixture}".encode()).hexdigest()

    @property
    def source_lengths(self) -> NDArray[np.int32]:
        """The number of source tokens in each pair."""
        return self._arrays["source.lengths"]

    @property
    def target_lengths(self) -> NDArray[np.int32]:
        """The number of target tokens in each pair."""
        return self._arrays["target.lengths"]

    def source(self, index: int) -> NDArray[Any]:
        """Give the source tokens of one pair."""
        return self.sources(np.array([index])).tokens

    def target(self, index: int) -> NDArray[Any]:
        """Give the target tokens of one pair."""
        return self.targets(np.array([index])).tokens

    def sources(self, indices: NDArray[np.integer[Any]]) -> Ragged:
        """Gather the source tokens of many pairs."""
        return self._rows("source", indices)

    def targets(self, indices: NDArray[np.integer[Any]]) -> Ragged:
        """Gather the target tokens of many pairs."""
        return self._rows("target", indices)

    def _rows(self, side: str, indices: NDArray[np.integer[Any]]) -> Ragged:
        lengths = self._arrays[f"{side}.lengths"][indices]
        starts = self._arrays[f"{side}.starts"][indices]
        tokens = self._arrays[f"{side}.tokens"][positions(starts, lengths)]
        if tokens.size and tokens.max() >= self.vocabulary_size:
            raise damaged(self.folder, f"{side}.tokens has unknown tokens")
        return Ragged(tokens, lengths)


def _check_contents(folder: Path, description: Description) -> None:
    hashes = {name: durable.sha256(folder / name) for name in description.file_counts()}
    if fingerprint(description.vocabulary_size, hashes) != description.fingerprint:
        raise damaged(folder, "its contents are not what was written")


def _map(folder: Path, name: str, kind: np.dtype[Any], count: int) -> NDArray[Any]:
    path = folder / name
    try:
        size = path.stat().st_size
    except OSError:
        raise damaged(folder, f"{name} is missing") from None
    expected = count * kind.itemsize
    if size != expected:
        raise damaged(folder, f"{name} has {size} bytes instead of {expected}")
    if not count:  # an empty file cannot be mapped
        return np.empty(0, kind)
    # A plain view: slicing the memmap class itself is several times slower.
    return np.asarray(np.memmap(path, kind, "r"))


class TokenStoreWriter:
    """Collects pairs under a temporary name; only `close` gives the store its own."""

    def __init__(self, folder: Path, vocabulary_size: int) -> None:
        self._folder = folder
        self._temporary = folder.with_name(folder.name + ".tmp")
        self._vocabulary_size = vocabulary_size
        self._pairs = 0
        self._tokens = dict.fromkeys(SIDES, 0)
        shutil.rmtree(self._temporary, ignore_errors=True)
        self._temporary.mkdir(parents=True)
        self._types = file_types(vocabulary_size)
        self._files = {
            name: (self._temporary / name).open("wb") for name in self._types
        }
        self._hashes = {name: hashlib.sha256() for name in self._types}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.abandon()

    def add_many(
        self,
        sources: Sequence[Sequence[int] | NDArray[Any]],
        targets: Sequence[Sequence[int] | NDArray[Any]],
    ) -> None:
        """Append pairs of token rows, which contain neither BEGIN nor END."""
        assert len(sources) == len(targets), "a pair has two sides"
        for side, rows in zip(SIDES, (sources, targets), strict=True):
            self._add_side(side, Ragged.from_rows(rows))
        self._pairs += len(sources)

    def _add_side(self, side: str, rows: Ragged) -> None:
        tokens, lengths = rows.tokens, rows.lengths
        assert not tokens.size or tokens.min() >= 0, "token ids are not negative"
        assert not tokens.size or tokens.max() < self._vocabulary_size, "unknown token"
        starts = self._tokens[side] + np.cumsum(lengths, dtype=np.int64) - lengths
        self._write(f"{side}.tokens", tokens)
        self._write(f"{side}.lengths", lengths)
        self._write(f"{side}.starts", starts)
        self._tokens[side] += len(tokens)

    def _write(self, name: str, values: NDArray[Any]) -> None:
        content = values.astype(self._types[name]).tobytes()
        self._files[name].write(content)
        self._hashes[name].update(content)

    def close(self) -> None:
        """Bring everything safely to disk, then let the store appear under its name."""
        for file in self._files.values():
            durable.sync(file)
            file.close()
        description = self._description().to_json()
        durable.write_text(self._temporary / DESCRIPTION, description)
        if self._folder.exists():
            shutil.rmtree(self._folder)
        durable.rename_folder(self._temporary, self._folder)

    def abandon(self) -> None:
        """Leave nothing behind."""
        for file in self._files.values():
            file.close()
        shutil.rmtree(self._temporary, ignore_errors=True)

    def _description(self) -> Description:
        return Description(
            format=FORMAT,
            vocabulary_size=self._vocabulary_size,
            pairs=self._pairs,
            source_tokens=self._tokens["source"],
            target_tokens=self._tokens["target"],
            fingerprint=self._fingerprint(),
        )

    def _fingerprint(self) -> str:
        # Hashing file by file makes it independent of how the pairs were portioned.
        hashes = {name: sha.hexdigest() for name, sha in self._hashes.items()}
        return fingerprint(self._vocabulary_size, hashes)
