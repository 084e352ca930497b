"""What a model would say next: its likeliest tokens."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from dragoman.decoding.largest import largest
from dragoman.special_tokens import BEGIN, PAD


@dataclass(frozen=True)
class Choices:
    """The likeliest next tokens of each row, best first; both are (row, choice).

    They live on the CPU whatever the model runs on: what a search keeps is small.
    """

    tokens: Tensor
    log_probabilities: Tensor


def likeliest_tokens(logits: Tensor, count: int) -> Choices:
    """Choose the `count` likeliest tokens of each row; PAD and BEGIN have no chance."""
    log_probabilities = logits.log_softmax(dim=1, dtype=_precision(logits))
    # After the softmax, so that the others keep the probability the model gave them.
    log_probabilities[:, PAD] = -math.inf
    log_probabilities[:, BEGIN] = -math.inf
    best, tokens = largest(log_probabilities, count)
    # Sums over a sentence are kept in double precision: ranks and reports then agree.
    return Choices(tokens.cpu(), best.cpu().double())


def _precision(logits: Tensor) -> torch.dtype:
    return torch.promote_types(logits.dtype, torch.float32)
