"""Beam search with a length penalty (§6.1), over any model that keeps the contract.

Each sentence has `beam_size` slots. At every step, those of the `beam_size` likeliest
continuations that end are set aside, and the likeliest that do not end fill the slots.
A sentence is done when `beam_size` hypotheses have ended, one of them as the likeliest
of its step (with one slot, that is greedy search), or as soon as nothing that grows can
come among the `beam_size` likeliest ended ones. These are then ranked by their scores.
CTranslate2 searches the same way, so that both engines find the same.

In a diverse search (Vijayakumar et al. 2016) groups part the slots of a sentence among
them: each is a beam of its own, whose choices are handicapped by those of the groups
before it (`decoding.growth`). Groups are counted as if they were further sentences.
"""

from collections.abc import Sequence
from itertools import count

import torch
from torch import Tensor

from dragoman.decoding.choices import next_log_probabilities
from dragoman.decoding.close_calls import Judge
from dragoman.decoding.growth import Growth
from dragoman.decoding.history import NOWHERE, History
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.options import SearchOptions
from dragoman.decoding.ranking import rank
from dragoman.decoding.rules import Live, Rule
from dragoman.decoding.slots import EMPTY, Ended, Slots
from dragoman.model.contract import Memory, Predictor, State
from dragoman.special_tokens import BEGIN


def beam_search(
    model: Predictor[Memory, State],
    source: Tensor,
    max_lengths: Tensor,
    options: SearchOptions,
    rules: Sequence[Rule] = (),
    judge: Judge | None = None,
) -> list[list[Hypothesis]]:
    """Give the `options.nbest` best translations found for each source, best first.

    `max_lengths` counts output tokens, END included; hypotheses cut there come after
    those that ended. The rules say what may come next; the judge settles close calls.
    """
    penalty, num_sentences = options.penalty, len(source)
    num_beams, width = (
        num_sentences * options.groups,
        options.beam_size // options.groups,
    )
    growth = Growth(options, rules, judge)
    max_lengths = max_lengths.cpu().repeat(options.groups)[:, None]
    slots, ended = Slots.first(num_beams, width), Ended.none(num_beams, width)
    cut = torch.full((num_beams, width), NOWHERE)
    history = History()
    sentences = torch.arange(num_sentences).repeat(options.groups)
    live = Live(sentences, torch.zeros((num_beams, 0), dtype=torch.int64))
    state = model.start(model.encode(source))
    if options.groups > 1:
        state = state.reorder(sentences.to(source.device))
    last_tokens = torch.full((num_beams,), BEGIN)
    for length in count(1):
        logits, state = model.step(last_tokens.to(source.device), state)
        if judge is not None:
            judge.see(logits)
        grown = growth(slots, next_log_probabilities(logits), live)
        nodes = history.add(grown.tokens, grown.token_log_probabilities, grown.parents)
        best = nodes[:, :width]
        ended = ended.merge(grown, best)

        done, going_on = ended.is_full, grown.going_on
        if options.groups == 1:  # else each group speaks to those after it
            margin = 0.0 if judge is None else judge.tolerance(length)
            done |= is_out_of_reach(grown.growing, ended, margin)
        at_limit = length >= max_lengths
        cut = torch.where(at_limit & ~done & grown.cut, best, cut)
        slots = Slots(
            grown.growing.masked_fill(done | at_limit, EMPTY), nodes.gather(1, going_on)
        )

        kept = slots.filled
        if not kept.any():
            break
        rows = grown.rows.gather(1, going_on)[kept]
        last_tokens = grown.tokens.gather(1, going_on)[kept]
        live = live.select(rows).grow(last_tokens)
        state = state.reorder(rows.to(source.device))
    found = history.read(_leaves(ended, cut, num_sentences), penalty)
    return rank(found, options.nbest, penalty, judge)


def is_out_of_reach(growing: Tensor, ended: Ended, margin: float) -> Tensor:
    """Say where (sentence, 1) nothing that grows can come among the likeliest.

    What grows can only get less likely. Rounding gets the benefit of the doubt where a
    judge will have the last word.
    """
    return growing.amax(dim=1, keepdim=True) <= ended.least - margin


def _leaves(ended: Ended, cut: Tensor, num_sentences: int) -> list[list[int]]:
    """Give what was found of each sentence, by all groups together."""
    both = torch.cat([ended.nodes, cut], dim=1)
    # (group × sentence, slot) -> (sentence, group × slot)
    rows = both.view(-1, num_sentences, both.shape[1]).transpose(0, 1).flatten(1)
    return [[node for node in row if node != NOWHERE] for row in rows.tolist()]
