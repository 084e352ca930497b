import math

import pytest
import torch

from dragoman.decoding.loops import LONGEST_RUN, allowed_repeats, most_repeats
from dragoman.decoding.repetition import NoLoops
from dragoman.decoding.rules import Live


@pytest.mark.parametrize(
    ("tokens", "most"),
    [
        ([], 0),
        ([4], 1),
        ([4, 5, 4], 1),
        ([4, 4], 2),
        ([5, 4, 4, 4, 5], 3),
        ([4, 5, 4, 5, 4, 5, 4], 3),
        ([6, 4, 5, 7, 4, 5, 7], 2),
        ([4, 5] * 9, 9),
        (list(range(LONGEST_RUN)) * 2, 2),
    ],
)
def test_repeats_are_counted_where_nothing_stands_between(
    tokens: list[int], most: int
) -> None:
    assert most_repeats(tokens) == most


def test_a_source_may_be_repeated_as_it_repeats_itself() -> None:
    assert allowed_repeats([4, 5, 6], 3) == 3
    assert allowed_repeats([4] * 7, 3) == 7


def test_whatever_is_said_under_the_rule_never_loops() -> None:
    random = torch.Generator().manual_seed(3)
    allowed = (2, 1, 3)
    live, rule = Live.first(3), NoLoops(allowed)
    for _ in range(60):
        chances = torch.zeros(3, 6)
        free = rule(chances, live) > -math.inf
        assert free.any(dim=1).all()
        drawn = torch.rand(3, 6, generator=random).masked_fill(~free, -1.0)
        live = live.grow(drawn.argmax(dim=1))
    for tokens, most in zip(live.tokens.tolist(), allowed, strict=True):
        assert most_repeats(tokens) <= most


def test_the_rule_forbids_nothing_but_the_repetition_too_many() -> None:
    live = Live(torch.tensor([0]), torch.tensor([[9, 4, 5, 4, 5, 4]]))
    forbidden = NoLoops((2,))(torch.zeros(1, 10), live).isneginf()
    assert forbidden.nonzero()[:, 1].tolist() == [5]
