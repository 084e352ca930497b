"""The baseline that language models are held against is a model itself."""

import random

import pytest
from tests.language_models.counting import KneserNey, tuned

VOCABULARY = 12
TEXT = random.Random(1).choices((3, 3, 4, 5, 7, 8), k=400)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_probabilities_sum_to_one(order: int) -> None:
    counted = KneserNey(TEXT, order, VOCABULARY)
    for before in ([], [3], [3, 4], [8, 8, 7], [11, 3]):
        total = sum(counted.probability(before, token) for token in range(VOCABULARY))
        assert total == pytest.approx(1)


def test_a_text_known_by_heart_costs_little_and_chance_costs_its_entropy() -> None:
    cycle = [3, 4, 5, 6] * 100
    assert KneserNey(cycle, 3, VOCABULARY, 0.5).nats(cycle) / len(cycle) < 0.05
    counted = KneserNey([3, 4] * 50 + [4, 3] * 50, 1, VOCABULARY, 0.5)
    assert counted.nats([3, 4, 4, 3]) / 4 == pytest.approx(0.693, abs=0.03)


def test_both_sides_tell_more_than_one() -> None:
    # After 3 comes 4 or 5, and which, the token after it tells.
    text = [token for k in range(200) for token in ((3, 4, 6), (3, 5, 7))[k % 3 % 2]]
    counted = KneserNey(text, 2, VOCABULARY, 0.5)
    between = counted.nats_between([3, 4, 6], 1, range(VOCABULARY))
    assert between < 0.1
    assert between < counted.nats([3, 4]) - counted.nats([3])


def test_the_order_is_chosen_by_another_text() -> None:
    later = [3, 4, 5, 6] * 10
    assert tuned([3, 4, 5, 6] * 50, later, VOCABULARY, [1, 2]).order == 2
    noise, other = (random.Random(k).choices(range(3, 9), k=300) for k in (2, 3))
    assert tuned(noise, other, VOCABULARY, [1, 4]).order == 1
