"""What a model would say next: its likeliest tokens."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor

from dragoman.decoding.largest import largest
from dragoman.decoding.rules import Live, Rule, follow
from dragoman.kernels import likeliest as kernel
from dragoman.special_tokens import BEGIN, PAD


@dataclass(frozen=True)
class Choices:
    """The likeliest next tokens of each row, best first; both are (row, choice).

    They live on the CPU whatever the model runs on: what a search keeps is small.
    Handicaps count when continuations are compared, and nowhere else.
    """

    tokens: Tensor
    log_probabilities: Tensor
    handicaps: Tensor | None = None  # None: no token has one

    def replace(self, rows: Tensor, others: Self) -> Self:
        """Put others in the place of some rows."""
        handicaps = self.handicaps
        if handicaps is not None and others.handicaps is not None:
            handicaps = handicaps.index_copy(0, rows, others.handicaps)
        return type(self)(
            self.tokens.index_copy(0, rows, others.tokens),
            self.log_probabilities.index_copy(0, rows, others.log_probabilities),
            handicaps,
        )


def next_log_probabilities(logits: Tensor) -> Tensor:
    """Give the log-probabilities of each row's next token; PAD and BEGIN have none."""
    if kernel.suits(logits):
        log_probabilities = kernel.log_softmax(logits)
    else:
        log_probabilities = logits.log_softmax(dim=-1, dtype=_precision(logits))
    # After the softmax, so that the others keep the probability the model gave them.
    log_probabilities[..., PAD] = -math.inf
    log_probabilities[..., BEGIN] = -math.inf
    return log_probabilities


def likeliest_tokens(
    log_probabilities: Tensor,
    count: int,
    rules: Sequence[Rule],
    live: Live,
    handicaps: Tensor | None = None,
) -> Choices:
    """Choose the `count` likeliest tokens of each row that the rules allow.

    Handicaps (row, vocabulary) are taken off while choosing.
    """
    chances = follow(rules, log_probabilities, live)
    if handicaps is None:
        best, tokens = largest(chances, count)
        # Sums over a sentence are kept in double precision: ranks and reports agree.
        return Choices(tokens.cpu(), best.cpu().double())
    chances = chances.cpu().double()
    _, tokens = largest(chances - handicaps, count)
    return Choices(tokens, chances.gather(1, tokens), handicaps.gather(1, tokens))


def _precision(logits: Tensor) -> torch.dtype:
    return torch.promote_types(logits.dtype, torch.float32)
