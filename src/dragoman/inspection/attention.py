"""One attention, stage by stage: from QKᵀ to what each head writes (§3.2)."""

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from torch import Tensor

from dragoman.model.masks import may_attend, price_of, priced_mask

Kind = Literal["encoder", "decoder", "cross"]
KINDS: tuple[Kind, ...] = ("encoder", "decoder", "cross")


@dataclass(frozen=True)
class ScoreEdit:
    """One score, after scaling, set by hand."""

    head: int
    query: int
    key: int
    value: float


@dataclass(frozen=True)
class Recipe:
    """How an attention is computed; as it stands here, it is the paper's."""

    scaling: bool = True
    masking: bool = True
    temperatures: tuple[tuple[int, float], ...] = ()  # (head, divisor of its scores)
    edits: tuple[ScoreEdit, ...] = ()
    ablated: frozenset[int] = frozenset()  # heads that give nothing


PAPER = Recipe()


@dataclass(frozen=True)
class Stages:
    """What the formula passes through; scores and weights are (…, head, query, key)."""

    scores: Tensor  # QKᵀ
    scaled: Tensor  # ÷ √d_k, and less what the distance costs (ALiBi)
    masked: Tensor  # −∞ where nobody may look
    weights: Tensor  # softmax
    outputs: Tensor  # (…, head, query, d_head): the weights times V


def attend(
    queries: Tensor,  # (…, head, query, d_head)
    keys: Tensor,
    values: Tensor,
    mask: Tensor | None,  # True means "may attend"; or numbers, see `model.masks`
    recipe: Recipe = PAPER,
) -> Stages:
    """Compute an attention in the open, by a recipe."""
    scores = queries @ keys.transpose(-2, -1)
    scaled = scores / math.sqrt(queries.shape[-1]) if recipe.scaling else scores.clone()
    if mask is not None:
        bias, mask = price_of(mask), may_attend(mask)
        scaled = scaled if bias is None else scaled + bias
    masked = settle(scaled, mask, recipe)
    weights = masked.softmax(dim=-1)
    outputs = weights @ values
    for head in recipe.ablated:
        outputs[..., head, :, :] = 0
    return Stages(scores, scaled, masked, weights, outputs)


def settle(scaled: Tensor, mask: Tensor | None, recipe: Recipe) -> Tensor:
    """Change scaled scores, in place, as a recipe says, and give them masked."""
    for head, temperature in recipe.temperatures:
        scaled[..., head, :, :] /= temperature
    for edit in recipe.edits:
        if edit.query < scaled.shape[-2] and edit.key < scaled.shape[-1]:
            scaled[..., edit.head, edit.query, edit.key] = edit.value
    if mask is None or not recipe.masking:
        return scaled
    return scaled.masked_fill(~mask, -math.inf)


@dataclass(frozen=True)
class Projections:
    """The four matrices of one multi-head attention, cut into heads (§3.2.2)."""

    w_q: Tensor  # (head, d_model, d_head), as W_Q, W_K and W_V
    w_k: Tensor
    w_v: Tensor
    b_q: Tensor  # (head, d_head)
    b_k: Tensor
    b_v: Tensor
    w_o: Tensor  # (head, d_head, d_model)
    b_o: Tensor  # (d_model)


@dataclass(frozen=True)
class Attention:
    """One multi-head attention of one layer, as it ran on one sentence."""

    kind: Kind
    layer: int
    read: Tensor  # (query, d_model): what W_Q reads
    attended: Tensor  # (key, d_model): what W_K and W_V read
    queries: Tensor  # (head, query, d_head), turned where positions are rotary
    keys: Tensor  # (head, key, d_head), turned likewise
    values: Tensor
    mask: Tensor  # (query, key): True means "may attend"
    heads: Tensor  # (head, query, d_head): what the model's own kernel gave
    written: Tensor  # (query, d_model): what the model's own W_O made of it
    projections: Projections = field(repr=False)
    recipe: Recipe = PAPER
    bias: Tensor | None = None  # (head, query, key): what is added to scaled scores

    @cached_property
    def stages(self) -> Stages:
        """Every stage from QKᵀ to the heads' outputs, computed in the open."""
        mask = priced_mask(self.mask, self.bias)
        return attend(self.queries, self.keys, self.values, mask, self.recipe)

    @property
    def scores(self) -> Tensor:
        """QKᵀ before scaling (head, query, key)."""
        return self.stages.scores

    @property
    def scaled(self) -> Tensor:
        """QKᵀ / √d_k, with any bias for distance (head, query, key)."""
        return self.stages.scaled

    @property
    def masked(self) -> Tensor:
        """The scaled scores, −∞ where nobody may look (head, query, key)."""
        return self.stages.masked

    @property
    def weights(self) -> Tensor:
        """The attention weights (head, query, key); each row sums to 1."""
        return self.stages.weights

    @property
    def outputs(self) -> Tensor:
        """The weighted values (head, query, d_head)."""
        return self.stages.outputs

    @cached_property
    def head_writes(self) -> Tensor:
        """What each head adds to the residual stream (head, query, d_model)."""
        return self.outputs @ self.projections.w_o

    @cached_property
    def value_norms(self) -> Tensor:
        """How much each key really gives each query (head, query, key).

        The length of weight · value · W_O: a short value moves little.
        """
        moved: Tensor = (self.values @ self.projections.w_o).norm(dim=-1)  # (head, key)
        return self.weights * moved[:, None, :]

    @cached_property
    def largest_error(self) -> float:
        """The largest |shown − model| over the heads' outputs and what W_O wrote."""
        written = self.head_writes.sum(dim=0) + self.projections.b_o
        off = ((self.outputs - self.heads), (written - self.written))
        return max(float(difference.abs().max()) for difference in off)
