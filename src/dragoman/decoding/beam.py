"""Beam search with a length penalty (§6.1), over any model that keeps the contract.

Each sentence has `beam_size` slots. At every step the likeliest continuations of its
hypotheses fill them; one that ends keeps its slot for good, so the search narrows as
translations end, and with a single slot it is greedy search.

A sentence is done when nothing is left to grow, or as soon as its n best ended
hypotheses are out of reach for the rest: a log-probability can only fall, and is
divided by no more than the penalty of the maximum length.
"""

from itertools import count

import torch
from torch import Tensor

from dragoman.decoding.choices import likeliest_tokens
from dragoman.decoding.history import NOWHERE, History
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.length_penalty import length_penalty
from dragoman.decoding.slots import EMPTY, Ended, Slots
from dragoman.errors import ConfigError
from dragoman.model.contract import Memory, State, TranslationModel
from dragoman.special_tokens import BEGIN


def beam_search(
    model: TranslationModel[Memory, State],
    source: Tensor,
    max_lengths: Tensor,
    *,
    beam_size: int,
    alpha: float,
    nbest: int = 1,
) -> list[list[Hypothesis]]:
    """Give the `nbest` best translations found for each source, best first.

    `max_lengths` counts output tokens, END included; hypotheses cut there come after
    those that ended.
    """
    check_settings(beam_size, alpha, nbest)
    max_lengths = max_lengths.cpu()[:, None]
    highest_penalty = _penalties(max_lengths, alpha)
    slots = Slots.first(len(source), beam_size)
    ended = Ended.none(len(source), nbest)
    cut = torch.full((len(source), beam_size), NOWHERE)
    history = History()
    state = model.start(model.encode(source))
    last_tokens = torch.full((len(source),), BEGIN)
    for length in count(1):
        logits, state = model.step(last_tokens.to(source.device), state)
        grown = slots.grow(likeliest_tokens(logits, beam_size))
        nodes = history.add(grown.tokens, grown.token_log_probabilities, grown.parents)
        ended = ended.merge(grown.ended / length_penalty(length, alpha), nodes)

        # Only what can still come among the n best, and has room, grows on.
        reachable = grown.growing.amax(dim=1, keepdim=True) / highest_penalty
        growing = grown.growing.masked_fill(reachable <= ended.last_score, EMPTY)
        at_limit = length >= max_lengths
        cut = torch.where(at_limit & ~growing.isneginf(), nodes, cut)
        slots = Slots(growing.masked_fill(at_limit, EMPTY), nodes, grown.num_free)

        kept = slots.filled
        if not kept.any():
            break
        last_tokens = grown.tokens[kept]
        state = state.reorder(grown.rows[kept].to(source.device))
    return history.read(_leaves(ended, cut, nbest), alpha)


def _leaves(ended: Ended, cut: Tensor, nbest: int) -> list[list[int]]:
    rows = torch.cat([ended.nodes, cut], dim=1).tolist()
    return [[node for node in row if node != NOWHERE][:nbest] for row in rows]


def _penalties(lengths: Tensor, alpha: float) -> Tensor:
    penalties = [[length_penalty(length, alpha)] for [length] in lengths.tolist()]
    return torch.tensor(penalties, dtype=torch.float64)


def check_settings(beam_size: int, alpha: float, nbest: int) -> None:
    """Refuse what no beam search can do."""
    if beam_size < 1:
        raise ConfigError(f"a beam of {beam_size} searches nothing: choose at least 1")
    if not 1 <= nbest <= beam_size:
        raise ConfigError(
            f"a beam of {beam_size} cannot give the {nbest} best translations: choose "
            f"1 to {beam_size} of them, or a wider beam"
        )
    if not alpha >= 0:
        raise ConfigError(
            f"a length penalty of {alpha:g} is not allowed: choose 0 (none) or more"
        )
