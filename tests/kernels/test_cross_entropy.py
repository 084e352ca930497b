import pytest
import torch

from dragoman.kernels.cross_entropy import softmax_gradient
from dragoman.training.loss import plain_softmax_gradient

pytestmark = pytest.mark.usefixtures("at_work")


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("rows", "width"), [(1, 5), (9, 16), (33, 1000), (4, 8003)])
@pytest.mark.parametrize("size", [1.0, 40.0])
def test_it_agrees_with_its_plain_twin(
    rows: int, width: int, size: float, threads: int
) -> None:
    torch.set_num_threads(threads)
    logits = size * torch.randn(rows, width)
    targets = torch.randint(width, (rows,))
    native, plain = logits.clone(), logits.double()
    found = softmax_gradient(native, targets, 0.9)
    wanted = plain_softmax_gradient(plain, targets, 0.9)
    torch.testing.assert_close(native.double(), plain, atol=1e-6, rtol=1e-5)
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one.double(), other, atol=1e-5, rtol=1e-6)


@pytest.mark.parametrize("place", [0, 37, 99])
def test_a_logit_that_is_no_number_is_not_hidden(place: int) -> None:
    logits = torch.randn(2, 100)
    logits[0, place] = float("nan")
    total, _, _ = softmax_gradient(logits, torch.tensor([5, 6]), 0.9)
    assert total.isnan().tolist() == [True, False]


def test_an_infinite_logit_is_not_hidden() -> None:
    logits = torch.randn(1, 100)
    logits[0, 3] = float("inf")
    total, _, _ = softmax_gradient(logits, torch.tensor([5]), 0.9)
    assert not total.isfinite().any()
