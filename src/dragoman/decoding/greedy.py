"""Greedy search: the likeliest token, again and again."""

from collections.abc import Sequence
from itertools import count

import torch
from torch import Tensor

from dragoman.decoding.choices import (
    Choices,
    likeliest_tokens,
    next_log_probabilities,
)
from dragoman.decoding.close_calls import Judge
from dragoman.decoding.history import NOWHERE, History
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.length_penalty import LengthPenalty
from dragoman.decoding.rules import Live, Rule
from dragoman.model.contract import Memory, Predictor, State
from dragoman.special_tokens import BEGIN, END


def greedy_search(
    model: Predictor[Memory, State],
    source: Tensor,
    max_lengths: Tensor,
    penalty: LengthPenalty,
    rules: Sequence[Rule] = (),
    judge: Judge | None = None,
) -> list[Hypothesis]:
    """Translate each source by its likeliest next token until END or its maximum.

    `max_lengths` counts output tokens, END included; `penalty` only enters the score.
    """
    state = model.start(model.encode(source))
    last_tokens = torch.full((len(source),), BEGIN, device=source.device)
    max_lengths = max_lengths.cpu()
    live = Live.first(len(source))
    leaves = torch.full((len(source),), NOWHERE)
    history = History()
    for length in count(1):
        logits, state = model.step(last_tokens, state)
        choices = likeliest_tokens(next_log_probabilities(logits), 2, rules, live)
        if judge is not None:
            judge.see(logits)
            choices = _settled(choices, rules, live, judge)
        tokens = choices.tokens[:, 0]
        leaves[live.sentences] = history.add(
            tokens, choices.log_probabilities[:, 0], leaves[live.sentences]
        )
        goes_on = (tokens != END) & (length < max_lengths[live.sentences])
        live = live.grow(tokens)
        if not goes_on.all():
            rows = goes_on.nonzero()[:, 0]
            if not len(rows):
                break
            tokens, live = tokens[rows], live.select(rows)
            state = state.reorder(rows.to(source.device))
        last_tokens = tokens.to(source.device)
    return [found for [found] in history.read(leaves[:, None].tolist(), penalty)]


def _settled(
    choices: Choices, rules: Sequence[Rule], live: Live, judge: Judge
) -> Choices:
    best, second = choices.log_probabilities[:, :2].T
    close = (best - second < judge.tolerance(1)).nonzero()[:, 0]
    if not len(close):
        return choices
    judged = live.select(close)
    exact = judge.log_probabilities(judged)[:, -1]
    return choices.replace(close, likeliest_tokens(exact, 2, rules, judged))
