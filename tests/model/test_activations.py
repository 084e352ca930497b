import pytest
import torch
from torch import Tensor

from dragoman.config import load_preset
from dragoman.model.activations import activation_bytes
from dragoman.model.build import build_model
from dragoman.model.flops import BatchShape

SMALL = {
    "model.d_model": 16,
    "model.d_ff": 24,
    "model.num_heads": 2,
    "model.num_encoder_layers": 2,
    "model.num_decoder_layers": 3,
}


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"model.norm": "pre"},
        {"model.dropout": 0.0},
        {"model.feed_forward_dropout": 0.1},
        {"model.attention_dropout": 0.1},
        {"model.d_head": 5, "model.positions": "learned"},
        {"model.norm_kind": "rms"},
        {"model.norm_kind": "rms", "model.norm": "pre"},
        {"model.norm_kind": "none"},
        {"model.norm_kind": "batch"},
        {"model.norm_kind": "batch", "model.norm": "pre"},
        {"model.activation": "gelu"},
        {"model.activation": "gelu", "model.feed_forward_dropout": 0.1},
        {"model.activation": "swiglu"},
        {"model.activation": "swiglu", "model.feed_forward_dropout": 0.1},
        {"model.positions": "rotary"},
        {"model.positions": "rotary", "model.attention_dropout": 0.1},
        {"model.positions": "alibi"},
        {"model.positions": "alibi", "model.attention_dropout": 0.1},
        {"model.num_kv_heads": 1},
        {"model.num_kv_heads": 1, "model.positions": "rotary"},
        {"model.num_kv_heads": 1, "model.attention_dropout": 0.1},
        {"model.attention_scale": False},
    ],
)
def test_the_formula_is_what_the_forward_pass_keeps(
    settings: dict[str, object],
) -> None:
    config = load_preset("base").with_settings({**SMALL, **settings}).model
    model = build_model(config, 50)
    own = {p.untyped_storage().data_ptr() for p in model.parameters()}
    kept: dict[int, Tensor] = {}  # by storage: what two operations keep is there once

    def keep(tensor: Tensor) -> Tensor:
        place = tensor.untyped_storage().data_ptr()
        if tensor.dtype == torch.float32 and place not in own:
            kept[place] = tensor
        return tensor

    source, target = torch.randint(4, 50, (3, 7)), torch.randint(4, 50, (3, 5))
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        features = model.features(source, target)
    keep(features)
    real = sum(tensor.untyped_storage().nbytes() for tensor in kept.values())
    assert real == activation_bytes(config, BatchShape(3, 7, 5, 15))
