"""The hypotheses of a beam search: those that may still grow, and those that ended.

Tensors here are (sentence, slot). They are small and stay on the CPU, in double
precision, and no step looks at a single hypothesis by itself.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Self

import torch
from torch import Tensor

from dragoman.decoding.choices import Choices
from dragoman.decoding.history import NOWHERE
from dragoman.special_tokens import END, PAD

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
    margin: Tensor  # (sentence,): by how much the last that got a slot was better

    @classmethod
    def nothing(cls, slots: "Slots") -> Self:
        """Give what fills the slots when no hypothesis is left."""
        empty = torch.full_like(slots.log_probabilities, EMPTY)
        nowhere = torch.full_like(slots.nodes, NOWHERE)
        words = torch.full_like(slots.nodes, PAD)
        return cls(
            tokens=words,
            token_log_probabilities=empty,
            log_probabilities=empty,
            parents=nowhere,
            rows=torch.zeros_like(slots.nodes),
            num_free=slots.num_free,
            margin=torch.full_like(empty[:, 0], math.inf),
        )

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        """Put those of several groups of sentences one under the other."""
        return cls(
            **{
                field.name: torch.cat([getattr(part, field.name) for part in parts])
                for field in fields(cls)
            }
        )

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
    def beam_size(self) -> int:
        """How many slots a sentence has."""
        return self.nodes.shape[1]

    @property
    def filled(self) -> Tensor:
        """Where there is a hypothesis."""
        return ~self.log_probabilities.isneginf()

    def select(self, sentences: slice) -> Self:
        """Keep some of the sentences."""
        return type(self)(
            self.log_probabilities[sentences],
            self.nodes[sentences],
            self.num_free[sentences],
        )

    def correct(self, rows: Tensor, log_probabilities: Tensor) -> Self:
        """Give the hypotheses in some of the model's rows other log-probabilities."""
        filled, corrected = self.filled, self.log_probabilities.clone()
        corrected[filled] = corrected[filled].index_copy(0, rows, log_probabilities)
        return replace(self, log_probabilities=corrected)

    def grow(self, choices: Choices) -> Grown:
        """Fill each sentence's free slots with its best continuations.

        Of equal ones the earlier slot's goes first, then that with the lower token.
        """
        filled, beam_size = self.filled, self.beam_size
        num_choices = choices.tokens.shape[1]
        sums = torch.full((*filled.shape, num_choices), EMPTY, dtype=torch.float64)
        sums[filled] = self.log_probabilities[filled, None] + choices.log_probabilities
        worth = sums.clone()
        worth[filled] -= choices.handicaps
        # (sentence, slot, choice) -> (sentence, slot)
        ordered, picks = worth.flatten(1).sort(dim=1, descending=True, stable=True)
        picks = picks[:, :beam_size]
        sums = sums.flatten(1).gather(1, picks)
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
            margin=self._margin(ordered),
        )

    def _margin(self, ordered: Tensor) -> Tensor:
        """Compare the last continuation for which there is a free slot and the next."""
        last = (self.num_free - 1).clamp(min=0)
        return (ordered.gather(1, last) - ordered.gather(1, last + 1))[:, 0]


@dataclass(frozen=True)
class Ended:
    """The ended hypotheses of each sentence, best first: no more than it has slots."""

    scores: Tensor  # EMPTY where there are fewer
    nodes: Tensor  # NOWHERE where there are fewer

    @classmethod
    def none(cls, num_sentences: int, beam_size: int) -> Self:
        """Nothing has ended yet."""
        shape = (num_sentences, beam_size)
        scores = torch.full(shape, EMPTY, dtype=torch.float64)
        return cls(scores, torch.full(shape, NOWHERE))

    def score_to_beat(self, nbest: int) -> Tensor:
        """Give the score (sentence, 1) by which a further one is among the n best."""
        return self.scores[:, nbest - 1, None]

    def merge(self, scores: Tensor, nodes: Tensor) -> Self:
        """Take in what ended at this step; of equal scores the earlier goes first."""
        # The sort being stable, our own empty places come before the new ones, so that
        # no slot in which nothing ended is ever taken for an ended hypothesis.
        both = torch.cat([self.scores, scores], dim=1)
        best, order = both.sort(dim=1, descending=True, stable=True)
        order = order[:, : self.scores.shape[1]]
        nodes = torch.cat([self.nodes, nodes], dim=1).gather(1, order)
        return type(self)(best[:, : self.scores.shape[1]], nodes)
