"""A decoder's steps by one kernel instead of layer by layer, where that can be had.

On a CPU most of a step is the way between its many small operations. The kernel does
what `DecoderLayer.step` does, which remains what happens elsewhere and what everything
is compared with. Its weights are a copy, laid out for it.
"""

import math
from typing import Any

from torch import Tensor, nn

from dragoman.kernels.choice import kernel_reads
from dragoman.kernels.decoder_step import DecoderStep, LayerWeights, Norm, Shape
from dragoman.kernels.pointers import LANES
from dragoman.kernels.product import Panels
from dragoman.model.attention import MultiHeadAttention
from dragoman.model.layers import DecoderLayer
from dragoman.model.norms import LayerNorm
from dragoman.model.relative_positions import NothingToTell, Rotary
from dragoman.model.stacks import Decoder
from dragoman.model.weights import state_of

State = tuple[tuple[int, int], ...]


class StepKernels:
    """What kernels need of a model, made when first asked for, and when it changed."""

    def __init__(self) -> None:
        self._decoder: tuple[State, DecoderStep] | None = None
        self._output: tuple[State, Panels] | None = None

    def __deepcopy__(self, memo: Any) -> "StepKernels":  # noqa: ANN401
        """Leave it to the copy of a model to make its own."""
        return StepKernels()

    def decoder(self, decoder: Decoder) -> DecoderStep | None:
        """Give the kernel for a decoder's steps; None where it does not suit."""
        weights = tuple(decoder.parameters())
        if not kernel_reads(weights[0]) or _is_watched(decoder) or not _suits(decoder):
            return None
        state = tuple(map(state_of, weights))
        if self._decoder is None or self._decoder[0] != state:
            self._decoder = state, _build(decoder)
        return self._decoder[1]

    def project(
        self, x: Tensor, weight: Tensor, bias: Tensor | None = None
    ) -> Tensor | None:
        """Give xWᵀ + b; None where no kernel is at work."""
        if not (kernel_reads(x) and kernel_reads(weight)):
            return None
        state = tuple(state_of(each) for each in (weight, bias) if each is not None)
        if self._output is None or self._output[0] != state:
            self._output = state, Panels(weight, bias)
        return self._output[1](x)


def _is_watched(decoder: nn.Module) -> bool:
    """Say whether somebody wants to see, or change, what the modules compute."""
    return decoder.training or any(
        module._forward_hooks or module._forward_pre_hooks  # noqa: SLF001
        for module in decoder.modules()
    )


def _suits(decoder: Decoder) -> bool:
    """Say whether the decoder is made as the paper has it, in whole vectors."""
    first = decoder.layers[0]
    assert isinstance(first, DecoderLayer)
    attention = first.self_attention
    return (
        isinstance(decoder.relative_positions, (NothingToTell, Rotary))
        and first.feed_forward.activation == "relu"
        and isinstance(first.around_feed_forward.norm, LayerNorm)
        and attention.num_kv_heads == attention.num_heads
        and attention.d_head % LANES == 0
        and attention.output.out_features % LANES == 0
    )


def _build(decoder: Decoder) -> DecoderStep:
    first = decoder.layers[0]
    assert isinstance(first, DecoderLayer)
    attention, norm = first.self_attention, first.around_self_attention.norm
    assert isinstance(norm, LayerNorm)
    scaling = attention.attention.scaling
    shape = Shape(
        num_heads=attention.num_heads,
        d_head=attention.d_head,
        d_model=attention.output.out_features,
        d_ff=first.feed_forward.inner.out_features,
        pre_norm=first.around_self_attention.pre_norm,
        epsilon=norm.eps,
        scale=1 / math.sqrt(attention.d_head) if scaling else 1.0,
    )
    last = _norm(decoder.norm) if isinstance(decoder.norm, LayerNorm) else None
    return DecoderStep([_layer(layer) for layer in decoder.layers], last, shape)


def _layer(layer: nn.Module) -> LayerWeights:
    assert isinstance(layer, DecoderLayer)
    ours, theirs, wide = layer.self_attention, layer.cross_attention, layer.feed_forward
    around = (
        layer.around_self_attention,
        layer.around_cross_attention,
        layer.around_feed_forward,
    )
    one, two, three = (_norm(each.norm) for each in around)
    return LayerWeights(
        projections=(ours.projections.weight, ours.projections.bias),
        self_output=(ours.output.weight, ours.output.bias),
        queries=_queries(theirs),
        cross_output=(theirs.output.weight, theirs.output.bias),
        inner=(wide.inner.weight, wide.inner.bias),
        outer=(wide.outer.weight, wide.outer.bias),
        norms=(one, two, three),
    )


def _queries(attention: MultiHeadAttention) -> tuple[Tensor, Tensor]:
    joint, inner = attention.projections, attention.inner
    return joint.weight[:inner], joint.bias[:inner]


def _norm(norm: nn.Module) -> Norm:
    assert isinstance(norm, LayerNorm)
    return norm.weight.detach(), norm.bias.detach()
