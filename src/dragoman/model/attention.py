"""Scaled dot-product attention and several heads of it (§3.2)."""

import math

import torch.nn.functional as F  # noqa: N812 (the name everyone knows)
from torch import Tensor, nn

from dragoman.model.masks import causal_mask
from dragoman.model.row_groups import RowGroups


def attention_weights(queries: Tensor, keys: Tensor, mask: Tensor | None) -> Tensor:
    """Give softmax(QKᵀ / √d_k), where masked pairs get exactly nothing (§3.2.1).

    The plain formula, for eyes, tests and inspection; `ScaledDotProductAttention`
    computes the same without keeping the weights.
    """
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    return scores.softmax(dim=-1)


class ScaledDotProductAttention(nn.Module):
    """Attention(Q, K, V) = softmax(QKᵀ / √d_k) V, in one fused kernel (§3.2.1)."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.dropout = dropout

    def forward(
        self,
        queries: Tensor,  # (batch, head, query_length, d_head)
        keys: Tensor,  # (batch, head, key_length, d_head)
        values: Tensor,
        mask: Tensor | None,
        causal: bool,
    ) -> Tensor:
        """Mix the values by how well each key fits the query."""
        return F.scaled_dot_product_attention(
            queries,
            keys,
            values,
            attn_mask=mask,
            dropout_p=self.dropout if self.training else 0.0,
            is_causal=causal,
        )


def combined_mask(queries: Tensor, mask: Tensor | None, causal: bool) -> Tensor | None:
    """Give one explicit mask for what `ScaledDotProductAttention` was asked."""
    if not causal:
        return mask
    triangle = causal_mask(queries.shape[-2], queries.device)
    return triangle if mask is None else mask & triangle


class JointLinear(nn.Linear):
    """Several projections of one input in one matrix: they cost one multiplication."""

    def __init__(self, d_in: int, d_out: int, parts: int) -> None:
        self.parts = parts
        super().__init__(d_in, parts * d_out)

    def reset_parameters(self) -> None:
        """Start each part as if it stood alone."""
        for part in self.weight.chunk(self.parts):
            nn.init.xavier_uniform_(part)
        nn.init.zeros_(self.bias)


class MultiHeadAttention(nn.Module):
    """Attention in several subspaces at once, joined by W_O (§3.2.2)."""

    def __init__(
        self, d_model: int, num_heads: int, d_head: int, dropout: float
    ) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.inner = num_heads * d_head
        self.projections = JointLinear(d_model, self.inner, parts=3)  # W_Q, W_K, W_V
        self.attention = ScaledDotProductAttention(dropout)
        self.output = nn.Linear(self.inner, d_model)  # W_O

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Give queries, keys and values of one input, split into heads."""
        queries, keys, values = self.projections(x).chunk(3, dim=-1)
        return self._split(queries), self._split(keys), self._split(values)

    def project_queries(self, x: Tensor) -> Tensor:
        """Give the queries alone, split into heads."""
        return self._split(self._part(x, slice(0, self.inner)))

    def project_keys_values(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Give the keys and values of what is attended to, split into heads."""
        joint = self._part(memory, slice(self.inner, None))
        keys, values = joint.chunk(2, dim=-1)
        return self._split(keys), self._split(values)

    def forward(
        self,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        mask: Tensor | None = None,
        causal: bool = False,
    ) -> Tensor:
        """Attend in each head, join the heads and mix them by W_O."""
        heads = self.attention(queries, keys, values, mask, causal)
        joined: Tensor = self.output(heads.transpose(1, 2).flatten(2))
        return joined

    def project_rows(
        self, x: Tensor, groups: RowGroups
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Give queries, keys and values of single tokens (row, d_model), by groups."""
        joint = groups.spread(self.projections(x))
        queries, keys, values = joint.chunk(3, dim=-1)
        return self._split(queries), self._split(keys), self._split(values)

    def project_row_queries(self, x: Tensor, groups: RowGroups) -> Tensor:
        """Give the queries alone of single tokens (row, d_model), by groups."""
        return self._split(groups.spread(self._part(x, slice(0, self.inner))))

    def attend_rows(
        self,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        mask: Tensor,
        groups: RowGroups,
    ) -> Tensor:
        """Do as `forward`, and give the rows (row, d_model) of the groups."""
        heads = self.attention(queries, keys, values, mask, False)
        rows = groups.collect(heads.transpose(1, 2).flatten(2))
        joined: Tensor = self.output(rows)
        return joined

    def _part(self, x: Tensor, rows: slice) -> Tensor:
        return F.linear(x, self.projections.weight[rows], self.projections.bias[rows])

    def _split(self, x: Tensor) -> Tensor:
        heads = x.view(*x.shape[:2], self.num_heads, -1)
        return heads.transpose(1, 2)  # (batch, head, length, d_head)
