"""What may come next, beyond what the model thinks: the hook of every search.

A rule is asked once a step, with the tokens that each hypothesis has so far. It keeps
nothing between steps, so hypotheses may be dropped, doubled and reordered at will.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import torch
from torch import Tensor

from dragoman.special_tokens import END


@dataclass(frozen=True)
class Live:
    """The hypotheses that may grow, one row each, on the CPU."""

    sentences: Tensor  # (row,): which source each belongs to
    tokens: Tensor  # (row, length): what each has said so far

    @classmethod
    def first(cls, num_sentences: int) -> Self:
        """One hypothesis without a token for each sentence."""
        tokens = torch.zeros((num_sentences, 0), dtype=torch.int64)
        return cls(torch.arange(num_sentences), tokens)

    @property
    def length(self) -> int:
        """How many tokens each has."""
        return self.tokens.shape[1]

    def select(self, rows: Tensor) -> Self:
        """Keep the rows named, in that order."""
        return type(self)(self.sentences[rows], self.tokens[rows])

    def grow(self, tokens: Tensor) -> Self:
        """Let each say one more token."""
        return type(self)(
            self.sentences, torch.cat([self.tokens, tokens[:, None]], dim=1)
        )


SOME = 64  # tokens of a vocabulary: one of them nearly always has a chance


class Rule(Protocol):
    """Takes chances away from tokens that may not come next."""

    def __call__(self, log_probabilities: Tensor, live: Live) -> Tensor:
        """Give the log-probabilities (row, vocabulary), -inf for what may not come.

        They are the search's own: a rule that leaves each row something may write into
        them, which spares a copy of the whole vocabulary.
        """
        ...


def follow(rules: Sequence[Rule], log_probabilities: Tensor, live: Live) -> Tensor:
    """Apply the rules in their order; one that would leave nothing is passed over.

    So an earlier rule wins over a later one, and no hypothesis is ever stuck.
    """
    for rule in rules:
        ruled = rule(log_probabilities, live)
        if ruled is log_probabilities:
            continue
        stuck = ruled.amax(dim=1, keepdim=True).isneginf()
        if stuck.any():
            ruled = torch.where(stuck, log_probabilities, ruled)
        log_probabilities = ruled
    return log_probabilities


@dataclass(frozen=True)
class MinimumLength:
    """The end may not come before so many tokens."""

    tokens: int

    def __call__(self, log_probabilities: Tensor, live: Live) -> Tensor:
        """Take END's chance away in place while it is too early, if others have one."""
        if live.length >= self.tokens:
            return log_probabilities
        others = log_probabilities[:, END + 1 :]
        unsure = others[:, :SOME].amax(dim=1).isneginf().nonzero()[:, 0]
        stuck = unsure[_has_nothing(log_probabilities[unsure], besides=END)]
        kept = log_probabilities[stuck, END]
        log_probabilities[:, END] = -math.inf
        log_probabilities[stuck, END] = kept
        return log_probabilities


def _has_nothing(log_probabilities: Tensor, besides: int) -> Tensor:
    """Say which rows leave no token a chance but one."""
    others = log_probabilities.index_fill(
        1, torch.tensor([besides], device=log_probabilities.device), -math.inf
    )
    return others.amax(dim=1).isneginf()


@dataclass(frozen=True)
class Prefixes:
    """Each sentence's translation begins as given; later tokens are free."""

    tokens: tuple[tuple[int, ...], ...]

    def __call__(self, log_probabilities: Tensor, live: Live) -> Tensor:
        """Leave only the token that the prefix has at this place."""
        place, forced = live.length, []
        if place >= max(map(len, self.tokens)):
            return log_probabilities
        for row, sentence in enumerate(live.sentences.tolist()):
            prefix = self.tokens[sentence]
            if place < len(prefix):
                forced.append((row, prefix[place]))
        if not forced:
            return log_probabilities
        rows, tokens = torch.tensor(forced, device=log_probabilities.device).unbind(1)
        ruled = log_probabilities.clone()
        ruled[rows] = -math.inf
        ruled[rows, tokens] = log_probabilities[rows, tokens]
        return ruled


@dataclass(frozen=True)
class NoRepeatedRun:
    """No run of `size` tokens comes twice in a translation."""

    size: int

    def __call__(self, log_probabilities: Tensor, live: Live) -> Tensor:
        """Take away each token that would complete a run which was there before."""
        before = self.size - 1
        if live.length < self.size:
            return log_probabilities
        runs = live.tokens.unfold(1, self.size, 1)  # (row, place, size)
        last = live.tokens[:, None, live.length - before :]
        rows, places = (runs[:, :, :before] == last).all(dim=2).nonzero().unbind(1)
        ruled = log_probabilities.clone()
        ruled[rows, runs[rows, places, before]] = -math.inf
        return ruled
