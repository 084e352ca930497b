import pytest
import torch
from torch import Tensor

from dragoman.kernels.dropout import drop, dropped_sum, rectify_and_drop
from dragoman.model.dropout import Dropout

pytestmark = pytest.mark.usefixtures("at_work")
MANY = 2**20


def mask_of(threshold: int) -> Tensor:
    return dropped_sum(None, torch.ones(MANY), threshold)


def correlation(a: Tensor, b: Tensor) -> float:
    return float(torch.corrcoef(torch.stack([a.double(), b.double()]))[0, 1])


@pytest.mark.parametrize("threshold", [13, 77, 128, 230])
def test_mean_and_variance_are_those_of_dropout(threshold: int) -> None:
    mask, share = mask_of(threshold).double(), threshold / 256
    variance = share / (1 - share)
    assert float(mask.mean()) == pytest.approx(1, abs=5 * (variance / MANY) ** 0.5)
    assert float(mask.var()) == pytest.approx(variance, rel=0.03)
    assert mask.unique().tolist() == pytest.approx([0, 1 / (1 - share)], rel=1e-6)


def test_places_and_calls_are_independent() -> None:
    mask = mask_of(77)
    for lag in (1, 2, 3, 4, 7, 8, 9, 16, 128, 512, 4096):
        assert abs(correlation(mask[:-lag], mask[lag:])) < 6 / MANY**0.5
    assert abs(correlation(mask, mask_of(77))) < 6 / MANY**0.5


def test_neighbouring_seeds_are_independent() -> None:
    ones = torch.ones(MANY)
    first, second = (drop(None, ones, seed, 77) for seed in (1, 2))
    assert abs(correlation(first, second)) < 6 / MANY**0.5


def test_the_same_random_state_drops_the_same_with_any_threads() -> None:
    x, state = torch.randn(3, 5000), torch.get_rng_state()
    results = []
    for threads in (1, 2, 3):
        torch.set_num_threads(threads)
        torch.set_rng_state(state)
        results.append((dropped_sum(None, x, 77), rectify_and_drop(x, 77)))
    for dropped, rectified in results[1:]:
        assert torch.equal(dropped, results[0][0])
        assert torch.equal(rectified, results[0][1])
    assert not torch.equal(dropped_sum(None, x, 77), results[0][0])


@pytest.mark.parametrize("shape", [(1,), (7, 13), (3, 4096), (2, 4097)])
def test_a_sum_is_the_base_and_what_was_not_dropped(shape: tuple[int, ...]) -> None:
    x, written = (torch.randn(shape, requires_grad=True) for _ in range(2))
    state = torch.get_rng_state()
    alone = dropped_sum(None, written, 77)
    torch.set_rng_state(state)
    summed = dropped_sum(x, written, 77)
    torch.testing.assert_close(summed, x + alone)
    weight = torch.randn(shape)
    (summed * weight).sum().backward()
    assert x.grad is not None
    assert written.grad is not None
    torch.testing.assert_close(x.grad, weight)
    mask = torch.where(alone == 0, 0.0, 256 / (256 - 77))
    torch.testing.assert_close(written.grad, mask * weight)


@pytest.mark.parametrize("threshold", [0, 77])
def test_rectifying_and_dropping_agrees_with_doing_both(threshold: int) -> None:
    x = torch.randn(50, 333, requires_grad=True)
    result = rectify_and_drop(x, threshold)
    kept = result != 0
    expected = torch.where(kept, x.relu() * (256 / (256 - threshold)), 0.0)
    torch.testing.assert_close(result, expected)
    share = float(kept.float().mean() / (x > 0).float().mean())
    assert share == pytest.approx(1 - threshold / 256, abs=0.02)
    weight = torch.randn(x.shape)
    (given,) = torch.autograd.grad((result * weight).sum(), x, retain_graph=True)
    (wanted,) = torch.autograd.grad((expected * weight).sum(), x)
    torch.testing.assert_close(given, wanted)


def test_what_is_no_number_stays_none() -> None:
    x = torch.full((40,), float("nan"))
    assert rectify_and_drop(x, 0).isnan().all()
    assert dropped_sum(x, torch.zeros(40), 77).isnan().all()


def test_a_module_uses_them_while_it_trains_only() -> None:
    x = torch.randn(9, 40)
    dropout = Dropout(0.3)
    assert torch.equal(dropout.eval().of_rectified(x), x.relu())
    result = dropout.train().of_rectified(x)
    assert 0 < int((result == 0).sum()) - int((x <= 0).sum()) < int((x > 0).sum())
