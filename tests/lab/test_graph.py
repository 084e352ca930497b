import torch

from dragoman.lab.graph import longest_chain, shortest_path


def test_products_are_counted_along_a_chain() -> None:
    x = torch.randn(1, 4, requires_grad=True)
    matrix = torch.randn(4, 4)
    y = x
    for _ in range(5):
        y = (y @ matrix).tanh()
    assert longest_chain(y) == 5
    assert shortest_path(y, x) == 5


def test_a_shortcut_shortens_the_path_but_not_the_chain() -> None:
    x = torch.randn(1, 4, requires_grad=True)
    matrix = torch.randn(4, 4)
    y = x @ matrix @ matrix @ matrix + x
    assert longest_chain(y) == 3
    assert shortest_path(y, x) == 0


def test_what_is_not_joined_has_no_path() -> None:
    one, other = (torch.randn(1, 4, requires_grad=True) for _ in range(2))
    assert shortest_path(one @ torch.randn(4, 4), other) is None
