"""The hypotheses of a beam search: those that may still grow, and those that ended.

Tensors here are (sentence, slot). They are small and stay on the CPU, in double
precision, and no step looks at a single hypothesis by itself.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Self

import torch
from torch import Tensor

from dragoman.decoding.choices import Choices
from dragoman.decoding.history import NOWHERE
from dragoman.special_tokens import END, PAD

EMPTY = -math.inf  # the log-probability of a slot without a hypothesis


@dataclass(frozen=True)
class Grown:
    """The best continuations of the hypotheses, best first: (sentence, continuation).

    There are two for each slot and two more, so that slots can be filled even if every
    hypothesis may end now, and so that it shows how close the last choice was.
    """

    tokens: Tensor
    token_log_probabilities: Tensor
    log_probabilities: Tensor
    worth: (
        Tensor  # the same less what a diverse search takes off: they are ranked by it
    )
    parents: Tensor  # where the hypothesis without its last token is in the history
    rows: Tensor  # the row in which the model holds that hypothesis

    @classmethod
    def nothing(cls, slots: "Slots") -> Self:
        """Give the continuations where no hypothesis is left."""
        shape = (len(slots.nodes), 2 * slots.beam_size + 2)
        empty = torch.full(shape, EMPTY, dtype=torch.float64)
        nowhere = torch.full(shape, NOWHERE)
        return cls(
            tokens=torch.full(shape, PAD),
            token_log_probabilities=empty,
            log_probabilities=empty,
            worth=empty,
            parents=nowhere,
            rows=torch.zeros_like(nowhere),
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
    def beam_size(self) -> int:
        """How many slots a sentence has."""
        return self.tokens.shape[1] // 2 - 1

    @property
    def said(self) -> tuple[Tensor, Tensor]:
        """The tokens (sentence, 2 × slot) that end or fill slots; which are real."""
        ends = torch.full_like(self.going_on, END)
        tokens = torch.cat([ends, self.tokens.gather(1, self.going_on)], dim=1)
        values = torch.cat([self.ended, self.growing], dim=1)
        return tokens, ~values.isneginf()

    @cached_property
    def ended(self) -> Tensor:
        """The log-probabilities (sentence, slot) of those of the best that end."""
        best = self.log_probabilities[:, : self.beam_size]
        return best.masked_fill(self.tokens[:, : self.beam_size] != END, EMPTY)

    @property
    def best_ends(self) -> Tensor:
        """Whether (sentence, 1) the very best ends."""
        return self.tokens[:, :1] == END

    @property
    def cut(self) -> Tensor:
        """Which (sentence, slot) of the best are cut off if there is no room left."""
        best = self.log_probabilities[:, : self.beam_size]
        return (self.tokens[:, : self.beam_size] != END) & ~best.isneginf()

    @cached_property
    def going_on(self) -> Tensor:
        """Which continuations (sentence, slot) fill the slots: the best without END."""
        return self._words[:, : self.beam_size]

    @cached_property
    def growing(self) -> Tensor:
        """The log-probabilities (sentence, slot) of those."""
        return self._unended.gather(1, self.going_on)

    @property
    def margin(self) -> Tensor:
        """By how much (sentence,) any choice here was better than the next best.

        What is chosen: which continuations fill the slots, whether one that ends is
        among the best, and whether it is the very best.
        """
        ordered, last = self.worth, self.beam_size
        words = ordered.gather(1, self._words[:, last - 1 : last + 1])
        ends = self.tokens == END
        gaps = [words[:, 0] - words[:, 1]]
        for place in (1, last):
            gap = ordered[:, place - 1] - ordered[:, place]
            concerns_end = ends[:, place - 1] | ends[:, place]
            gaps.append(gap.masked_fill(~concerns_end, math.inf))
        return torch.stack(gaps).amin(dim=0)

    @cached_property
    def _words(self) -> Tensor:
        return (self.tokens == END).sort(dim=1, stable=True).indices

    @property
    def _unended(self) -> Tensor:
        return self.log_probabilities.masked_fill(self.tokens == END, EMPTY)


@dataclass(frozen=True)
class Slots:
    """The hypotheses that may grow; the model has a row for each filled slot, in order.

    Both are (sentence, slot).
    """

    log_probabilities: Tensor
    nodes: Tensor

    @classmethod
    def first(cls, num_sentences: int, beam_size: int) -> Self:
        """One hypothesis without a token for each sentence."""
        log_probabilities = torch.full(
            (num_sentences, beam_size), EMPTY, dtype=torch.float64
        )
        log_probabilities[:, 0] = 0.0
        return cls(log_probabilities, torch.full((num_sentences, beam_size), NOWHERE))

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
        return type(self)(self.log_probabilities[sentences], self.nodes[sentences])

    def correct(self, rows: Tensor, log_probabilities: Tensor) -> Self:
        """Give the hypotheses in some of the model's rows other log-probabilities."""
        filled, corrected = self.filled, self.log_probabilities.clone()
        corrected[filled] = corrected[filled].index_copy(0, rows, log_probabilities)
        return replace(self, log_probabilities=corrected)

    def grow(self, choices: Choices) -> Grown:
        """Give each sentence's best continuations.

        Of equal ones the earlier slot's goes first, then that with the lower token.
        """
        filled, num_choices = self.filled, choices.tokens.shape[1]
        further = _by_slots(choices.log_probabilities, filled, EMPTY)
        worth = sums = self.log_probabilities[..., None] + further
        if choices.handicaps is not None:
            worth = sums - _by_slots(choices.handicaps, filled, 0.0)
        # (sentence, slot, choice) -> (sentence, continuation)
        worth, picks = worth.flatten(1).sort(dim=1, descending=True, stable=True)
        best = slice(0, 2 * self.beam_size + 2)
        worth, picks = worth[:, best], picks[:, best]
        sums = sums.flatten(1).gather(1, picks)
        slots, choice = picks // num_choices, picks % num_choices
        rows = (filled.flatten().cumsum(0) - 1).view_as(filled).gather(1, slots)
        return Grown(
            tokens=choices.tokens[rows, choice],
            token_log_probabilities=choices.log_probabilities[rows, choice],
            log_probabilities=sums,
            worth=worth,
            parents=self.nodes.gather(1, slots),
            rows=rows,
        )


