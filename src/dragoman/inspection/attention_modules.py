"""Where a model's attentions are, named by what they attend to."""

import torch
from torch import Tensor, nn

from dragoman.inspection.attention import Kind, Projections
from dragoman.inspection.stacks import layers_of, stacks
from dragoman.model.attention import MultiHeadAttention
from dragoman.model.layers import SourceReader
from dragoman.model.ssru import SSRULayer


def attention_modules(model: nn.Module) -> dict[tuple[Kind, int], MultiHeadAttention]:
    """Give every multi-head attention by kind and layer; none where there are none."""
    found: dict[tuple[Kind, int], MultiHeadAttention] = {}
    for name, (_, stack) in stacks(model).items():
        for number, layer in enumerate(layers_of(stack)):
            if not isinstance(layer, SSRULayer):  # whose place a recurrent unit takes
                found[name, number] = _attention(layer, "self_attention")
            if isinstance(layer, SourceReader):
                found["cross", number] = _attention(layer, "cross_attention")
    return found


def _attention(layer: nn.Module, name: str) -> MultiHeadAttention:
    module = layer.get_submodule(name)
    assert isinstance(module, MultiHeadAttention)
    return module


def projections(module: MultiHeadAttention) -> Projections:
    """Cut the joint matrices of an attention into W_Q, W_K, W_V and W_O by heads."""
    joint, heads, d_head = module.projections, module.num_heads, module.d_head
    weights = _plain(joint.weight).split(joint.sizes)
    biases = _plain(joint.bias).split(joint.sizes)
    w_q, w_k, w_v = (
        _for_all(weight.T.unflatten(1, (-1, d_head)).transpose(0, 1), heads)
        for weight in weights
    )
    b_q, b_k, b_v = (
        _for_all(bias.unflatten(0, (-1, d_head)), heads) for bias in biases
    )
    w_o = _plain(module.output.weight).T.unflatten(0, (heads, -1))
    return Projections(w_q, w_k, w_v, b_q, b_k, b_v, w_o, _plain(module.output.bias))


def _for_all(parts: Tensor, heads: int) -> Tensor:
    """Repeat (head, ...) where groups of heads share keys and values."""
    if len(parts) == heads:
        return parts
    return parts.repeat_interleave(heads // len(parts), dim=0)


def _plain(parameter: Tensor) -> Tensor:
    return parameter.detach().to("cpu", torch.float32)
