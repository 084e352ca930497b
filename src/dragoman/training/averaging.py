"""The weighted mean of the last checkpoints: better than any one of them (§6.1)."""

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from dragoman.errors import TrainingError
from dragoman.training.checkpoints import read_weights


def checkpoint_weights(count: int, shape: str) -> list[float]:
    """Give each of `count` checkpoints, oldest first, its share of the mean."""
    raw = [1.0 if shape == "uniform" else index + 1.0 for index in range(count)]
    return [value / sum(raw) for value in raw]


def average_checkpoints(paths: Sequence[Path], shape: str) -> dict[str, Tensor]:
    """Average the weights of some checkpoints, reading one at a time."""
    shares = checkpoint_weights(len(paths), shape)
    mean: dict[str, Tensor] = {}
    for path, share in zip(paths, shares, strict=True):
        for name, tensor in _weights(path).items():
            term = tensor.to(torch.float64) * share
            mean[name] = mean[name] + term if name in mean else term
    return {name: tensor.to(torch.float32) for name, tensor in mean.items()}


def _weights(path: Path) -> dict[str, Tensor]:
    try:
        return read_weights(path)
    except TrainingError as error:
        raise TrainingError(
            f"{error}: delete {path} and give the same command again, to average "
            "without it"
        ) from error
