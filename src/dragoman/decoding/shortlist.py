"""A vocabulary shortlist: which target tokens a source sentence may call for.

Only these are scored, which makes the output layer cheaper. A sentence's
list depends on its own tokens alone, so that company changes nothing.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from dragoman import durable
from dragoman.errors import ModelFolderError
from dragoman.special_tokens import NAMES


@dataclass(frozen=True)
class Shortlist:
    """The likeliest translations of each source token, and what is always allowed."""

    candidates: Tensor  # (source_vocabulary, count), filled up with PAD
    always: Tensor  # (count,): special tokens and the commonest

    @classmethod
    def make(cls, candidates: Tensor, commonest: Tensor) -> Self:
        """Take tables of target tokens; the special ones are always allowed."""
        special = torch.arange(len(NAMES))
        return cls(candidates, torch.cat([special, commonest]).unique())

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a shortlist from its file."""
        try:
            tensors = load_file(path)
            return cls(tensors["candidates"].long(), tensors["always"].long())
        except (OSError, KeyError, SafetensorError) as error:
            raise ModelFolderError(
                f"{path} is not a shortlist ({error}): `dragoman shortlist "
                f"{path.parent}` makes it anew"
            ) from error

    def write(self, path: Path) -> None:
        """Write it to a file."""
        tables = {"candidates": self.candidates.int(), "always": self.always.int()}
        durable.replace_tensors(
            path, {name: table.contiguous() for name, table in tables.items()}
        )

    def tokens(self, source: Tensor) -> Tensor:
        """Give, in order, all that any of these sources (batch, length) may call for.

        The special tokens come first and keep their ids.
        """
        called_for = self.candidates.to(source.device)[source.unique()].flatten()
        tokens: Tensor = torch.cat([self.always.to(source.device), called_for]).unique()
        return tokens

    def allowed(self, source: Tensor, tokens: Tensor) -> Tensor:
        """Say which of the `tokens` each source may call for: (batch, token)."""
        table = self.candidates.to(source.device)
        places = torch.searchsorted(tokens, table[source].flatten(1))
        allowed = torch.zeros(
            (len(source), len(tokens)), dtype=torch.bool, device=source.device
        )
        allowed.scatter_(1, places, value=True)
        allowed[:, torch.searchsorted(tokens, self.always.to(source.device))] = True
        return allowed
