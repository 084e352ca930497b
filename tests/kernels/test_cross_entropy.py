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


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize(("rows", "width"), [(1, 5), (9, 16), (33, 1003)])
def test_narrow_logits_hold_the_same_gradient_rounded(
    rows: int, width: int, threads: int
) -> None:
    torch.set_num_threads(threads)
    logits = (4 * torch.randn(rows, width)).bfloat16()
    targets = torch.randint(width, (rows,))
    narrow, wide = logits.clone(), logits.float()
    found = softmax_gradient(narrow, targets, 0.9)
    wanted = softmax_gradient(wide, targets, 0.9)
    assert torch.equal(narrow, wide.bfloat16())
    assert all(torch.equal(a, b) for a, b in zip(found, wanted, strict=True))


def test_a_narrow_logit_that_is_no_number_is_not_hidden() -> None:
    logits = torch.randn(2, 100).bfloat16()
    logits[0, 37] = float("nan")
    total, _, _ = softmax_gradient(logits, torch.tensor([5, 6]), 0.9)
    assert total.isnan().tolist() == [True, False]
    assert logits.isnan().any(dim=1).tolist() == [True, False]
