from dragoman.lab.experiment import Bench
from dragoman.lab.experiments.heads import Size, claims, measure
from dragoman.lab.findings import Spread
from dragoman.lab.small_paper import Shape

SIZE = Size((1, 2, 4), Shape(8, 8, 2, 1), 2, batch_tokens=300, beam_size=1, seeds=1)


def test_heads_cost_nothing_and_one_seed_decides_nothing(bench: Bench) -> None:
    found = measure(bench, SIZE)
    assert len({row[2] for row in found.table.rows}) == 1  # parameters
    assert [row[1] for row in found.table.rows] == [8, 4, 2]
    assert [claim.held for claim in found.claims] == [None, None]


def test_one_head_may_turn_out_better() -> None:
    low, high = Spread.of([4.0, 4.1]), Spread.of([5.0, 5.1])
    best_between = claims({1: high, 4: low, 32: high})
    assert [claim.held for claim in best_between] == [True, True]
    worst_between = claims({1: low, 4: high, 32: low})
    assert [claim.held for claim in worst_between] == [False, False]
