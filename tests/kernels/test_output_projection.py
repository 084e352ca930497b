import pytest
import torch
from torch import Tensor

from dragoman.training.output_projection import (
    NarrowOutputProjection,
    OutputProjection,
    PanelOutputProjection,
)

pytestmark = pytest.mark.usefixtures("at_work")


def all_products(
    kind: type[OutputProjection], weight: Tensor, rows: Tensor, slope: Tensor
) -> list[Tensor]:
    """Give logits, gradient by the rows, and that by the weights added to ones."""
    projection, total = kind(weight), torch.ones_like(weight)
    factor = projection.factor(rows)
    logits = projection.logits(factor, factor.new_empty(len(factor), len(weight)))
    gradient = torch.zeros_like(logits)
    gradient[: len(rows)] = slope
    projection.learn(total, gradient, factor)
    by_rows = projection.row_gradient(gradient)
    return [found[: len(rows)].float() for found in (logits, by_rows)] + [total]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("kind", "near"),
    [(PanelOutputProjection, 2**-18), (NarrowOutputProjection, 2**-7)],
)
def test_it_agrees_with_its_plain_twin(
    kind: type[OutputProjection], near: float, threads: int
) -> None:
    torch.set_num_threads(threads)
    weight, rows, slope = (
        torch.randn(203, 24),
        torch.randn(70, 24),
        torch.randn(70, 203),
    )
    found = all_products(kind, weight, rows, slope)
    wanted = all_products(OutputProjection, weight, rows, slope)
    for one, other in zip(found, wanted, strict=True):
        # Sums of up to so many products with deviation 1, each rounded in its factors.
        torch.testing.assert_close(one, other, atol=5 * near * 203**0.5, rtol=near)
