"""The hypotheses of a beam search: those that may still grow, and those that ended.

Tensors here are (sentence, slot). They are small and stay on the CPU, in double
precision, and no step looks at a single hypothesis by itself.
"""

import math
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor

from dragoman.decoding.choices import Choices
from dragoman.decoding.history import NOWHERE
from dragoman.special_tokens import END

EMPTY = -math.inf  # the log-probability of a slot without a hypothesis


@dataclass(frozen=True)
class Grown:
    """What fills the slots after one more token, best first."""

    tokens: Tensor
    token_log_probabilities: Tensor
    log_probabilities: Tensor
    parents: Tensor  # where the hypothesis without its last token is in the history
    rows: Tensor  # the row in which the model holds that hypothesis
    num_free: Tensor  # (sentence, 1), as in `Slots`

    @property
    def ended(self) -> Tensor:
        """The log-probabilities of the hypotheses that have just ended."""
        return self.log_probabilities.masked_fill(self.tokens != END, EMPTY)

    @property
    def growing(self) -> Tensor:
        """The log-probabilities of the hypotheses that have not."""
        return self.log_probabilities.masked_fill(self.tokens == END, EMPTY)


@dataclass(frozen=True)
class Slots:
    """The hypotheses that may grow; the model has a row for each filled slot, in order.

    `num_free` (sentence, 1) counts the slots that no ended hypothesis keeps.
    """

    log_probabilities: Tensor
    nodes: Tensor
    num_free: Tensor

    @classmethod
    def first(cls, num_sentences: int, beam_size: int) -> Self:
        """One hypothesis without a token for each sentence."""
        log_probabilities = torch.full(
            (num_sentences, beam_size), EMPTY, dtype=torch.float64
        )
        log_probabilities[:, 0] = 0.0
        nodes = torch.full((num_sentences, beam_size), NOWHERE)
        return cls(log_probabilities, nodes, torch.full((num_sentences, 1), beam_size))

    @property
    def filled(self) -> Tensor:
        """Where there is a hypothesis."""
        return ~self.log_probabilities.isneginf()

    def grow(self, choices: Choices) -> Grown:
        """Fill each sentence's free slots with its best continuations.

        Of equal ones the earlier slot's goes first, then that with the lower token.
        """
        filled, beam_size = self.filled, self.nodes.shape[1]
        num_choices = choices.tokens.shape[1]
        sums = torch.full((*filled.shape, num_choices), EMPTY, dtype=torch.float64)
        sums[filled] = self.log_probabilities[filled, None] + choices.log_probabilities
        # (sentence, slot, choice) -> (sentence, slot)
        sums, picks = sums.flatten(1).sort(dim=1, descending=True, stable=True)
        sums, picks = sums[:, :beam_size], picks[:, :beam_size]
        parents, choice = picks // num_choices, picks % num_choices
        rows = (filled.flatten().cumsum(0) - 1).view_as(filled).gather(1, parents)
        sums = sums.masked_fill(torch.arange(beam_size) >= self.num_free, EMPTY)
        tokens = choices.tokens[rows, choice]
        has_ended = (tokens == END) & ~sums.isneginf()
        return Grown(
            tokens=tokens,
            token_log_probabilities=choices.log_probabilities[rows, choice],
            log_probabilities=sums,
            parents=self.nodes.gather(1, parents),
            rows=rows,
            num_free=self.num_free - has_ended.sum(dim=1, keepdim=True),
        )


@dataclass(frozen=True)
class Ended:
    """The n best ended hypotheses of each sentence, best first."""

    scores: Tensor  # EMPTY where there are fewer
    nodes: Tensor  # NOWHERE where there are fewer

    @classmethod
    def none(cls, num_sentences: int, nbest: int) -> Self:
        """Nothing has ended yet."""
        shape = (num_sentences, nbest)
        scores = torch.full(shape, EMPTY, dtype=torch.float64)
        return cls(scores, torch.full(shape, NOWHERE))

    @property
    def last_score(self) -> Tensor:
        """The score (sentence, 1) that a further hypothesis has to beat."""
        return self.scores[:, -1:]

    def merge(self, scores: Tensor, nodes: Tensor) -> Self:
        """Take in what ended at this step; of equal scores the earlier goes first."""
        # The sort being stable, our own empty places come before the new ones, so that
        # no slot in which nothing ended is ever taken for an ended hypothesis.
        both = torch.cat([self.scores, scores], dim=1)
        best, order = both.sort(dim=1, descending=True, stable=True)
        order = order[:, : self.scores.shape[1]]
        nodes = torch.cat([self.nodes, nodes], dim=1).gather(1, order)
        return type(self)(best[:, : self.scores.shape[1]], nodes)
