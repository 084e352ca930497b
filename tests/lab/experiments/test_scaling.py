import pytest

from dragoman.lab.experiment import Bench
from dragoman.lab.experiments.scaling import FIELDS, Size, claims, measure
from dragoman.lab.findings import Spread


def test_scaling_keeps_softmax_soft(bench: Bench) -> None:
    found = measure(bench, Size(widths=(4, 32, 256), draws=100, seeds=2))
    assert [claim.held for claim in found.claims] == [True, True, True]
    assert [row[2] for row in found.table.rows] == pytest.approx([4, 32, 256], rel=0.2)


def test_a_softmax_that_needed_no_scaling_would_be_said() -> None:
    steady = [Spread.of([1.0])] * 3
    same = dict.fromkeys(FIELDS, steady)
    assert [c.held for c in claims((4, 8, 16), steady, same)] == [False, True, False]
