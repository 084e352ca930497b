"""Sampling: each next token is drawn by its probability.

What is drawn depends on the seed, the source and the number of the sample alone: each
of these has its own stream of random numbers, one number a token. A number picks the
token at whose place in the vocabulary the summed probabilities pass it, so that no
rounding and no batch mate shifts anything, and close calls are settled as elsewhere.
"""

import hashlib
import math
from collections.abc import Sequence
from itertools import count

import numpy as np
import torch
from torch import Tensor

from dragoman.decoding.choices import next_log_probabilities
from dragoman.decoding.close_calls import Judge
from dragoman.decoding.history import NOWHERE, History
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.options import SearchOptions
from dragoman.decoding.rules import Live, Rule, follow
from dragoman.model.contract import Memory, Predictor, State
from dragoman.special_tokens import BEGIN, END, PAD

CLOSE = 2e-4  # a sum of probabilities gathers the rounding of a whole vocabulary


def sampling_search(
    model: Predictor[Memory, State],
    source: Tensor,
    max_lengths: Tensor,
    options: SearchOptions,
    rules: Sequence[Rule] = (),
    judge: Judge | None = None,
) -> list[list[Hypothesis]]:
    """Draw `options.nbest` translations of each source, in the order of drawing."""
    samples = torch.arange(len(source)).repeat_interleave(options.nbest)
    numbers = _random_numbers(source, max_lengths, options)  # (row, length)
    limits = max_lengths.cpu()[samples]
    live = Live(samples, torch.zeros((len(samples), 0), dtype=torch.int64))
    rows = torch.arange(len(samples))  # which sample each row of the model is
    leaves, history = torch.full((len(samples),), NOWHERE), History()
    state = model.start(model.encode(source)).reorder(samples.to(source.device))
    last_tokens = torch.full((len(samples),), BEGIN, device=source.device)
    for length in count(1):
        logits, state = model.step(last_tokens, state)
        raw = next_log_probabilities(logits).cpu().double()
        drawn = numbers[rows, length - 1]
        tokens, margin = draw(follow(rules, raw, live), drawn, options)
        close = (margin < CLOSE).nonzero()[:, 0]
        if judge is not None and len(close):
            judged = live.select(close)
            exact = judge.log_probabilities(judged)[:, -1]
            again, _ = draw(follow(rules, exact, judged), drawn[close], options)
            tokens = tokens.index_copy(0, close, again)
        said = raw.gather(1, tokens[:, None])[:, 0]
        leaves[rows] = history.add(tokens, said, leaves[rows])
        goes_on = ((tokens != END) & (length < limits[rows])).nonzero()[:, 0]
        if not len(goes_on):
            break
        live, rows = live.grow(tokens).select(goes_on), rows[goes_on]
        last_tokens = tokens[goes_on].to(source.device)
        state = state.reorder(goes_on.to(source.device))
    return history.read(leaves.view(-1, options.nbest).tolist(), options.penalty)


def draw(
    log_probabilities: Tensor, numbers: Tensor, options: SearchOptions
) -> tuple[Tensor, Tensor]:
    """Pick a token for each row by a number from 0 to 1; say how clear the pick was."""
    heated = (log_probabilities / options.temperature).log_softmax(dim=1)
    kept, margin = _truncate(heated, options)
    sums = kept.softmax(dim=1).cumsum(dim=1)
    reached = numbers[:, None] * sums[:, -1:]
    # The first whose sum passes the number; one without a chance adds nothing to it.
    tokens = (sums <= reached).sum(dim=1, keepdim=True).clamp(max=sums.shape[1] - 1)
    above = sums.gather(1, tokens) - reached
    below = reached - torch.nn.functional.pad(sums, (1, 0)).gather(1, tokens)
    edge = torch.minimum(above, below)[:, 0]
    return tokens[:, 0], torch.minimum(edge, margin)


def _truncate(heated: Tensor, options: SearchOptions) -> tuple[Tensor, Tensor]:
    """Leave the `top_k` likeliest, and of these those that make up `top_p`."""
    margin = heated.new_full((len(heated),), math.inf)
    if not 0 < options.top_k < heated.shape[1] and options.top_p >= 1:
        return heated, margin
    ordered, tokens = heated.sort(dim=1, descending=True, stable=True)
    if 0 < options.top_k < heated.shape[1]:
        last, first_out = ordered[:, options.top_k - 1], ordered[:, options.top_k]
        margin = torch.minimum(margin, last - first_out)
        ordered[:, options.top_k :] = -math.inf
        ordered = ordered.log_softmax(dim=1)
    if options.top_p < 1:
        before = ordered.exp().cumsum(dim=1) - ordered.exp()
        gap = (before[:, 1:] - options.top_p).abs().amin(dim=1)
        margin = torch.minimum(margin, gap)
        ordered = ordered.masked_fill(before >= options.top_p, -math.inf)
    return torch.empty_like(ordered).scatter_(1, tokens, ordered), margin


def _random_numbers(
    source: Tensor, max_lengths: Tensor, options: SearchOptions
) -> Tensor:
    """Give (sentence × sample, length) numbers, each sentence's from its own stream."""
    longest = int(max_lengths.max())
    numbers = np.zeros((len(source), options.nbest, longest))
    for row, tokens in enumerate(source.tolist()):
        words = [token for token in tokens if token != PAD]
        for sample in range(options.nbest):
            name = f"{options.seed} {sample} {words}".encode()
            key = int.from_bytes(hashlib.blake2b(name, digest_size=16).digest())
            stream = np.random.Generator(np.random.Philox(key=key))
            limit = int(max_lengths[row])
            numbers[row, sample, :limit] = stream.random(limit)
    return torch.from_numpy(numbers.reshape(-1, longest))
