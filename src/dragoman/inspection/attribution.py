"""Which source tokens a prediction rests on, by four rules that need not agree.

Attention weights alone say where a head looked, not what it took from there; so three
other measures stand beside them, and the agreement says how far to believe any.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn

from dragoman.errors import InspectionError
from dragoman.inspection.attention import Attention
from dragoman.inspection.capture import evaluating
from dragoman.inspection.interventions import Intervention, intervening
from dragoman.model.transformer import Transformer
from dragoman.special_tokens import PAD

LOGITS_AT_ONCE = 20_000_000  # so that a long sentence fits into memory
METHODS = ("attention", "value-weighted", "gradient × input", "erasure")


@dataclass(frozen=True)
class Attributions:
    """How much each source token (column) matters to each prediction (row).

    `attention` and `value_weighted` are of the chosen heads, rows summing to 1;
    `gradient` is |∂ log p / ∂ embedding · embedding|; `erasure` is how far log p falls
    when nobody may look at that token.
    """

    attention: Tensor  # (target_length, source_length), as all of them
    value_weighted: Tensor
    gradient: Tensor
    erasure: Tensor

    def by_method(self) -> dict[str, Tensor]:
        """Give each matrix by the name of its rule."""
        found = (self.attention, self.value_weighted, self.gradient, self.erasure)
        return dict(zip(METHODS, found, strict=True))

    @cached_property
    def agreement(self) -> Tensor:
        """The rank correlation of their sizes, averaged over predictions (4, 4)."""
        matrices = [matrix.abs() for matrix in self.by_method().values()]
        rows = [[rank_correlation(a, b) for b in matrices] for a in matrices]
        return torch.tensor(rows)


def attribute(
    model: nn.Module,
    cross: Sequence[Attention],
    source: Sequence[int],
    target_in: Sequence[int],
    target_out: Sequence[int],
    interventions: Sequence[Intervention] = (),
    *,
    layer: int | None = None,
    head: int | None = None,
) -> Attributions:
    """Measure all four; without a layer or a head, attention is the mean over them."""
    chosen = [a for a in cross if layer is None or a.layer == layer]
    if not chosen:
        raise InspectionError(
            "this model has no such heads that attend to its source: attributions "
            "need them"
        )
    heads = slice(None) if head is None else slice(head, head + 1)
    weights = torch.stack([a.weights[heads].mean(dim=0) for a in chosen]).mean(dim=0)
    moved = torch.stack([_moved(a, heads) for a in chosen]).mean(dim=0)
    with evaluating(model), intervening(model, interventions):
        gradient = _gradient_times_input(model, source, target_in, target_out)
        erasure = _erasure(model, source, target_in, target_out)
    return Attributions(weights, moved, gradient, erasure)


def rank_correlation(one: Tensor, other: Tensor) -> float:
    """Give Spearman's rank correlation of two matrices, row by row, averaged."""
    if one.shape[-1] < 2:
        return 1.0
    ranks = [_ranks(matrix) for matrix in (one, other)]
    centred = [rank - rank.mean(dim=-1, keepdim=True) for rank in ranks]
    covariance = (centred[0] * centred[1]).sum(dim=-1)
    spread = centred[0].norm(dim=-1) * centred[1].norm(dim=-1)
    return float((covariance / spread.clamp_min(1e-12)).mean())


def _ranks(matrix: Tensor) -> Tensor:
    """Rank each row from 0; equal values share the mean of their ranks."""
    below = (matrix[..., :, None] > matrix[..., None, :]).sum(dim=-1)
    equal = (matrix[..., :, None] == matrix[..., None, :]).sum(dim=-1)
    return below + (equal - 1) / 2


def _moved(attention: Attention, heads: slice) -> Tensor:
    """Give the length of what each key moved through the chosen heads together."""
    values = attention.values[heads] @ attention.projections.w_o[heads]
    weights = attention.weights[heads]
    moved = torch.einsum("hqk,hkd->qkd", weights, values).norm(dim=-1)
    share: Tensor = moved / moved.sum(dim=-1, keepdim=True).clamp_min(1e-12)
    return share


def _gradient_times_input(
    model: nn.Module,
    source: Sequence[int],
    target_in: Sequence[int],
    target_out: Sequence[int],
) -> Tensor:
    with torch.enable_grad(), _embedding_as_leaf(model) as leaves:
        predicted = _log_probabilities(model, [source], target_in, target_out)[0]
        [leaf] = leaves
        rows = []
        for place in range(len(target_out)):
            [slope] = torch.autograd.grad(predicted[place], leaf, retain_graph=True)
            rows.append((slope * leaf).sum(dim=-1)[0].abs())
    return torch.stack(rows).detach().to("cpu", torch.float32)


@contextmanager
def _embedding_as_leaf(model: nn.Module) -> Iterator[list[Tensor]]:
    """Make the embedded source a variable of its own, to take gradients by."""
    assert isinstance(model, Transformer)
    leaves: list[Tensor] = []

    def cut(module: nn.Module, inputs: tuple[Any, ...], output: Tensor) -> Tensor:
        del module, inputs
        leaves.append(output.detach().requires_grad_(True))
        return leaves[-1]

    handle = model.embed_source.register_forward_hook(cut)
    try:
        yield leaves
    finally:
        handle.remove()


def _erasure(
    model: nn.Module,
    source: Sequence[int],
    target_in: Sequence[int],
    target_out: Sequence[int],
) -> Tensor:
    """Hide each source token in turn, as padding is hidden, and see what is lost."""
    hidden = [
        [PAD if place == erased else token for place, token in enumerate(source)]
        for erased in range(len(source))
    ]
    if len(source) == 1:
        return torch.zeros(len(target_out), 1)  # nothing would be left to look at
    sources = [source, *hidden]
    at_once = max(1, LOGITS_AT_ONCE // (len(target_out) * _vocabulary(model)))
    with torch.no_grad():
        parts = [
            _log_probabilities(
                model, sources[start : start + at_once], target_in, target_out
            )
            for start in range(0, len(sources), at_once)
        ]
    known = torch.cat(parts)
    lost = known[:1] - known[1:]  # (source_length, target_length)
    return lost.T.to("cpu", torch.float32)


def _vocabulary(model: nn.Module) -> int:
    assert isinstance(model, Transformer)
    return len(model.output_weight)


def _log_probabilities(
    model: nn.Module,
    sources: Sequence[Sequence[int]],
    target_in: Sequence[int],
    target_out: Sequence[int],
) -> Tensor:
    """Give the log-probability of each target token (source, target_length)."""
    device = next(model.parameters()).device
    rows = torch.tensor(sources, device=device)
    targets = torch.tensor([target_in], device=device).expand(len(rows), -1)
    log_probabilities = model(rows, targets).log_softmax(dim=-1)
    wanted = torch.tensor([target_out], device=device).expand(len(rows), -1)
    gathered: Tensor = log_probabilities.gather(2, wanted[:, :, None])[:, :, 0]
    return gathered
