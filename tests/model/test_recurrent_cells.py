"""Cells in the open and their fused kernels are the same, in value and gradient."""

import pytest
import torch
from torch import Tensor

from dragoman.model.recurrent_cells import Cell, CellState, build_cell

CELLS = ("elman", "gru", "lstm")
TWINS = {"elman": torch.nn.RNN, "gru": torch.nn.GRU, "lstm": torch.nn.LSTM}


def unsettled(kind: str, dtype: torch.dtype = torch.float64) -> Cell:
    cell = build_cell(kind, 5, 4).to(dtype)
    with torch.no_grad():
        for parameter in cell.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return cell


def in_the_open(cell: Cell, x: Tensor, state: CellState) -> tuple[Tensor, CellState]:
    """Read word by word, gate by gate."""
    shown = []
    for word in x.unbind(dim=1):
        state = cell.step(word, state)
        shown.append(state[0])
    return torch.stack(shown, dim=1), state


def random_state(cell: Cell, like: Tensor) -> CellState:
    nothing = cell.nothing(len(like), like)
    return tuple(torch.randn_like(part).tanh() for part in nothing)


@pytest.mark.parametrize("kind", CELLS)
@pytest.mark.parametrize(
    ("dtype", "tolerance"), [(torch.float64, 1e-12), (torch.float32, 1e-5)]
)
def test_the_fused_kernel_equals_the_gates_in_value_and_gradient(
    kind: str, dtype: torch.dtype, tolerance: float
) -> None:
    cell = unsettled(kind, dtype)
    x = torch.randn(3, 6, 5, dtype=dtype)
    state = random_state(cell, x)
    weighting = torch.randn(3, 6, 4, dtype=dtype)
    found = []
    for run in (cell, lambda x, state: in_the_open(cell, x, state)):
        leaf = x.clone().requires_grad_()
        first = tuple(part.clone().requires_grad_() for part in state)
        shown, last = run(leaf, first)
        wanted = [leaf, *first, *cell.parameters()]
        loss = (shown * weighting).sum() + sum(part.square().sum() for part in last)
        gradients = torch.autograd.grad(loss, wanted)
        found.append([shown, *last, *gradients])
    for fused, plain in zip(*found, strict=True):
        torch.testing.assert_close(fused, plain, atol=tolerance, rtol=tolerance)


@pytest.mark.parametrize("kind", CELLS)
def test_the_weights_are_those_of_torchs_own_module(kind: str) -> None:
    cell = unsettled(kind)
    twin = TWINS[kind](5, 4, batch_first=True).double()
    with torch.no_grad():
        twin.weight_ih_l0.copy_(cell.from_input.weight)
        twin.weight_hh_l0.copy_(cell.from_state.weight)
        twin.bias_ih_l0.copy_(cell.from_input.bias)
        twin.bias_hh_l0.copy_(cell.from_state.bias)
    x = torch.randn(3, 6, 5, dtype=torch.float64)
    shown, _ = in_the_open(cell, x, cell.nothing(3, x))
    torch.testing.assert_close(shown, twin(x)[0])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("kind", CELLS)
def test_padding_leaves_the_memory_exactly_as_it_was(
    kind: str, dtype: torch.dtype
) -> None:
    cell = unsettled(kind, dtype)
    x = torch.randn(1, 9, 5, dtype=dtype)
    words = torch.arange(9)[None] < 4
    shown, (_, *memory) = cell(x, cell.nothing(1, x), words)
    other, (_, *later) = cell(x[:, :6], cell.nothing(1, x), words[:, :6])
    torch.testing.assert_close(shown[:, :4], other[:, :4], atol=1e-6, rtol=0)
    assert len(memory) == (kind == "lstm")
    for held, sooner in zip(memory, later, strict=True):
        assert torch.equal(held, sooner)
    _, (_, *alone) = cell(x[:, :4], cell.nothing(1, x))
    for held, unpadded in zip(memory, alone, strict=True):
        torch.testing.assert_close(held, unpadded, atol=1e-6, rtol=1e-6)


def test_an_lstm_begins_by_remembering() -> None:
    cell = build_cell("lstm", 5, 4)
    _, keep, _, _ = cell.from_input.bias.chunk(4)
    assert keep.eq(1).all()
    assert cell.from_input.bias.sum() == 4
