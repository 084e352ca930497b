import pytest
import torch

from dragoman.kernels.agreement import agreement_gradient
from dragoman.training.r_drop import plain_agreement_gradient

pytestmark = pytest.mark.usefixtures("at_work")


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("rows", "width"), [(1, 5), (9, 16), (33, 1000), (4, 8003)])
@pytest.mark.parametrize("size", [1.0, 5.0])
def test_it_agrees_with_its_plain_twin(
    rows: int, width: int, size: float, threads: int
) -> None:
    torch.set_num_threads(threads)
    logits = size * torch.randn(2, rows, width)
    targets = torch.randint(width, (rows,))
    native, plain = logits.clone(), logits.double()
    found = agreement_gradient(native, targets, 0.9, 1.25)
    wanted = plain_agreement_gradient(plain, targets, 0.9, 1.25)
    torch.testing.assert_close(native.double(), plain, atol=1e-4, rtol=1e-4)
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one.double(), other, atol=5e-5, rtol=2e-5)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("rows", "width"), [(1, 5), (9, 16), (4, 8003)])
def test_narrow_logits_hold_the_same_gradient_rounded(
    rows: int, width: int, threads: int
) -> None:
    torch.set_num_threads(threads)
    logits = (4 * torch.randn(2, rows, width)).bfloat16()
    targets = torch.randint(width, (rows,))
    narrow, wide = logits.clone(), logits.float()
    found = agreement_gradient(narrow, targets, 0.9, 1.25)
    wanted = agreement_gradient(wide, targets, 0.9, 1.25)
    assert torch.equal(narrow, wide.bfloat16())
    for one, other in zip(found, wanted, strict=True):
        assert torch.equal(one, other)


def test_equal_passes_have_nothing_to_settle() -> None:
    logits = torch.randn(1, 7, 100).expand(2, -1, -1).contiguous()
    targets = torch.randint(100, (7,))
    shares = logits.softmax(dim=-1)
    *_, divergence = agreement_gradient(logits, targets, 0.0, 5.0)
    torch.testing.assert_close(divergence, torch.zeros(2, 7), atol=1e-6, rtol=0)
    torch.testing.assert_close(logits, shares / 2, atol=1e-6, rtol=0)


@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("place", [0, 37, 99])
def test_a_logit_that_is_no_number_is_not_hidden(place: int, kind: torch.dtype) -> None:
    logits = torch.randn(2, 2, 100).to(kind)
    logits[1, 0, place] = float("nan")
    total, *_ = agreement_gradient(logits, torch.tensor([5, 6]), 0.9, 1.0)
    assert total.isnan().tolist() == [[False, False], [True, False]]
