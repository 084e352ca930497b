"""Which source tokens a prediction rests on, by four rules that need not agree.

Attention weights alone say where a head looked, not what it took from there; so three
other measures stand beside them, and the agreement says how far to believe any. Two of
them need no attention, and are there for models that have none.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn

from dragoman.inspection.attention import Attention
from dragoman.inspection.capture import Capture
from dragoman.inspection.interventions import Intervention, intervening
from dragoman.model.evaluating import evaluating
from dragoman.model.network import TranslationNetwork
from dragoman.model.recurrent import RecurrentModel
from dragoman.special_tokens import PAD

LOGITS_AT_ONCE = 20_000_000  # so that a long sentence fits into memory
METHODS = ("attention", "value-weighted", "gradient × input", "erasure")


@dataclass(frozen=True)
class Attributions:
    """How much each source token (column) matters to each prediction (row).

    `attention` and `value_weighted` are of the chosen heads, rows summing to 1, and
    None where a model has no attention; `gradient` is |∂ log p / ∂ embedding ·
    embedding|; `erasure` is how far log p falls when nobody may look at that token or,
    in a recurrent model, when it is read as a vector of zeros.
    """

    attention: Tensor | None  # (target_length, source_length), as all of them
    value_weighted: Tensor | None
    gradient: Tensor
    erasure: Tensor

    def by_method(self) -> dict[str, Tensor]:
        """Give each matrix by the name of its rule."""
        found = (self.attention, self.value_weighted, self.gradient, self.erasure)
        named = zip(METHODS, found, strict=True)
        return {name: matrix for name, matrix in named if matrix is not None}

    @cached_property
    def agreement(self) -> Tensor:
        """The rank correlation of their sizes, averaged over predictions."""
        matrices = [matrix.abs() for matrix in self.by_method().values()]
        rows = [[rank_correlation(a, b) for b in matrices] for a in matrices]
        return torch.tensor(rows)


def attribute(
    model: TranslationNetwork,
    seen: Capture,
    source: Sequence[int],
    target_in: Sequence[int],
    target_out: Sequence[int],
    interventions: Sequence[Intervention] = (),
    *,
    layer: int | None = None,
    head: int | None = None,
) -> Attributions:
    """Measure what there is; without a layer or a head, attention is their mean."""
    attended, moved = _attended(seen, layer, head)
    with evaluating(model), intervening(model, interventions):
        gradient = _gradient_times_input(model, source, target_in, target_out)
        erasure = _erasure(model, source, target_in, target_out)
    return Attributions(attended, moved, gradient, erasure)


def _attended(
    seen: Capture, layer: int | None, head: int | None
) -> tuple[Tensor | None, Tensor | None]:
    """Give where the source was looked at, and what that moved."""
    if seen.look is not None:
        return seen.look.weights, _shares(seen.look.value_norms)
    chosen = [a for a in seen.layers("cross") if layer is None or a.layer == layer]
    if not chosen:
        return None, None
    heads = slice(None) if head is None else slice(head, head + 1)
    weights = torch.stack([a.weights[heads].mean(dim=0) for a in chosen]).mean(dim=0)
    moved = torch.stack([_moved(a, heads) for a in chosen]).mean(dim=0)
    return weights, moved


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
    return _shares(torch.einsum("hqk,hkd->qkd", weights, values).norm(dim=-1))


def _shares(moved: Tensor) -> Tensor:
    share: Tensor = moved / moved.sum(dim=-1, keepdim=True).clamp_min(1e-12)
    return share


def _gradient_times_input(
    model: TranslationNetwork,
    source: Sequence[int],
    target_in: Sequence[int],
    target_out: Sequence[int],
) -> Tensor:
    with (
        torch.enable_grad(),
        # Its recurrent kernels know no way back but while training.
        torch.backends.cudnn.flags(enabled=False),
        _embedding_as_leaf(model) as leaves,
    ):
        predicted = _log_probabilities(model, [source], target_in, target_out)[0]
        [leaf] = leaves
        rows = []
        for place in range(len(target_out)):
            [slope] = torch.autograd.grad(predicted[place], leaf, retain_graph=True)
            rows.append((slope * leaf).sum(dim=-1)[0].abs())
    return torch.stack(rows).detach().to("cpu", torch.float32)


@contextmanager
def _embedding_as_leaf(model: TranslationNetwork) -> Iterator[list[Tensor]]:
    """Make the embedded source a variable of its own, to take gradients by."""
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
    model: TranslationNetwork,
    source: Sequence[int],
    target_in: Sequence[int],
    target_out: Sequence[int],
) -> Tensor:
    """Hide each source token in turn, and see what is lost."""
    if len(source) == 1:
        return torch.zeros(len(target_out), 1)  # nothing would be left to look at
    logits_of_one = len(target_out) * len(model.output_weight)
    at_once = max(1, LOGITS_AT_ONCE // logits_of_one)
    places = range(len(source))
    with torch.no_grad():
        whole = _log_probabilities(model, [source], target_in, target_out)
        parts = []
        for start in range(0, len(source), at_once):
            erased = places[start : start + at_once]
            with _hidden(model, source, erased) as sources:
                part = _log_probabilities(model, sources, target_in, target_out)
            parts.append(part)
    lost = whole - torch.cat(parts)  # (source_length, target_length)
    return lost.T.to("cpu", torch.float32)


@contextmanager
def _hidden(
    model: TranslationNetwork, source: Sequence[int], places: Sequence[int]
) -> Iterator[list[list[int]]]:
    """Give the source once for each place, with the token there hidden.

    Attention does not see what stands there, as it does not see padding; who reads
    word after word reads zeros there.
    """
    if not isinstance(model, RecurrentModel):
        yield [[*source[:place], PAD, *source[place + 1 :]] for place in places]
        return

    def read_zeros(module: nn.Module, inputs: object, output: Tensor) -> Tensor:
        del module, inputs
        kept = torch.ones_like(output)
        kept[range(len(places)), list(places)] = 0
        return output * kept

    handle = model.embed_source.register_forward_hook(read_zeros)
    try:
        yield [list(source) for _ in places]
    finally:
        handle.remove()


def _log_probabilities(
    model: TranslationNetwork,
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
