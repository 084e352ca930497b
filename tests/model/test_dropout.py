import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from dragoman.model.dropout import Dropout, byte_threshold, random_bytes

MANY = 2**20


def dropped(rate: float, x: Tensor) -> Tensor:
    result: Tensor = Dropout(rate).train()(x)
    return result


def mask_of(rate: float) -> Tensor:
    return dropped(rate, torch.ones(MANY)).ne(0).double()


def correlation(a: Tensor, b: Tensor) -> float:
    return float(torch.corrcoef(torch.stack([a, b]))[0, 1])


def test_every_byte_is_equally_likely_in_each_place_of_a_word() -> None:
    bytes_by_place = random_bytes(MANY).view(-1, 8)
    for place in range(8):
        counts = bytes_by_place[:, place].int().bincount(minlength=256).double()
        expected = MANY / 8 / 256
        chi_squared = float(((counts - expected) ** 2 / expected).sum())
        assert 255 - 135 < chi_squared < 255 + 135  # six deviations about its mean


@settings(deadline=None)
@given(st.integers(0, 40))
def test_as_many_bytes_are_drawn_as_asked(count: int) -> None:
    assert random_bytes(count).shape == (count,)
    assert random_bytes(count).dtype == torch.uint8


@settings(deadline=None)
@given(st.floats(0, 255 / 256))
def test_the_rate_is_rounded_to_a_256th(rate: float) -> None:
    assert abs(byte_threshold(rate) / 256 - rate) <= 1 / 512


def test_some_share_is_always_kept() -> None:
    assert byte_threshold(0.9999) == 255
    assert dropped(0.9999, torch.ones(MANY)).isfinite().all()


@pytest.mark.parametrize("rate", [0.05, 0.1, 0.3, 0.5, 0.9])
def test_mean_and_variance_are_those_of_dropout(rate: float) -> None:
    result = dropped(rate, torch.ones(MANY)).double()
    share = byte_threshold(rate) / 256
    variance = share / (1 - share)  # of a mask scaled by 1 / (1 - share)
    assert float(result.mean()) == pytest.approx(1, abs=5 * (variance / MANY) ** 0.5)
    assert float(result.var()) == pytest.approx(variance, rel=0.03)
    assert result.unique().tolist() == pytest.approx([0, 1 / (1 - share)], rel=1e-6)


def test_positions_are_independent() -> None:
    mask = mask_of(0.3)
    for lag in (1, 2, 3, 4, 7, 8, 9, 16, 128, 512):
        assert abs(correlation(mask[:-lag], mask[lag:])) < 6 / MANY**0.5


def test_calls_are_independent() -> None:
    assert abs(correlation(mask_of(0.3), mask_of(0.3))) < 6 / MANY**0.5


def test_the_same_random_state_drops_the_same() -> None:
    x = torch.randn(50, 7)
    state = torch.get_rng_state()
    first = dropped(0.4, x)
    second = dropped(0.4, x)
    torch.set_rng_state(state)
    assert torch.equal(dropped(0.4, x), first)
    assert torch.equal(dropped(0.4, x), second)
    assert not torch.equal(first, second)


def test_the_gradient_goes_where_the_values_went() -> None:
    x = torch.ones(1000, requires_grad=True)
    result = dropped(0.3, x)
    result.sum().backward()
    assert x.grad is not None
    assert torch.equal(x.grad, result.detach())


def test_the_gradient_agrees_with_finite_differences() -> None:
    def same_mask(x: Tensor) -> Tensor:
        torch.manual_seed(5)
        return dropped(0.3, x)

    x = torch.randn(4, 6, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(same_mask, (x,))


def test_the_input_is_left_as_it_was() -> None:
    x = torch.randn(100)
    before = x.clone()
    dropped(0.5, x)
    assert torch.equal(x, before)


def test_nothing_is_dropped_when_not_training() -> None:
    x = torch.randn(100)
    assert Dropout(0.5).eval()(x) is x


def test_a_rate_of_zero_drops_nothing_and_draws_nothing() -> None:
    x = torch.randn(100)
    state = torch.get_rng_state()
    assert dropped(0.0, x) is x
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_the_number_type_and_the_shape_are_kept(dtype: torch.dtype) -> None:
    x = torch.ones(3, 4, 5, dtype=dtype).transpose(0, 2)
    result = dropped(0.5, x)
    assert result.dtype == dtype
    assert result.shape == x.shape


def test_other_devices_use_their_own_dropout() -> None:
    assert dropped(0.5, torch.empty(3, device="meta")).device.type == "meta"


def test_the_rate_is_shown() -> None:
    assert repr(Dropout(0.25)) == "Dropout(rate=0.25)"


def test_dropping_and_adding_at_once_is_dropping_then_adding() -> None:
    x, written = (torch.randn(9, 33, requires_grad=True) for _ in range(2))
    dropout = Dropout(0.3).train()
    weight = torch.randn(9, 33)
    found = []
    for summed in (dropout.add, lambda x, written: x + dropout(written)):
        torch.manual_seed(1)
        result = summed(x, written)
        (result * weight).sum().backward()
        found.append((result.detach(), x.grad, written.grad))
        x.grad = written.grad = None
    for at_once, plainly in zip(*found, strict=True):
        torch.testing.assert_close(at_once, plainly)


@pytest.mark.parametrize("dropout", [Dropout(0.0).train(), Dropout(0.5).eval()])
def test_where_nothing_is_dropped_adding_is_all(dropout: Dropout) -> None:
    x, written = torch.randn(2, 3), torch.randn(2, 3)
    assert torch.equal(dropout.add(x, written), x + written)


def test_numbers_of_two_kinds_are_dropped_and_added_too() -> None:
    x, written = torch.zeros(400), torch.ones(400, dtype=torch.float64)
    summed = Dropout(0.5).train().add(x, written)
    assert summed.dtype == torch.float64
    assert set(summed.tolist()) == {0.0, 2.0}
