import pytest

from dragoman.decoding.length_penalty import LengthPenalty


@pytest.mark.parametrize("penalty", [("paper", 0.0), ("none", 0.6)])
def test_without_alpha_or_penalty_length_does_not_matter(
    penalty: tuple[str, float],
) -> None:
    divisor = LengthPenalty(*penalty)
    assert {divisor(length) for length in range(1, 100)} == {1.0}


@pytest.mark.parametrize("alpha", [0.2, 0.6, 1.0, 2.0])
@pytest.mark.parametrize("kind", ["paper", "average"])
def test_one_token_is_not_penalised_and_the_penalty_grows(
    kind: str, alpha: float
) -> None:
    penalties = [LengthPenalty(kind, alpha)(length) for length in range(1, 100)]
    assert penalties[0] == 1.0
    assert penalties == sorted(set(penalties))


def test_follows_the_published_formula() -> None:
    assert LengthPenalty("paper", 0.6)(7) == pytest.approx((12 / 6) ** 0.6)


def test_the_average_is_taken_over_all_tokens() -> None:
    assert LengthPenalty("average", 0.6)(7) == 7.0
