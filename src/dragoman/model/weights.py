"""A model's parameters by name, each once however many places share it."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn


def get_weights(model: nn.Module) -> dict[str, Tensor]:
    """Give every parameter by its name."""
    return {name: tensor.detach() for name, tensor in model.named_parameters()}


@torch.no_grad()
def set_weights(model: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Copy parameters into the model; names and shapes must be the model's own."""
    own = dict(model.named_parameters())
    compare_shapes(
        {name: tuple(parameter.shape) for name, parameter in own.items()},
        {name: tuple(tensor.shape) for name, tensor in weights.items()},
    )
    for name, parameter in own.items():
        parameter.copy_(weights[name])


def compare_shapes(
    wanted: Mapping[str, tuple[int, ...]], given: Mapping[str, tuple[int, ...]]
) -> None:
    """Say in one line which tensor is missing, strange or of another shape."""
    if strange := sorted(wanted.keys() ^ given.keys()):
        raise ValueError(f"the weights do not fit the model: {strange[0]!r}")
    for name, shape in wanted.items():
        if shape != given[name]:
            raise ValueError(
                f"the weights do not fit the model: {name!r} is {given[name]}, "
                f"not {shape}"
            )


def count_parameters(model: nn.Module) -> int:
    """Count each parameter once, however many places share it."""
    return sum(parameter.numel() for parameter in model.parameters())


def state_of(weight: Tensor) -> tuple[int, int]:
    """Say which tensor this is, and how often it was changed in place.

    The same again later means that it still holds the same numbers.
    """
    if weight.is_inference():  # it cannot be changed in place
        return weight.data_ptr(), 0
    return weight.data_ptr(), weight._version  # noqa: SLF001 (nothing public)
