"""Label-smoothed cross-entropy that never holds all the logits (§5.4).

The output projection and its loss are a third of a small model's work and most of its
memory. Worked off some hundred positions at a time, with the gradient computed in the
same pass, the logits stay in cache and are never stored whole.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 (the name everyone knows)
from torch import Tensor

from dragoman.kernels import cross_entropy as kernel
from dragoman.kernels.choice import kernel_for
from dragoman.special_tokens import PAD
from dragoman.training.output_projection import OutputProjection, projection_for


@dataclass(frozen=True)
class Loss:
    """Sums over the target tokens of a batch."""

    smoothed: Tensor  # what is minimised
    plain: Tensor  # cross-entropy without smoothing: perplexity is exp of its mean
    correct: Tensor  # how often the most probable token was the right one
    tokens: int

    def sums(self) -> Tensor:
        """Give the three as one tensor on the CPU, for the diary."""
        return torch.stack([self.smoothed.detach(), self.plain, self.correct]).cpu()


def translation_loss(
    features: Tensor,  # (batch, target_length, d_model)
    output_weight: Tensor,  # (vocabulary, d_model)
    target_out: Tensor,  # (batch, target_length)
    label_smoothing: float,
    output_bias: Tensor | None = None,  # (vocabulary,)
) -> Loss:
    """Give the loss summed over all target tokens; padding counts for nothing."""
    rows, targets = features.flatten(0, 1), target_out.flatten()
    wanted = targets != PAD
    if not wanted.all():
        rows, targets = rows[wanted], targets[wanted]  # (tokens, d_model), (tokens)
    smoothed, plain, correct = _ChunkedCrossEntropy.apply(  # type: ignore[no-untyped-call]
        rows,
        output_weight,
        output_bias,
        targets,
        label_smoothing,
        kernel.softmax_gradient if kernel_for(rows) else plain_softmax_gradient,
        projection_for(rows),
    )
    return Loss(smoothed, plain, correct, len(targets))


def plain_translation_loss(
    logits: Tensor, target_out: Tensor, label_smoothing: float
) -> Tensor:
    """Give the same smoothed sum in the plain way, as the twin to check against."""
    return F.cross_entropy(
        logits.flatten(0, 1),
        target_out.flatten(),
        ignore_index=PAD,
        label_smoothing=label_smoothing,
        reduction="sum",
    )


def plain_softmax_gradient(
    logits: Tensor, targets: Tensor, known: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Turn logits (rows, vocabulary) into softmax(z) less `known` at the targets.

    Gives for each row lse(z), the target's logit and the highest one.
    """
    place = targets[:, None]
    wanted, highest = logits.gather(1, place)[:, 0], logits.amax(dim=-1)
    torch.softmax(logits, dim=-1, out=logits)
    # Twice the highest value is still far quicker than once with its place.
    total = highest - logits.amax(dim=-1).log()
    logits.scatter_add_(1, place, torch.full_like(wanted, -known)[:, None])
    return total, wanted, highest


SoftmaxGradient = Callable[[Tensor, Tensor, float], tuple[Tensor, Tensor, Tensor]]


class _ChunkedCrossEntropy(torch.autograd.Function):
    """Projection, softmax, loss and their gradient, some rows at a time.

    With V tokens and smoothing ε, a row h with target t costs
    lse(z) - (1 - ε) z_t - ε mean(z) where z = hWᵀ + b, and its gradient by z is
    softmax(z) - (1 - ε) onehot(t) - ε/V. The mean of z is h · mean(W) + mean(b), so
    smoothing costs no pass over the vocabulary.
    """

    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401
        rows: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        targets: Tensor,
        smoothing: float,
        softmax_gradient: SoftmaxGradient,
        projection_type: type[OutputProjection],
    ) -> tuple[Tensor, Tensor, Tensor]:
        learn = rows.requires_grad or weight.requires_grad
        row_gradient = torch.empty_like(rows) if learn else None
        weight_gradient = torch.zeros_like(weight) if learn else None
        bias_gradient = None if bias is None else torch.zeros_like(bias)
        mean_weight = weight.mean(dim=0)
        smoothed, plain, correct = rows.new_zeros(3, dtype=torch.float64)
        projection = projection_type(weight, bias)
        factor, at_once = projection.factor(rows), projection.rows_at_once
        buffer = factor.new_empty(min(at_once, len(factor)), len(weight))
        for start in range(0, len(rows), at_once):
            chunk = slice(start, start + at_once)
            row, target = factor[chunk], targets[chunk]
            logits = projection.logits(row, buffer[: len(row)])
            total, wanted, highest = softmax_gradient(
                logits[: len(target)], target, 1 - smoothing
            )
            plain += (total - wanted).sum()
            spread = projection.mean_logits(rows[chunk], mean_weight)
            mixed = (1 - smoothing) * wanted + smoothing * spread
            smoothed += (total - mixed).sum()
            correct += (wanted == highest).sum()
            if row_gradient is not None and weight_gradient is not None:
                row_gradient[chunk] = projection.row_gradient(logits)[: len(target)]
                projection.learn(weight_gradient, logits, row)
            if bias_gradient is not None:
                bias_gradient += logits[: len(target)].sum(dim=0, dtype=weight.dtype)
        if row_gradient is not None and weight_gradient is not None and smoothing:
            row_gradient.sub_(mean_weight, alpha=smoothing)
            weight_gradient.sub_(rows.sum(dim=0), alpha=smoothing / len(weight))
        if bias_gradient is not None:
            bias_gradient -= smoothing * len(rows) / len(weight)
        ctx.save_for_backward(row_gradient, weight_gradient, bias_gradient)
        ctx.mark_non_differentiable(plain, correct)
        return smoothed, plain, correct

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        factor = gradients[0]
        learned = [
            None if each is None else each.mul_(factor.to(each.dtype))
            for each in ctx.saved_tensors
        ]
        return *learned, None, None, None, None
