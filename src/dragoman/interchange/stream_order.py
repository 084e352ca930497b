"""The residual stream with its coordinates in another order.

The paper's positions take turns, sine and cosine; Hugging Face keeps all sines before
all cosines. The vectors are the same but for the order of their coordinates, and so are
the weights that read and write them.
"""

from collections.abc import Mapping

import torch
from torch import Tensor

_READ = ("projections.weight", "inner.weight", "tokens.weight", "untied_output.weight")
_BESIDE = ("projections.bias", "inner.bias", "output_bias")


def sines_first(d_model: int) -> Tensor:
    """Say which coordinate of ours each place has where sines come first."""
    return torch.arange(d_model).view(-1, 2).T.flatten()


def taking_turns(d_model: int) -> Tensor:
    """Say which coordinate each of our places has there: the other way round."""
    return torch.arange(d_model).view(2, -1).T.flatten()


def reordered(weights: Mapping[str, Tensor], order: Tensor) -> dict[str, Tensor]:
    """Give the weights, by our names, of a stream in another order."""
    return {name: _reorder(name, tensor, order) for name, tensor in weights.items()}


def _reorder(name: str, tensor: Tensor, order: Tensor) -> Tensor:
    if name.endswith(_BESIDE):
        return tensor
    if name.endswith((*_READ, "positions.table")):
        return tensor[:, order].contiguous()
    return tensor[order].contiguous()
