"""Another program's model on its way to ours: vocabulary, weights, settings.

Every program numbers its tokens in its own way and names its weights in its own way.
Here the special tokens take our places, and what has our names becomes a model.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import torch
from torch import Tensor

from dragoman.config import Config, load_preset
from dragoman.errors import ConfigError, ImportedModelError
from dragoman.model.weights import set_weights
from dragoman.model_folder import SavedModel, build_for
from dragoman.special_tokens import BEGIN, NAMES, PAD
from dragoman.text.tokenizer_pair import TokenizerPair

# What is added to the logits of tokens that are never said: far below any logit, and
# little enough that label smoothing and float16 can live with it.
NEVER_SAID = -1e4
NOWHERE = -1

Linear = tuple[Tensor, Tensor]  # weight (output, input) and bias (output,)


@dataclass(frozen=True)
class Arrangement:
    """Our vocabulary in terms of another: its pieces, and the row that each was."""

    pieces: tuple[str, ...]
    rows: tuple[int, ...]  # NOWHERE: there was none, and the row is zeros

    @classmethod
    def of(
        cls,
        pieces: Sequence[str],
        *,
        end: int,
        unknown: int,
        begin: int = NOWHERE,
        pad: int = NOWHERE,
    ) -> Self:
        """Put PAD, UNKNOWN, BEGIN and END first; none of them is assumed to be so.

        `begin` is what decoding starts from, and may be another special token too.
        """
        for place in (end, unknown, begin, pad):
            if not NOWHERE <= place < len(pieces) or place == end == NOWHERE:
                raise ImportedModelError(
                    f"the special token {place} is outside of a vocabulary of "
                    f"{len(pieces)}: the files do not belong together"
                )
        taken = {end, unknown, begin, pad}
        others = [i for i in range(len(pieces)) if i not in taken]
        named = [*NAMES, *(pieces[i] for i in others)]
        return cls(tuple(named), (pad, unknown, begin, end, *others))

    def matrix(self, theirs: Tensor) -> Tensor:
        """Bring the rows of an embedding (vocabulary, d_model) into our order."""
        zeros = theirs.new_zeros(1, theirs.shape[1])
        return torch.cat([theirs, zeros])[list(self.rows)].float().contiguous()

    def bias(self, theirs: Tensor | None) -> Tensor:
        """Bring what is added to logits into our order; two are never said."""
        if theirs is None:
            theirs = torch.zeros(max(self.rows) + 1)
        never = torch.full((1,), NEVER_SAID)
        ours = torch.cat([theirs.float(), never])[list(self.rows)]
        ours[[PAD, BEGIN]] = NEVER_SAID
        return ours.contiguous()


@dataclass
class Weights:
    """Weights by our names, put down one part of a layer at a time."""

    tensors: dict[str, Tensor] = field(default_factory=dict)

    def linear(self, name: str, map_: Linear) -> None:
        """Put down a linear map."""
        weight, bias = map_
        self.tensors[f"{name}.weight"] = weight.float().contiguous()
        self.tensors[f"{name}.bias"] = bias.float().flatten().contiguous()

    norm = linear  # a gain and a bias are kept under the same names

    def attention(self, name: str, maps: Sequence[Linear], output: Linear) -> None:
        """Put down the maps to queries, keys and values as one, and that of heads."""
        weights, biases = zip(*maps, strict=True)
        joint = torch.cat(weights), torch.cat([bias.flatten() for bias in biases])
        self.linear(f"{name}.projections", joint)
        self.linear(f"{name}.output", output)


@dataclass(frozen=True)
class Foreign:
    """A model of another program, as ours."""

    program: str  # for people: "Marian", "Hugging Face Marian" …
    weights: Mapping[str, Tensor]
    tokenizers: TokenizerPair
    config: Config
    languages: tuple[str, str]

    def saved(self) -> SavedModel:
        """Build the model; what does not fit together raises in one line."""
        try:
            with torch.device("meta"):  # shapes alone: no file can ask for more memory
                set_weights(build_for(self.config, self.tokenizers), self.weights)
            model = build_for(self.config, self.tokenizers)
            set_weights(model, self.weights)
        except (ValueError, ConfigError) as error:
            raise ImportedModelError(
                f"this {self.program} model cannot be imported: {error}"
            ) from error
        return SavedModel(model.eval(), self.tokenizers, self.config, self.languages)


def foreign_config(settings: Mapping[str, Any]) -> Config:
    """Give the settings of an imported model: text is read as that program reads it."""
    own = {
        "tokenizer.kind": "imported",
        "data.normalization": "none",
        "data.placeholders": False,
        "decoding.length_penalty_kind": "average",
        "decoding.length_penalty": 1.0,
    }
    try:
        return load_preset("base").with_settings(own | dict(settings))
    except ConfigError as error:
        raise ImportedModelError(f"this model cannot be imported: {error}") from error


def shifted_sinusoids(
    length: int, d_model: int, *, first: int = 0, slowest: int | None = None
) -> Tensor:
    """Give sinusoids with all sines before all cosines (length, d_model).

    Wave i turns by 10000^(−i / `slowest`) per place; Marian's slowest is d/2 − 1.
    """
    half = d_model // 2
    waves = torch.arange(half, dtype=torch.float64) / (slowest or half)
    places = torch.arange(first, first + length, dtype=torch.float64)[:, None]
    angles = places * 10000.0**-waves
    return torch.cat([angles.sin(), angles.cos()], dim=1).float()


def take_place(folder: Path) -> None:
    """Refuse to write over a model, or anything else that is there."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ImportedModelError(
            f"{folder} is there already: give the imported model a folder of its own"
        )


def read_bytes(path: Path) -> bytes:
    """Read one of a model's files, or say in one line that it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise ImportedModelError(
            f"cannot read {path} ({error.strerror or error}): copy all files of the "
            "model"
        ) from error


def read_json(path: Path) -> Any:  # noqa: ANN401 (a JSON file may hold anything)
    """Read a JSON file of a model."""
    try:
        return json.loads(read_bytes(path))
    except ValueError as error:
        raise ImportedModelError(f"{path} is not JSON: {error}") from error
