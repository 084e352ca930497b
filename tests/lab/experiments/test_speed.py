from dataclasses import replace

import pytest

from dragoman.lab.contenders import LSTM, TRANSFORMER
from dragoman.lab.experiment import Bench
from dragoman.lab.experiments.speed import KINDS, Size, claims, measure
from dragoman.lab.findings import Spread

SIZE = Size((4, 16), 16, 1, batch_tokens=32, decoded_rows=2, repeats=2)


def times(*values: float) -> list[Spread]:
    return [Spread.of([value, 1.01 * value]) for value in values]


def test_every_kind_is_timed_at_every_length(bench: Bench) -> None:
    found = measure(bench, SIZE)
    assert [row[:2] for row in found.table.rows] == [
        (kind, length) for kind in KINDS for length in SIZE.lengths
    ]
    assert all(cell > 0 for row in found.table.rows for cell in row[2:])  # type: ignore[operator]
    assert found.claims[1].held is None  # 16 words are too few to see n²


@pytest.mark.parametrize(
    ("learning", "held"), [(times(9, 9), True), (times(1, 9), False)]
)
def test_either_may_be_the_faster_one(learning: list[Spread], held: bool) -> None:
    size = replace(SIZE, lengths=(4, 40))
    training = {LSTM: learning, TRANSFORMER: times(5, 20)}
    first, second, third = claims(size, training, training)
    assert first.held is held
    assert second.held is True  # 20 is more than 1.5 × 5
    assert third.held is True
    assert claims(size, training, {**training, LSTM: times(9, 99)})[2].held is False


def test_the_length_from_which_on_the_lstm_wins_is_named() -> None:
    decoding = {LSTM: times(9, 9), TRANSFORMER: times(5, 20)}
    assert "from 16 words on" in claims(SIZE, decoding, decoding)[2].saw
    decoding[TRANSFORMER] = times(5, 5)
    assert "nowhere" in claims(SIZE, decoding, decoding)[2].saw
