"""Close calls are settled in double precision, so that company changes no translation.

Which way single precision rounds depends on the shape of a batch: the same sentence
alone and among others gets log-probabilities that differ by some 1e-5. That changes
nothing as long as the choice is clear. Where what is kept and what is dropped are
nearer to each other than `tolerance`, a copy of the model in double precision, whose
own rounding is a billion times finer, says which is better. So every choice is the one
that a search in double precision would make, at hardly more than the cost of single.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from dragoman.decoding.choices import next_log_probabilities
from dragoman.decoding.rules import Live
from dragoman.model.contract import Predictor
from dragoman.special_tokens import BEGIN

# Four times what rounding was seen to move the difference of two sums by, in models of
# all sizes and batches of all shapes: 3e-6 and 2.5e-7 for each token of either sum.
OF_ONE_TOKEN, OF_EACH_MORE = 2.5e-5, 2e-6


def tolerance(length: int) -> float:
    """Say below which difference it is close between two sums over so many tokens."""
    return OF_ONE_TOKEN + length * OF_EACH_MORE


class Judge:
    """Says what the next tokens are worth to a model in double precision.

    `exact_model` gives that model; it is only asked for when there is a close call.
    """

    def __init__(
        self, exact_model: Callable[[], Predictor[Any, Any]], source: Tensor
    ) -> None:
        self._exact_model = exact_model
        self._source = source

    def log_probabilities(self, live: Live) -> Tensor:
        """Give (row, length + 1, vocabulary): of each token said, and of the next."""
        begin = torch.full((len(live.tokens), 1), BEGIN)
        target_in = torch.cat([begin, live.tokens], dim=1)
        source = self._source[live.sentences.to(self._source.device)]
        logits = self._exact_model().forward(source, target_in.to(source.device))
        return next_log_probabilities(logits.double()).cpu()


def said_log_probabilities(log_probabilities: Tensor, live: Live) -> Tensor:
    """Pick out those of the tokens that were said: (row, length)."""
    picked = log_probabilities[:, :-1].gather(2, live.tokens[:, :, None])
    return picked[:, :, 0]
