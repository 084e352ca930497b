"""The blocks that encoder and decoder are stacked from (§3.1, §3.3)."""

from torch import Tensor, nn

from dragoman.config import ModelConfig
from dragoman.model.attention import MultiHeadAttention
from dragoman.model.decoder_cache import LayerPast
from dragoman.model.dropout import Dropout


class FeedForward(nn.Module):
    """FFN(x) = max(0, xW₁ + b₁)W₂ + b₂, at each position alike (§3.3)."""

    def __init__(self, d_model: int, d_ff: int, dropout: float) -> None:
        super().__init__()
        self.inner = nn.Linear(d_model, d_ff)
        self.outer = nn.Linear(d_ff, d_model)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Widen, rectify, narrow."""
        narrowed: Tensor = self.outer(self.dropout(self.inner(x).relu_()))
        return narrowed


class Residual(nn.Module):
    """What stands around every sublayer: residual, dropout and layer norm.

    Post-norm is the paper's LayerNorm(x + Sublayer(x)) (§3.1); pre-norm is
    x + Sublayer(LayerNorm(x)), which trains without warm-up.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(config.d_model)
        self.dropout = Dropout(config.dropout)
        self.pre_norm = config.norm == "pre"

    def before(self, x: Tensor) -> Tensor:
        """Give what the sublayer reads."""
        read: Tensor = self.norm(x) if self.pre_norm else x
        return read

    def after(self, x: Tensor, written: Tensor) -> Tensor:
        """Add what the sublayer wrote."""
        added = x + self.dropout(written)
        normed: Tensor = added if self.pre_norm else self.norm(added)
        return normed


def build_attention(config: ModelConfig) -> MultiHeadAttention:
    """Make one multi-head attention of the configured shape."""
    return MultiHeadAttention(
        config.d_model, config.num_heads, config.head_size, config.attention_dropout
    )


def build_feed_forward(config: ModelConfig) -> FeedForward:
    """Make one feed-forward network of the configured shape."""
    return FeedForward(config.d_model, config.d_ff, config.feed_forward_dropout)


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.self_attention = build_attention(config)
        self.feed_forward = build_feed_forward(config)
        self.around_attention = Residual(config)
        self.around_feed_forward = Residual(config)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Read each word in the light of the others: (batch, length, d_model)."""
        around = self.around_attention
        queries, keys, values = self.self_attention.project(around.before(x))
        x = around.after(x, self.self_attention(queries, keys, values, mask))

        around = self.around_feed_forward
        return around.after(x, self.feed_forward(around.before(x)))


KeysValues = tuple[Tensor, Tensor]  # each (batch, head, length, d_head)


class DecoderLayer(nn.Module):
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
    ) -> Tensor:
        """Read a whole target, each position the earlier ones only, and the source."""
        around = self.around_self_attention
        queries, keys, values = self.self_attention.project(around.before(x))
        x = around.after(x, self.self_attention(queries, keys, values, causal=True))

        around = self.around_cross_attention
        queries = self.cross_attention.project_queries(around.before(x))
        x = around.after(x, self.cross_attention(queries, *source, source_mask))

        around = self.around_feed_forward
        return around.after(x, self.feed_forward(around.before(x)))

    def step(
        self, x: Tensor, source: KeysValues, source_mask: Tensor, target: LayerPast
    ) -> Tensor:
        """Read the newest token of each row (row, d_model): the same computation.

        Source and target are kept by groups of rows; see `model.row_groups`.
        """
        around, groups = self.around_self_attention, target.groups
        attention = self.self_attention
        queries, keys, values = attention.project_rows(around.before(x), groups)
        keys, values = target.write(keys, values)
        attended = attention.attend_rows(queries, keys, values, target.mask, groups)
        x = around.after(x, attended)

        around, attention = self.around_cross_attention, self.cross_attention
        queries = attention.project_row_queries(around.before(x), groups)
        attended = attention.attend_rows(queries, *source, source_mask, groups)
        x = around.after(x, attended)

        around = self.around_feed_forward
        return around.after(x, self.feed_forward(around.before(x)))
