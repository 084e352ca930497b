"""R-Drop: two passes with different dropout should agree (Liang et al., 2021).

Each sentence goes through the network twice, in one batch of double size. Beside the
mean of both cross-entropies, half the symmetric divergence of the two predictions is
minimised, weighted by α/2: the published sum, halved, so that losses and learning rates
stay comparable. As in `loss.py`, logits are made some rows at a time, never stored.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from dragoman.kernels import agreement as kernel
from dragoman.kernels.choice import kernel_for
from dragoman.special_tokens import PAD
from dragoman.training.loss import Loss
from dragoman.training.output_projection import OutputProjection, projection_for


def r_drop_loss(
    features: Tensor,  # (2 · batch, target_length, d_model), one pass below the other
    output_weight: Tensor,  # (vocabulary, d_model)
    target_out: Tensor,  # (batch, target_length)
    label_smoothing: float,
    alpha: float,
    output_bias: Tensor | None = None,  # (vocabulary,)
) -> Loss:
    """Give ½(CE₁ + CE₂) + α/4 (KL(p₁‖p₂) + KL(p₂‖p₁)), summed over target tokens."""
    wanted = target_out.flatten() != PAD
    halves = features.unflatten(0, (2, -1)).flatten(1, 2)
    rows = halves[:, wanted]  # (2, tokens, d_model)
    targets = target_out.flatten()[wanted]
    total, plain, correct = _ChunkedRDrop.apply(  # type: ignore[no-untyped-call]
        rows,
        output_weight,
        output_bias,
        targets,
        label_smoothing,
        alpha,
        kernel.agreement_gradient if kernel_for(rows) else plain_agreement_gradient,
        projection_for(rows),
    )
    return Loss(total, plain, correct, len(targets))


def plain_agreement_gradient(
    logits: Tensor, targets: Tensor, known: float, weight: float
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Turn two passes' logits (2, rows, vocabulary) into the gradient by them.

    That is ½ (p - `known` at the target) for each pass with prediction p, and `weight`
    times the divergence's. Gives for each pass and row lse(z), the target's logit, the
    highest one and how far this pass's prediction is from the other's.
    """
    place = targets.expand(2, -1)[..., None]
    wanted, highest = logits.gather(2, place)[..., 0], logits.amax(dim=-1)
    total = logits.logsumexp(dim=-1)
    logs = logits - total[..., None]
    shares, ratio = logs.exp(), logs - logs.flip(0)
    divergence = (shares * ratio).sum(dim=-1)
    apart = shares * (ratio - divergence[..., None]) + shares - shares.flip(0)
    torch.add(shares / 2, apart, alpha=weight, out=logits)
    logits.scatter_add_(2, place, torch.full_like(wanted, -known / 2)[..., None])
    return total, wanted, highest, divergence


AgreementGradient = Callable[
    [Tensor, Tensor, float, float], tuple[Tensor, Tensor, Tensor, Tensor]
]


class _ChunkedRDrop(torch.autograd.Function):
    """Projection, both losses and their gradient, some rows at a time.

    With predictions p and q, KL(p‖q) + KL(q‖p) is the sum of (p - q)(log p - log q);
    its gradient by the logits of p is p (log p - log q - KL(p‖q)) + p - q, and by those
    of q the same with sides exchanged. Smoothing goes as in `loss.py`.
    """

    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401
        rows: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        targets: Tensor,
        smoothing: float,
        alpha: float,
        agreement_gradient: AgreementGradient,
        projection_type: type[OutputProjection],
    ) -> tuple[Tensor, Tensor, Tensor]:
        learn = rows.requires_grad or weight.requires_grad
        row_gradient = torch.empty_like(rows) if learn else None
        weight_gradient = torch.zeros_like(weight) if learn else None
        bias_gradient = None if bias is None else torch.zeros_like(bias)
        mean_weight = weight.mean(dim=0)
        cost, plain, correct = rows.new_zeros(3, dtype=torch.float64)
        projection = projection_type(weight, bias)
        at_once = projection.rows_at_once // 2  # of each pass
        buffer = projection.weight.new_empty(projection.rows_at_once, len(weight))
        for start in range(0, len(targets), at_once):
            chunk = slice(start, start + at_once)
            row, target = rows[:, chunk], targets[chunk]
            factor = projection.factor(row.flatten(0, 1))
            logits = projection.logits(factor, buffer[: len(factor)])
            both = slice(2 * len(target))
            total, wanted, highest, divergence = agreement_gradient(
                logits[both].unflatten(0, (2, -1)), target, 1 - smoothing, alpha / 4
            )
            spread = projection.mean_logits(row, mean_weight)
            mixed = (1 - smoothing) * wanted + smoothing * spread
            cost += (total - mixed).sum() / 2 + alpha / 4 * divergence.sum()
            plain += (total - wanted).sum() / 2
            correct += (wanted == highest).sum() / 2
            if row_gradient is not None and weight_gradient is not None:
                given = projection.row_gradient(logits)[both]
                row_gradient[:, chunk] = given.unflatten(0, (2, -1))
                projection.learn(weight_gradient, logits, factor)
            if bias_gradient is not None:
                bias_gradient += logits[both].sum(dim=0, dtype=weight.dtype)
        if row_gradient is not None and weight_gradient is not None and smoothing:
            row_gradient.sub_(mean_weight, alpha=smoothing / 2)
            everything = rows.sum(dim=(0, 1))
            weight_gradient.sub_(everything, alpha=smoothing / 2 / len(weight))
        if bias_gradient is not None:
            bias_gradient -= smoothing * len(targets) / len(weight)
        ctx.save_for_backward(row_gradient, weight_gradient, bias_gradient)
        ctx.mark_non_differentiable(plain, correct)
        return cost, plain, correct

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        factor = gradients[0]
        learned = [
            None if each is None else each.mul_(factor.to(each.dtype))
            for each in ctx.saved_tensors
        ]
        return *learned, None, None, None, None, None
