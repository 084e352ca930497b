"""Beam search for translations that contain given phrases, guaranteed.

Hypotheses are kept in banks by how much of the phrases they have said, and the banks
share the beam: lexically constrained decoding with dynamic beam allocation (Post and
Vilar 2018). So one that has paid for a phrase need not compete with one that has not,
and a phrase comes where the model finds it least surprising. A hypothesis may end only
when every phrase has come. The highest bank is never empty and always has a candidate
that goes further, so all phrases are met in bounded time. The `beam_size` likeliest
that ended are ranked by their scores.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import count, islice

import torch
from torch import Tensor

from dragoman.decoding.bank import Candidate, Growing, share_among_banks
from dragoman.decoding.choices import (
    Choices,
    likeliest_tokens,
    next_log_probabilities,
)
from dragoman.decoding.constraints import Constraints, Progress
from dragoman.decoding.history import NOWHERE, History
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.options import SearchOptions
from dragoman.decoding.ranking import rank
from dragoman.decoding.rules import Live, Rule, follow
from dragoman.model.contract import Memory, Predictor, State
from dragoman.special_tokens import BEGIN, END

# The banks share so many beams, or a slot each; but never more slots than this.
_MOST_BEAMS = 6
_MOST_SLOTS = 48
# Tokens that may not come are passed over, so a few more are looked at.
_SPARE_CHOICES = 12


def constrained_search(
    model: Predictor[Memory, State],
    source: Tensor,
    limits: Sequence[int],
    options: SearchOptions,
    constraints: Sequence[Constraints],
    rules: Sequence[Rule] = (),
) -> list[list[Hypothesis]]:
    """Give the `options.nbest` best translations of each source that keep to its own.

    A limit counts tokens, END included, and is raised to leave room for what must
    come. The rules say what else may come next; only a prefix goes before a phrase.
    """
    searches = [
        _Search(row, limit, constraint, options)
        for row, (limit, constraint) in enumerate(zip(limits, constraints, strict=True))
    ]
    history, live = History(), Live.first(len(source))
    state = model.start(model.encode(source))
    last_tokens = torch.full((len(source),), BEGIN)
    num_choices = options.beam_size + _SPARE_CHOICES
    for length in count(1):
        logits, state = model.step(last_tokens.to(source.device), state)
        log_probabilities = next_log_probabilities(logits).cpu().double()
        allowed = follow(rules, log_probabilities, live)
        # Only the end waits for what the rules say; no rule keeps a phrase away.
        log_probabilities[:, END] = allowed[:, END]
        choices = likeliest_tokens(allowed, num_choices, (), live)
        chosen = [search.choose(log_probabilities, choices) for search in searches]
        nodes = _record(history, [candidate for few in chosen for candidate in few])
        for search, candidates in zip(searches, chosen, strict=True):
            search.take(candidates, nodes, length)
        growing = [hypothesis for search in searches for hypothesis in search.growing]
        if not growing:
            break
        rows = torch.tensor([hypothesis.row for hypothesis in growing])
        last_tokens = torch.tensor([hypothesis.token for hypothesis in growing])
        live = live.select(rows).grow(last_tokens)
        state = state.reorder(rows.to(source.device))
        _number_rows(searches)
    leaves = [search.leaves for search in searches]
    found = history.read(leaves, options.penalty)
    return rank(found, options.nbest, options.penalty, None)


class _Search:
    """The search for one sentence's translations."""

    def __init__(
        self, row: int, limit: int, constraints: Constraints, options: SearchOptions
    ) -> None:
        self.growing = [Growing(0.0, NOWHERE, Progress(), row, BEGIN)]
        self._constraints = constraints
        self._limit = limit + constraints.steps_needed
        self._options = options
        self._num_ended = max(options.beam_size, options.nbest)
        steps = constraints.num_tokens + 1  # from no token of a phrase to all of them
        slots = max(min(steps, _MOST_BEAMS) * options.beam_size, steps)
        self._num_slots = max(min(slots, _MOST_SLOTS), options.beam_size)
        self._ended: list[tuple[float, int]] = []  # log-probabilities and nodes
        self._cut: list[int] = []

    @property
    def leaves(self) -> list[int]:
        """The last tokens of all that was found, whole or cut at the limit."""
        return [node for _, node in self._ended] + self._cut

    def choose(self, log_probabilities: Tensor, choices: Choices) -> list[Candidate]:
        """Choose what fills the slots after one more token."""
        candidates = [
            candidate
            for hypothesis in self.growing
            for candidate in self._continue(hypothesis, log_probabilities, choices)
        ]
        return share_among_banks(candidates, self._num_slots)

    def _continue(
        self, hypothesis: Growing, log_probabilities: Tensor, choices: Choices
    ) -> Iterator[Candidate]:
        """Give the likeliest continuations, and those that bring a phrase further."""
        row = hypothesis.row
        tokens = choices.tokens[row].tolist()
        values = choices.log_probabilities[row].tolist()
        likely = [
            (token, value)
            for token, value in zip(tokens, values, strict=True)
            if value != -math.inf
        ]
        is_forced = len(likely) == 1  # by a prefix
        wanted = () if is_forced else self._constraints.wanted(hypothesis.progress)
        for token in sorted(wanted):
            value = float(log_probabilities[row, token])
            if value != -math.inf:
                yield from self._candidate(hypothesis, token, value)
        others = (
            candidate
            for token, value in likely
            if token not in wanted
            for candidate in self._candidate(hypothesis, token, value)
        )
        yield from islice(others, self._options.beam_size + 1)

    def _candidate(
        self, hypothesis: Growing, token: int, value: float
    ) -> Iterator[Candidate]:
        progress = self._constraints.advance(hypothesis.progress, token)
        if progress is not None:
            total = hypothesis.log_probability + value
            yield Candidate(total, hypothesis, token, value, progress)

    def take(
        self, candidates: Sequence[Candidate], nodes: Iterator[int], length: int
    ) -> None:
        """Go on with those that may grow, and set aside those that are done."""
        self.growing = []
        for candidate in candidates:
            node = next(nodes)
            if candidate.token == END:
                self._ended.append((candidate.log_probability, node))
            elif length < self._limit:
                self.growing.append(candidate.grown(node))
            elif self._constraints.are_met(candidate.progress):
                self._cut.append(node)
        self._ended = sorted(self._ended, key=lambda one: -one[0])[: self._num_ended]
        if self._is_done:
            self.growing = []

    @property
    def _is_done(self) -> bool:
        """Say whether nothing that grows can come among the likeliest that ended.

        Likeliest before any length penalty, as in `decoding.beam`: what a phrase costs
        would else be shared out among ever more words, and the longest would win.
        """
        if len(self._ended) < self._num_ended or not self.growing:
            return False
        best = max(hypothesis.log_probability for hypothesis in self.growing)
        return best <= self._ended[-1][0]


def _record(history: History, candidates: Sequence[Candidate]) -> Iterator[int]:
    nodes = history.add(
        torch.tensor([c.token for c in candidates], dtype=torch.int64),
        torch.tensor(
            [c.token_log_probability for c in candidates], dtype=torch.float64
        ),
        torch.tensor([c.parent.node for c in candidates], dtype=torch.int64),
    )
    return iter(nodes.tolist())


def _number_rows(searches: Sequence[_Search]) -> None:
    """Note the rows in which the model holds the hypotheses after reordering."""
    rows = count()
    for search in searches:
        search.growing = [h.in_row(next(rows)) for h in search.growing]
