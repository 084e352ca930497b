import pytest
import torch
from torch import nn

from dragoman.training.moving_average import MovingAverage, decay_at


def test_the_average_is_the_weighted_sum_of_all_weights_so_far() -> None:
    weight = nn.Parameter(torch.tensor([1.0, 2.0], dtype=torch.float64))
    average = MovingAverage({"w": weight}, decay=0.4)
    expected = weight.detach().clone()
    for update in range(1, 20):
        with torch.no_grad():
            weight.add_(torch.tensor([1.0, -3.0]) * update)
        average.follow()
        decay = decay_at(update, 0.4)
        expected = decay * expected + (1 - decay) * weight.detach()
        torch.testing.assert_close(average.weights["w"], expected)


def test_the_start_is_soon_forgotten_and_the_decay_soon_full() -> None:
    decays = [decay_at(update, 0.999) for update in range(1, 20_000)]
    assert decays[0] == pytest.approx(0.1)
    assert decays == sorted(decays)
    assert decays[-1] == 0.999


def test_a_model_borrows_the_average_and_gets_its_own_weights_back() -> None:
    weight = nn.Parameter(torch.tensor([1.0]))
    average = MovingAverage({"w": weight}, decay=0.5)
    with torch.no_grad():
        weight.fill_(9.0)
    with average.in_place():
        assert weight.item() == 1.0
    assert weight.item() == 9.0
