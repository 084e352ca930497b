import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dragoman.data.ragged import Ragged, positions

rows_of_ids = st.lists(st.lists(st.integers(1, 99), max_size=6), max_size=6)


@given(rows_of_ids)
def test_padding_and_cutting_give_the_rows_back(rows: list[list[int]]) -> None:
    ragged = Ragged.from_rows(rows)
    width = max(map(len, rows), default=0) + 1
    matrix = ragged.padded(0, width)
    assert matrix.shape == (len(rows), width)
    assert [[token for token in row if token] for row in matrix.tolist()] == rows


@given(rows_of_ids)
def test_lists_and_arrays_of_tokens_are_the_same(rows: list[list[int]]) -> None:
    arrays = [np.array(row, np.uint16) for row in rows]
    one, other = Ragged.from_rows(rows), Ragged.from_rows(arrays)
    assert one.tokens.tolist() == other.tokens.tolist()
    assert one.lengths.tolist() == other.lengths.tolist()


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 5)), max_size=8))
def test_positions_list_every_run(runs: list[tuple[int, int]]) -> None:
    starts = np.array([start for start, _ in runs], np.int64)
    lengths = np.array([length for _, length in runs], np.int32)
    expected = [start + step for start, length in runs for step in range(length)]
    assert positions(starts, lengths).tolist() == expected
