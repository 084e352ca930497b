import math

import pytest
import torch

from dragoman.kernels.likeliest import largest, log_softmax, suits

pytestmark = pytest.mark.usefixtures("at_work")


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("rows", "width"), [(1, 5), (9, 16), (33, 1000), (4, 8003)])
@pytest.mark.parametrize("size", [1.0, 40.0])
def test_the_logarithmic_softmax(
    rows: int, width: int, size: float, threads: int
) -> None:
    torch.set_num_threads(threads)
    logits = size * torch.randn(rows, width)
    exact = logits.double().log_softmax(dim=-1)
    found = log_softmax(logits).double()
    torch.testing.assert_close(found, exact, atol=2e-6, rtol=1e-6)


@pytest.mark.parametrize("count", [1, 4, 7])
@pytest.mark.parametrize(("rows", "width"), [(1, 8), (9, 64), (33, 1000), (4, 8003)])
@pytest.mark.parametrize("steps", [1000000, 3])
def test_the_largest_are_those_of_a_stable_sort(
    rows: int, width: int, count: int, steps: int
) -> None:
    values = (torch.randn(rows, width) * steps).round()  # few steps: many equals
    values[:, ::3] = -math.inf
    values[0] = -math.inf
    ordered, columns = values.sort(dim=1, descending=True, stable=True)
    best, where = largest(values, count)
    assert torch.equal(best, ordered[:, :count])
    assert torch.equal(where, columns[:, :count])


def test_what_is_no_number_leaves_columns_that_exist() -> None:
    values = torch.full((2, 90), math.nan)
    values[1, 40] = 1.0
    _, columns = largest(values, 4)
    assert columns[1, 0] == 40
    assert ((columns >= 0) & (columns < 90)).all()


def test_it_is_for_reading_only() -> None:
    rows = torch.randn(2, 30)
    with torch.no_grad():
        assert suits(rows)
        assert not suits(rows.double())
        assert not suits(rows[:, ::2])
        assert not suits(rows[0])
    assert not suits(rows)
