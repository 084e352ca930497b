"""Attention weights alone, off a model at any work, for many sentences at once."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from torch import Tensor, nn

from dragoman.inspection.attention import Kind
from dragoman.inspection.attention_modules import attention_modules
from dragoman.model.attention import (
    ScaledDotProductAttention,
    attention_weights,
    combined_mask,
)

Recorded = dict[tuple[Kind, int], Tensor]


@contextmanager
def recorded_attention(model: nn.Module) -> Iterator[Recorded]:
    """Note the weights (batch, head, query, key) of each attention, by kind and layer.

    What the model computes stays as it was.
    """
    recorded: Recorded = {}
    with ExitStack() as hooks:
        for place, module in attention_modules(model).items():
            core = module.attention
            handle = core.register_forward_pre_hook(_recorder(place, recorded))
            hooks.callback(handle.remove)
        yield recorded


def _recorder(place: tuple[Kind, int], recorded: Recorded) -> Any:  # noqa: ANN401
    def record(module: nn.Module, inputs: tuple[Any, ...]) -> None:
        assert isinstance(module, ScaledDotProductAttention)
        queries, keys, _, mask, causal = inputs
        recorded[place] = attention_weights(
            queries,
            keys,
            combined_mask(queries, mask, causal),
            scaling=module.scaling,
        )

    return record
