import math

import pytest
import torch
from torch import Tensor

from dragoman.decoding.rules import (
    Live,
    MinimumLength,
    NoRepeatedRun,
    Prefixes,
    follow,
)
from dragoman.special_tokens import END

VOCABULARY = 8


def live(*said: list[int], sentences: list[int] | None = None) -> Live:
    rows = list(range(len(said))) if sentences is None else sentences
    return Live(torch.tensor(rows), torch.tensor(said, dtype=torch.int64))


def allowed(log_probabilities: Tensor) -> list[set[int]]:
    return [
        set((row > -math.inf).nonzero()[:, 0].tolist()) for row in log_probabilities
    ]


def chances(rows: int) -> Tensor:
    return torch.randn(rows, VOCABULARY, dtype=torch.float64).log_softmax(dim=1)


ALL = set(range(VOCABULARY))


def test_the_end_waits_for_the_minimum() -> None:
    rule = MinimumLength(2)
    assert allowed(rule(chances(1), live([4]))) == [ALL - {END}]
    assert allowed(rule(chances(1), live([4, 5]))) == [ALL]


def test_a_prefix_leaves_one_way_and_its_chance() -> None:
    before = chances(3)
    rule = Prefixes(((5, 6), (), (7, 4, 4)))
    after = rule(before, live([7], [5], [5], sentences=[2, 0, 1]))
    assert allowed(after) == [{4}, {6}, ALL]
    assert after[0, 4] == before[0, 4]
    assert rule(before, live([7] * 3, [5] * 3, [5] * 3)) is before


@pytest.mark.parametrize(
    ("size", "said", "banned"),
    [
        (1, [4, 5], {4, 5}),
        (2, [4, 5, 4], {5}),
        (2, [4, 5, 4, 6, 4], {5, 6}),
        (2, [4, 5], set()),
        (3, [4, 5, 6, 4, 5], {6}),
        (3, [4, 5, 6, 5], set()),
        (3, [4, 4], set()),
        (3, [4, 4, 4], {4}),
    ],
)
def test_no_run_comes_twice(size: int, said: list[int], banned: set[int]) -> None:
    assert allowed(NoRepeatedRun(size)(chances(1), live(said))) == [ALL - banned]


def test_of_two_rules_that_leave_nothing_the_first_wins() -> None:
    said = live([4, 5, 4], [6, 5, 4])
    prefix, no_repeat = Prefixes(((4, 5, 4, 5), (6, 5, 4, 5))), NoRepeatedRun(1)
    assert allowed(follow([prefix, no_repeat], chances(2), said)) == [{5}, {5}]
    assert allowed(follow([no_repeat], chances(2), said)) == [
        ALL - {4, 5},
        {0, 1, 2, 3, 7},
    ]


def test_the_end_comes_early_where_nothing_else_has_a_chance() -> None:
    before = chances(3)
    before[1, :END] = before[1, END + 1 :] = -math.inf
    before[2, :] = -math.inf
    before[2, END - 1] = 0.0
    kept = before[1, END].clone()
    after = follow([MinimumLength(9)], before, live([4], [5], [6]))
    assert allowed(after) == [ALL - {END}, {END}, {END - 1}]
    assert after[1, END] == kept


def test_rules_that_may_leave_nothing_write_into_a_copy() -> None:
    before = chances(1)
    copy = before.clone()
    for rule in (Prefixes(((4, 4, 4),)), NoRepeatedRun(1)):
        assert not torch.equal(rule(before, live([4])), before)
        assert torch.equal(before, copy)