def _by_slots(values: Tensor, filled: Tensor, empty: float) -> Tensor:
    """Bring (row, choice) into (sentence, slot, choice)."""
    if filled.all():
        return values.view(*filled.shape, -1)
    spread = torch.full((*filled.shape, values.shape[1]), empty, dtype=values.dtype)
    spread[filled] = values
    return spread


@dataclass(frozen=True)
class Ended:
    """The likeliest ended hypotheses of each sentence: no more than it has slots."""

    log_probabilities: Tensor  # EMPTY where there are fewer
    nodes: Tensor  # NOWHERE where there are fewer
    count: Tensor  # (sentence, 1): how many have ended
    best_ended: Tensor  # (sentence, 1): whether the likeliest of its step was one

    @classmethod
    def none(cls, num_sentences: int, beam_size: int) -> Self:
        """Nothing has ended yet."""
        shape = (num_sentences, beam_size)
        return cls(
            torch.full(shape, EMPTY, dtype=torch.float64),
            torch.full(shape, NOWHERE),
            torch.zeros((num_sentences, 1), dtype=torch.int64),
            torch.zeros((num_sentences, 1), dtype=torch.bool),
        )

    @property
    def is_full(self) -> Tensor:
        """Whether (sentence, 1) a full beam has ended, the likeliest of a step too."""
        return (self.count >= self.nodes.shape[1]) & self.best_ended

    @property
    def least(self) -> Tensor:
        """The log-probability (sentence, 1) above which a further one competes."""
        return self.log_probabilities[:, -1:]

    def merge(self, grown: Grown, nodes: Tensor) -> Self:
        """Take in what ended at this step; of equal ones the earlier goes first."""
        # The sort being stable, our own empty places come before the new ones, so that
        # no slot in which nothing ended is ever taken for an ended hypothesis.
        ended = grown.ended
        both = torch.cat([self.log_probabilities, ended], dim=1)
        likeliest, order = both.sort(dim=1, descending=True, stable=True)
        beam = slice(0, self.nodes.shape[1])
        nodes = torch.cat([self.nodes, nodes], dim=1).gather(1, order[:, beam])
        num_ended = (~ended.isneginf()).sum(dim=1, keepdim=True)
        return type(self)(
            likeliest[:, beam],
            nodes,
            self.count + num_ended,
            self.best_ended | (grown.best_ends & (num_ended > 0)),
        )
