import pytest
import torch
from torch import Tensor

from dragoman.kernels.attention import attend, suits
from dragoman.model.attention import (
    MultiHeadAttention,
    attention_weights,
    combined_mask,
)

pytestmark = pytest.mark.usefixtures("at_work")


def heads(batch: int, length: int, count: int, width: int) -> Tensor:
    """Draw what a projection gives: heads side by side in each word."""
    joint = torch.randn(batch, length, count * width, requires_grad=True)
    return joint.view(batch, length, count, width).transpose(1, 2)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize(
    ("queries", "keys", "width", "causal"),
    [
        (1, 1, 16, False),
        (3, 17, 32, False),
        (15, 15, 32, True),
        (33, 70, 64, False),
        (40, 40, 48, True),
        (128, 128, 128, True),
    ],
)
def test_it_is_the_formula_in_value_and_gradient(
    queries: int, keys: int, width: int, causal: bool, masked: bool, threads: int
) -> None:
    torch.set_num_threads(threads)
    q, k, v = (heads(3, n, 2, width) for n in (queries, keys, keys))
    mask = None
    if masked:
        mask = torch.rand(3, 1, 1, keys) > 0.3
        mask[..., 0] = True
    assert suits(q, k, v, mask)
    native = attend(q, k, v, mask, causal, width**-0.5)
    seen = combined_mask(q, mask, causal)
    plain = attention_weights(q.double(), k.double(), seen) @ v.double()
    torch.testing.assert_close(native.double(), plain, atol=5e-6, rtol=1e-5)
    slope = torch.randn(native.shape)
    given = torch.autograd.grad((native * slope).sum(), (q, k, v))
    wanted = torch.autograd.grad((plain * slope).sum(), (q, k, v))
    for one, other in zip(given, wanted, strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4)


def test_masked_words_get_exactly_nothing() -> None:
    q, k, v = (heads(2, 9, 2, 16) for _ in range(3))
    mask = torch.ones(2, 1, 1, 9, dtype=torch.bool)
    mask[:, :, :, 6:] = False
    before = attend(q, k, v, mask, False, 0.25)
    changed = v.detach().clone()
    changed[:, :, 6:] = 1e30
    assert torch.equal(attend(q, k, changed, mask, False, 0.25), before)


def test_threads_and_batch_mates_change_no_bit() -> None:
    q, k, v = (heads(5, 13, 4, 32) for _ in range(3))
    alone = attend(q[2:3], k[2:3], v[2:3], None, True, 0.2)
    for threads in (1, 2, 3):
        torch.set_num_threads(threads)
        assert torch.equal(attend(q, k, v, None, True, 0.2)[2:3], alone)


def test_scores_far_apart_do_not_overflow() -> None:
    q, k, v = (heads(1, 5, 1, 16) for _ in range(3))
    result = attend(1000 * q, 1000 * k, v, None, False, 1.0)
    plain = attention_weights(1000 * q.double(), 1000 * k.double(), None, scaling=False)
    torch.testing.assert_close(result.double(), plain @ v.double())


def test_what_it_is_not_made_for_is_left_to_torch() -> None:
    q, k, v = (heads(2, 9, 2, 16) for _ in range(3))
    assert suits(q, k, v, None)
    long, narrow = heads(2, 129, 2, 16), heads(2, 9, 2, 10)
    assert not suits(long, long, long, None)
    assert not suits(narrow, narrow, narrow, None)
    assert not suits(q, k, v, torch.zeros(2, 1, 9, 9))
    assert not suits(q, k, v, torch.ones(9, 9, dtype=torch.bool))
    with torch.no_grad():
        assert not suits(q, k, v, None)


def test_gradients_of_a_joint_projection_are_not_copied_together() -> None:
    attention = MultiHeadAttention(32, 2, 16, 0.0)
    joint = torch.randn(3, 7, 96, requires_grad=True)
    q, k, v = attention._apart(joint, None)
    given = torch.autograd.grad(attend(q, k, v, None, True, 0.25).sum(), (q, k, v))
    assert len({gradient.untyped_storage().data_ptr() for gradient in given}) == 1
