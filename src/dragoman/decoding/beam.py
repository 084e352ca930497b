"""Beam search with a length penalty (§6.1), over any model that keeps the contract.

Each sentence has `beam_size` slots. At every step the likeliest continuations of its
hypotheses fill them; one that ends keeps its slot for good, so the search narrows as
translations end, and with a single slot it is greedy search.

A sentence is done when nothing is left to grow, or as soon as its n best ended
hypotheses are out of reach for the rest: a log-probability can only fall, and is
divided by no more than the penalty of the maximum length.

In a diverse search (Vijayakumar et al. 2016) groups part the slots of a sentence among
them: each is a beam of its own, whose choices are handicapped by those of the groups
before it (`decoding.growth`). Groups are counted as if they were further sentences.
"""

from collections.abc import Sequence
from itertools import count

import torch
from torch import Tensor

from dragoman.decoding.choices import next_log_probabilities
from dragoman.decoding.close_calls import TOLERANCE, Judge
from dragoman.decoding.growth import Growth
from dragoman.decoding.history import NOWHERE, History
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.length_penalty import LengthPenalty
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
    reach = Reach(_penalties(max_lengths, penalty), options, judge is not None)
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
        grown = growth(slots, next_log_probabilities(logits), live)
        nodes = history.add(grown.tokens, grown.token_log_probabilities, grown.parents)
        ended = ended.merge(grown.ended / penalty(length), nodes)

        # Only what can still come among the n best, and has room, grows on.
        growing = grown.growing
        growing = growing.masked_fill(reach.is_beaten(growing, ended), EMPTY)
        at_limit = length >= max_lengths
        cut = torch.where(at_limit & ~growing.isneginf(), nodes, cut)
        slots = Slots(growing.masked_fill(at_limit, EMPTY), nodes, grown.num_free)

        kept = slots.filled
        if not kept.any():
            break
        rows, last_tokens = grown.rows[kept], grown.tokens[kept]
        live = live.select(rows).grow(last_tokens)
        state = state.reorder(rows.to(source.device))
    found = history.read(_leaves(ended, cut, num_sentences), penalty)
    return rank(found, options.nbest, penalty, judge)


class Reach:
    """Knows when nothing that still grows can come among the n best.

    Rounding gets the benefit of the doubt where a judge will have the last word. The
    groups of a diverse search go on to the end, for each speaks to those after it.
    """

    def __init__(
        self, highest_penalty: Tensor, options: SearchOptions, judged: bool
    ) -> None:
        self._highest_penalty = highest_penalty  # (sentence, 1)
        self._margin = TOLERANCE if judged else 0.0
        self._nbest = options.nbest
        self._is_limited = options.groups == 1

    def is_beaten(self, growing: Tensor, ended: Ended) -> Tensor:
        """Say of which sentences (sentence, 1) the rest is out of reach of the best."""
        if not self._is_limited:
            return torch.zeros_like(growing[:, :1], dtype=torch.bool)
        reachable = growing.amax(dim=1, keepdim=True) / self._highest_penalty
        return reachable <= ended.score_to_beat(self._nbest) - self._margin


def _leaves(ended: Ended, cut: Tensor, num_sentences: int) -> list[list[int]]:
    """Give what was found of each sentence, by all groups together."""
    both = torch.cat([ended.nodes, cut], dim=1)
    # (group × sentence, slot) -> (sentence, group × slot)
    rows = both.view(-1, num_sentences, both.shape[1]).transpose(0, 1).flatten(1)
    return [[node for node in row if node != NOWHERE] for row in rows.tolist()]


def _penalties(lengths: Tensor, penalty: LengthPenalty) -> Tensor:
    penalties = [[penalty(length)] for [length] in lengths.tolist()]
    return torch.tensor(penalties, dtype=torch.float64)
