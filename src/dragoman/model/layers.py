"""The blocks that encoder and decoder are stacked from (§3.1, §3.3)."""

import torch
import torch.nn.functional as F  # noqa: N812 (the name everyone knows)
from torch import Tensor, nn

from dragoman.config import ModelConfig
from dragoman.kernels import residual
from dragoman.model.attention import MultiHeadAttention
from dragoman.model.decoder_cache import LayerPast
from dragoman.model.dropout import Dropout, byte_threshold
from dragoman.model.linear import JointLinear, Linear
from dragoman.model.norms import LayerNorm, build_norm, normalized
from dragoman.model.relative_positions import Turn
from dragoman.model.row_groups import RowGroups


class FeedForward(nn.Module):
    """FFN(x) = max(0, xW₁ + b₁)W₂ + b₂, at each position alike (§3.3).

    GELU is a rectifier without a corner; x·σ(1.702x) comes near it; swish is x·σ(x).
    SwiGLU lets a gate of its own decide how much of each inner element passes,
    (silu(xW₃ + b₃) ⊙ (xW₁ + b₁))W₂ + b₂: more learned by as many weights.
    """

    def __init__(
        self, d_model: int, d_ff: int, dropout: float, activation: str = "relu"
    ) -> None:
        super().__init__()
        self.inner = Linear(d_model, d_ff)
        if activation == "swiglu":
            self.inner = JointLinear(d_model, (d_ff, d_ff))  # the gate comes first
        self.outer = Linear(d_ff, d_model)
        self.dropout = Dropout(dropout)
        self.activation = activation

    def forward(self, x: Tensor) -> Tensor:
        """Widen, rectify, narrow."""
        narrowed: Tensor = self.outer(self._rectified(self.inner(x)))
        return narrowed

    def _rectified(self, x: Tensor) -> Tensor:
        match self.activation:
            case "relu":
                return self.dropout.of_rectified(x)
            case "gelu":
                passed = F.gelu(x)
            case "quick_gelu":
                passed = x * torch.sigmoid(1.702 * x)
            case "swish":
                passed = F.silu(x)
            case _:
                gate, passing = x.chunk(2, dim=-1)
                passed = F.silu(gate) * passing
        dropped: Tensor = self.dropout(passed)
        return dropped


