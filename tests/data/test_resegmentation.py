import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dragoman.data.ragged import Ragged
from dragoman.data.resegmentation import SegmentationTable

# Token 4 + n "spells" n + 1 strokes, and each spelling keeps that number.
SPELLINGS = [
    [[0]] * 3,
    [[1]] * 3,
    [[2]] * 3,
    [[3]] * 3,
    [[4]] * 3,
    [[5], [4, 4], [5]],
    [[6], [5, 4], [4, 4, 4]],
]
STROKES = [0, 0, 0, 0, 1, 2, 3]
TABLE = SegmentationTable.build(SPELLINGS)

rows_of_ids = st.lists(st.lists(st.integers(4, 6), max_size=5), max_size=6)


def split(ragged: Ragged) -> list[list[int]]:
    ends = np.cumsum(ragged.lengths)
    parts = zip(ends - ragged.lengths, ends, strict=True)
    return [ragged.tokens[start:end].tolist() for start, end in parts]


@given(rows_of_ids, st.integers(0, 2**32))
def test_every_row_still_spells_the_same(rows: list[list[int]], seed: int) -> None:
    new = split(TABLE.apply(Ragged.from_rows(rows), np.random.default_rng(seed)))
    strokes = [sum(STROKES[token] for token in row) for row in new]
    assert strokes == [sum(STROKES[token] for token in row) for row in rows]


def test_spellings_are_chosen_equally_often() -> None:
    rows = Ragged.from_rows([[6]] * 3000)
    new = split(TABLE.apply(rows, np.random.default_rng(1)))
    for spelling in SPELLINGS[6]:
        assert 850 < new.count(spelling) < 1150


def test_single_spelling_changes_nothing() -> None:
    identity = SegmentationTable.build([[[token]] for token in range(7)])
    rows = Ragged.from_rows([[4, 5], [], [6]])
    new = identity.apply(rows, np.random.default_rng(1))
    assert split(new) == [[4, 5], [], [6]]


@given(rows_of_ids, st.integers(0, 2**32), st.integers(5, 9))
def test_no_row_grows_beyond_the_longest(
    rows: list[list[int]], seed: int, longest: int
) -> None:
    free = split(TABLE.apply(Ragged.from_rows(rows), np.random.default_rng(seed)))
    held = split(
        TABLE.apply(Ragged.from_rows(rows), np.random.default_rng(seed), longest)
    )
    for row, new, kept in zip(rows, free, held, strict=True):
        assert kept == (new if len(new) <= longest else row)
