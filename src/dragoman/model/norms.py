"""What keeps the residual stream at one size: layer norm (§3.1), and what else might.

The paper's layer norm centres and scales each vector by itself. RMS norm leaves the
centring out, which saves time and loses little. Batch norm scales each dimension over
all words of a batch; it is here to show why not: what it computes for a sentence while
training depends on the others. No norm shows what a norm is for.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from dragoman.config import ModelConfig
from dragoman.kernels import norm as kernel
from dragoman.kernels import residual

MOMENTUM = 0.1  # what one batch moves the running statistics by


class LayerNorm(nn.LayerNorm):
    """γ (x − mean) / √(variance + ε) + β of each vector by itself."""

    def forward(
        self, x: Tensor, written: Tensor | None = None, threshold: int = 0
    ) -> Tensor:
        """Normalise (..., d_model): x, or x + dropout(written) where a kernel can."""
        parameters = self.weight, self.bias, self.eps
        if written is not None:
            return residual.normed_sum(x, written, threshold, *parameters)
        if kernel.suits(x):
            return kernel.layer_norm(x, *parameters)
        return super().forward(x)


class BatchNorm(nn.Module):
    """γ (x − mean) / √(variance + ε) + β for each dimension, over a batch's words.

    Padding has no say. At inference the running statistics of training are used, so
    that no sentence changes another. They are kept among the parameters, although no
    gradient moves them: checkpoints, averages and model folders then hold them too.
    """

    def __init__(self, d_model: int, epsilon: float) -> None:
        super().__init__()
        self.eps = epsilon
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.mean = nn.Parameter(torch.zeros(d_model), requires_grad=False)
        self.variance = nn.Parameter(torch.ones(d_model), requires_grad=False)

    def forward(self, x: Tensor, words: Tensor | None = None) -> Tensor:
        """Normalise (..., d_model); `words` (...) says what is no padding."""
        mean: Tensor = self.mean
        variance: Tensor = self.variance
        if self.training:
            counted = x.flatten(0, -2) if words is None else x[words]
            mean, variance = counted.mean(dim=0), counted.var(dim=0, correction=0)
            self._follow(mean, variance)
        return (x - mean) / (variance + self.eps).sqrt() * self.weight + self.bias

    @torch.no_grad()
    def _follow(self, mean: Tensor, variance: Tensor) -> None:
        self.mean.lerp_(mean.to(self.mean), MOMENTUM)
        self.variance.lerp_(variance.to(self.variance), MOMENTUM)


def build_norm(config: ModelConfig) -> nn.Module:
    """Choose the norm that the settings name."""
    match config.norm_kind:
        case "layer":
            return LayerNorm(config.d_model, config.norm_epsilon)
        case "rms":
            return nn.RMSNorm(config.d_model, config.norm_epsilon)
        case "batch":
            return BatchNorm(config.d_model, config.norm_epsilon)
        case _:
            return nn.Identity()


def norm_kind(norm: nn.Module) -> str:
    """Name the kind of a norm, as the settings do."""
    match norm:
        case nn.LayerNorm():
            return "layer"
        case nn.RMSNorm():
            return "rms"
        case BatchNorm():
            return "batch"
        case _:
            return "none"


def normalized(norm: nn.Module, x: Tensor, words: Tensor | None) -> Tensor:
    """Apply a norm; which places hold words matters to a batch norm alone."""
    normed: Tensor = norm(x, words) if isinstance(norm, BatchNorm) else norm(x)
    return normed


@contextmanager
def statistics_kept(model: nn.Module) -> Iterator[None]:
    """Let a trial in training mode leave no trace in what batch norms remember."""
    kept = [(p, p.clone()) for p in model.parameters() if not p.requires_grad]
    try:
        yield
    finally:
        with torch.no_grad():
            for parameter, before in kept:
                parameter.copy_(before)
