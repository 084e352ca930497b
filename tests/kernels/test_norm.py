import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from dragoman.kernels.norm import layer_norm
from dragoman.model.norms import LayerNorm

pytestmark = pytest.mark.usefixtures("at_work")


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("shape", [(1, 16), (5, 7, 128), (2, 3, 48)])
def test_it_is_layer_norm_in_value_and_gradient(
    shape: tuple[int, ...], threads: int
) -> None:
    torch.set_num_threads(threads)
    x = (5 * torch.randn(shape) + 3).requires_grad_()
    gain, bias = (torch.randn(shape[-1], requires_grad=True) for _ in range(2))
    weight = torch.randn(shape)
    native = layer_norm(x, gain, bias, 1e-5)
    plain = F.layer_norm(x.double(), shape[-1:], gain.double(), bias.double(), 1e-5)
    torch.testing.assert_close(native.double(), plain, atol=1e-5, rtol=1e-5)
    given = torch.autograd.grad((native * weight).sum(), (x, gain, bias))
    wanted = torch.autograd.grad((plain * weight).sum(), (x, gain, bias))
    for one, other in zip(given, wanted, strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4)


def test_rows_that_fill_no_vectors_are_normed_plainly() -> None:
    norm, x = LayerNorm(10), torch.randn(4, 10)
    assert torch.equal(norm(x), F.layer_norm(x, (10,)))
