"""Close calls are settled in double precision, so that company changes no translation.

Which way single precision rounds depends on the shape of a batch: the same sentence
alone and among others gets log-probabilities that differ by some 1e-5. That changes
nothing as long as the choice is clear. Where what is kept and what is dropped are
nearer to each other than rounding could bring them, a copy of the model in double
precision, whose own rounding is a billion times finer, says which is better. So every
choice is the one that a search in double precision would make, at hardly more than the
cost of single.
"""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from dragoman.decoding.choices import next_log_probabilities
from dragoman.decoding.rules import Live
from dragoman.model.contract import Predictor, ReadsSourcesOnce
from dragoman.special_tokens import BEGIN

# Rounding was seen to move the log-probability of a token by up to twelve times 2⁻²⁴ of
# the largest logit, and a sum over a sentence by as much for each root of its length.
# Two sums are compared, and half as much again is to spare.
SHARE = 3 * 12 * 2.0**-24
LEAST_LOGIT, UNKNOWN_LOGIT = 4.0, 20.0


class Judge:
    """Says what the next tokens are worth to a model in double precision.

    `exact_model` gives that model; it is only asked for when there is a close call.
    """

    def __init__(
        self, exact_model: Callable[[], Predictor[Any, Any]], source: Tensor
    ) -> None:
        self._exact_model = exact_model
        self._source = source
        self._largest_logit = LEAST_LOGIT

    def see(self, logits: Tensor) -> None:
        """Take note of how large the numbers are that the search works with."""
        largest = float(logits.amax())
        if largest <= 0:  # logarithms of probabilities, say: who knows of what logits
            largest = UNKNOWN_LOGIT
        self._largest_logit = max(self._largest_logit, largest)

    def tolerance(self, length: int) -> float:
        """Say below which difference it is close between sums over so many tokens."""
        return SHARE * self._largest_logit * (1 + math.sqrt(length))

    def log_probabilities(self, live: Live) -> Tensor:
        """Give (row, length + 1, vocabulary): of each token said, and of the next."""
        begin = torch.full((len(live.tokens), 1), BEGIN)
        target_in = torch.cat([begin, live.tokens], dim=1)
        present, sentences = live.sentences.unique(return_inverse=True)
        device, model = self._source.device, self._exact_model()
        source = self._source[present.to(device)]
        target_in, sentences = target_in.to(device), sentences.to(device)
        if isinstance(model, ReadsSourcesOnce):
            logits = model.forward_each(source, sentences, target_in)
        else:
            logits = model.forward(source[sentences], target_in)
        return next_log_probabilities(logits.double()).cpu()


def said_log_probabilities(log_probabilities: Tensor, live: Live) -> Tensor:
    """Pick out those of the tokens that were said: (row, length)."""
    picked = log_probabilities[:, :-1].gather(2, live.tokens[:, :, None])
    return picked[:, :, 0]
