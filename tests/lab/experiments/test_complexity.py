import pytest

from dragoman.lab.experiment import Bench
from dragoman.lab.experiments.complexity import Count, Size, claims, count, measure
from dragoman.lab.layer_kinds import kinds

SIZE = Size(lengths=(16, 32), width=4, widths=(4, 8), length=8)


def test_the_counts_grow_as_table_1_says(bench: Bench) -> None:
    found = measure(bench, SIZE)
    assert [claim.held for claim in found.claims] == [True] * 4


@pytest.mark.parametrize(("n", "d"), [(5, 8), (9, 4)])
def test_operations_are_those_of_the_formulas(n: int, d: int) -> None:
    attention, recurrent, convolution, _ = (count(k, n, d) for k in kinds(2, 3))
    assert attention.operations == 4 * n * n * d  # q·k and weight·v, 2 FLOPs each
    assert recurrent.operations == 4 * n * d * d
    assert convolution.operations == 3 * 2 * n * d * d
    assert (recurrent.sequential, recurrent.path) == (n, n)
    assert convolution.path == 2  # 3² words are joined by two layers


def test_costs_that_grow_otherwise_would_be_said() -> None:
    flat = [Count("any", n, n, 100, 7, 7 * n) for n in (8, 16, 32)]
    table = {kind.name: flat for kind in kinds(2, 3)}
    assert [c.held for c in claims(table, table)] == [False, False, False, False]
