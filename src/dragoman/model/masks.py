"""Who may look at whom: in every mask, True means "may attend"."""

import torch
from torch import Tensor

from dragoman.special_tokens import PAD


def padding_mask(tokens: Tensor) -> Tensor:
    """Let nobody attend to padding: (batch, 1, 1, length), for all heads alike."""
    return (tokens != PAD)[:, None, None, :]


def causal_mask(length: int, device: torch.device | None = None) -> Tensor:
    """Let each position attend to itself and to earlier ones only (§3.2.3)."""
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()
