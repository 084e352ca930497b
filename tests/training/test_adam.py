import pytest
import torch
from torch import nn

from dragoman.model.weights import state_of
from dragoman.training.adam import Adam


@pytest.mark.parametrize("weight_decay", [0.0, 0.1])
def test_it_is_the_adam_that_everyone_knows(weight_decay: float) -> None:
    torch.manual_seed(0)
    ours = [nn.Parameter(torch.randn(3, 4)), nn.Parameter(torch.randn(5, 2))]
    theirs = [nn.Parameter(p.detach().clone()) for p in ours]
    adam = Adam(ours, (0.9, 0.98), 1e-9, weight_decay)
    reference = torch.optim.AdamW(
        theirs, lr=0.01, betas=(0.9, 0.98), eps=1e-9, weight_decay=weight_decay
    )
    for _ in range(20):
        for a, b in zip(ours, theirs, strict=True):
            a.grad = torch.randn_like(a)
            b.grad = a.grad.clone()
        adam.step(0.01)
        reference.step()
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, b)


def test_only_matrices_decay() -> None:
    matrix, gains = nn.Parameter(torch.ones(2, 2)), nn.Parameter(torch.ones(3))
    matrix.grad, gains.grad = torch.zeros(2, 2), torch.zeros(3)
    Adam([matrix, gains], (0.9, 0.98), 1e-9, 0.5).step(0.1)
    torch.testing.assert_close(matrix.detach(), torch.full((2, 2), 0.95))
    assert torch.equal(gains.detach(), torch.ones(3))


def test_whoever_keeps_a_copy_of_a_weight_can_see_that_it_changed() -> None:
    parameter = nn.Parameter(torch.ones(2, 3))
    parameter.grad = torch.ones(2, 3)
    before = state_of(parameter)
    Adam([parameter], (0.9, 0.98), 1e-9, 0.0).step(0.1)
    assert state_of(parameter) != before


def test_what_has_no_gradient_stays() -> None:
    parameter = nn.Parameter(torch.ones(2))
    Adam([parameter], (0.9, 0.98), 1e-9, 0.1).step(0.1)
    assert torch.equal(parameter.detach(), torch.ones(2))


@pytest.mark.parametrize("weight_decay", [0.0, 0.1])
def test_all_at_once_is_one_by_one(weight_decay: float) -> None:
    torch.manual_seed(0)
    twins = []
    for _ in range(2):
        parameters = [nn.Parameter(torch.ones(3, 4)), nn.Parameter(torch.zeros(5))]
        twins.append(Adam(parameters, (0.9, 0.98), 1e-9, weight_decay))
    at_once, one_by_one = twins
    for step in range(1, 21):
        for a, b in zip(at_once.parameters, one_by_one.parameters, strict=True):
            a.grad = torch.randn_like(a)
            b.grad = a.grad.clone()
        at_once.steps = one_by_one.steps = step
        with torch.no_grad():
            at_once._step_at_once(0.01)
            one_by_one._step_one_by_one(0.01)
    for kind in ("parameters", "means", "squares"):
        for a, b in zip(getattr(at_once, kind), getattr(one_by_one, kind), strict=True):
            torch.testing.assert_close(a, b)
