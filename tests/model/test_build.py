from collections.abc import Callable
from dataclasses import dataclass

import pytest
import torch

from dragoman.config import ModelConfig, load_preset
from dragoman.model.build import build_transformer
from dragoman.model.contract import TranslationModel
from dragoman.model.transformer import (
    Transformer,
    TransformerMemory,
    TransformerState,
)
from dragoman.model.weights import count_parameters

Contract = TranslationModel[TransformerMemory, TransformerState]


@dataclass(frozen=True)
class Shape:
    layers: int
    d_model: int
    d_ff: int
    num_heads: int
    dropout: float
    norm: str = "post"


PRINTED = {
    "tiny": Shape(4, 128, 256, 4, 0.3, "pre"),
    "small": Shape(6, 256, 1024, 4, 0.2),
    "base": Shape(6, 512, 2048, 8, 0.1),  # Table 3
    "big": Shape(6, 1024, 4096, 16, 0.3),  # Table 3
}


def build_preset(name: str, vocabulary: int) -> Transformer:
    """Build the shapes alone, without their memory."""
    with torch.device("meta"):
        return build_transformer(load_preset(name).model, vocabulary)


@pytest.mark.parametrize("name", PRINTED)
def test_presets_have_the_shapes_that_are_printed(name: str) -> None:
    shape, model = PRINTED[name], build_preset(name, 100)
    assert len(model.encoder.layers) == len(model.decoder.layers) == shape.layers
    for layer in [*model.encoder.layers, *model.decoder.layers]:
        attention, network = layer.self_attention, layer.feed_forward
        assert attention.num_heads == shape.num_heads
        assert attention.projections.weight.shape == (3 * shape.d_model, shape.d_model)
        assert attention.output.weight.shape == (shape.d_model, shape.d_model)
        assert network.inner.weight.shape == (shape.d_ff, shape.d_model)
        assert network.outer.weight.shape == (shape.d_model, shape.d_ff)
        assert attention.attention.dropout == network.dropout.rate == 0.0
        assert layer.around_feed_forward.dropout.rate == shape.dropout
        assert layer.around_feed_forward.pre_norm == (shape.norm == "pre")
    assert model.embed_source.dropout.rate == shape.dropout
    assert model.output_weight.shape == (100, shape.d_model)


@pytest.mark.parametrize(
    ("name", "millions", "tolerance"), [("base", 65, 0.04), ("big", 213, 0.04)]
)
def test_parameters_are_as_many_as_in_the_paper(
    name: str, millions: float, tolerance: float
) -> None:
    count = count_parameters(build_preset(name, 37_000))
    assert count / 1e6 == pytest.approx(millions, rel=tolerance)


def test_the_count_follows_from_the_shape() -> None:
    d, ff, layers, vocabulary = 512, 2048, 6, 37_000
    attention = 4 * (d * d + d)
    feed_forward = d * ff + ff + ff * d + d
    norm = 2 * d
    encoder = attention + feed_forward + 2 * norm
    decoder = 2 * attention + feed_forward + 3 * norm
    expected = vocabulary * d + layers * (encoder + decoder)
    assert count_parameters(build_preset("base", vocabulary)) == expected


def test_one_vocabulary_is_one_tensor(config: Callable[..., ModelConfig]) -> None:
    model = build_transformer(config(), 9)
    assert model.embed_source.tokens.weight is model.embed_target.tokens.weight
    assert model.output_weight is model.embed_target.tokens.weight


def test_separate_vocabularies_tie_target_and_output_only(
    config: Callable[..., ModelConfig],
) -> None:
    model = build_transformer(config(), 9, 7)
    assert model.embed_source.tokens.weight.shape == (9, 8)
    assert model.embed_target.tokens.weight.shape == (7, 8)
    assert model.output_weight is model.embed_target.tokens.weight


def test_separate_vocabularies_of_one_size_stay_separate(
    config: Callable[..., ModelConfig],
) -> None:
    model = build_transformer(config(), 9, 9)
    assert model.embed_source.tokens.weight is not model.embed_target.tokens.weight


@pytest.mark.parametrize("target", [None, 7])
def test_untied_weights_are_three_tensors(
    target: int | None, config: Callable[..., ModelConfig]
) -> None:
    model = build_transformer(config(tie_embeddings=False), 9, target)
    weights = (
        model.embed_source.tokens.weight,
        model.embed_target.tokens.weight,
        model.output_weight,
    )
    assert len({tensor.data_ptr() for tensor in weights}) == 3
    assert model.output_weight.shape == (target or 9, 8)


def test_the_same_seed_builds_the_same_model(
    config: Callable[..., ModelConfig],
) -> None:
    models = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        models.append(build_transformer(config(), 9))
    first, second, third = (model.output_weight for model in models)
    assert torch.equal(first, second)
    assert not torch.equal(first, third)


def test_what_is_built_keeps_the_contract(config: Callable[..., ModelConfig]) -> None:
    model: Contract = build_transformer(config(), 9)
    state = model.start(model.encode(torch.tensor([[4, 3]])))
    logits, state = model.step(torch.tensor([2]), state)
    assert logits.shape == (1, 9)
    logits, _ = model.step(torch.tensor([4, 5]), state.reorder(torch.tensor([0, 0])))
    assert logits.shape == (2, 9)
