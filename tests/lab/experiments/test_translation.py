import pytest

from dragoman.lab.contenders import LOOKING_BACK, LSTM, TRANSFORMER
from dragoman.lab.experiment import Bench
from dragoman.lab.experiments.translation import (
    EQUAL_SIZE,
    EQUAL_TIME,
    KINDS,
    Runs,
    Size,
    claims,
    equal_width,
    measure,
)
from dragoman.lab.translators import Trained

SIZE = Size(16, 1, 380, 0.001, 2, 300, valid_every=1, beam_size=1, seeds=1)


def runs(best: str, slowest: str) -> Runs:
    def trained(kind: str) -> list[Trained]:
        bleu = {LSTM: 10.0, LOOKING_BACK: 20.0, TRANSFORMER: 20.0}
        bleu[best] = 30.0
        seconds = 9.0 if kind == slowest else 5.0
        return [
            Trained(failed=False, bleu=bleu[kind] + k, seconds=seconds + k)
            for k in (0.0, 0.1)
        ]

    kinds = (LSTM, LOOKING_BACK, TRANSFORMER)
    return {
        (e, kind): trained(kind) for e in (EQUAL_TIME, EQUAL_SIZE) for kind in kinds
    }


def test_all_learn_for_the_same_time_and_at_the_same_size(bench: Bench) -> None:
    found = measure(bench, SIZE)
    assert [row[:2] for row in found.table.rows] == [
        (equal, kind) for equal in (EQUAL_TIME, EQUAL_SIZE) for kind in KINDS
    ]
    updates = {row[8] for row in found.table.rows if row[0] == EQUAL_SIZE}
    assert updates == {2.0}
    assert all(claim.held is None for claim in found.claims)  # one seed


@pytest.mark.parametrize("kind", KINDS)
def test_a_width_is_found_that_makes_them_equal(kind: str) -> None:
    size = Size(64, 2, 500, 1, 1, 1, valid_every=1, beam_size=1, seeds=1)
    width = equal_width(size, kind)
    assert width % 8 == 0
    if kind == TRANSFORMER:
        assert width == size.d_model


def test_either_may_win() -> None:
    held = [claim.held for claim in claims(runs(TRANSFORMER, LOOKING_BACK))]
    assert held == [True, True, True, True]
    held = [claim.held for claim in claims(runs(LSTM, TRANSFORMER))]
    assert held == [False, None, None, False]
    held = [claim.held for claim in claims(runs(LOOKING_BACK, TRANSFORMER))]
    assert held == [True, False, False, False]