class Residual(nn.Module):
    """What stands around every sublayer: residual, dropout and layer norm.

    Post-norm is the paper's LayerNorm(x + Sublayer(x)) (§3.1); pre-norm is
    x + Sublayer(LayerNorm(x)), which trains without warm-up. Only a batch norm wants to
    know which places hold `words` (batch, length) and no padding.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.norm = build_norm(config)
        self.dropout = Dropout(config.dropout)
        self.pre_norm = config.norm == "pre"

    def before(self, x: Tensor, words: Tensor | None = None) -> Tensor:
        """Give what the sublayer reads."""
        return normalized(self.norm, x, words) if self.pre_norm else x

    def after(self, x: Tensor, written: Tensor, words: Tensor | None = None) -> Tensor:
        """Add what the sublayer wrote."""
        if self.pre_norm:
            return self.dropout.add(x, written)
        one_pass = self.dropout.drops and residual.suits(x, written)
        if one_pass and isinstance(self.norm, LayerNorm):
            normed: Tensor = self.norm(x, written, byte_threshold(self.dropout.rate))
            return normed
        return normalized(self.norm, self.dropout.add(x, written), words)


def build_attention(config: ModelConfig) -> MultiHeadAttention:
    """Make one multi-head attention of the configured shape."""
    return MultiHeadAttention(
        config.d_model,
        config.num_heads,
        config.head_size,
        config.attention_dropout,
        config.num_kv_heads,
        scaling=config.attention_scale,
    )


def build_feed_forward(config: ModelConfig) -> FeedForward:
    """Make one feed-forward network of the configured shape."""
    return FeedForward(
        config.d_model,
        config.feed_forward_width,
        config.feed_forward_dropout,
        config.activation,
    )


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward; without a mask, no place sees a later one."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.self_attention = build_attention(config)
        self.feed_forward = build_feed_forward(config)
        self.around_attention = Residual(config)
        self.around_feed_forward = Residual(config)

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None,
        turn: Turn | None = None,
        words: Tensor | None = None,
    ) -> Tensor:
        """Read each word in the light of the others: (batch, length, d_model)."""
        around, attention = self.around_attention, self.self_attention
        queries, keys, values = attention.project(around.before(x, words), turn)
        attended = attention(queries, keys, values, mask, causal=mask is None)
        x = around.after(x, attended, words)

        around = self.around_feed_forward
        return around.after(x, self.feed_forward(around.before(x, words)), words)

    def step(self, x: Tensor, past: LayerPast, turn: Turn | None = None) -> Tensor:
        """Read the newest token of each row (row, d_model), which sees its past."""
        around, attention = self.around_attention, self.self_attention
        queries, keys, values = attention.project_rows(
            around.before(x), past.groups, turn
        )
        keys, values = past.write(keys, values)
        attended = attention.attend_rows(queries, keys, values, past.mask, past.groups)
        x = around.after(x, attended)

        around = self.around_feed_forward
        return around.after(x, self.feed_forward(around.before(x)))


KeysValues = tuple[Tensor, Tensor]  # each (batch, head, length, d_head)


class SourceReader(nn.Module):
    """What every decoder's layer ends with: attention to the source, feed-forward."""

    cross_attention: MultiHeadAttention
    feed_forward: FeedForward
    around_cross_attention: Residual
    around_feed_forward: Residual

    def read_source(
        self,
        x: Tensor,
        source: KeysValues,
        source_mask: Tensor,
        words: Tensor | None = None,
    ) -> Tensor:
        """Look at the source from each place of a target (batch, length, d_model)."""
        around, attention = self.around_cross_attention, self.cross_attention
        queries = attention.project_queries(around.before(x, words))
        x = around.after(x, attention(queries, *source, source_mask), words)

        around = self.around_feed_forward
        return around.after(x, self.feed_forward(around.before(x, words)), words)

    def read_source_rows(
        self, x: Tensor, source: KeysValues, source_mask: Tensor, groups: RowGroups
    ) -> Tensor:
        """Do the same for the newest token of each row (row, d_model)."""
        around, attention = self.around_cross_attention, self.cross_attention
        queries = attention.project_row_queries(around.before(x), groups)
        attended = attention.attend_rows(queries, *source, source_mask, groups)
        x = around.after(x, attended)

        around = self.around_feed_forward
        return around.after(x, self.feed_forward(around.before(x)))


class DecoderLayer(SourceReader):
    """Masked self-attention, attention to the source, then feed-forward."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.self_attention = build_attention(config)
        self.cross_attention = build_attention(config)
        self.feed_forward = build_feed_forward(config)
        self.around_self_attention = Residual(config)
        self.around_cross_attention = Residual(config)
        self.around_feed_forward = Residual(config)

    def forward(
        self,
        x: Tensor,
        source: KeysValues,
        source_mask: Tensor,
        mask: Tensor | None = None,
        turn: Turn | None = None,
        words: Tensor | None = None,
    ) -> Tensor:
        """Read a whole target, each position the earlier ones only, and the source.

        A mask is needed only where looking back has a price.
        """
        around, attention = self.around_self_attention, self.self_attention
        queries, keys, values = attention.project(around.before(x, words), turn)
        attended = attention(queries, keys, values, mask, causal=mask is None)
        x = around.after(x, attended, words)
        return self.read_source(x, source, source_mask, words)

    def step(
        self,
        x: Tensor,
        source: KeysValues,
        source_mask: Tensor,
        target: LayerPast,
        turn: Turn | None = None,
    ) -> Tensor:
        """Read the newest token of each row (row, d_model): the same computation.

        Source and target are kept by groups of rows; see `model.row_groups`.
        """
        around, groups = self.around_self_attention, target.groups
        attention = self.self_attention
        queries, keys, values = attention.project_rows(around.before(x), groups, turn)
        keys, values = target.write(keys, values)
        attended = attention.attend_rows(queries, keys, values, target.mask, groups)
        x = around.after(x, attended)
        return self.read_source_rows(x, source, source_mask, groups)
