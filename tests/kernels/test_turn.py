import contextvars

import pytest
import torch
from torch import Tensor

from dragoman.kernels.turn import suits, turn
from dragoman.model.relative_positions import Rotary, Turn

pytestmark = pytest.mark.usefixtures("at_work")


def drawn(width: int, length: int = 13) -> tuple[Tensor, Tensor, Turn]:
    """Give a joint projection, the heads of its second part, and their turn."""
    joint = torch.randn(3, length, 2 * 4 * width, requires_grad=True)
    heads = joint[..., 4 * width :].view(3, length, 4, width).transpose(1, 2)
    told = Rotary(width)(joint, 5, length).turn
    return joint, heads, told


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("width", [6, 16, 32, 48, 64])
def test_it_is_the_formula_in_value_and_gradient(width: int, threads: int) -> None:
    torch.set_num_threads(threads)
    joint, heads, told = drawn(width)
    assert suits(heads, told.cosines)
    native = told(heads)
    plain = contextvars.Context().run(lambda: told(heads))
    torch.testing.assert_close(native, plain)
    slope = torch.randn(native.shape)
    (given,) = torch.autograd.grad((native * slope).sum(), joint, retain_graph=True)
    (wanted,) = torch.autograd.grad((plain * slope).sum(), joint)
    torch.testing.assert_close(given, wanted)


def test_a_gradient_that_lies_otherwise_is_read_too() -> None:
    joint, heads, told = drawn(32)
    slope = torch.randn(3, 4, 32, 13).transpose(2, 3)
    (given,) = torch.autograd.grad(turn(heads, *told), joint, slope, retain_graph=True)
    same = slope.contiguous()
    (wanted,) = torch.autograd.grad(turn(heads, *told), joint, same)
    assert torch.equal(given, wanted)


def test_turning_keeps_lengths_and_the_first_place() -> None:
    x = torch.randn(2, 4, 300, 32)
    told = Rotary(32)(x, 0, 300).turn
    turned = turn(x, *told)
    torch.testing.assert_close(turned.norm(dim=-1), x.norm(dim=-1))
    assert torch.equal(turned[:, :, 0], x[:, :, 0])
    assert not torch.allclose(turned[:, :, 1:], x[:, :, 1:])


def test_what_it_is_not_made_for_is_left_to_torch() -> None:
    turns = torch.randn(3, 32)
    assert suits(torch.randn(1, 2, 3, 32), turns)
    assert not suits(torch.randn(1, 2, 3, 32), turns[:1]), "one turn for all words"
    assert not suits(torch.randn(2, 3, 32), turns), "no heads"
    assert not suits(torch.randn(1, 2, 3, 32).double(), turns)
    assert not suits(torch.randn(1, 2, 32, 3).transpose(2, 3), turns)
    with torch.no_grad():
        assert not suits(torch.randn(1, 2, 3, 32), turns)
