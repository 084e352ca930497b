import math
from dataclasses import replace

import pytest

from dragoman.lab.contenders import LSTM, RNN, TRANSFORMER
from dragoman.lab.experiment import Bench
from dragoman.lab.experiments.gradients import (
    FULL,
    KEEPING,
    WILD,
    Size,
    claims,
    gradient_norms,
    measure,
)
from dragoman.lab.findings import Spread

SIZE = Size(26, (1, 5, 25), sentences=4, d_model=32, seeds=2)


def test_gradients_vanish_explode_and_stay(bench: Bench) -> None:
    found = measure(bench, SIZE)
    assert [claim.held for claim in found.claims] == [True] * 4


def test_a_gradient_that_explodes_in_earnest_is_still_a_number() -> None:
    size = replace(FULL, sentences=2)
    assert all(math.isfinite(norm) for norm in gradient_norms(WILD, 1, size))


def test_a_network_that_reads_one_way_hears_of_every_word() -> None:
    for kind in (RNN, LSTM, TRANSFORMER):
        norms = gradient_norms(kind, 1, SIZE)
        assert len(norms) == SIZE.longest
        assert all(norm > 0 for norm in norms)


@pytest.mark.parametrize(
    ("far", "held"),
    [
        (1.0, [False, False, False, True]),
        (1e-6, [True, False, False, False]),
        (1e6, [False, True, False, False]),
    ],
)
def test_all_networks_alike_would_be_said(far: float, held: list[bool]) -> None:
    spreads = [Spread.of([1.0, 1.1]), Spread.of([far, 1.1 * far])]
    alike = dict.fromkeys((RNN, WILD, LSTM, KEEPING, TRANSFORMER), spreads)
    assert [claim.held for claim in claims((1, 9), alike)] == held
