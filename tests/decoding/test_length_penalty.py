import pytest

from dragoman.decoding.length_penalty import length_penalty


def test_without_alpha_length_does_not_matter() -> None:
    assert {length_penalty(length, 0.0) for length in range(1, 100)} == {1.0}


@pytest.mark.parametrize("alpha", [0.2, 0.6, 1.0, 2.0])
def test_one_token_is_not_penalised_and_the_penalty_grows(alpha: float) -> None:
    penalties = [length_penalty(length, alpha) for length in range(1, 100)]
    assert penalties[0] == 1.0
    assert penalties == sorted(set(penalties))


def test_follows_the_published_formula() -> None:
    assert length_penalty(7, 0.6) == pytest.approx((12 / 6) ** 0.6)
