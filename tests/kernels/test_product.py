import pytest
import torch

from dragoman.kernels.product import Panels

pytestmark = pytest.mark.usefixtures("at_work")


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5, 6, 7, 13])
@pytest.mark.parametrize(("inputs", "outputs"), [(1, 1), (5, 64), (128, 203), (96, 16)])
@pytest.mark.parametrize("has_bias", [True, False])
def test_it_is_a_linear_map(
    inputs: int, outputs: int, rows: int, has_bias: bool, threads: int
) -> None:
    torch.set_num_threads(threads)
    weight, x = torch.randn(outputs, inputs), torch.randn(rows, inputs)
    bias = torch.randn(outputs) if has_bias else None
    exact = torch.nn.functional.linear(
        x.double(), weight.double(), None if bias is None else bias.double()
    )
    product = Panels(weight, bias)(x)
    torch.testing.assert_close(product.double(), exact, atol=2e-5, rtol=1e-5)


def test_company_changes_no_bit() -> None:
    panels, x = Panels(torch.randn(200, 128)), torch.randn(13, 128)
    together = panels(x)
    for row in range(len(x)):
        assert torch.equal(panels(x[row : row + 1])[0], together[row])


def test_a_weight_kept_input_by_input_is_the_same_map() -> None:
    weight, x = torch.randn(70, 24), torch.randn(3, 24)
    turned = weight.t().contiguous().t()
    assert torch.equal(Panels(weight)(x), Panels(turned)(x))
