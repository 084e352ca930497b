import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from dragoman.kernels.choice import narrow_products
from dragoman.kernels.linear import add_narrow, linear, sum_of_rows
from dragoman.kernels.parts import split

pytestmark = pytest.mark.usefixtures("at_work")


@pytest.mark.usefixtures("each_product")
@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("shape", [(1, 5), (4, 9, 24)])
def test_it_is_a_linear_map_in_value_and_gradient(
    shape: tuple[int, ...], threads: int
) -> None:
    torch.set_num_threads(threads)
    x = torch.randn(shape, requires_grad=True)
    weight = torch.randn(19, shape[-1], requires_grad=True)
    bias = torch.randn(19, requires_grad=True)
    native, plain = linear(x, weight, bias), F.linear(x, weight, bias)
    torch.testing.assert_close(native, plain)
    slope = torch.randn(native.shape)
    given = torch.autograd.grad((native * slope).sum(), (x, weight, bias))
    wanted = torch.autograd.grad((plain * slope).sum(), (x, weight, bias))
    for one, other in zip(given, wanted, strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("shape", [(1, 5), (4, 9, 24)])
def test_narrow_products_are_those_of_rounded_factors(
    shape: tuple[int, ...], threads: int
) -> None:
    torch.set_num_threads(threads)
    x = torch.randn(shape, requires_grad=True)
    weight = torch.randn(19, shape[-1], requires_grad=True)
    bias = torch.randn(19, requires_grad=True)
    slope = torch.randn(*shape[:-1], 19)
    with narrow_products():
        narrow = linear(x, weight, bias)
    given = torch.autograd.grad((narrow * slope).sum(), (x, weight, bias))
    near = {"atol": 2**-7 * shape[-1] ** 0.5, "rtol": 2**-8}  # one rounding of a sum
    x_near, weight_near, slope_near = (
        t.detach().bfloat16().double() for t in (x, weight, slope)
    )
    rows, slopes = x_near.flatten(0, -2), slope_near.flatten(0, -2)
    assert narrow.dtype == torch.float32
    wide = (rows @ weight_near.T).view(narrow.shape) + bias.double()
    torch.testing.assert_close(narrow.double(), wide, **near)
    torch.testing.assert_close(
        given[0].double().flatten(0, -2), slopes @ weight_near, **near
    )
    torch.testing.assert_close(given[1].double(), slopes.T @ rows, **near)
    # The bias is only added, so its gradient is not rounded at all.
    torch.testing.assert_close(given[2], slope.flatten(0, -2).sum(dim=0))


@pytest.mark.parametrize("threads", [1, 3])
def test_a_sum_of_rows_leaves_a_narrow_copy(threads: int) -> None:
    torch.set_num_threads(threads)
    x = torch.randn(7, 21)
    x[0, :3] = torch.tensor([float("nan"), float("inf"), -0.0])
    x[1, 0] = 1 + 2**-8  # halfway between two: to the even one
    narrow = torch.empty(7, 21, dtype=torch.bfloat16)
    sums = sum_of_rows(x, narrow)
    torch.testing.assert_close(narrow, x.bfloat16(), rtol=0, atol=0, equal_nan=True)
    torch.testing.assert_close(sums, x.sum(dim=0), equal_nan=True)
    assert torch.equal(sums[3:], sum_of_rows(x)[3:])


@pytest.mark.parametrize("threads", [1, 2])
def test_narrow_products_are_added_to_wide_sums(threads: int) -> None:
    torch.set_num_threads(threads)
    total, product = torch.randn(33, 17), torch.randn(33, 17).bfloat16()
    wanted = total + product.float()
    add_narrow(total, product)
    assert torch.equal(total, wanted)


@pytest.mark.parametrize("neighbours", [True, False])
def test_parts_of_a_joint_map_are_put_together_again(neighbours: bool) -> None:
    joint = torch.randn(2, 3, 12, requires_grad=True)
    parts = split(joint, (4, 4, 4))
    assert [part.tolist() for part in parts] == [
        part.tolist() for part in joint.split(4, dim=-1)
    ]
    slope = torch.randn(2, 3, 12)
    slopes = list(slope.split(4, dim=-1))
    if not neighbours:
        slopes = [part.clone() for part in slopes]
    (given,) = torch.autograd.grad(parts, joint, slopes)
    assert torch.equal(given, slope)
    assert (given.data_ptr() == slope.data_ptr()) == neighbours
