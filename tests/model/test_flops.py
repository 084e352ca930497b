import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from dragoman.config import load_preset
from dragoman.model.build import build_model
from dragoman.model.flops import BatchShape, forward_flops, training_flops
from dragoman.special_tokens import PAD
from dragoman.training.loss import translation_loss

VOCABULARY = 50
SMALL = {
    "model.d_model": 16,
    "model.d_ff": 24,
    "model.num_heads": 2,
    "model.num_encoder_layers": 2,
    "model.num_decoder_layers": 3,
    "model.dropout": 0.0,
}


def count_of_addmm_(
    total: object, left: torch.Size, right: torch.Size, *_: object, **__: object
) -> int:
    """Count what the counter itself does not know: adding a product in place."""
    return 2 * left[0] * left[1] * right[1]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"model.norm": "pre"},
        {"model.d_head": 5},
        {"model.tie_embeddings": False},
        {"model.activation": "gelu", "model.norm_kind": "rms"},
        {"model.activation": "swiglu", "model.positions": "rotary"},
        {"model.num_kv_heads": 1, "model.positions": "alibi"},
        {"model.norm_kind": "batch", "model.attention_scale": False},
        {"model.kind": "ssru", "model.activation": "swish"},
        {"model.output_bias": True, "model.embedding_norm": True},
    ],
)
def test_the_formula_is_what_forward_and_backward_multiply(
    settings: dict[str, object],
) -> None:
    config = load_preset("base").with_settings({**SMALL, **settings}).model
    model = build_model(config, VOCABULARY)
    rows, source_length, target_length = 3, 7, 5
    source = torch.randint(4, VOCABULARY, (rows, source_length))
    target = torch.randint(4, VOCABULARY, (rows, target_length))
    target[0, 3:] = PAD
    batch = BatchShape(rows, source_length, target_length, target_tokens=13)
    with sdpa_kernel(SDPBackend.MATH):  # every product in the open, none done twice
        with FlopCounterMode(
            display=False,
            custom_mapping={torch.ops.aten.addmm_: count_of_addmm_},
        ) as counted:
            features = model.features(source, target)
            loss = translation_loss(features, model.output_weight, target, 0.1)
            loss.smoothed.backward()
        assert (
            counted.get_total_flops() == training_flops(config, VOCABULARY, batch).total
        )
        whole = BatchShape(rows, source_length, target_length, rows * target_length)
        with torch.no_grad(), FlopCounterMode(display=False) as counted:
            model(source, target)
        expected = forward_flops(config, VOCABULARY, whole).total
        assert counted.get_total_flops() == expected


@pytest.mark.parametrize("kind", ["language_model", "masked_language_model"])
def test_the_formula_is_what_a_single_stack_multiplies(kind: str) -> None:
    asked = {**SMALL, "model.kind": kind, "model.num_kv_heads": 1}
    config = load_preset("base").with_settings(asked).model
    model = build_model(config, VOCABULARY)
    tokens = torch.randint(4, VOCABULARY, (3, 6))
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counted:
        model(tokens, tokens)
    expected = forward_flops(config, VOCABULARY, BatchShape(3, 1, 6, 18)).total
    assert counted.get_total_flops() == expected


def test_the_parts_of_a_batch_cost_what_the_whole_costs() -> None:
    config = load_preset("base").model
    batch = BatchShape(rows=24, source_length=30, target_length=20, target_tokens=400)
    whole = training_flops(config, 1000, batch)
    part = training_flops(config, 1000, batch.share(4))
    assert part.times(4).total == pytest.approx(whole.total)
    assert part.plus(part.times(3)).total == pytest.approx(whole.total)


def test_a_row_cannot_be_divided() -> None:
    one = BatchShape(rows=2, source_length=8, target_length=8, target_tokens=10)
    assert one.share(16) == BatchShape(1, 8, 8, 5)


def test_a_long_sentence_spends_its_work_on_attention() -> None:
    config = load_preset("base").model
    short = training_flops(config, 1000, BatchShape(100, 10, 10, 1000))
    long = training_flops(config, 1000, BatchShape(1, 1000, 1000, 1000))
    assert long.attention == pytest.approx(100 * short.attention)
    assert long.encoder == short.encoder
    assert long.output == short.output


@pytest.mark.parametrize("attention", ["none", "dot", "general"])
@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize("cell", ["elman", "gru", "lstm"])
def test_the_formula_is_what_recurrent_models_multiply(
    cell: str, bidirectional: bool, attention: str
) -> None:
    settings = {
        "model.cell": cell,
        "model.bidirectional": bidirectional,
        "model.attention": attention,
        "model.d_model": 16,
        "model.num_decoder_layers": 3,
    }
    config = load_preset("lstm").with_settings(settings).model
    model = build_model(config, VOCABULARY).double().eval()  # no kernel hides products
    source, target = torch.randint(4, 50, (3, 20)), torch.randint(4, 50, (3, 20))
    batch = BatchShape(3, 20, 20, 60)
    with sdpa_kernel(SDPBackend.MATH):
        with torch.no_grad(), FlopCounterMode(display=False) as counted:
            model(source, target)
        assert (
            counted.get_total_flops() == forward_flops(config, VOCABULARY, batch).total
        )
        with FlopCounterMode(display=False) as counted:
            model(source, target).sum().backward()
        # Nobody asks for the gradient of the very first state.
        assert counted.get_total_flops() == pytest.approx(
            training_flops(config, VOCABULARY, batch).total, rel=0.03
        )
