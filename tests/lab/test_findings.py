import math

import pytest

from dragoman.lab.findings import (
    Claim,
    Outcome,
    Spread,
    Table,
    larger,
    outcome,
    verdict,
)


def test_only_ranges_that_lie_apart_decide() -> None:
    low, high = Spread.of([1, 2]), Spread.of([3, 4])
    assert larger(high, low) is True
    assert larger(low, high) is False
    assert larger(Spread.of([1, 3.5]), high) is None


def test_a_single_seed_decides_nothing() -> None:
    assert larger(Spread.of([9]), Spread.of([1])) is None
    assert larger(Spread.of([9, 9]), Spread.of([1])) is None


@pytest.mark.parametrize(
    ("held", "expected"),
    [
        ([True, True], "held"),
        ([True, False], "held in part"),
        ([True, None], "held in part"),
        ([False, False], "did not hold"),
        ([False, None], "did not hold"),
        ([None, None], "could not be decided"),
    ],
)
def test_a_prediction_holds_as_far_as_its_parts_do(
    held: list[bool | None], expected: Outcome
) -> None:
    assert outcome([Claim("a", part, "b") for part in held]) == expected


def test_the_verdict_is_one_sentence_that_can_say_no() -> None:
    claims = [
        Claim("snow is cold", True, "−3 °C"),
        Claim("fire is cold", False, "800 °C"),
        Claim("tea is cold", None, "nobody looked"),
    ]
    assert verdict(claims) == (
        "The prediction held in part: as predicted, snow is cold (−3 °C); against the "
        "prediction, it is not so that fire is cold (800 °C); this run cannot decide "
        "whether tea is cold (nobody looked)."
    )
    assert verdict(claims[1:2]).startswith("The prediction did not hold: against")


def test_a_spread_shows_its_range_only_if_there_is_one() -> None:
    assert Spread.of([2.0]).text() == "2"
    assert Spread.of([1.0, 3.0]).text(".1f") == "2.0 [1.0, 3.0]"


def test_what_became_infinite_is_no_number() -> None:
    table = Table(("who", "loss"), (("a", math.inf), ("b", math.nan), ("c", 1.0)))
    assert table.finite.rows == (("a", None), ("b", None), ("c", 1.0))
