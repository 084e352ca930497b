import pytest
import torch
from torch import Tensor

from dragoman.special_tokens import PAD
from dragoman.training.loss import plain_translation_loss, translation_loss
from dragoman.training.output_projection import OutputProjection
from dragoman.training.r_drop import r_drop_loss


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.4])
@pytest.mark.parametrize("rows_at_once", [1, 3, 256])
def test_chunks_agree_with_the_plain_formula_in_value_and_gradient(
    smoothing: float, rows_at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OutputProjection, "rows_at_once", rows_at_once)
    torch.manual_seed(0)
    features = torch.randn(3, 5, 8, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(11, 8, dtype=torch.float64, requires_grad=True)
    targets = torch.randint(1, 11, (3, 5))
    targets[1, 3:] = PAD
    targets[2, 1:] = PAD

    chunked = translation_loss(features, weight, targets, smoothing)
    (3 * chunked.smoothed).backward()
    gradients = features.grad, weight.grad
    features.grad = weight.grad = None
    plain = plain_translation_loss(features @ weight.T, targets, smoothing)
    (3 * plain).backward()

    torch.testing.assert_close(chunked.smoothed, plain)
    torch.testing.assert_close(gradients[0], features.grad)
    torch.testing.assert_close(gradients[1], weight.grad)


def test_padding_counts_for_nothing() -> None:
    torch.manual_seed(0)
    features, weight = torch.randn(2, 4, 8), torch.randn(11, 8)
    targets = torch.tensor([[4, 5, 3, PAD], [6, 3, PAD, PAD]])
    before = translation_loss(features, weight, targets, 0.1)
    features[targets == PAD] = 100.0
    after = translation_loss(features, weight, targets, 0.1)
    assert before.tokens == after.tokens == 5
    assert before.smoothed == after.smoothed


def test_plain_loss_and_correct_count_ignore_smoothing() -> None:
    weight = torch.eye(6)
    targets = torch.tensor([[4, 5, 3]])
    features = 50 * weight[torch.tensor([[4, 5, 2]])]
    loss = translation_loss(features, weight, targets, 0.1)
    assert loss.correct == 2
    assert loss.plain == pytest.approx(50.0)


def test_no_gradient_is_computed_where_none_is_wanted() -> None:
    features, weight = torch.randn(1, 2, 4), torch.randn(7, 4)
    loss = translation_loss(features, weight, torch.tensor([[4, 3]]), 0.1)
    assert not loss.smoothed.requires_grad


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("passes", [1, 2])
@pytest.mark.parametrize("rows_at_once", [2, 128])
def test_a_bias_is_a_weight_on_a_feature_that_is_always_1(
    smoothing: float, passes: int, rows_at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OutputProjection, "rows_at_once", rows_at_once)
    torch.manual_seed(0)
    features = torch.randn(passes * 2, 4, 8, dtype=torch.float64, requires_grad=True)
    ones = torch.ones(passes * 2, 4, 1, dtype=torch.float64)
    joint = torch.randn(11, 9, dtype=torch.float64, requires_grad=True)
    targets = torch.tensor([[4, 5, 3, PAD], [6, 3, PAD, PAD]])

    def loss(features: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        if passes == 2:
            return r_drop_loss(features, weight, targets, smoothing, 5.0, bias).smoothed
        return translation_loss(features, weight, targets, smoothing, bias).smoothed

    apart = loss(features, joint[:, :8], joint[:, 8])
    gradients = torch.autograd.grad(3 * apart, (features, joint))
    together = loss(torch.cat((features, ones), dim=2), joint, None)
    expected = torch.autograd.grad(3 * together, (features, joint))
    torch.testing.assert_close(apart, together)
    torch.testing.assert_close(gradients, expected)
