"""Where a model looked in the source while it said a given translation."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from dragoman.model.attention import attention_weights
from dragoman.model.layers import DecoderLayer


@contextmanager
def recorded(model: nn.Module) -> Iterator[list[Tensor]]:
    """Note (batch, target, source) of each layer's look at the source, heads averaged.

    What the model computes stays as it was.
    """
    weights: list[Tensor] = []
    with ExitStack() as hooks:
        for module in model.modules():
            if isinstance(module, DecoderLayer):
                core = module.get_submodule("cross_attention.attention")
                handle = core.register_forward_pre_hook(_recorder(weights))
                hooks.callback(handle.remove)
        yield weights


def _recorder(weights: list[Tensor]) -> Any:  # noqa: ANN401
    def record(module: Any, inputs: tuple[Any, ...]) -> None:  # noqa: ANN401
        queries, keys, _, mask, _ = inputs
        found = attention_weights(queries, keys, mask, scaling=module.scaling)
        weights.append(found.mean(dim=1))

    return record


def look(model: Any, source: Tensor, target_in: Tensor) -> Tensor | None:  # noqa: ANN401
    """Give (batch, layer, target, source), or nothing for a model without attention."""
    if not isinstance(model, nn.Module):
        return None
    with recorded(model) as weights:
        model.forward(source, target_in)
    return torch.stack(weights, dim=1) if weights else None
