"""Who may look at whom: in every mask, True means "may attend".

Where looking has a price, a mask holds numbers that are added to the scores instead,
and −∞ means "may not attend".
"""

import math

import torch
from torch import Tensor

from dragoman.special_tokens import PAD


def padding_mask(tokens: Tensor) -> Tensor:
    """Let nobody attend to padding: (batch, 1, 1, length), for all heads alike."""
    return (tokens != PAD)[:, None, None, :]


def causal_mask(length: int, device: torch.device | None = None) -> Tensor:
    """Let each position attend to itself and to earlier ones only (§3.2.3)."""
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()


def priced_mask(mask: Tensor, bias: Tensor | None) -> Tensor:
    """Join who may attend with a bias (1, head, query, key) on scores, if any."""
    return mask if bias is None else torch.where(mask, bias, -math.inf)


def price_of(mask: Tensor) -> Tensor | None:
    """Give what a mask of numbers adds to the scores of those who may attend."""
    if mask.dtype == torch.bool:
        return None
    return mask.masked_fill(~may_attend(mask), 0.0)


def may_attend(mask: Tensor) -> Tensor:
    """Say, in True and False, who may attend by a mask of either kind."""
    return mask if mask.dtype == torch.bool else mask > -math.inf
