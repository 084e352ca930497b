import torch
from torch import nn

from dragoman.training import loss_scale
from dragoman.training.loss_scale import LossScale


def test_without_float16_it_is_one_and_stays_so() -> None:
    scale = LossScale("bfloat16")
    assert scale.value == 1
    scale.succeeded()
    assert not scale.lowered()
    assert scale.value == 1
    assert scale.state() == {}


def test_gradients_have_their_true_size_again() -> None:
    scale = LossScale("float16")
    weight = nn.Parameter(torch.tensor([3.0, 5.0]))
    (weight.square().sum() * scale.value).backward()
    scale.undo([weight, nn.Parameter(torch.ones(1))])  # the second has no gradient
    assert weight.grad is not None
    assert weight.grad.tolist() == [6.0, 10.0]


def test_what_float16_would_lose_is_kept() -> None:
    tiny = torch.tensor(1e-8)
    assert tiny.half() == 0
    scale = LossScale("float16")
    kept = (tiny * scale.value).half().float() / scale.value
    assert torch.isclose(kept, tiny, rtol=1e-3)


def test_an_overflow_halves_it_until_it_cannot_be_to_blame() -> None:
    scale = LossScale("float16")
    halvings = 0
    while scale.lowered():
        halvings += 1
    assert scale.value == 1
    assert halvings == 16


def test_it_grows_after_many_good_updates_in_a_row() -> None:
    scale = LossScale("float16")
    for _ in range(loss_scale.GROW_AFTER - 1):
        scale.succeeded()
    assert scale.lowered()
    assert scale.value == loss_scale.FIRST / 2
    for _ in range(loss_scale.GROW_AFTER):
        scale.succeeded()
    assert scale.value == loss_scale.FIRST


def test_it_goes_on_where_it_was() -> None:
    scale = LossScale("float16")
    scale.lowered()
    scale.succeeded()
    other = LossScale("float16")
    other.load(scale.state())
    assert (other.value, other.good) == (scale.value, scale.good)
    other.load({})
    assert (other.value, other.good) == (scale.value, scale.good)
