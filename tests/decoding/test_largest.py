import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from dragoman.decoding.largest import BLOCK, largest

WIDTHS = (1, 3, BLOCK - 1, BLOCK, 5 * BLOCK, 9 * BLOCK, 9 * BLOCK + 1, 20 * BLOCK - 1)


@given(
    width=st.sampled_from(WIDTHS),
    rows=st.integers(1, 4),
    count=st.integers(1, 9),
    levels=st.sampled_from([2, 20, 10_000_000]),
    seed=st.integers(0, 1000),
)
def test_equals_a_stable_sort_however_many_values_are_equal(
    width: int, rows: int, count: int, levels: int, seed: int
) -> None:
    random = torch.Generator().manual_seed(seed)
    values = torch.randint(levels, (rows, width), generator=random).float()
    expected, columns = values.sort(dim=1, descending=True, stable=True)
    top, found = largest(values, count)
    assert top.equal(expected[:, :count])
    assert found.equal(columns[:, :count])


@pytest.mark.parametrize("width", WIDTHS)
def test_minus_infinity_is_a_value_like_others(width: int) -> None:
    values = torch.full((2, width), -torch.inf)
    values[0, -1] = 1.0
    _, columns = largest(values, 2)
    assert columns[0, 0] == width - 1
    assert columns[1, 0] == 0
    assert columns.shape == (2, min(2, width))


def test_leaves_its_input_alone() -> None:
    values = torch.zeros(3, 10 * BLOCK)
    largest(values, 4)
    assert values.equal(torch.zeros(3, 10 * BLOCK))
