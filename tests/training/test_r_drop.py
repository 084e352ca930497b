import pytest
import torch
from torch import Tensor

from dragoman.special_tokens import PAD
from dragoman.training.loss import plain_translation_loss, translation_loss
from dragoman.training.output_projection import OutputProjection
from dragoman.training.r_drop import r_drop_loss


def plain_r_drop(
    features: Tensor, weight: Tensor, targets: Tensor, smoothing: float, alpha: float
) -> Tensor:
    """Compute the same with all logits at once, and leave the gradient to torch."""
    first, second = (features @ weight.T).chunk(2)
    entropies = sum(
        plain_translation_loss(logits, targets, smoothing) for logits in (first, second)
    )
    p, q = first.log_softmax(-1), second.log_softmax(-1)
    one = torch.nn.functional.kl_div(q, p, reduction="none", log_target=True)
    other = torch.nn.functional.kl_div(p, q, reduction="none", log_target=True)
    divergence = (one + other).sum(-1)[targets != PAD].sum()
    return entropies / 2 + alpha / 4 * divergence


@pytest.fixture
def targets() -> Tensor:
    torch.manual_seed(0)
    made = torch.randint(1, 11, (3, 5))
    made[1, 3:] = PAD
    made[2, 1:] = PAD
    return made


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("alpha", [0.5, 5.0])
@pytest.mark.parametrize("rows_at_once", [2, 8, 128])
def test_chunks_agree_with_the_plain_twin_in_value_and_gradient(
    smoothing: float,
    alpha: float,
    rows_at_once: int,
    targets: Tensor,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(OutputProjection, "rows_at_once", rows_at_once)
    features = torch.randn(6, 5, 8, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(11, 8, dtype=torch.float64, requires_grad=True)
    chunked = r_drop_loss(features, weight, targets, smoothing, alpha)
    (3 * chunked.smoothed).backward()
    gradients = features.grad, weight.grad
    features.grad = weight.grad = None
    plain = plain_r_drop(features, weight, targets, smoothing, alpha)
    (3 * plain).backward()
    torch.testing.assert_close(chunked.smoothed, plain)
    torch.testing.assert_close(gradients[0], features.grad)
    torch.testing.assert_close(gradients[1], weight.grad)


def test_two_equal_passes_cost_what_one_costs(targets: Tensor) -> None:
    once = torch.randn(3, 5, 8, dtype=torch.float64)
    weight = torch.randn(11, 8, dtype=torch.float64)
    single = translation_loss(once, weight, targets, 0.1)
    double = r_drop_loss(torch.cat((once, once)), weight, targets, 0.1, alpha=5.0)
    torch.testing.assert_close(double.smoothed, single.smoothed)
    torch.testing.assert_close(double.plain, single.plain)
    assert double.correct == single.correct
    assert double.tokens == single.tokens


def test_padding_counts_for_nothing(targets: Tensor) -> None:
    features, weight = torch.randn(6, 5, 8), torch.randn(11, 8)
    before = r_drop_loss(features, weight, targets, 0.1, 5.0)
    features[torch.cat((targets, targets)) == PAD] = 100.0
    after = r_drop_loss(features, weight, targets, 0.1, 5.0)
    assert before.smoothed == after.smoothed
    assert not after.smoothed.requires_grad
