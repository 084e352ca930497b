"""Hooks that note what goes through a model's parts, and change nothing."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from dragoman.model.attention import MultiHeadAttention, ScaledDotProductAttention
from dragoman.model.embeddings import Embed
from dragoman.model.layers import FeedForward
from dragoman.model.norms import BatchNorm
from dragoman.model.ssru import SSRU
from dragoman.model.stacks import Encoder

_SHOWN = (
    *(Embed, Encoder, FeedForward, MultiHeadAttention, SSRU),
    *(ScaledDotProductAttention, nn.LayerNorm, nn.RMSNorm, BatchNorm, nn.Identity),
)


@dataclass(frozen=True)
class Seen:
    """What went into a module and what came out, the batch of one taken away."""

    inputs: tuple[Any, ...]
    output: Tensor


@contextmanager
def watched(model: nn.Module) -> Iterator[dict[nn.Module, Seen]]:
    """Note what goes through the parts that are shown."""
    seen: dict[nn.Module, Seen] = {}

    def note(module: nn.Module, inputs: tuple[Any, ...], output: Tensor) -> None:
        taken = tuple(kept(x) if isinstance(x, Tensor) else x for x in inputs)
        seen[module] = Seen(taken, kept(output))

    with ExitStack() as hooks:
        for module in model.modules():
            if isinstance(module, _SHOWN):
                hooks.callback(module.register_forward_hook(note).remove)
        yield seen


def kept(tensor: Tensor) -> Tensor:
    """Take away the batch of one; what the model goes on to overwrite is copied."""
    first = tensor[0].detach()
    if first.is_floating_point():
        first = first.to("cpu", torch.float32, copy=True)
    return first.cpu()
