"""Greedy search: the likeliest token, again and again."""

from itertools import count

import torch
from torch import Tensor

from dragoman.decoding.choices import likeliest_tokens
from dragoman.decoding.history import NOWHERE, History
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.model.contract import Memory, State, TranslationModel
from dragoman.special_tokens import BEGIN, END


def greedy_search(
    model: TranslationModel[Memory, State],
    source: Tensor,
    max_lengths: Tensor,
    *,
    alpha: float = 0.0,
) -> list[Hypothesis]:
    """Translate each source by its likeliest next token until END or its maximum.

    `max_lengths` counts output tokens, END included; `alpha` only enters the score.
    """
    state = model.start(model.encode(source))
    last_tokens = torch.full((len(source),), BEGIN, device=source.device)
    max_lengths = max_lengths.cpu()
    sentences = torch.arange(len(source))  # which one each row of the model translates
    leaves = torch.full((len(source),), NOWHERE)
    history = History()
    for length in count(1):
        logits, state = model.step(last_tokens, state)
        choices = likeliest_tokens(logits, 1)
        tokens = choices.tokens[:, 0]
        leaves[sentences] = history.add(
            tokens, choices.log_probabilities[:, 0], leaves[sentences]
        )
        goes_on = (tokens != END) & (length < max_lengths[sentences])
        if not goes_on.all():
            rows = goes_on.nonzero()[:, 0]
            if not len(rows):
                break
            tokens, sentences = tokens[rows], sentences[rows]
            state = state.reorder(rows.to(source.device))
        last_tokens = tokens.to(source.device)
    return [found for [found] in history.read(leaves[:, None].tolist(), alpha)]
