import pytest
import torch
from torch import Tensor

from dragoman.config import ModelConfig, load_preset
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
        {"model.word_dropout": 0.1},
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
        {"model.activation": "swish"},
        {"model.activation": "quick_gelu", "model.feed_forward_dropout": 0.1},
        {"model.last_norm": True},
        {"model.embedding_norm": True},
        {"model.embedding_norm": True, "model.dropout": 0.0},
    ],
)
def test_the_formula_is_what_the_forward_pass_keeps(
    settings: dict[str, object],
) -> None:
    config = load_preset("base").with_settings({**SMALL, **settings}).model
    shape = BatchShape(3, 7, 5, 15)
    assert kept_bytes(config, shape) == activation_bytes(config, shape)


@pytest.mark.parametrize("kind", ["language_model", "masked_language_model"])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"model.norm": "pre", "model.norm_kind": "rms", "model.dropout": 0.0},
        {"model.positions": "rotary", "model.num_kv_heads": 1},
        {"model.positions": "alibi", "model.activation": "gelu"},
        {"model.attention_dropout": 0.1},
        {"model.word_dropout": 0.1},
    ],
)
def test_the_formula_is_what_a_single_stack_keeps(
    kind: str, settings: dict[str, object]
) -> None:
    asked = {**SMALL, **settings, "model.kind": kind}
    config = load_preset("base").with_settings(asked).model
    shape = BatchShape(3, 5, 5, 15)
    assert kept_bytes(config, shape) == activation_bytes(config, shape)


def test_the_formula_is_near_what_recurrent_units_keep() -> None:
    asked = {**SMALL, "model.kind": "ssru"}
    config = load_preset("base").with_settings(asked).model
    shape = BatchShape(3, 7, 5, 15)
    kept = kept_bytes(config, shape)
    assert 0.75 * kept < activation_bytes(config, shape) < 1.35 * kept


@pytest.mark.parametrize("dropout", [0.0, 0.1])
@pytest.mark.parametrize("attention", ["none", "dot", "general", "additive"])
@pytest.mark.parametrize("cell", ["elman", "gru", "lstm"])
def test_the_formula_is_near_what_recurrent_kernels_keep(
    cell: str, attention: str, dropout: float
) -> None:
    settings = {
        "model.cell": cell,
        "model.attention": attention,
        "model.dropout": dropout,
        "model.d_model": 64,
    }
    config = load_preset("lstm").with_settings(settings).model
    shape = BatchShape(8, 30, 28, 8 * 28)
    assert activation_bytes(config, shape) == pytest.approx(
        kept_bytes(config, shape), rel=0.15
    )


def kept_bytes(config: ModelConfig, shape: BatchShape) -> int:
    """Run forward and count what autograd keeps."""
    model = build_model(config, 50)
    own = {p.untyped_storage().data_ptr() for p in model.parameters()}
    kept: dict[int, Tensor] = {}  # by storage: what two operations keep is there once

    def keep(tensor: Tensor) -> Tensor:
        place = tensor.untyped_storage().data_ptr()
        if tensor.dtype in (torch.float32, torch.uint8) and place not in own:
            kept[place] = tensor
        return tensor

    rows = int(shape.rows)
    source = torch.randint(4, 50, (rows, int(shape.source_length)))
    target = torch.randint(4, 50, (rows, int(shape.target_length)))
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        features = model.features(source, target)
    keep(features)
    return sum(tensor.untyped_storage().nbytes() for tensor in kept.values())
