from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from dragoman.config import ModelConfig
from dragoman.model.build import build_model
from dragoman.model.norms import (
    MOMENTUM,
    BatchNorm,
    build_norm,
    norm_kind,
    normalized,
    statistics_kept,
)
from dragoman.model.weights import get_weights, set_weights
from dragoman.setting_rules import CHOICES
from dragoman.special_tokens import BEGIN, END, PAD

SOURCE = torch.tensor([[5, 6, 7, END], [8, END, PAD, PAD]])
TARGET_IN = torch.tensor([[BEGIN, 4, 6], [BEGIN, 5, PAD]])


def draw(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64)


@pytest.fixture
def batch_norm(unsettled: Callable[[nn.Module], nn.Module]) -> BatchNorm:
    norm = BatchNorm(4, 1e-5).double()
    unsettled(norm)
    return norm


@pytest.mark.parametrize("kind", CHOICES["model.norm_kind"])
def test_the_settings_choose(kind: str, config: Callable[..., ModelConfig]) -> None:
    assert norm_kind(build_norm(config(norm_kind=kind))) == kind


def test_rms_norm_divides_by_the_root_of_the_mean_square(
    config: Callable[..., ModelConfig], unsettled: Callable[[nn.Module], nn.Module]
) -> None:
    norm = build_norm(config(norm_kind="rms")).double()
    unsettled(norm)
    x = draw(2, 3, 8)
    size = (x.square().mean(dim=-1, keepdim=True) + 1e-5).sqrt()
    assert isinstance(norm, nn.RMSNorm)
    torch.testing.assert_close(norm(x), x / size * norm.weight)


def test_batch_norm_normalises_each_dimension_over_the_words(
    batch_norm: BatchNorm,
) -> None:
    x = 3 * draw(5, 7, 4) + 2
    words = torch.rand(5, 7) < 0.6
    normed = batch_norm.train()(x, words)
    plain = (normed - batch_norm.bias) / batch_norm.weight
    torch.testing.assert_close(plain[words].mean(dim=0), torch.zeros(4).double())
    spread = plain[words].var(dim=0, correction=0)
    torch.testing.assert_close(spread, torch.ones(4).double(), rtol=0, atol=1e-4)


def test_padding_has_no_say_in_the_statistics(batch_norm: BatchNorm) -> None:
    x, words = draw(2, 3, 4), torch.tensor([[True, True, False], [True, False, False]])
    before = batch_norm.train()(x, words)[words]
    x[~words] = 1e3
    assert torch.equal(batch_norm(x, words)[words], before)


def test_running_statistics_follow_the_batches_and_serve_at_inference(
    batch_norm: BatchNorm,
) -> None:
    x = draw(50, 4) * 5 + 7
    batch_norm.train()(x)
    torch.testing.assert_close(batch_norm.mean.data, MOMENTUM * x.mean(dim=0))
    for _ in range(200):
        batch_norm(x)
    torch.testing.assert_close(batch_norm.mean.data, x.mean(dim=0))
    learned = batch_norm(x)
    batch_norm.eval()
    torch.testing.assert_close(batch_norm(x), learned)
    torch.testing.assert_close(batch_norm(x[:1]), learned[:1])  # alone, it is the same


def test_the_gradient_of_a_batch_norm_in_training_is_right(
    batch_norm: BatchNorm,
) -> None:
    x = draw(4, 3, 4).requires_grad_()
    words = torch.tensor([[True, True, False]] * 4)
    batch_norm.train()

    def normed(x: Tensor) -> Tensor:
        with statistics_kept(batch_norm):
            return normalized(batch_norm, x, words)

    assert torch.autograd.gradcheck(normed, (x,))


def test_while_training_only_a_batch_norm_lets_sentences_change_each_other(
    config: Callable[..., ModelConfig],
) -> None:
    others = SOURCE.clone()
    others[1, 0] = 10
    for kind in ("layer", "rms", "batch", "none"):
        model = build_model(config(norm_kind=kind), 13).double().train()
        with torch.no_grad():
            same = torch.allclose(
                model(SOURCE, TARGET_IN)[0], model(others, TARGET_IN)[0], atol=1e-12
            )
        assert same == (kind != "batch")


def test_running_statistics_travel_with_the_weights(
    config: Callable[..., ModelConfig],
) -> None:
    model, other = (build_model(config(norm_kind="batch"), 13) for _ in range(2))
    model.train()(SOURCE, TARGET_IN)
    set_weights(other, get_weights(model))
    expected = model.eval()(SOURCE, TARGET_IN)
    assert torch.equal(other.eval()(SOURCE, TARGET_IN), expected)


def test_a_trial_leaves_no_trace_in_the_statistics(
    config: Callable[..., ModelConfig],
) -> None:
    model = build_model(config(norm_kind="batch"), 13).train()
    before = {name: tensor.clone() for name, tensor in get_weights(model).items()}
    with statistics_kept(model):
        model(SOURCE, TARGET_IN)
    for name, tensor in get_weights(model).items():
        assert torch.equal(tensor, before[name]), name
    model(SOURCE, TARGET_IN)
    assert any(not torch.equal(t, before[n]) for n, t in get_weights(model).items())
