"""One step of a beam search: the best continuations of every hypothesis."""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from dragoman.decoding.choices import likeliest_tokens
from dragoman.decoding.close_calls import (
    Judge,
    said_log_probabilities,
)
from dragoman.decoding.options import SearchOptions
from dragoman.decoding.rules import Live, Rule
from dragoman.decoding.slots import Grown, Slots


class Growth:
    """Finds the best continuations; where it is close which of them are, asks."""

    def __init__(
        self, options: SearchOptions, rules: Sequence[Rule], judge: Judge | None
    ) -> None:
        self._groups = options.groups
        self._diversity = options.diversity
        self._rules = rules
        self._judge = judge

    def __call__(self, slots: Slots, log_probabilities: Tensor, live: Live) -> Grown:
        """Grow all sentences by one token, group after group if there are several."""
        if self._groups == 1:
            return self._grow(slots, log_probabilities, live, None)
        num_sentences = len(slots.nodes) // self._groups
        chosen = torch.zeros(
            (num_sentences, log_probabilities.shape[1]), dtype=torch.float64
        )
        parts, first_row = [], 0
        for start in range(0, len(slots.nodes), num_sentences):
            group = slots.select(slice(start, start + num_sentences))
            rows = torch.arange(first_row, first_row + int(group.filled.sum()))
            part = live.select(rows)
            chances = log_probabilities[rows.to(log_probabilities.device)]
            handicaps = self._diversity * chosen[part.sentences]
            grown = self._grow(group, chances, part, handicaps)
            tokens, said = grown.said
            chosen.scatter_add_(1, tokens, said.double())
            parts.append(replace(grown, rows=grown.rows + first_row))
            first_row += len(rows)
        return Grown.join(parts)

    def _grow(
        self,
        slots: Slots,
        log_probabilities: Tensor,
        live: Live,
        handicaps: Tensor | None,
    ) -> Grown:
        if not len(live.tokens):
            return Grown.nothing(slots)
        # END, enough for every slot, one more that shows how close it was, and another
        # so that a single slot has as many continuations as `Grown` counts on.
        num_choices = slots.beam_size + 3
        choices = likeliest_tokens(
            log_probabilities, num_choices, self._rules, live, handicaps
        )
        grown = slots.grow(choices)
        if self._judge is None:
            return grown
        beams = slots.filled.nonzero()[:, 0]  # of each row
        is_close = grown.margin < self._judge.tolerance(live.length + 1)
        close = is_close[beams].nonzero()[:, 0]
        if not len(close):
            return grown
        judged = live.select(close)
        exact = self._judge.log_probabilities(judged)
        settled = likeliest_tokens(
            exact[:, -1],
            num_choices,
            self._rules,
            judged,
            None if handicaps is None else handicaps[close],
        )
        sums = said_log_probabilities(exact, judged).sum(dim=1)
        return slots.correct(close, sums).grow(choices.replace(close, settled))
