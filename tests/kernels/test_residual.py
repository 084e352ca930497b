import pytest
import torch
from torch import Tensor

from dragoman.config import load_preset
from dragoman.kernels import dropout, norm, residual
from dragoman.model.layers import Residual

pytestmark = pytest.mark.usefixtures("at_work")

THRESHOLD = 77  # of 256


def one_by_one(x: Tensor, written: Tensor, gain: Tensor, bias: Tensor) -> Tensor:
    """Drop and add, then normalise."""
    summed = dropout.dropped_sum(x, written, THRESHOLD)
    return norm.layer_norm(summed, gain, bias, 1e-5)


def in_one_pass(x: Tensor, written: Tensor, gain: Tensor, bias: Tensor) -> Tensor:
    """Do the same at once."""
    return residual.normed_sum(x, written, THRESHOLD, gain, bias, 1e-5)


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("shape", [(1, 16), (7, 5, 48), (300, 128), (9, 512)])
def test_it_is_dropout_sum_and_norm_in_value_and_gradient(
    shape: tuple[int, ...], threads: int
) -> None:
    torch.set_num_threads(threads)
    width = shape[-1]
    numbers = [torch.randn(*size) for size in (shape, shape, (width,), (width,))]
    weight = torch.randn(shape)
    found = []
    for function in (in_one_pass, one_by_one):
        leaves = [number.clone().requires_grad_() for number in numbers]
        torch.manual_seed(3)  # the same mask for both
        result = function(*leaves)
        gradients = torch.autograd.grad((result * weight).sum(), leaves)
        found.append((result, *gradients))
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-5)


def test_a_post_norm_residual_takes_one_pass_and_none_where_nothing_drops() -> None:
    config = load_preset("tiny").with_settings({"model.norm": "post"}).model
    around = Residual(config).train()
    x, written = torch.randn(4, 9, 128), torch.randn(4, 9, 128)
    seen: list[Tensor] = []
    hook = around.norm.register_forward_hook(lambda *told: seen.append(told[2]))
    torch.manual_seed(3)
    dropping = around.after(x, written)
    hook.remove()
    assert [one is dropping for one in seen] == [True], (
        "whoever watches the norm sees it, in one pass too"
    )
    torch.manual_seed(3)
    plain = around.norm(around.dropout.add(x, written))
    torch.testing.assert_close(dropping, plain, atol=1e-5, rtol=1e-5)
    assert type(dropping.grad_fn).__name__ == "_NormedSumBackward"
    still = around.eval().after(x, written)
    torch.testing.assert_close(still, around.norm(x + written), atol=1e-5, rtol=1e-5)
