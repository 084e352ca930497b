import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from dragoman.kernels.choice import narrow_products
from dragoman.training.muon import Muon, orthogonalize


@pytest.mark.parametrize("shape", [(16, 16), (32, 16), (16, 48)])
def test_singular_values_come_near_one(shape: tuple[int, int]) -> None:
    torch.manual_seed(0)
    result = orthogonalize(torch.randn(3, *shape))
    values = torch.linalg.svdvals(result)
    assert values.shape == (3, 16)
    assert values.max() < 1.3
    assert values.median() > 0.6


def test_direction_is_kept() -> None:
    torch.manual_seed(0)
    matrix = torch.randn(1, 20, 12)
    u, _, v = torch.linalg.svd(matrix[0], full_matrices=False)
    closest = u @ v
    similarity = nn.functional.cosine_similarity(
        orthogonalize(matrix).flatten(), closest.flatten(), dim=0
    )
    assert similarity > 0.95


def test_a_stack_of_matrices_learns_as_its_parts_would() -> None:
    torch.manual_seed(0)
    stacked = nn.Parameter(torch.randn(12, 4))
    parts = [nn.Parameter(part.clone()) for part in stacked.detach().chunk(3)]
    stacked.grad = torch.randn(12, 4)
    for part, gradient in zip(parts, stacked.grad.chunk(3), strict=True):
        part.grad = gradient.clone()
    Muon([(stacked, (4, 4, 4))]).step(0.1)
    Muon([(part, (4,)) for part in parts]).step(0.1)
    torch.testing.assert_close(stacked.detach(), torch.cat([p.detach() for p in parts]))


def test_the_size_of_the_gradient_does_not_matter() -> None:
    torch.manual_seed(0)
    first = nn.Parameter(torch.randn(8, 8))
    second = nn.Parameter(first.detach().clone())
    first.grad = torch.randn(8, 8)
    second.grad = 1000 * first.grad
    Muon([(first, (8,))]).step(0.1)
    Muon([(second, (8,))]).step(0.1)
    torch.testing.assert_close(first, second, rtol=1e-3, atol=1e-4)


def test_weight_decay_shrinks() -> None:
    matrix = nn.Parameter(torch.ones(4, 4))
    matrix.grad = torch.zeros(4, 4)
    Muon([(matrix, (4,))], weight_decay=0.5).step(0.1)
    torch.testing.assert_close(matrix.detach(), torch.full((4, 4), 0.95))


def test_the_flops_of_an_update_are_what_it_multiplies() -> None:
    matrices = [
        (nn.Parameter(torch.randn(30, 10)), (14, 8, 8)),
        (nn.Parameter(torch.randn(8, 20)), (8,)),
        (nn.Parameter(torch.randn(20, 8)), (20,)),
    ]
    for matrix, _ in matrices:
        matrix.grad = torch.randn_like(matrix)
    muon = Muon(matrices)
    with FlopCounterMode(display=False) as counted:
        muon.step(0.1)
    assert counted.get_total_flops() == muon.flops


def test_narrow_products_bring_them_as_near() -> None:
    torch.manual_seed(0)
    stack = torch.randn(3, 48, 32)
    wide = orthogonalize(stack)
    with narrow_products():
        narrow = orthogonalize(stack)
    assert narrow.dtype == torch.float32
    assert not torch.equal(narrow, wide)
    similarity = nn.functional.cosine_similarity(narrow.flatten(), wide.flatten(), 0)
    assert similarity > 0.999
