"""Scaled dot-product attention and several heads of it (§3.2)."""

import math

import torch
import torch.nn.functional as F  # noqa: N812 (the name everyone knows)
from torch import Tensor, nn

from dragoman.kernels import attention as kernel
from dragoman.model.linear import JointLinear, Linear, linear, split
from dragoman.model.masks import causal_mask
from dragoman.model.relative_positions import Turn
from dragoman.model.row_groups import RowGroups


def attention_weights(
    queries: Tensor, keys: Tensor, mask: Tensor | None, *, scaling: bool = True
) -> Tensor:
    """Give softmax(QKᵀ / √d_k), where masked pairs get exactly nothing (§3.2.1).

    The plain formula, for eyes, tests and inspection; `ScaledDotProductAttention`
    computes the same without keeping the weights.
    """
    scores = queries @ keys.transpose(-2, -1)
    if scaling:
        scores = scores / math.sqrt(queries.shape[-1])
    if mask is not None and mask.dtype != torch.bool:
        scores = scores + mask
    elif mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    return scores.softmax(dim=-1)


class ScaledDotProductAttention(nn.Module):
    """Attention(Q, K, V) = softmax(QKᵀ / √d_k) V, in one fused kernel (§3.2.1).

    Without `scaling` nothing is divided, which shows what √d_k is for.
    """

    def __init__(self, dropout: float, *, scaling: bool = True) -> None:
        super().__init__()
        self.dropout = dropout
        self.scaling = scaling

    def forward(
        self,
        queries: Tensor,  # (batch, head, query_length, d_head)
        keys: Tensor,  # (batch, head, key_length, d_head)
        values: Tensor,
        mask: Tensor | None,
        causal: bool,
    ) -> Tensor:
        """Mix the values by how well each key fits the query."""
        dropout = self.dropout if self.training else 0.0
        if not dropout and kernel.suits(queries, keys, values, mask):
            scale = queries.shape[-1] ** -0.5 if self.scaling else 1.0
            return kernel.attend(queries, keys, values, mask, causal, scale)
        return F.scaled_dot_product_attention(
            queries,
            keys,
            values,
            attn_mask=mask,
            dropout_p=dropout,
            is_causal=causal,
            scale=None if self.scaling else 1.0,
        )


def combined_mask(queries: Tensor, mask: Tensor | None, causal: bool) -> Tensor | None:
    """Give one explicit mask for what `ScaledDotProductAttention` was asked."""
    if not causal:
        return mask
    triangle = causal_mask(queries.shape[-2], queries.device)
    return triangle if mask is None else mask & triangle


class MultiHeadAttention(nn.Module):
    """Attention in several subspaces at once, joined by W_O (§3.2.2).

    With fewer `num_kv_heads`, groups of heads share keys and values (grouped-query
    attention): a search then has less to remember.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_head: int,
        dropout: float,
        num_kv_heads: int | None = None,
        *,
        scaling: bool = True,
    ) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.num_kv_heads = num_kv_heads or num_heads
        self.d_head = d_head
        self.inner = num_heads * d_head
        shared = self.num_kv_heads * d_head
        self.projections = JointLinear(d_model, (self.inner, shared, shared))  # Q, K, V
        self.attention = ScaledDotProductAttention(dropout, scaling=scaling)
        self.output = Linear(self.inner, d_model)  # W_O

    def project(
        self, x: Tensor, turn: Turn | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Give queries, keys and values of one input, split into heads and turned."""
        return self._apart(self.projections(x), turn)

    def project_queries(self, x: Tensor) -> Tensor:
        """Give the queries alone, split into heads."""
        return self._split(self._part(x, slice(0, self.inner)))

    def project_keys_values(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Give the keys and values of what is attended to, split into heads."""
        joint = self._part(memory, slice(self.inner, None))
        keys, values = split(joint, self.projections.sizes[1:])
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
        keys, values = self._for_all_heads(keys), self._for_all_heads(values)
        heads = self.attention(queries, keys, values, mask, causal)
        joined: Tensor = self.output(heads.transpose(1, 2).flatten(2))
        return joined

    def project_rows(
        self, x: Tensor, groups: RowGroups, turn: Turn | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Give queries, keys and values of single tokens (row, d_model), by groups."""
        return self._apart(groups.spread(self.projections(x)), turn)

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
        keys, values = self._for_all_heads(keys), self._for_all_heads(values)
        heads = self.attention(queries, keys, values, mask, False)
        rows = groups.collect(heads.transpose(1, 2).flatten(2))
        joined: Tensor = self.output(rows)
        return joined

    def _part(self, x: Tensor, rows: slice) -> Tensor:
        return linear(x, self.projections.weight[rows], self.projections.bias[rows])

    def _apart(self, joint: Tensor, turn: Turn | None) -> tuple[Tensor, Tensor, Tensor]:
        parts = split(joint, self.projections.sizes)
        queries, keys, values = (self._split(part) for part in parts)
        if turn is not None:
            queries, keys = turn(queries), turn(keys)
        return queries, keys, values

    def _split(self, x: Tensor) -> Tensor:
        heads = x.view(*x.shape[:2], -1, self.d_head)
        return heads.transpose(1, 2)  # (batch, head, length, d_head)

    def _for_all_heads(self, x: Tensor) -> Tensor:
        """Give each head the keys or values that its group shares."""
        if self.num_kv_heads == self.num_heads:
            return x
        return x.repeat_interleave(self.num_heads // self.num_kv_heads, dim=1)
