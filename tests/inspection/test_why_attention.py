import math

import pytest

from dragoman.inspection.why_attention import (
    KEYS,
    LENGTHS,
    WIDTHS,
    length_costs,
    order,
    saturation,
)
from dragoman.translator import Translator


class StoppedError(Exception):
    pass


def test_without_positions_order_is_not_seen(toy: Translator) -> None:
    told: list[tuple[int, int]] = []
    found = order(
        toy,
        ["Where is the train station?", "Fire!", "I like it here."],
        lambda done, total: told.append((done, total)),
    )
    assert told == [(0, 3), (1, 3), (2, 3)]
    assert found.sentences >= 2
    assert found.changed_without == 0
    assert found.memory_change_without < 1e-4 < found.memory_change


def test_scaling_keeps_softmax_soft_however_wide_the_keys() -> None:
    rows = saturation()
    assert [row.d_k for row in rows] == list(WIDTHS)
    for row in rows:
        assert row.spread == pytest.approx(math.sqrt(row.d_k), rel=0.1)
        assert 0 < row.entropy < math.log(KEYS)
    assert rows[-1].entropy_unscaled < 0.2 * rows[-1].entropy
    assert rows[-1].gradient_unscaled < 0.2 * rows[-1].gradient
    assert rows[-1].entropy == pytest.approx(rows[1].entropy, rel=0.1)


def test_ends_of_a_sentence_are_one_step_apart_for_attention(toy: Translator) -> None:
    rows = length_costs(toy)
    assert [row.length for row in rows] == list(LENGTHS)
    assert all(row.attention > 0 and row.recurrent > 0 for row in rows)
    assert {row.attention_path for row in rows} == {1}
    assert [row.recurrent_path for row in rows] == [length - 1 for length in LENGTHS]


def test_an_experiment_stops_where_it_is_told_to(toy: Translator) -> None:
    def stop(done: int, total: int) -> None:
        raise StoppedError

    with pytest.raises(StoppedError):
        saturation(stop)
    with pytest.raises(StoppedError):
        length_costs(toy, stop)
