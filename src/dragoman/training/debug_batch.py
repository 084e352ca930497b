"""A batch that gave no number, kept in a file with all it takes to run it again."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from safetensors import SafetensorError, safe_open
from torch import Tensor

from dragoman import durable
from dragoman.data.batching import Batch
from dragoman.errors import TrainingError
from dragoman.training.disk import keeping, size_of

FORMAT = 1
SIDES = ("source", "target_in", "target_out")
WEIGHT, CHANCE = "weight.", "chance."


@dataclass(frozen=True)
class DebugBatch:
    """The parts of an update, and the weights and the chance that it began with."""

    step: int
    progress: float  # the share of the run's budget that was spent
    threads: int
    kernels: str  # "native" or "plain"
    parts: Sequence[Batch]
    weights: Mapping[str, Tensor]
    random_state: Mapping[str, Tensor]

    def write(self, path: Path) -> None:
        """Write one safetensors file, whole or not at all."""
        tensors = {WEIGHT + name: tensor for name, tensor in self.weights.items()}
        tensors |= {CHANCE + name: tensor for name, tensor in self.random_state.items()}
        for number, part in enumerate(self.parts):
            sides = (part.source, part.target_in, part.target_out)
            for side, tensor in zip(SIDES, sides, strict=True):
                tensors[f"{number}.{side}"] = tensor.contiguous()
        about = {
            "format": FORMAT,
            "step": self.step,
            "progress": self.progress,
            "threads": self.threads,
            "kernels": self.kernels,
            "parts": len(self.parts),
        }
        with keeping(path, size_of(tensors)):
            path.parent.mkdir(parents=True, exist_ok=True)
            durable.replace_tensors(path, tensors, {"dragoman": json.dumps(about)})

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read what `write` wrote, or say in one line what is wrong with the file."""
        try:
            with safe_open(path, framework="pt") as file:
                about = json.loads((file.metadata() or {})["dragoman"])
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no mapping)
            return cls(
                step=about["step"],
                progress=about["progress"],
                threads=about["threads"],
                kernels=about.get("kernels", "plain"),
                parts=[
                    Batch(*(tensors[f"{number}.{side}"] for side in SIDES))
                    for number in range(about["parts"])
                ],
                weights=_beginning(WEIGHT, tensors),
                random_state=_beginning(CHANCE, tensors),
            )
        except (OSError, SafetensorError, ValueError, KeyError, TypeError) as error:
            raise TrainingError(
                f"{path} is no batch that a run has kept ({error!r}): give one of the "
                "files in the folder bad-batches of the model"
            ) from error


def _beginning(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {
        name.removeprefix(prefix): tensor
        for name, tensor in tensors.items()
        if name.startswith(prefix)
    }
