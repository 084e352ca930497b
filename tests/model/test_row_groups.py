import pytest
import torch

from dragoman.model.row_groups import RowGroups


@pytest.mark.parametrize(
    "groups", [[0, 0, 1, 1], [0, 1, 2], [2, 0, 2, 2, 0], [1], [1, 0, 1, 0]]
)
def test_rows_come_back_from_their_groups_as_they_went(groups: list[int]) -> None:
    rows = RowGroups.of(torch.tensor(groups), 3)
    x = torch.randn(len(groups), 2)
    spread = rows.spread(x)
    assert spread.shape == (3, max(map(groups.count, groups)), 2)
    assert torch.equal(rows.collect(spread), x)


def test_each_row_stands_in_its_own_group() -> None:
    rows = RowGroups.of(torch.tensor([2, 0, 2, 2, 0]), 3)
    spread = rows.spread(torch.arange(5))
    assert spread[0, :2].tolist() == [1, 4]
    assert spread[2].tolist() == [0, 2, 3]


def test_full_groups_in_order_are_not_moved() -> None:
    x = torch.randn(6, 3)
    rows = RowGroups.of(torch.tensor([0, 0, 1, 1, 2, 2]), 3)
    assert rows.spread(x).data_ptr() == x.data_ptr()
    assert rows.collect(rows.spread(x)).data_ptr() == x.data_ptr()
