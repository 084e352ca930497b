from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from dragoman.kernels import matrix_product
from dragoman.kernels.instructions import Processor
from dragoman.kernels.matrix_product import (
    RightFactor,
    linear_gradients,
    ours_are_faster,
)

pytestmark = pytest.mark.usefixtures("at_work")

SHAPES = [
    (5, 0, 3),
    (1, 1, 1),
    (7, 5, 3),
    (6, 128, 64),
    (13, 129, 65),
    (97, 300, 200),
    (800, 24, 70),  # rows enough to be shared out one part at a time
]


def turned(x: Tensor) -> Tensor:
    """Keep the same matrix column by column."""
    return x.T.contiguous().T


def part_of_wider_rows(x: Tensor) -> Tensor:
    """Keep the same matrix among other numbers."""
    wide = torch.full((len(x), x.shape[1] + 3), float("nan"))
    wide[:, 1:-2] = x
    return wide[:, 1:-2]


def part_of_everything(x: Tensor) -> Tensor:
    """Keep the same matrix with gaps between all numbers."""
    return x.repeat_interleave(2, 1).repeat_interleave(2, 0)[::2, ::2]


Layout = Callable[[Tensor], Tensor]
LAYOUTS: list[Layout] = [torch.clone, turned, part_of_wider_rows, part_of_everything]


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("left", LAYOUTS)
@pytest.mark.parametrize("right", LAYOUTS)
def test_it_is_the_product_however_matrices_lie(
    left: Layout, right: Layout, shape: tuple[int, int, int], threads: int
) -> None:
    torch.set_num_threads(threads)
    rows, depth, columns = shape
    a, b = torch.randn(rows, depth), torch.randn(depth, columns)
    found = RightFactor(right(b)).times(left(a))
    exact = a.double() @ b.double()
    torch.testing.assert_close(found.double(), exact, atol=5e-5, rtol=1e-5)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_bias_is_added_to_each_row(shape: tuple[int, int, int]) -> None:
    rows, depth, columns = shape
    a, b, bias = (
        torch.randn(*size) for size in ((rows, depth), (depth, columns), (columns,))
    )
    found = RightFactor(b).times(a, bias=bias)
    torch.testing.assert_close(found, torch.addmm(bias, a, b), atol=5e-5, rtol=1e-5)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_product_is_added_to_a_sum(shape: tuple[int, int, int]) -> None:
    rows, depth, columns = shape
    a, b, total = (
        torch.randn(*size)
        for size in ((depth, rows), (depth, columns), (rows, columns))
    )
    wanted = torch.addmm(total, a.T, b)
    RightFactor(b).add_times(a.T, total)
    torch.testing.assert_close(total, wanted, atol=5e-5, rtol=1e-5)


def test_neither_threads_nor_company_change_a_bit() -> None:
    a, b = torch.randn(801, 300), torch.randn(300, 130)
    torch.set_num_threads(1)
    alone = RightFactor(b).times(a)
    torch.set_num_threads(3)
    assert torch.equal(RightFactor(b).times(a), alone)
    assert torch.equal(RightFactor(b).times(a[40:43]), alone[40:43])


def test_threads_change_no_bit_of_a_linear_maps_gradients() -> None:
    gradient, x, weight = (
        torch.randn(*size) for size in ((700, 97), (700, 130), (97, 130))
    )
    torch.set_num_threads(1)
    alone = linear_gradients(gradient, x, weight)
    torch.set_num_threads(3)
    for one, other in zip(linear_gradients(gradient, x, weight), alone, strict=True):
        assert torch.equal(one, other)


def test_what_is_no_number_stays_in_its_row_and_column() -> None:
    a, b = torch.randn(9, 20), torch.randn(20, 70)
    a[3, 7] = float("nan")
    b[5, 66] = float("inf")
    found = RightFactor(b).times(a)
    strange = ~found.isfinite()
    assert strange[3].all()
    assert strange[:, 66].all()
    assert strange.sum() == 70 + 9 - 1


def test_room_that_is_given_is_used() -> None:
    a, b, room = torch.randn(5, 4), torch.randn(4, 3), torch.empty(5, 3)
    assert RightFactor(b).times(a, out=room) is room
    torch.testing.assert_close(room, a @ b)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("threads", [1, 2])
def test_rows_are_summed_on_the_way(layout: Layout, threads: int) -> None:
    torch.set_num_threads(threads)
    a, b = torch.randn(200, 300), torch.randn(300, 70)
    product, sums = RightFactor(b).times_and_sums(layout(a))
    assert torch.equal(product, RightFactor(b).times(a))
    torch.testing.assert_close(sums, a.sum(dim=1), atol=1e-4, rtol=1e-5)


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("left", LAYOUTS)
@pytest.mark.parametrize("right", LAYOUTS)
@pytest.mark.parametrize(
    ("rows", "outputs", "inputs"),
    [(0, 3, 2), (1, 1, 1), (50, 3, 7), (1000, 130, 97), (40, 400, 400)],
)
def test_a_linear_map_has_its_gradients_whether_its_weights_are_few_or_many(
    rows: int, outputs: int, inputs: int, left: Layout, right: Layout, threads: int
) -> None:
    torch.set_num_threads(threads)
    gradient, x, weight = (
        torch.randn(*size)
        for size in ((rows, outputs), (rows, inputs), (outputs, inputs))
    )
    given, learned, sums = linear_gradients(left(gradient), right(x), weight)
    exact = gradient.double()
    torch.testing.assert_close(
        given.double(), exact @ weight.double(), atol=1e-4, rtol=1e-5
    )
    torch.testing.assert_close(
        learned.double(), exact.T @ x.double(), atol=1e-4, rtol=1e-5
    )
    torch.testing.assert_close(sums.double(), exact.sum(dim=0), atol=1e-4, rtol=1e-5)


@pytest.mark.parametrize(
    ("name", "instructions", "ours"),
    [
        ("AMD EPYC 9R14", "fma avx2 avx512f", True),
        ("AMD Ryzen 7 3700X", "fma avx2", True),
        ("AMD FX-8350", "fma avx", False),
        ("Intel(R) Core(TM) i5", "fma avx2", False),
        ("Intel(R) Xeon(R)", "fma avx2 avx512f", False),
        ("", "", False),
    ],
)
def test_the_processor_alone_decides(
    name: str, instructions: str, ours: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = Processor(name, frozenset(instructions.split()))
    monkeypatch.setattr(matrix_product, "processor", lambda: here)
    assert ours_are_faster.__wrapped__() is ours
