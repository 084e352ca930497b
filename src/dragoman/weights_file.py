"""The file of a model's weights: looked at before it is believed.

Its header says what every tensor's shape is. A folder may come from a stranger, so the
shapes are compared with those that its settings ask for before any of them is built:
settings that ask for more than the file holds cost nothing.
"""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from dragoman.config import ModelConfig
from dragoman.model.weights import compare_shapes

LONGEST_HEADER = 16_000_000  # bytes; that of a thousand layers has about two million
WIDTHS = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2}  # bytes of the numbers we read


@dataclass(frozen=True)
class TensorEntry:
    """What the header says of one tensor."""

    kind: str
    shape: tuple[int, ...]

    @classmethod
    def read(cls, name: str, entry: Any) -> Self:  # noqa: ANN401 (whatever JSON holds)
        """Take one entry of the header, or say what is wrong with it."""
        match entry:
            case {"dtype": str(kind), "shape": [*sizes]} if all(map(_is_size, sizes)):
                if kind not in WIDTHS:
                    raise ValueError(f"the weights {name!r} are {kind}, not floats")
                return cls(kind, tuple(sizes))
            case _:
                raise ValueError(f"the header of the weights has no shape for {name!r}")


def _is_size(value: object) -> bool:
    return type(value) is int and value >= 0


def read_header(path: Path) -> dict[str, TensorEntry]:
    """Read the names, kinds and shapes of the tensors in a safetensors file."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if length > min(LONGEST_HEADER, path.stat().st_size):
            raise ValueError("the file of the weights does not begin with a header")
        try:
            header = json.loads(file.read(length))
        except RecursionError:
            raise ValueError("the header of the weights is nested too deep") from None
    if not isinstance(header, dict):
        raise ValueError("the header of the weights names no tensors")  # noqa: TRY004
    header.pop("__metadata__", None)
    return {name: TensorEntry.read(name, entry) for name, entry in header.items()}


def check_weights_file(
    path: Path, config: ModelConfig, build: Callable[[], nn.Module]
) -> None:
    """Compare the file's names and shapes with those of the model to be built.

    The model is built without any numbers, and only if there is a tensor for each of
    its layers; what does not fit raises ValueError.
    """
    entries = read_header(path)
    layers = config.num_encoder_layers + config.num_decoder_layers
    if layers > len(entries):
        raise ValueError(
            f"the weights do not fit the model: there are {len(entries)} tensors for "
            f"{layers} layers"
        )
    promised = sum(math.prod(e.shape) * WIDTHS[e.kind] for e in entries.values())
    if promised > path.stat().st_size:
        raise ValueError("the file of the weights is shorter than its header says")
    with torch.device("meta"):
        try:
            model = build()
        except (RuntimeError, OverflowError) as error:
            raise ValueError(
                "the weights do not fit the model: its settings ask for more than any "
                "machine holds"
            ) from error
    compare_shapes(
        {name: tuple(tensor.shape) for name, tensor in model.named_parameters()},
        {name: entry.shape for name, entry in entries.items()},
    )


def read_weights_file(path: Path) -> dict[str, Tensor]:
    """Read all tensors; weights that are no numbers raise ValueError."""
    weights = load_file(path)
    for name, tensor in weights.items():
        # A sum is no number if any of its parts is none, and needs no second copy.
        if not math.isfinite(tensor.sum(dtype=torch.float64)):
            raise ValueError(
                f"the weights {name!r} are not all numbers: train the model again, or "
                "copy it from where it is whole"
            )
    return weights
