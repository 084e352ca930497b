import pytest
import torch

from dragoman.decoding.history import NOWHERE, History
from dragoman.decoding.length_penalty import LengthPenalty
from dragoman.special_tokens import END

PENALTY = LengthPenalty("paper", 0.6)


def test_follows_each_leaf_back_to_the_beginning() -> None:
    history = History()
    first = history.add(
        torch.tensor([5, 6]), torch.tensor([-1.0, -2.0]), torch.tensor([NOWHERE] * 2)
    )
    second = history.add(
        torch.tensor([7, END, 8]), torch.tensor([-4.0, -8.0, -16.0]), first[[1, 0, 0]]
    )
    [[branch], [end, other], []] = history.read(
        [[int(second[0])], [int(second[1]), int(second[2])], []], PENALTY
    )
    assert (branch.tokens, branch.finished) == ((6, 7), False)
    assert (end.tokens, end.finished) == ((5,), True)
    assert (other.tokens, other.finished) == ((5, 8), False)
    assert branch.token_log_probabilities == (-2.0, -4.0)
    assert end.token_log_probabilities == (-1.0, -8.0)
    assert end.log_probability == -9.0
    assert end.score == pytest.approx(-9.0 / PENALTY(2))


def test_numbers_keep_the_shape_of_the_step() -> None:
    history = History()
    grid = torch.zeros(2, 3, dtype=torch.int64)
    assert history.add(grid, grid.double(), grid).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert history.add(grid, grid.double(), grid).tolist()[0] == [6, 7, 8]
