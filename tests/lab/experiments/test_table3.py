import pytest

from dragoman.config import load_preset
from dragoman.lab.experiment import Bench
from dragoman.lab.experiments.table3 import (
    Size,
    claims,
    effect,
    measure,
    rank_correlation,
)
from dragoman.lab.findings import Spread
from dragoman.lab.small_paper import SMALL, TOY, Shape, recipe
from dragoman.lab.table3_rows import BASE, table3_rows

SIZE = Size(Shape(8, 8, 2, 1), ("h=1",), 2, 300, 1, base_seeds=2, seeds=1)


def test_a_row_stands_beside_the_papers(bench: Bench) -> None:
    found = measure(bench, SIZE)
    assert [row[:4] for row in found.table.rows] == [
        ("", BASE, 4.92, 25.8),
        ("(A)", "h=1", 5.29, 24.9),
    ]
    assert [row[-1] for row in found.table.rows] == [2, 1]  # seeds


@pytest.mark.parametrize("shape", [SMALL, TOY])
def test_every_row_can_be_trained_and_changes_something(shape: Shape) -> None:
    config = load_preset("base").with_settings(recipe(shape, 100, 1000))
    seen = [config.with_settings(row.settings) for row in table3_rows(shape)]
    assert len(seen) == 20
    assert sum(other == config for other in seen) == 1  # the base itself


def test_a_difference_within_the_range_of_the_base_is_chance() -> None:
    found = {BASE: Spread.of([4.0, 4.4]), "h=1": Spread.of([4.5])}
    assert effect(found, "h=1").worse() is None
    found["h=1"] = Spread.of([5.0])
    assert effect(found, "h=1").worse() is True
    found["h=1"] = Spread.of([3.0])
    assert effect(found, "h=1").worse() is False


def test_effects_may_go_the_other_way() -> None:
    rows = list(table3_rows(SMALL))
    alike = {row.name: Spread.of([row.perplexity]) for row in rows}
    alike[BASE] = Spread.of([4.92, 4.92])
    assert all(claim.held for claim in claims(rows, alike))
    reverse = {row.name: Spread.of([10 - row.perplexity]) for row in rows}
    reverse[BASE] = Spread.of([5.08, 5.08])
    held = [claim.held for claim in claims(rows, reverse)]
    assert held == [False] * 6 + [True, False]  # (E) was no effect in the first place


def test_learned_positions_are_as_good_only_if_that_can_be_seen() -> None:
    rows = [
        row for row in table3_rows(SMALL) if row.name in (BASE, "learned positions")
    ]
    for base, learned, held in (
        ([4.9, 5.1], 5.01, True),
        ([4.0, 6.0], 5.5, None),
        ([4.9, 5.1], 5.5, False),
    ):
        found = {BASE: Spread.of(base), "learned positions": Spread.of([learned])}
        assert claims(rows, found)[0].held is held


def test_ranks_are_compared_and_not_sizes() -> None:
    assert rank_correlation([1, 2, 3], [10, 200, 3000]) == pytest.approx(1)
    assert rank_correlation([1, 2, 3], [3, 2, 1]) == pytest.approx(-1)
    assert rank_correlation([1, 1, 1], [3, 2, 1]) == 0
