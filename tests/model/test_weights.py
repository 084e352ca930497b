from collections.abc import Callable

import pytest
import torch
from torch import nn

from dragoman.config import ModelConfig
from dragoman.model.build import build_model
from dragoman.model.network import TranslationNetwork
from dragoman.model.weights import count_parameters, get_weights, set_weights
from dragoman.special_tokens import BEGIN, END


def test_weights_carry_the_whole_model(
    model: TranslationNetwork, unsettled: Callable[[nn.Module], nn.Module]
) -> None:
    source, target_in = torch.tensor([[5, 6, END]]), torch.tensor([[BEGIN, 7, 8]])
    kept = {name: tensor.clone() for name, tensor in get_weights(model).items()}
    logits = model(source, target_in)
    unsettled(model)
    assert not torch.allclose(model(source, target_in), logits)
    set_weights(model, kept)
    assert torch.equal(model(source, target_in), logits)


def test_each_weight_is_named_once_and_counted_once(model: TranslationNetwork) -> None:
    weights = get_weights(model)
    storages = {tensor.data_ptr() for tensor in weights.values()}
    assert len(storages) == len(weights)
    assert count_parameters(model) == sum(map(torch.Tensor.numel, weights.values()))


def test_weights_are_views_without_gradients(model: TranslationNetwork) -> None:
    for name, tensor in get_weights(model).items():
        assert not tensor.requires_grad
        assert tensor.data_ptr() == model.get_parameter(name).data_ptr()


def test_setting_weights_copies_them(model: TranslationNetwork) -> None:
    given = {name: torch.zeros_like(t) for name, t in get_weights(model).items()}
    set_weights(model, given)
    for tensor in given.values():
        tensor.add_(1)
    assert all(tensor.eq(0).all() for tensor in get_weights(model).values())


def test_weights_of_another_number_type_are_converted(
    config: Callable[..., ModelConfig],
) -> None:
    model = build_model(config(), 9)
    halves = {name: tensor.bfloat16() for name, tensor in get_weights(model).items()}
    set_weights(model, halves)
    for name, tensor in get_weights(model).items():
        assert tensor.dtype == torch.float32
        assert torch.equal(tensor, halves[name].float())


@pytest.mark.parametrize("fault", ["missing", "extra"])
def test_a_missing_or_unknown_name_is_refused(
    fault: str, config: Callable[..., ModelConfig]
) -> None:
    model = build_model(config(), 9)
    weights = get_weights(model)
    if fault == "missing":
        name = "encoder.layers.0.feed_forward.inner.weight"
        del weights[name]
    else:
        name = "encoder.layers.9.feed_forward.inner.weight"
        weights[name] = torch.zeros(1)
    with pytest.raises(ValueError) as caught:
        set_weights(model, weights)
    assert str(caught.value) == f"the weights do not fit the model: {name!r}"


def test_another_shape_is_refused(config: Callable[..., ModelConfig]) -> None:
    model = build_model(config(), 9)
    with pytest.raises(ValueError) as caught:
        set_weights(model, get_weights(build_model(config(), 10)))
    assert str(caught.value) == (
        "the weights do not fit the model: "
        "'embed_source.tokens.weight' is (10, 8), not (9, 8)"
    )
