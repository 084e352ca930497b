"""R-Drop: two passes with different dropout should agree (Liang et al., 2021).

Each sentence goes through the network twice, in one batch of double size. Beside the
mean of both cross-entropies, half the symmetric divergence of the two predictions is
minimised, weighted by α/2: the published sum, halved, so that losses and learning rates
stay comparable. As in `loss.py`, logits are made some rows at a time, never stored.
"""

from typing import Any

import torch
from torch import Tensor

from dragoman.special_tokens import PAD
from dragoman.training.loss import Loss

ROWS_AT_ONCE = 64  # of each pass


def r_drop_loss(
    features: Tensor,  # (2 · batch, target_length, d_model), one pass below the other
    output_weight: Tensor,  # (vocabulary, d_model)
    target_out: Tensor,  # (batch, target_length)
    label_smoothing: float,
    alpha: float,
) -> Loss:
    """Give ½(CE₁ + CE₂) + α/4 (KL(p₁‖p₂) + KL(p₂‖p₁)), summed over target tokens."""
    wanted = target_out.flatten() != PAD
    halves = features.unflatten(0, (2, -1)).flatten(1, 2)
    rows = halves[:, wanted]  # (2, tokens, d_model)
    targets = target_out.flatten()[wanted]
    total, plain, correct = _ChunkedRDrop.apply(  # type: ignore[no-untyped-call]
        rows, output_weight, targets, label_smoothing, alpha
    )
    return Loss(total, plain, correct, len(targets))


class _ChunkedRDrop(torch.autograd.Function):
    """Projection, both losses and their gradient, some rows at a time.

    With predictions p and q, KL(p‖q) + KL(q‖p) is the sum of (p - q)(log p - log q);
    its gradient by the logits of p is p (log p - log q - KL(p‖q)) + p - q, and by those
    of q the same with sides exchanged.
    """

    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401
        rows: Tensor,
        weight: Tensor,
        targets: Tensor,
        smoothing: float,
        alpha: float,
    ) -> tuple[Tensor, Tensor, Tensor]:
        learn = rows.requires_grad or weight.requires_grad
        row_gradient = torch.empty_like(rows) if learn else None
        weight_gradient = torch.zeros_like(weight) if learn else None
        total, plain, correct = rows.new_zeros(3, dtype=torch.float64)
        for start in range(0, len(targets), ROWS_AT_ONCE):
            chunk = slice(start, start + ROWS_AT_ONCE)
            row = rows[:, chunk]
            target = targets[chunk].expand(2, -1)[..., None]
            logs = (row @ weight.T).log_softmax(dim=-1)  # (2, rows, vocabulary)
            shares, wanted = logs.exp(), logs.gather(2, target)
            ratio = logs - logs.flip(0)
            divergence = (shares * ratio).sum(dim=-1, keepdim=True)
            smoothed = (1 - smoothing) * wanted + smoothing * logs.mean(-1, True)
            total += alpha / 4 * divergence.sum() - smoothed.sum() / 2
            plain -= wanted.sum() / 2
            correct += (logs.argmax(dim=-1, keepdim=True) == target).sum() / 2
            if row_gradient is not None and weight_gradient is not None:
                gradient = (shares - smoothing / len(weight)) / 2
                known = torch.full_like(wanted, (smoothing - 1) / 2)
                gradient.scatter_add_(2, target, known)
                apart = shares * (ratio - divergence) + shares - shares.flip(0)
                gradient.add_(apart, alpha=alpha / 4)
                row_gradient[:, chunk] = gradient @ weight
                weight_gradient.addmm_(gradient.flatten(0, 1).T, row.flatten(0, 1))
        ctx.save_for_backward(row_gradient, weight_gradient)
        ctx.mark_non_differentiable(plain, correct)
        return total, plain, correct

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        row_gradient, weight_gradient = ctx.saved_tensors
        factor = gradients[0].to(row_gradient.dtype)
        learned = row_gradient.mul_(factor), weight_gradient.mul_(factor)
        return *learned, None, None, None
